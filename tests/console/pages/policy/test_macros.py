"""The pages of macros and reasons: who reads, who edits, and what a refusal keeps."""

from typing import Any

import pytest
from django.urls import reverse

from approvals.decisions import macros, reasons
from approvals.models import Staff
from tests.support import cast

SignIn = Any
FORM = {
    "version": "1",
    "name": "Late",
    "use": "deny",
    "reason_code": "",
    "text": "Dear {customer_name}",
    "offered": "on",
}
PAGES: tuple[tuple[str, list[Any]], ...] = (("macros", []), ("macro-new", []), ("macro", [1]), ("reason", ["other"]))


@pytest.mark.parametrize("role", ["agent", "lead", "auditor", "admin"])
def test_everybody_reads_and_two_roles_edit(db: None, signed_in: SignIn, role: str) -> None:
    browser = signed_in(cast.make_staff("reader", role))
    edits = role in ("lead", "admin")
    for name, args in PAGES:
        assert browser.get(reverse(name, args=args)).status_code == 200
    assert (b"<textarea" in browser.get(reverse("macro", args=[1])).content) is edits
    new = {**FORM, "name": "Newer"}
    assert browser.post(reverse("macro", args=[1]), FORM).status_code == (302 if edits else 403)
    assert browser.post(reverse("macro-new"), new).status_code == (302 if edits else 403)
    words = {"version": "1", "label": "Else", "help": "", "offered": "on"}
    assert browser.post(reverse("reason", args=["other"]), words).status_code == (302 if edits else 403)
    assert (macros.history(1)[0].name == "Late") is edits
    assert (reasons.label_of("other") == "Else") is edits


def test_strangers_sign_in_and_other_methods_are_none(client: Any, lead: Staff) -> None:
    for name, args in PAGES:
        assert client.get(reverse(name, args=args)).status_code == 302
        assert client.post(reverse(name, args=args)).status_code == 302
    client.force_login(lead)
    assert client.post(reverse("macros")).status_code == 405
    for name, args in PAGES:
        assert client.put(reverse(name, args=args)).status_code == 405


def test_what_is_not_there(signed_in: SignIn, lead: Staff) -> None:
    browser = signed_in(lead)
    assert browser.get(reverse("macro", args=[99])).status_code == 404
    assert browser.get(reverse("reason", args=["nothing"])).status_code == 404


def test_a_refusal_keeps_what_was_typed_and_says_what_is_wrong(signed_in: SignIn, lead: Staff) -> None:
    browser = signed_in(lead)
    answer = browser.post(reverse("macro", args=[1]), {**FORM, "text": "Dear {nobody}"})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "There is no variable {nobody}. There are: {customer_name}" in page
    assert "Dear {nobody}</textarea>" in page
    assert macros.history(1)[0].version == 0


@pytest.mark.parametrize("version", ["0", "x", "٣", ""])
def test_an_edit_of_what_is_not_the_newest_is_refused(signed_in: SignIn, lead: Staff, version: str) -> None:
    browser = signed_in(lead)
    assert browser.post(reverse("macro", args=[1]), {**FORM, "version": version}).status_code in (409, 422)
    words = {"version": version, "label": "Else", "help": "", "offered": "on"}
    assert browser.post(reverse("reason", args=["other"]), words).status_code in (409, 422)


def test_the_second_of_two_who_edit_is_told(signed_in: SignIn, lead: Staff) -> None:
    browser = signed_in(lead)
    assert browser.post(reverse("macro", args=[1]), FORM).status_code == 302
    late = browser.post(reverse("macro", args=[1]), {**FORM, "name": "Later"})
    assert late.status_code == 409
    assert b"a colleague edited this" in late.content


def test_withdrawing_is_an_edit_and_the_page_shows_the_history(signed_in: SignIn, lead: Staff) -> None:
    browser = signed_in(lead)
    form = {name: value for name, value in FORM.items() if name != "offered"}
    page = browser.post(reverse("macro", args=[1]), form, follow=True).content.decode()
    assert "withdrawn" in page
    page = browser.get(reverse("macro", args=[1])).content.decode()
    assert "Version 1" in page
    assert "Version 0" in page
    assert "Dear Maya Jones" in page

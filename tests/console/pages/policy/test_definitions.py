"""The pages of definitions: who reads, who chooses, and what differs."""

from typing import Any

import pytest
from django.urls import reverse

from agents.context.prompt import current_definition_id, missing_tools, release_definition_id
from agents.models import Definition
from approvals.models import Staff
from tests.agents.context.test_pins import make_definition
from tests.support import cast

SignIn = Any


@pytest.fixture
def older(shop: None) -> Definition:
    missing_tools.cache_clear()
    return make_definition("a", system="Be kind.\nBe <b>bold</b>.", tools=[{"name": "issue_refund"}])


@pytest.mark.parametrize(("role", "status"), [("lead", 200), ("admin", 200), ("auditor", 200), ("agent", 403)])
def test_who_reads_and_who_chooses(older: Definition, signed_in: SignIn, role: str, status: int) -> None:
    browser = signed_in(cast.make_staff("reader", role))
    assert browser.get(reverse("definitions")).status_code == status
    answer = browser.get(reverse("definition", args=[older.pk]))
    assert answer.status_code == status
    assert (b"Use this one for new conversations" in answer.content) is (role in ("lead", "admin"))
    posted = browser.post(reverse("definition-use", args=[older.pk]), {"reason": "x", "seen": "0"})
    assert posted.status_code == (302 if role in ("lead", "admin") else 403)
    assert (current_definition_id() == older.pk) is (role in ("lead", "admin"))


def test_strangers_and_wrong_methods(older: Definition, client: Any, lead: Staff) -> None:
    urls = [reverse("definitions")]
    urls += [reverse(name, args=[older.pk]) for name in ("definition", "definition-use")]
    assert [client.get(url).status_code for url in urls] == [302] * 3
    client.force_login(lead)
    assert client.post(urls[0]).status_code == 405
    assert client.post(urls[1]).status_code == 405
    assert client.get(urls[2]).status_code == 405
    for name in ("definition", "definition-use"):
        url = reverse(name, args=["f" * 64])
        assert (client.post if name == "definition-use" else client.get)(url, {"reason": "x"}).status_code == 404
    assert client.get(urls[1], {"against": "nothing"}).status_code == 404
    assert client.get(urls[1], {"against": "\x00"}).status_code == 404


def test_the_difference_is_shown_as_text(older: Definition, signed_in: SignIn, lead: Staff) -> None:
    url = reverse("definition", args=[release_definition_id()])
    page = signed_in(lead).get(url, {"against": older.pk}).content.decode()
    assert "<del>- Be &lt;b&gt;bold&lt;/b&gt;.</del>" in page
    assert "<code>cancel_order</code>" in page
    assert "<del>older</del>" in page


def test_going_back_and_forward_from_the_page(older: Definition, signed_in: SignIn, lead: Staff) -> None:
    browser = signed_in(lead)
    use = reverse("definition-use", args=[older.pk])
    assert browser.post(use, {"reason": " ", "seen": "0"}).status_code == 422
    assert browser.post(use, {"reason": "x", "seen": "7"}).status_code == 409
    assert b"lena chose" in browser.post(use, {"reason": "too many denials", "seen": "0"}, follow=True).content
    page = browser.get(reverse("definition", args=[release_definition_id()])).content.decode()
    assert "Follow this release again" in page
    forward = reverse("definition-use", args=[release_definition_id()])
    assert browser.post(forward, {"reason": "mended", "seen": "1"}).status_code == 302
    page = browser.get(reverse("definitions")).content.decode()
    assert "too many denials" in page
    assert "what this release says" in page


def test_one_that_cannot_be_used_says_so(older: Definition, signed_in: SignIn, lead: Staff) -> None:
    gone = make_definition("b", tools=[{"name": "send_fax"}])
    browser = signed_in(lead)
    page = browser.get(reverse("definition", args=[gone.pk])).content.decode()
    assert "this release has no tool send_fax any more" in page
    assert "Use this one" not in page
    assert browser.post(reverse("definition-use", args=[gone.pk]), {"reason": "x", "seen": "0"}).status_code == 422

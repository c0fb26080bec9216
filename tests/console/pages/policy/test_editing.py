"""The policy's form, withdrawing, and replays that go on from page to page."""

import json
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse

from approvals.models import PolicyVersion, Staff
from approvals.policy import versions
from approvals.policy.document import Document
from audit.models import Event
from console.forms.policy import PolicyForm
from console.pages.policy import editing
from tests.conftest import Propose
from tests.support import cast

SignIn = Any


def _typed(**changed: str) -> dict[str, str]:
    """The form as it is sent untouched, but for some fields."""
    form = PolicyForm(versions.in_force().to_json(), None)
    return {"base": "1", **{field.name: field.value for field in form.fields()}, **changed}


@pytest.fixture
def draft(lead: Staff) -> PolicyVersion:
    text = json.dumps(Document().to_json() | {"tools": {"cancel_order": "ask"}})
    return versions.propose(staff=lead, text=text)


PAGES = ("policy-edit", "policy-withdraw", "policy-simulation", "policy-simulation-step")


def _url(name: str) -> str:
    return reverse(name, args=[] if name == "policy-edit" else [2])


@pytest.mark.parametrize(("role", "writes", "reads"), [
    ("agent", False, False), ("auditor", False, True), ("lead", True, True), ("admin", True, True),
])  # fmt: skip
def test_who_may(draft: PolicyVersion, signed_in: SignIn, role: str, writes: bool, reads: bool) -> None:
    browser = signed_in(cast.make_staff("reader", role))
    assert browser.get(_url("policy-edit")).status_code == (200 if writes else 403)
    assert browser.get(_url("policy-simulation"), {"days": "7"}).status_code == (200 if reads else 403)
    assert browser.post(_url("policy-simulation-step")).status_code == (422 if reads else 403)
    assert browser.post(_url("policy-withdraw")).status_code == (302 if writes else 403)


def test_strangers_and_wrong_methods(draft: PolicyVersion, client: Any, lead: Staff) -> None:
    assert [client.get(_url(name)).status_code for name in PAGES] == [302] * 4
    client.force_login(lead)
    assert client.put(_url("policy-edit")).status_code == 405
    assert client.get(_url("policy-withdraw")).status_code == 405
    assert client.post(_url("policy-simulation")).status_code == 405
    assert client.get(_url("policy-simulation-step")).status_code == 405
    assert client.post(reverse("policy-withdraw", args=[9])).status_code == 404
    assert client.get(reverse("policy-simulation", args=[9]), {"days": "1"}).status_code == 404
    for wrong in ("9", "x", "1\x00"):
        assert client.get(_url("policy-edit"), {"from": wrong}).status_code == 404


def test_the_form_proposes_what_was_typed(signed_in: SignIn, lead: Staff) -> None:
    browser = signed_in(lead)
    page = browser.get(_url("policy-edit")).content.decode()
    assert 'value="50.00"' in page
    changed = {
        "lines.GBP.automatic_day": "£40",
        "lines.GBP.call": "25.50",
        "approve_up_to.agent.GBP": "1,000",
        "expires_hours": "48",
        "tools.cancel_order": "never",
    }
    done = browser.post(_url("policy-edit"), _typed(**changed))
    assert done["Location"] == reverse("policy-version", args=[2])
    made = PolicyVersion.objects.get(pk=2).document
    assert (made["lines"]["GBP"]["automatic_day"], made["lines"]["GBP"]["call"]) == (4_000, 2_550)
    assert (made["approve_up_to"], made["expires_hours"]) == ({"agent": {"GBP": 100_000}}, 48)
    assert made["tools"] == {"cancel_order": "never"}
    assert made["lines"]["USD"] == Document().to_json()["lines"]["USD"]


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ("lines.GBP.automatic_day", "lots", "Give an amount such as 50.00."),
        ("lines.GBP.automatic_day", "", "Fill this in."),
        ("lines.GBP.automatic_day", "200.01", "the ceiling in settings"),
        ("expires_hours", "soon", "Give a whole number."),
        ("expires_hours", "0", "greater than or equal to 1"),
        ("most_open_requests", "99", "At most 20"),
        ("tools.cancel_order", "sometimes", "&#x27;ask&#x27; or &#x27;never&#x27;"),
        ("lines.GBP.two_people_day", "1", "must not be below automatic_day"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_is_kept(
    signed_in: SignIn, lead: Staff, field: str, value: str, says: str
) -> None:
    answer = signed_in(lead).post(_url("policy-edit"), _typed(**{field: value}))
    assert answer.status_code == 422
    page = answer.content.decode()
    assert says in page
    assert f'value="{value}"' in page or field.startswith("tools.")


def test_what_changes_nothing_is_no_version(signed_in: SignIn, lead: Staff) -> None:
    assert b"change something" in signed_in(lead).post(_url("policy-edit"), _typed()).content


def test_a_withdrawn_proposal_is_kept_and_never_comes_in_force(
    draft: PolicyVersion, signed_in: SignIn, lead: Staff
) -> None:
    browser = signed_in(cast.make_staff("bo", "admin"))
    page = browser.post(_url("policy-withdraw"), follow=True).content.decode()
    assert "Version 2 is withdrawn." in page
    assert "withdrawn by bo" in page
    assert "Put version 2 in force" not in page
    assert "is no proposal that waits" in browser.post(_url("policy-withdraw"), follow=True).content.decode()
    with pytest.raises(versions.PolicyRefused, match="was withdrawn"):
        versions.activate(staff=Staff.objects.get(username="bo"), version=2)
    assert Event.objects.filter(kind="policy", decision="withdrawn", policy_version=2, actor_id="bo").exists()
    for column in ("activated", "withdrawn"):
        change = {f"{column}_by": lead, f"{column}_at": draft.proposed_at}
        with pytest.raises(DatabaseError), transaction.atomic():
            PolicyVersion.objects.filter(pk=2).update(**change)


def test_nothing_in_force_is_withdrawn(draft: PolicyVersion, signed_in: SignIn) -> None:
    bo = cast.make_staff("bo", "admin")
    versions.activate(staff=bo, version=2)
    assert b"is no proposal that waits" in signed_in(bo).post(_url("policy-withdraw"), follow=True).content
    with pytest.raises(DatabaseError), transaction.atomic():
        PolicyVersion.objects.filter(pk=2).update(withdrawn_by=bo, withdrawn_at=draft.proposed_at)


def test_any_two_versions_are_compared(draft: PolicyVersion, signed_in: SignIn, lead: Staff) -> None:
    versions.propose(staff=lead, text=json.dumps(Document().to_json() | {"most_open_requests": 2}))
    browser = signed_in(lead)
    page = browser.get(reverse("policy-version", args=[3]), {"against": "2"}).content.decode()
    assert "What it changes against version 2" in page
    assert "<code>tools.cancel_order</code>" in page
    assert "<code>most_open_requests</code>" in page
    for wrong in ("9", "x", "\x00"):
        assert browser.get(reverse("policy-version", args=[3]), {"against": wrong}).status_code == 404


def test_a_long_replay_goes_on_from_page_to_page(
    draft: PolicyVersion, propose: Propose, signed_in: SignIn, lead: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        propose("cancel_order", order_id="4473", reason="no_longer_needed")
    monkeypatch.setattr(editing, "SECONDS", -1.0)  # one write in each step
    browser, steps = signed_in(lead), 0
    answer = browser.get(_url("policy-simulation"), {"days": "7"})
    while state := answer.context.get("state"):
        assert b"<progress" in answer.content
        assert browser.post(_url("policy-simulation-step"), {"state": state[:-1] + "?"}).status_code == 422
        answer, steps = browser.post(_url("policy-simulation-step"), {"state": state}), steps + 1
    assert steps >= 1
    assert answer.context["simulation"].writes == steps
    assert b"would have been decided otherwise" in answer.content
    assert b"<svg" in answer.content


def test_another_persons_replay_is_refused(
    draft: PolicyVersion, propose: Propose, signed_in: SignIn, lead: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    propose("cancel_order", order_id="4473", reason="no_longer_needed")
    monkeypatch.setattr(editing, "SECONDS", -1.0)
    state = signed_in(lead).get(_url("policy-simulation"), {"days": "7"}).context["state"]
    other = signed_in(cast.make_staff("bo", "admin"))
    assert b"too old" in other.post(_url("policy-simulation-step"), {"state": state}).content

"""The policy's pages: who may read, propose and activate, and what they show."""

import json
from typing import Any

import pytest
from django.urls import reverse

from approvals.models import Flag, PolicyVersion, Staff
from approvals.policy import versions
from approvals.policy.document import Document
from audit.models import Event
from tests.conftest import Propose
from tests.support import cast

SignIn = Any


def _text(**changed: Any) -> str:
    return json.dumps(Document().to_json() | changed)


@pytest.fixture
def draft(lead: Staff) -> PolicyVersion:
    return versions.propose(staff=lead, text=_text(most_open_requests=3, tools={"cancel_order": "ask"}))


@pytest.mark.parametrize(("role", "status"), [("lead", 200), ("admin", 200), ("auditor", 200), ("agent", 403)])
def test_who_reads_the_versions(draft: PolicyVersion, signed_in: SignIn, role: str, status: int) -> None:
    browser = signed_in(cast.make_staff("reader", role))
    for url in (reverse("policy"), reverse("policy-version", args=[2])):
        assert browser.get(url).status_code == status


def test_strangers_sign_in_first(client: Any, db: None) -> None:
    for name, args in (("policy", []), ("policy-version", [1]), ("policy-alone", [])):
        assert client.get(reverse(name, args=args)).status_code == 302


def test_an_auditor_proposes_and_activates_nothing(draft: PolicyVersion, signed_in: SignIn, auditor: Staff) -> None:
    browser = signed_in(auditor)
    assert b"<textarea" not in browser.get(reverse("policy")).content
    assert browser.post(reverse("policy"), {"document": _text(most_open_requests=2)}).status_code == 403
    assert browser.post(reverse("policy-activate", args=[2])).status_code == 403
    assert versions.version_in_force() == 1


def test_proposing_shows_what_is_wrong_by_its_path(signed_in: SignIn, lead: Staff) -> None:
    browser = signed_in(lead)
    answer = browser.post(reverse("policy"), {"document": '{"lines": {"GBP": {"automatic_day": 20001}}}'})
    assert answer.status_code == 422
    page = answer.content.decode()
    assert "lines.GBP.automatic_day" in page
    assert "the ceiling in settings" in page
    assert "20001" in page  # what was typed is kept
    done = browser.post(reverse("policy"), {"document": _text(most_open_requests=3)})
    assert done["Location"] == reverse("policy-version", args=[2])


def test_the_other_person_reads_the_difference_and_activates(
    draft: PolicyVersion, signed_in: SignIn, lead: Staff
) -> None:
    url, activate = reverse("policy-version", args=[2]), reverse("policy-activate", args=[2])
    own = signed_in(lead)
    assert b"You proposed it" in own.get(url).content
    assert b"You proposed this version" in own.post(activate, follow=True).content
    other = signed_in(cast.make_staff("bo", "admin"))
    page = other.get(url).content.decode()
    assert "<code>most_open_requests</code>" in page
    assert "<code>tools.cancel_order</code>" in page
    assert "Put version 2 in force" in page
    assert other.get(activate).status_code == 405
    assert b"Version 2 is in force" in other.post(activate, follow=True).content
    assert other.post(reverse("policy-activate", args=[9])).status_code == 404
    assert other.get(reverse("policy-version", args=[9])).status_code == 404


def test_the_simulation_page(draft: PolicyVersion, propose: Propose, signed_in: SignIn, auditor: Staff) -> None:
    propose("cancel_order", order_id="4473", reason="no_longer_needed")
    browser = signed_in(auditor)
    page = browser.get(reverse("policy-simulation", args=[2]), {"days": "7"}).content.decode()
    assert "1 would have been decided otherwise" in page
    assert "£15.00" in page
    assert reverse("audit-event", args=[Event.objects.get(tool="cancel_order").pk]) in page
    assert Event.objects.filter(kind="access", actor_id="otto", policy_version=2).exists()
    for wrong in ("0", "91", "x", "-1", "٣"):
        assert b"Simulate 1 to 90 days." in browser.get(reverse("policy-simulation", args=[2]), {"days": wrong}).content


@pytest.mark.parametrize("role", ["agent", "lead", "auditor", "admin"])
def test_what_happens_with_no_human_is_for_everybody(db: None, signed_in: SignIn, role: str) -> None:
    page = signed_in(cast.make_staff("reader", role)).get(reverse("policy-alone")).content.decode()
    assert page.count("£50.00") == 2 * 6  # six tools move money, in a call and in a day
    assert page.count("£200.00") == 6
    assert "Any other" in page


def test_the_page_follows_the_policy(signed_in: SignIn, lead: Staff) -> None:
    document = Document().to_json()
    document["lines"] = {"GBP": document["lines"]["GBP"] | {"call": 1_234, "automatic_day": 4_321}}
    document["tools"] = {"cancel_order": "never", "change_my_address": "ask"}
    made = versions.propose(staff=lead, text=json.dumps(document))
    versions.activate(staff=cast.make_staff("bo", "admin"), version=made.version)
    page = signed_in(lead).get(reverse("policy-alone")).content.decode()
    assert page.count("£12.34") == 5
    assert page.count("£43.21") == 5
    assert page.count("Never without a person.") == 5 + 2 + 1  # other currencies, cancelling twice, the address


def test_flags_on_the_customers_page(shop: None, signed_in: SignIn, agent: Staff, lead: Staff, auditor: Staff) -> None:
    url, page = reverse("flag", args=["maya"]), reverse("customer", args=["maya"])
    assert signed_in(auditor).post(url, {"reason": "x"}).status_code == 403
    browser = signed_in(agent)
    assert browser.post(reverse("flag", args=["nobody"]), {"reason": "x"}).status_code == 404
    assert b"Say why" in browser.post(url, {"reason": " "}, follow=True).content
    assert "returned bricks" in browser.post(url, {"reason": "returned bricks"}, follow=True).content.decode()
    flag = Flag.objects.get()
    assert b"Only a lead" in browser.post(url, {"clear": str(flag.pk)}, follow=True).content
    assert b"taken off by lena" in signed_in(lead).post(url, {"clear": str(flag.pk)}, follow=True).content
    assert b"taken off before" in signed_in(lead).post(url, {"clear": "x"}, follow=True).content
    assert b"<s>returned bricks</s>" in signed_in(lead).get(page).content

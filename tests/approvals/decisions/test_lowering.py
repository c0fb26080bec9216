"""Approving less than was asked."""

import re
from typing import Any

import pytest
from django.urls import reverse

from agents.execution.execute import execute
from agents.models import Message
from approvals import errors
from approvals.decisions.deciding import decide
from approvals.decisions.tally import approvals_given
from approvals.models import Decision, Request, Staff
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Account, Entry, Hold, Order
from tests.conftest import Propose
from tests.support.api import with_token
from tests.support.cast import here, make_staff, seen_by_staff

pytestmark = pytest.mark.usefixtures("at_once")


@pytest.fixture
def waiting(propose: Propose) -> Request:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


def approve(request: Request, staff: Staff, **more: Any) -> Request:
    request.refresh_from_db()
    return decide(
        reference=request.reference,
        staff=staff,
        verdict="approve",
        digest=request.digest,
        shown={},
        proof=here(),
        **more,
    )


def held(order_id: str = "4471") -> int:
    return seen_by_staff(lambda: Account.objects.get(order_id=order_id).held_minor)


def test_a_lower_amount_is_a_revision_with_its_own_digest_and_hold(waiting: Request, agent: Staff) -> None:
    lowered = approve(waiting, agent, amount_minor=6_000)
    assert (lowered.state, lowered.revision, lowered.amount_minor) == ("approved", 2, 6_000)
    assert (lowered.lowered_from_minor, lowered.arguments["amount_minor"]) == (12_400, 6_000)
    assert lowered.digest != waiting.digest
    assert "£60.00" in lowered.preview["summary"]
    decision = Decision.objects.get()
    assert (decision.revision, decision.digest) == (2, lowered.digest)
    assert held() == 6_000
    assert sorted(seen_by_staff(lambda: list(Hold.objects.values_list("state", "amount_minor")))) == [
        ("pending", 6_000), ("voided", 12_400),
    ]  # fmt: skip


def test_it_is_executed_as_lowered_and_both_sides_are_told(waiting: Request, agent: Staff) -> None:
    lowered = approve(waiting, agent, amount_minor=6_000, note="a scratch only")
    assert execute(lowered.reference) is True
    assert seen_by_staff(lambda: Entry.objects.get().amount_minor) == 6_000
    assert held() == 0
    told = list(Message.objects.filter(author="notice").order_by("id").values_list("text", flat=True))
    assert "lower amount" in told[0]
    assert "£60.00" in told[-1]
    notes = Message.objects.filter(author="operator").values_list("text", flat=True)
    assert any("lowered by a person from £124.00" in note for note in notes)
    assert not any("scratch" in text for text in (*told, *notes))
    assert '"lowered_from":12400' in Event.objects.get(kind="decision").detail.body


def test_what_was_taken_off_is_not_asked_for_again(propose: Propose, waiting: Request, agent: Staff) -> None:
    execute(approve(waiting, agent, amount_minor=6_000).reference)
    for amount in (6_400, 6_399, 1):
        again = propose("issue_refund", order_id="4471", amount_minor=amount, reason="late")
        assert (again.rule, waiting.reference in again.text) == ("denied_before", True)


def test_it_counts_as_the_editors_approval_and_voids_earlier_ones(propose: Propose, agent: Staff, lead: Staff) -> None:
    propose("issue_refund", order_id="4472", amount_minor=60_000, reason="late")
    request = Request.objects.get()
    approve(request, lead)
    lowered = approve(request, agent, amount_minor=1_000)
    assert (lowered.state, approvals_given(lowered), lowered.approvals_needed) == ("pending", 1, 2)
    assert execute(request.reference) is False
    with pytest.raises(errors.Forbidden):
        approve(request, agent)
    with pytest.raises(errors.Forbidden, match="lead"):
        approve(request, make_staff("aaron", "agent"))
    assert approve(request, lead).state == "approved"
    assert execute(request.reference) is True


def test_it_is_lowered_again_by_another(propose: Propose, agent: Staff, lead: Staff) -> None:
    propose("issue_refund", order_id="4472", amount_minor=60_000, reason="late")
    request = Request.objects.get()
    approve(request, agent, amount_minor=50_000)
    again = approve(request, lead, amount_minor=40_000)
    assert (again.revision, again.lowered_from_minor, again.state, held("4472")) == (3, 60_000, "pending", 40_000)
    assert approve(request, agent).state == "approved"


@pytest.mark.parametrize("amount", [0, -1, 12_400, 20_000])
def test_only_less_and_more_than_nothing(waiting: Request, agent: Staff, amount: int) -> None:
    with pytest.raises(errors.Invalid) as caught:
        approve(waiting, agent, amount_minor=amount)
    assert "amount_minor" in caught.value.fields


def test_only_a_refund_and_only_with_an_approval(propose: Propose, waiting: Request, agent: Staff) -> None:
    with pytest.raises(errors.Invalid):
        decide(
            reference=waiting.reference, staff=agent, verdict="deny", digest=waiting.digest, shown={}, proof=here(),
            reason_code="policy", amount_minor=10,
        )  # fmt: skip
    propose("change_my_address", line1="2 Hill", line2="", city="York", region="", postal_code="Y1", country="GB")


def test_after_drift_it_is_not_lowered(waiting: Request, agent: Staff) -> None:
    as_staff(lambda: Order.objects.filter(pk="4471").update(status="processed"))
    with pytest.raises(errors.DigestDiffers, match="changed since"):
        approve(waiting, agent, amount_minor=6_000)
    assert held() == 12_400
    assert Request.objects.get().revision == 1


def test_who_saw_the_old_revision_decides_nothing(waiting: Request, agent: Staff, lead: Staff) -> None:
    old = waiting.digest
    Request.objects.update(approvals_needed=2)
    approve(waiting, agent, amount_minor=6_000)
    with pytest.raises(errors.DigestDiffers):
        decide(reference=waiting.reference, staff=lead, verdict="approve", digest=old, shown={}, proof=here())


def test_a_denial_gives_the_lowered_hold_back(waiting: Request, agent: Staff, lead: Staff) -> None:
    Request.objects.update(approvals_needed=2)
    approve(waiting, agent, amount_minor=6_000)
    waiting.refresh_from_db()
    decide(
        reference=waiting.reference,
        staff=lead,
        verdict="deny",
        digest=waiting.digest,
        shown={},
        proof=here(),
        reason_code="policy",
    )
    assert held() == 0


def test_over_http(waiting: Request, agent: Staff) -> None:
    path, api = f"/api/approvals/{waiting.reference}/decide/", with_token(agent)
    body = {"verdict": "approve", "digest": waiting.digest}
    for wrong in ("6000", 60.5, True, 12_400):
        assert api.post(path, body | {"amount_minor": wrong}).status_code == 422
    answer = api.post(path, body | {"amount_minor": 6_000}).json()
    assert (answer["state"], answer["amount_minor"]) == ("approved", 6_000)


def test_on_the_page(signed_in: Any, waiting: Request, agent: Staff) -> None:
    client, page = signed_in(agent), reverse("request", args=[waiting.reference])
    body = client.get(page).content.decode()
    form = dict(re.findall(r'<input type="hidden" name="(digest|shown)" value="([^"]*)"', body))
    wrong = client.post(page, {**form, "verdict": "approve", "amount": "60 pounds"})
    assert (wrong.status_code, b"Give an amount such as" in wrong.content) == (422, True)
    client.post(page, {**form, "verdict": "approve", "amount": "60.00"})
    waiting.refresh_from_db()
    assert (waiting.state, waiting.amount_minor) == ("approved", 6_000)
    assert b"Lowered" in client.get(page).content

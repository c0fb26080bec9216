"""Denied means denied, whatever the amount, until a lead lets it be asked for again."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from agents.models import Message
from approvals import errors
from approvals.decisions.deciding import decide
from approvals.decisions.reopening import reopen
from approvals.models import Request, Staff
from audit.models import Event
from tests.agents.execution.test_execute import waiting
from tests.conftest import Propose
from tests.support.cast import here, make_staff

__all__ = ["waiting"]


@pytest.fixture
def denied(waiting: Request, agent: Staff) -> Request:
    return decide(
        reference=waiting.reference, staff=agent, verdict="deny", digest=waiting.digest, shown={}, proof=here(),
        reason_code="not_eligible",
    )  # fmt: skip


@pytest.mark.parametrize("amount", [12_400, 12_399, 6_000, 1])
def test_what_was_denied_is_not_asked_for_again(propose: Propose, denied: Request, amount: int) -> None:
    again = propose("issue_refund", order_id="4471", amount_minor=amount, reason="late")
    assert (again.rule, denied.reference in again.text) == ("denied_before", True)
    assert "whatever the amount" in again.text


def test_another_order_is_another_matter(propose: Propose, denied: Request) -> None:
    assert propose("issue_refund", order_id="4472", amount_minor=1_000, reason="late").decision == "executed"


def test_reopened_it_is_decided_afresh(propose: Propose, denied: Request, lead: Staff) -> None:
    reopen(reference=denied.reference, staff=lead, reason="The photo came by post.")
    again = propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    assert (again.decision, again.reference == denied.reference) == ("queued", False)
    event = Event.objects.get(decision="reopened")
    assert (event.actor_id, event.reference) == ("lena", denied.reference)
    with pytest.raises(errors.Conflict):
        reopen(reference=denied.reference, staff=lead, reason="Once more.")


def test_a_reopened_one_that_is_denied_again_stays_denied(propose: Propose, denied: Request, lead: Staff) -> None:
    reopen(reference=denied.reference, staff=lead, reason="A new photo.")
    request = Request.objects.get(
        pk=propose("issue_refund", order_id="4471", amount_minor=900, reason="other").reference
    )
    decide(
        reference=request.reference, staff=lead, verdict="deny", digest=request.digest, shown={}, proof=here(),
        reason_code="not_eligible",
    )  # fmt: skip
    assert propose("issue_refund", order_id="4471", amount_minor=1, reason="late").rule == "denied_before"


def test_only_a_lead_reopens_and_never_their_own(denied: Request, agent: Staff, auditor: Staff) -> None:
    maya = make_staff("mia", "lead", customer_id="maya")
    for staff, code in ((agent, "role"), (auditor, "role"), (maya, "self")):
        with pytest.raises(errors.Forbidden) as refusal:
            reopen(reference=denied.reference, staff=staff, reason="please")
        assert refusal.value.code == code
    assert Request.objects.get(pk=denied.pk).reopened_at is None


def test_what_was_not_denied_is_not_reopened(waiting: Request, lead: Staff) -> None:
    with pytest.raises(errors.Conflict):
        reopen(reference=waiting.reference, staff=lead, reason="why not")
    with pytest.raises(errors.Invalid):
        reopen(reference=waiting.reference, staff=lead, reason=" ")
    with pytest.raises(IntegrityError, match="what_was_denied_is_reopened"), transaction.atomic():
        Request.objects.filter(pk=waiting.pk).update(reopened_at=timezone.now(), reopened_by=lead)


def test_a_lead_reopens_it_on_its_page(denied: Request, agent: Staff, lead: Staff, signed_in: Any) -> None:
    page, path = reverse("request", args=[denied.pk]), reverse("request-reopen", args=[denied.pk])
    assert b"Let it be asked for again" not in signed_in(agent).get(page).content
    assert signed_in(agent).post(path, {"reason": "x"}).status_code == 403
    client = signed_in(lead)
    assert b"Let it be asked for again" in client.get(page).content
    assert client.post(path, {"reason": " "}).status_code == 422
    assert b"can ask for it again" in client.post(path, {"reason": "A new photo."}, follow=True).content
    assert b"Let it be asked for again" not in client.get(page).content
    assert "you can ask for it once more" in Message.objects.filter(author="notice").latest("id").text

"""Second thoughts: before anything is carried out, and after."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from agents.execution.execute import execute, ready
from agents.models import Message
from approvals import errors
from approvals.decisions import undo
from approvals.decisions.deciding import decide
from approvals.decisions.tally import approvals_given
from approvals.models import Decision, Request, Staff, Task, Withdrawal
from audit.models import Event
from ledger.models import Entry
from tests.conftest import Propose
from tests.support.api import with_token
from tests.support.cast import here, make_staff, seen_by_staff


@pytest.fixture
def waiting(propose: Propose) -> Request:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


def approve(request: Request, staff: Staff) -> Request:
    return decide(
        reference=request.reference, staff=staff, verdict="approve", digest=request.digest, shown={}, proof=here()
    )


def test_an_approval_is_taken_back_and_given_again(waiting: Request, agent: Staff) -> None:
    approve(waiting, agent)
    back = undo.undo(reference=waiting.reference, staff=agent)
    assert (back.state, back.execute_after, back.decided_by, approvals_given(back)) == ("pending", None, "", 0)
    assert ready() == []
    assert execute(waiting.reference) is False
    assert approve(waiting, agent).state == "approved"
    assert list(Decision.objects.order_by("id").values_list("round", flat=True)) == [0, 1]
    told = list(Message.objects.filter(author="notice").order_by("id").values_list("text", flat=True))
    assert ["approved request" in text for text in told] == [True, False, True]
    assert "taken back" in told[1]
    assert Event.objects.filter(kind="decision", decision="undone", actor_id="ada").count() == 1
    assert Message.objects.filter(author="operator", text__contains="taken back").count() == 1


@pytest.mark.usefixtures("at_once")
def test_what_is_executed_is_not_taken_back(waiting: Request, agent: Staff) -> None:
    approve(waiting, agent)
    execute(waiting.reference)
    with pytest.raises(errors.Conflict) as caught:
        undo.undo(reference=waiting.reference, staff=agent)
    assert caught.value.state == "executed"
    assert not Withdrawal.objects.exists()


def test_only_ones_own_approval(waiting: Request, agent: Staff, lead: Staff) -> None:
    approve(waiting, agent)
    with pytest.raises(errors.Forbidden, match="your own"):
        undo.undo(reference=waiting.reference, staff=lead)
    with pytest.raises(errors.Forbidden, match="does not decide"):
        undo.undo(reference=waiting.reference, staff=make_staff("otto", "auditor"))


def test_the_first_of_two_is_taken_back_without_news_to_the_customer(
    propose: Propose, agent: Staff, lead: Staff
) -> None:
    propose("issue_refund", order_id="4472", amount_minor=60_000, reason="late")
    request = Request.objects.get()
    approve(request, agent)
    undo.undo(reference=request.reference, staff=agent)
    assert not Message.objects.filter(author="notice").exists()
    assert approve(request, lead).state == "pending"
    assert approve(request, agent).state == "approved"


def test_the_database_counts_rounds_and_keeps_withdrawals(waiting: Request, agent: Staff, lead: Staff) -> None:
    approve(waiting, agent)
    given = Decision.objects.values().get()
    for number in (0, 1):
        with pytest.raises(IntegrityError), transaction.atomic():
            Decision.objects.create(**{**given, "id": None, "round": number})
    with pytest.raises(IntegrityError, match="own approval"), transaction.atomic():
        Withdrawal.objects.create(decision_id=given["id"], staff=lead)
    undo.undo(reference=waiting.reference, staff=agent)
    with pytest.raises(Exception, match=r"permission denied|append-only"), transaction.atomic():
        Withdrawal.objects.all().delete()


def test_over_http(waiting: Request, agent: Staff, lead: Staff, auditor: Staff) -> None:
    approve(waiting, agent)
    path = f"/api/approvals/{waiting.reference}/undo/"
    assert with_token(auditor).post(path).status_code == 403
    assert with_token(lead).post(path).status_code == 403
    answer = with_token(agent).post(path).json()
    assert (answer["state"], answer["approvals_given"]) == ("pending", 0)
    decide(
        reference=waiting.reference,
        staff=lead,
        verdict="deny",
        digest=waiting.digest,
        shown={},
        proof=here(),
        reason_code="policy",
    )
    assert with_token(agent).post(path).json()["state"] == "denied"
    assert with_token(agent).post(path).status_code == 409
    assert with_token(agent).post("/api/approvals/R-00000000/undo/").status_code == 404


def test_the_page_offers_it_to_the_approver_alone(signed_in: Any, waiting: Request, agent: Staff, lead: Staff) -> None:
    approve(waiting, agent)
    page, path = reverse("request", args=[waiting.reference]), reverse("request-undo", args=[waiting.reference])
    assert b"Take your approval back" not in signed_in(lead).get(page).content
    client = signed_in(agent)
    body = client.get(page).content
    assert b"Take your approval back" in body
    assert b'data-show="seconds"' in body
    client.post(path)
    assert Request.objects.get().state == "pending"
    assert b"already" not in client.post(path, follow=True).content


@pytest.mark.usefixtures("at_once")
def test_a_mistake_becomes_a_task_that_a_lead_ends(signed_in: Any, waiting: Request, agent: Staff, lead: Staff) -> None:
    approve(waiting, agent)
    path = reverse("request-mistake", args=[waiting.reference])
    client = signed_in(agent)
    client.post(path, {"text": "too early"})
    assert not Task.objects.exists()
    execute(waiting.reference)
    client.post(path, {"text": "wrong customer"})
    client.post(path, {"text": "again"})
    task = Task.objects.get()
    assert (task.text, task.opened_by) == ("wrong customer", agent)
    assert seen_by_staff(Entry.objects.count) == 1
    assert client.get(reverse("tasks")).status_code == 403
    client = signed_in(lead)
    assert b"wrong customer" in client.get(reverse("tasks")).content
    assert client.post(reverse("tasks"), {"task": task.pk, "outcome": ""}).status_code == 422
    assert client.post(reverse("tasks"), {"task": task.pk, "outcome": "called them"}).status_code == 302
    assert client.post(reverse("tasks"), {"task": task.pk, "outcome": "me too"}).status_code == 409
    assert set(Event.objects.filter(kind="request").values_list("decision", flat=True)) == {"mistake", "task_done"}

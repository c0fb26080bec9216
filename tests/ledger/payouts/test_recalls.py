"""A reported mistake takes back money that has not left, and only that."""

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError, connections, transaction
from django.urls import reverse

from agents.dispatch.dispatch import dispatch
from agents.execution.execute import execute
from agents.models import Message
from approvals.decisions import undo
from approvals.decisions.deciding import decide
from approvals.models import Request, Staff, Task
from audit.models import Event
from audit.record import Actor
from ledger.access.scopes import as_customer
from ledger.access.staff import as_staff
from ledger.books import doctor
from ledger.books.entries import post
from ledger.books.plans import Movement, Plan
from ledger.models import Account, Payout, Transfer
from ledger.payouts import desk, due, sending
from ledger.payouts.recalls import TooLate, recall
from ledger.providers import connector
from tests.conftest import Propose, make_call
from tests.support import cast
from tests.support.cast import seen_by_staff
from tests.support.env import replace
from tests.support.provider import Provider

pytestmark = [pytest.mark.usefixtures("provider", "at_once")]

REFUND = {"order_id": "4471", "amount_minor": 12_400, "reason": "damaged"}
LENA = Actor(kind="staff", id="lena")


@pytest.fixture
def waits(settings: Any) -> None:
    """Money waits half a minute before it leaves, as it does unless set otherwise."""
    settings.PLACET = replace(settings.PLACET, payout_delay_seconds=30)


@pytest.fixture
def executed(propose: Propose, agent: Staff) -> Request:
    """A refund of £124 that was approved and carried out, and should not have been."""
    propose("issue_refund", **REFUND)
    return carry_out(Request.objects.get(), agent)


def carry_out(request: Request, staff: Staff) -> Request:
    decide(reference=request.reference, staff=staff, verdict="approve", digest=request.digest, shown={})
    assert execute(request.reference)
    request.refresh_from_db()
    return request


def claim() -> object:
    """Take the one payout that is due, as a worker does before it sends it."""
    provider = connector()
    assert provider is not None
    return [sending._claim(transfer, customer, provider) for transfer, customer in due.due()]


def payout() -> Payout:
    return seen_by_staff(Payout.objects.get)


def balance(order_id: str = "4471") -> int:
    return int(seen_by_staff(lambda: Account.objects.get(order_id=order_id).balance_minor))


def books_hold() -> None:
    assert {name: found for name, found in doctor.prove() if found} == {}


@pytest.mark.usefixtures("waits")
def test_money_that_has_not_left_is_recalled(
    signed_in: Any, executed: Request, agent: Staff, lead: Staff, provider: Provider, settings: Any
) -> None:
    due.carry_out_due()
    assert (payout().state, balance()) == ("pending", 0)
    client = signed_in(agent)
    page = client.post(reverse("request-mistake", args=[executed.pk]), {"text": "wrong order"}, follow=True)
    assert b"it was recalled" in page.content
    assert (payout().state, balance(), Task.objects.get().money) == ("recalled", 12_400, "recalled")
    told = Event.objects.get(kind="payout")
    assert (told.decision, told.actor_id, told.reference) == ("recalled", "ada", executed.entry_reference)
    notices = Message.objects.filter(author="notice").order_by("id").values_list("text", flat=True)
    assert list(notices)[-1] == (
        f"Reference {executed.entry_reference}: the refund of £124.00 to Visa ••4242 was taken back before it "
        "was sent. The money stands on your order again, and a person from our team will look into it."
    )
    assert Message.objects.filter(author="operator", text__contains="took £124.00 back").count() == 1
    books_hold()
    settings.PLACET = replace(settings.PLACET, payout_delay_seconds=0)
    due.carry_out_due()
    assert (provider.effects, payout().state) == ({}, "recalled")
    assert b"it was recalled" in signed_in(lead).get(reverse("tasks")).content
    assert b"Recalled before it was sent" in client.get(reverse("payouts"), {"tab": "all"}).content
    with pytest.raises(desk.CannotResolve, match="was recalled"):
        desk.resolve(payout().pk, LENA)


def test_money_that_has_left_is_not(executed: Request, agent: Staff, lead: Staff) -> None:
    due.carry_out_due()
    assert payout().state == "settled"
    task = undo.report_mistake(reference=executed.pk, staff=agent, text="wrong order")
    assert (task.money, payout().state, balance()) == ("left", "settled", 0)
    assert not Event.objects.filter(kind="payout", decision="recalled").exists()
    assert seen_by_staff(lambda: Transfer.objects.filter(kind="reversal").count()) == 0
    books_hold()


@pytest.mark.usefixtures("waits")
def test_a_second_report_finds_nothing_to_recall(executed: Request, agent: Staff, lead: Staff) -> None:
    first = undo.report_mistake(reference=executed.pk, staff=agent, text="wrong order")
    undo.finish_task(task_id=first.pk, staff=lead, outcome="called them")
    assert undo.report_mistake(reference=executed.pk, staff=agent, text="once more").money == "none"
    assert balance() == 12_400


@pytest.mark.usefixtures("shop")
def test_all_payouts_of_a_write_or_none() -> None:
    """Another payment method: recalling the refund alone would leave the customer charged twice."""
    capture = Movement(
        kind="capture", payment_method_id="maya-visa", method_kind="card", amount_minor=1_500, label="Visa ••4242",
        paid_before=True,
    )  # fmt: skip
    plan = Plan(
        tool="change_order_payment", customer_id="maya", order_id="4473", currency="GBP", amount_minor=0,
        summary="s", done="d", movements=(capture, dataclasses.replace(capture, kind="refund")),
    )  # fmt: skip

    def write(key: str) -> str:
        return as_customer("maya", lambda: post(plan, key=key, credential=None, request_reference="")).reference

    first, second = write("k1"), write("k2")
    provider = connector()
    assert provider is not None
    refunded = seen_by_staff(lambda: Payout.objects.get(transfer__entry=first, transfer__kind="refund").pk)
    sending.carry_out(refunded, "maya", provider)
    with pytest.raises(TooLate), transaction.atomic():
        recall(entry=first, customer_id="maya", actor=LENA)
    assert len(recall(entry=second, customer_id="maya", actor=LENA)) == 2
    states = seen_by_staff(lambda: list(Payout.objects.order_by("pk").values_list("state", flat=True)))
    assert states == ["pending", "settled", "recalled", "recalled"]
    assert balance("4473") == 1_500
    books_hold()


@pytest.mark.usefixtures("waits")
def test_the_schema_keeps_recalled_final_and_attempted_ones_out(executed: Request, agent: Staff) -> None:
    with pytest.raises(DatabaseError, match="attempted is not recalled"), transaction.atomic():
        as_staff(lambda: Payout.objects.update(state="recalled", attempts=1))
    with pytest.raises(DatabaseError, match="failed or was recalled"), transaction.atomic():
        as_customer("maya", lambda: sending.reverse(Payout.objects.get().pk))
    undo.report_mistake(reference=executed.pk, staff=agent, text="wrong order")
    for state in ("pending", "unknown", "failed"):
        with pytest.raises(DatabaseError, match="only moves forward"), transaction.atomic():
            as_staff(partial(Payout.objects.update, state=state, provider="test"))


def test_recall_and_claim_at_once_have_one_outcome(committing_db: str) -> None:
    as_staff(cast.fill_shop)
    ada = cast.make_staff("ada", "agent")
    outcomes = set()
    for number in range(12):
        order_id = f"r{number}"
        as_staff(partial(cast.make_order, order_id, "maya", 10_000, method="maya-visa"))
        dispatch(
            make_call(
                cast.begin_turn(),
                1,
                "issue_refund",
                REFUND | {"order_id": order_id, "amount_minor": 100, "reason": "other"},
            )
        )
        made = carry_out(Request.objects.get(order_id=order_id), ada)
        task, claimed = at_once(partial(undo.report_mistake, reference=made.pk, staff=ada, text="no"), claim)
        mine = seen_by_staff(partial(Payout.objects.get, transfer__entry=made.entry_reference))
        sent = any(claimed)
        assert (mine.state, task.money, balance(order_id)) == (
            ("unknown", "left", 9_900) if sent else ("recalled", "recalled", 10_000)
        )
        outcomes.add(task.money)
    books_hold()
    assert outcomes


def at_once(*deeds: Any) -> list[Any]:
    together = threading.Barrier(len(deeds))

    def run(deed: Any) -> Any:
        try:
            together.wait()
            return deed()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(deeds)) as pool:
        return list(pool.map(run, deeds))

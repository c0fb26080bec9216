"""Money leaves once per transfer, whatever the provider does: each fault of it with what must come of that."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import stripe
from django.db import DatabaseError, transaction
from django.db.models import F
from django.db.models.functions import Now

from agents.models import Message
from audit.models import Event
from audit.record import Actor
from base.models import WorkItem
from ledger.access.scopes import as_customer
from ledger.access.staff import as_staff
from ledger.books.entries import post
from ledger.books.plans import Movement, Plan
from ledger.models import Account, Payout, Transfer
from ledger.payouts import desk, due, sending
from ledger.providers import calls, connector, test_api
from ledger.providers.connector import Answer
from tests.support import cast
from tests.support.cast import seen_by_staff
from tests.support.env import replace
from tests.support.provider import Provider, deliver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("provider")]


@pytest.fixture(params=["test", "stripe"])
def through(request: pytest.FixtureRequest, settings: Any) -> str:
    """Either connector, against the same endpoints."""
    settings.PLACET = replace(settings.PLACET, payments=request.param, stripe_api_key="sk_test_1")
    return str(request.param)


@pytest.fixture
def refund(shop: None, propose: Callable[..., Any]) -> str:
    """£12.00 of an order that was paid with a known payment goes back: the reference."""
    as_staff(lambda: cast.make_order("7001", "maya", 9_900, method="maya-visa", provider_reference="pi_7001"))
    outcome = propose("issue_refund", order_id="7001", amount_minor=1_200, reason="damaged")
    assert outcome.decision == "executed", outcome
    return str(outcome.reference)


def payout() -> Payout:
    return seen_by_staff(lambda: Payout.objects.select_related("transfer").get())


def make_due() -> None:
    as_staff(lambda: Payout.objects.update(next_at=Now(), lease_until=None))
    WorkItem.objects.update(next_at=Now())


def run(times: int = 1) -> None:
    for _ in range(times):
        make_due()
        due.carry_out_due()


def decisions() -> list[str]:
    return list(Event.objects.filter(kind="payout").order_by("id").values_list("decision", flat=True))


def balance(order_id: str = "7001") -> int:
    return int(seen_by_staff(lambda: Account.objects.get(order_id=order_id).balance_minor))


def notices() -> list[str]:
    return list(Message.objects.filter(author="notice").order_by("id").values_list("text", flat=True))


def test_an_instruction_is_made_with_the_transfer_and_for_nothing_else(refund: str, propose: Any) -> None:
    made = payout()
    assert (made.state, made.attempts, made.transfer.entry_id) == ("pending", 0, refund)
    assert made.key == f"{made.pk}-{refund}"
    captures = seen_by_staff(lambda: Transfer.objects.filter(kind="capture").count())
    assert captures == 5
    assert seen_by_staff(lambda: Payout.objects.count()) == 1


FAULTS = [
    # fault, state after one attempt, after the next one, events
    ("", "settled", "settled", ["sending", "settled"]),
    ("late", "sent", "sent", ["sending", "sent"]),
    ("decline", "failed", "failed", ["sending", "failed"]),
    ("unavailable", "unknown", "settled", ["sending", "unknown", "sending", "settled"]),
    ("error_after", "unknown", "settled", ["sending", "unknown", "sending", "settled"]),
    ("drop_after", "unknown", "settled", ["sending", "unknown", "sending", "settled"]),
    ("stall_after", "unknown", "settled", ["sending", "unknown", "sending", "settled"]),
    ("twice", "settled", "settled", ["sending", "settled"]),
]


@pytest.mark.parametrize(("fault", "first", "then", "events"), FAULTS, ids=[fault[0] or "none" for fault in FAULTS])
def test_what_the_provider_does(
    provider: Provider, through: str, refund: str, fault: str, first: str, then: str, events: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """One effect per key and one refund in the books, or none in both."""
    if fault == "stall_after":
        impatient(monkeypatch)
    if fault:
        provider.plan(fault, match=refund, seconds=1)
    run()
    assert payout().state == first
    run(2)
    assert payout().state == then
    assert decisions() == events
    failed = then == "failed"
    assert {key: len(made) for key, made in provider.effects.items()} == ({} if failed else {payout().key: 1})
    assert balance() == (9_900 if failed else 8_700)


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_api, "SECONDS", 0.3)
    monkeypatch.setattr(stripe, "default_http_client", stripe.RequestsClient(timeout=0.3))


@pytest.mark.parametrize("fault", ["error_after", "drop_after"])
def test_after_the_keys_have_expired_it_is_looked_up_all_the_same(provider: Provider, refund: str, fault: str) -> None:
    provider.plan(fault)
    run()
    provider.call("/provider/forget_keys", {})  # as after 24 hours: sending again would pay twice
    run(2)
    assert payout().state == "settled"
    assert [len(made) for made in provider.effects.values()] == [1]


def test_a_refused_connection_is_not_an_unknown_outcome(refund: str, settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, payments_url="http://127.0.0.1:9")
    run()
    assert (payout().state, payout().error_code) == ("pending", "connection_refused")
    assert decisions() == ["sending", "not_sent"]


def test_without_a_provider_the_shop_pays_by_itself(refund: str, settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, payments="off")
    run()
    assert payout().state == "outside"
    settings.PLACET = replace(settings.PLACET, payments="test")
    run()
    assert payout().state == "outside"


def test_only_one_attempt_at_a_time(provider: Provider, refund: str) -> None:
    provider.plan("late")
    make_due()
    [(transfer, customer)] = due.due()
    through = connector()
    assert through is not None
    first = sending._claim(transfer, customer, through)
    assert first is not None
    assert sending._claim(transfer, customer, through) is None
    assert due.due() == []


def test_an_old_attempt_writes_nothing(refund: str) -> None:
    through = connector()
    assert through is not None
    [(transfer, customer)] = due.due()
    old = sending._claim(transfer, customer, through)
    assert old is not None
    make_due()
    assert sending._claim(transfer, customer, through) is not None
    assert not sending.advance(old, Answer(reference="re_old", state="failed", code="old"), fenced=True)
    assert (payout().state, balance()) == ("unknown", 8_700)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0, 1, 2, 0), (2, 0, 1, 1)], ids=str)
def test_reports_come_late_twice_and_in_any_order(provider: Provider, refund: str, order: tuple[int, ...]) -> None:
    """Taken, settled, then failed after all: the last word counts, once, and the customer is told."""
    provider.plan("late")
    run()
    made = payout().provider_reference
    provider.call("/provider/change", {"id": made, "status": "succeeded"})
    provider.call("/provider/change", {"id": made, "status": "failed", "failure_reason": "lost_or_stolen_card"})
    events = provider.events
    for n in order:
        response = deliver(events[n])
        assert response.status_code == 200, response.content
    assert (payout().state, payout().error_code) == ("failed", "lost_or_stolen_card")
    assert balance() == 9_900
    assert decisions().count("failed") == 1
    told = [text for text in notices() if "could not be paid" in text]
    assert told == [
        f"Reference {refund}: £12.00 could not be paid to Visa ••4242. The money is not lost: it stands on your order "
        "again, and a person from our team will look into it."
    ]
    assert Message.objects.filter(author="operator", text__contains=refund).count() == 1


def test_the_status_follows_the_states(provider: Provider, refund: str, propose: Any) -> None:
    def status() -> str:
        return str(json.loads(propose("get_order", order_id="7001").text)["payments"][1]["status"])

    assert status() == "on its way to your bank"
    provider.plan("late")
    run()
    assert status() == "sent to your bank"
    assert notices()[-1].startswith(f"Reference {refund}: £12.00 was sent to your bank for Visa ••4242.")
    provider.call("/provider/change", {"id": payout().provider_reference, "status": "succeeded"})
    for event in provider.events:
        deliver(event)
    assert status() == "paid out by your bank"
    assert notices()[0] == f"Refunded £12.00 to Visa ••4242. Reference {refund}."


def test_a_lost_report_is_found_by_looking(provider: Provider, refund: str) -> None:
    provider.plan("late")
    run()
    provider.call("/provider/change", {"id": payout().provider_reference, "status": "succeeded"})
    due.carry_out_due()
    assert payout().state == "sent"  # not before the hour is over
    run()
    assert payout().state == "settled"


def test_staff_resolve_an_unknown_one_and_take_care_of_a_failed_one(provider: Provider, refund: str, lead: Any) -> None:
    who = Actor(kind="staff", id="lena")
    provider.plan("error_after")
    run()
    assert desk.resolve(payout().pk, who) == f"{payout().key} is now settled."
    assert Event.objects.filter(kind="payout", decision="settled", actor_id="lena").exists()
    with pytest.raises(desk.CannotResolve, match="not a failed payout"):
        desk.handle(payout().pk, who)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [(409, "lock_timeout", calls.Unclear), (400, "idempotency_error", calls.Unclear), (502, "x", calls.Unclear),
     (401, "x", calls.NotSent), (403, "x", calls.NotSent), (429, "rate_limit", calls.NotSent),
     (400, "charge_already_refunded", calls.Declined), (402, "card_declined", calls.Declined)],
)  # fmt: skip
def test_what_an_error_status_means(status: int, code: str, kind: type) -> None:
    assert type(calls.failure(status, code)) is kind


def test_charges_have_the_same_states(provider: Provider, through: str, shop: None) -> None:
    """A charge that the bank refuses comes off the order again; the same card is charged as before."""
    charge()
    provider.plan("drop_after")
    run()
    assert payout().state == "unknown"
    run()
    assert payout().state == "settled"
    assert [len(made) for made in provider.effects.values()] == [1]
    [made] = [event["data"]["object"] for event in provider.events]
    assert (made["customer"], made["payment_method"], made["amount"]) == ("cus_test", "pm_test", 500)


def test_a_charge_that_fails_is_taken_off_the_order(provider: Provider, shop: None) -> None:
    charge()
    assert balance("7002") == 1_500
    provider.plan("decline")
    run()
    assert (payout().state, balance("7002")) == ("failed", 1_000)


def charge() -> None:
    """£5.00 more on an order, as an exchange for something dearer would take."""
    as_staff(lambda: cast.make_order("7002", "maya", 1_000, method="maya-visa", provider_reference="pi_7002"))
    movement = Movement(
        kind="capture", payment_method_id="maya-visa", method_kind="card", amount_minor=500, label="Visa ••4242",
        paid_before=True,
    )  # fmt: skip
    plan = Plan(
        tool="exchange_items", customer_id="maya", order_id="7002", currency="GBP", amount_minor=500,
        summary="s", done="d", movements=(movement,),
    )  # fmt: skip
    as_customer("maya", lambda: post(plan, key="k", credential=None, request_reference=""))


def test_the_schema_lets_a_payout_only_move_forward(refund: str) -> None:
    run()
    changed: list[dict[str, Any]] = [
        {"state": "sent"}, {"state": "pending"}, {"provider_reference": "re_other"}, {"source": "pi_x"},
    ]  # fmt: skip
    for changes in changed:
        with pytest.raises(DatabaseError, match="only moves forward"), transaction.atomic():
            as_staff(partial(Payout.objects.update, **changes))
    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic():
        as_staff(lambda: Payout.objects.update(key=F("key")))

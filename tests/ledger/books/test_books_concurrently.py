"""Whatever several workers do at the same time, in whatever order: no deadlock, and the books agree."""

import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from django.db import connections
from django.db.models import F, Q, Sum

import approvals.doctor
import ledger.books.doctor
from agents.dispatch.dispatch import dispatch
from agents.execution.execute import execute
from agents.models import ToolCall
from agents.turns.claims import Claimed
from approvals.decisions import undo
from approvals.decisions.deciding import decide
from approvals.errors import DecisionError
from approvals.models import Request, Staff
from approvals.requests.lifecycle import withdraw
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Account, Entry, Order, Transfer
from ledger.payouts import due
from ledger.shop.goods import NothingOpen, end_goods
from tests.conftest import make_call
from tests.ledger.books.test_books import METHODS, VARIANTS, _fill
from tests.support import cast
from tests.support.cast import seen_by_staff

pytestmark = pytest.mark.usefixtures("provider", "at_once")

WORKERS, CALLS, DEEDS = 4, 12, 40
ORDERS = ("P1", "P2", "P3", "D1", "D2", "D3", "D4", "Y1", "Y2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """One thread with its own luck, its own claimed turns, and the staff it plays."""

    luck: random.Random
    turns: list[Claimed]
    people: list[Staff]

    def run(self) -> None:
        deeds: list[Callable[[], object]] = [self.call] * CALLS
        others = (self.decide, self.execute, self.withdraw, self.goods, self.report, self.pay)
        deeds += self.luck.choices(others, weights=(6, 6, 1, 2, 1, 1), k=DEEDS)
        self.luck.shuffle(deeds)
        try:
            for deed in deeds:
                self.attempt(deed)
        finally:
            connections.close_all()

    def attempt(self, deed: Callable[[], object]) -> None:
        """What a rule refuses is a fair outcome. A deadlock or a fault is not, and fails the test."""
        try:
            deed()
        except (DecisionError, NothingOpen):
            return

    def call(self) -> None:
        tool, arguments = self.luck.choice(WRITES)(self.luck)
        outcome = dispatch(make_call(self.turns.pop(), 1, tool, arguments))
        assert outcome.decision != "failed", (tool, arguments, outcome)

    def decide(self) -> None:
        if request := self.any_request("pending"):
            verdict = self.luck.choice(["approve", "approve", "deny"])
            reason = "policy" if verdict == "deny" else ""
            staff = self.luck.choice(self.people)
            decide(
                reference=request.pk, staff=staff, verdict=verdict, digest=request.digest, shown={}, reason_code=reason
            )

    def execute(self) -> None:
        if request := self.any_request("approved"):
            execute(request.pk)

    def withdraw(self) -> None:
        if request := self.any_request("pending", "approved"):
            withdraw(reference=request.pk, customer_id="maya")

    def report(self) -> None:
        if request := self.any_request("executed"):
            undo.report_mistake(reference=request.pk, staff=self.luck.choice(self.people), text="no")

    def goods(self) -> None:
        end_goods(self.luck.choice(ORDERS), self.luck.choice(["goods_received", "goods_abandoned"]))

    def pay(self) -> None:
        due.carry_out_due()

    def any_request(self, *states: str) -> Request | None:
        found = list(Request.objects.filter(state__in=states).order_by("pk"))
        return self.luck.choice(found) if found else None


def _refund(luck: random.Random) -> tuple[str, Any]:
    amount, reason = luck.randint(1, 1_500), luck.choice(["damaged", "other"])
    return "issue_refund", {"order_id": luck.choice(ORDERS), "amount_minor": amount, "reason": reason}


def _cancel(luck: random.Random) -> tuple[str, Any]:
    return "cancel_order", {"order_id": luck.choice(ORDERS), "reason": "no_longer_needed"}


def _return(luck: random.Random) -> tuple[str, Any]:
    method = luck.choice(METHODS)
    return "return_items", {
        "order_id": luck.choice(ORDERS), "item_ids": [luck.choice(VARIANTS)], "payment_method_id": method
    }  # fmt: skip


def _swap(tool: str, luck: random.Random) -> tuple[str, Any]:
    old, new = luck.sample(VARIANTS, 2)
    return tool, {
        "order_id": luck.choice(ORDERS), "item_ids": [old], "new_item_ids": [new],
        "payment_method_id": luck.choice(METHODS),
    }  # fmt: skip


def _other_method(luck: random.Random) -> tuple[str, Any]:
    return "change_order_payment", {"order_id": luck.choice(ORDERS), "payment_method_id": luck.choice(METHODS)}


WRITES = (
    _refund, _refund, _cancel, _return, partial(_swap, "exchange_items"), partial(_swap, "change_order_items"),
    _other_method,
)  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_the_books_agree_after_concurrent_workers(committing_db: str, seed: int) -> None:
    as_staff(partial(_fill, ORDERS))
    people = [cast.make_staff("ada", "agent"), cast.make_staff("aaron", "agent"), cast.make_staff("lena", "lead")]
    workers = [
        Worker(
            luck=random.Random(f"{seed} {number}"),
            turns=[cast.begin_turn() for _ in range(CALLS)],
            people=people,
        )
        for number in range(WORKERS)
    ]
    before = totals()
    with ThreadPoolExecutor(WORKERS) as pool:
        for running in [pool.submit(worker.run) for worker in workers]:
            running.result(timeout=60)
    assert totals() == before
    seen_by_staff(no_order_gave_more_than_it_took)
    nothing_was_posted_twice()
    assert not Request.objects.filter(state__in=["failed", "executing", "unknown"]).exists()
    proven = [*ledger.books.doctor.prove(), *approvals.doctor.prove()]
    assert {name: found for name, found in proven if found} == {}


def totals() -> dict[str, int]:
    """Per currency, what is kept here less what came in from outside: the money itself is made and lost nowhere."""
    kept = (
        Account.objects.filter(kind__in=["order", "gift_card"]).values_list("currency").annotate(Sum("balance_minor"))
    )
    outside = Q(kind__in=["external", "opening"])
    ways = {"debits": 1, "credits": -1}

    def look() -> dict[str, int]:
        found: Counter[str] = Counter(dict(kept))
        accounts = list(Account.objects.filter(outside).values_list("pk", "currency"))
        for pk, currency in accounts:
            for way, sign in ways.items():
                moved = Transfer.objects.filter(**{way[:-1]: pk}).aggregate(sum=Sum("amount_minor"))["sum"] or 0
                found[currency] -= sign * moved
        return dict(found)

    return as_staff(look)


def no_order_gave_more_than_it_took() -> None:
    assert not Account.objects.filter(Q(balance_minor__lt=F("held_minor")) | Q(held_minor__lt=0)).exclude(
        kind__in=["external", "opening"]
    ).exists()  # fmt: skip
    for order in Order.objects.all():
        stands = Transfer.objects.filter(order=order, reversal=None).values_list("kind").annotate(Sum("amount_minor"))
        moved = dict(stands)
        assert moved.get("refund", 0) <= moved["capture"], (order.pk, moved)


def nothing_was_posted_twice() -> None:
    entries = seen_by_staff(lambda: list(Entry.objects.values_list("reference", "request_reference")))
    asked = [request for _, request in entries if request]
    assert len(asked) == len(set(asked))
    called = ToolCall.objects.filter(decision="executed").exclude(reference="").values_list("reference", flat=True)
    requested = Request.objects.filter(state="executed").values_list("entry_reference", flat=True)
    ended = Event.objects.filter(kind="execution", tool__startswith="goods_").values_list("reference", flat=True)
    assert Counter([*called, *requested, *ended]) == Counter(reference for reference, _ in entries)
    assert entries, "nothing was posted at all"

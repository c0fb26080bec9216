"""Every pair of deeds that can meet at one request: no deadlock, one outcome, and books that add up."""

import itertools
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from agents.dispatch.dispatch import dispatch
from agents.execution.execute import execute
from approvals import brakes
from approvals.decisions.deciding import decide
from approvals.decisions.undo import undo
from approvals.errors import DecisionError
from approvals.models import Brake, Decision, Request, Staff
from approvals.requests.expiry import expire_due
from approvals.requests.lifecycle import withdraw
from ledger.access.staff import as_staff
from ledger.models import Account, Entry
from tests.conftest import make_call
from tests.support import cast
from tests.support.cast import seen_by_staff

pytestmark = pytest.mark.usefixtures("at_once")

Deed = Callable[[Request, dict[str, Staff]], Any]


def _decide(name: str, verdict: Any, **more: Any) -> Deed:
    return lambda request, people: decide(
        reference=request.reference, staff=people[name], verdict=verdict, digest=request.digest, shown={}, **more
    )


PENDING: dict[str, Deed] = {
    "approve": _decide("ada", "approve"),
    "deny": _decide("lena", "deny", reason_code="policy"),
    "lower": _decide("aaron", "approve", amount_minor=60),
    "withdraw": lambda request, people: withdraw(reference=request.reference, customer_id="maya"),
    "expire": lambda request, people: expire_due(),
    "execute": lambda request, people: execute(request.reference),
    "brake": lambda request, people: brakes.pull(staff=people["lena"], reason="a race"),
}
APPROVED: dict[str, Deed] = {
    name: PENDING[name] for name in ("withdraw", "expire", "execute", "brake", "deny", "lower")
} | {"undo": lambda request, people: undo(reference=request.reference, staff=people["ada"])}
PAIRS = [
    *((False, a, b) for a, b in itertools.combinations_with_replacement(PENDING, 2)),
    *((True, a, b) for a, b in itertools.combinations_with_replacement(APPROVED, 2)),
]


def test_every_pair_has_one_outcome(committing_db: str) -> None:
    as_staff(cast.fill_shop)
    people = {
        name: cast.make_staff(name, role) for name, role in (("ada", "agent"), ("aaron", "agent"), ("lena", "lead"))
    }
    bo = cast.make_staff("bo", "admin")
    refund = {"order_id": "4471", "amount_minor": 100, "reason": "other"}
    for number, (approved, first, second) in enumerate(PAIRS, 1):
        as_staff(partial(cast.make_order, f"r{number}", "maya", 10_000, method="maya-visa"))
        with_open_door(people["lena"], bo)
        dispatch(make_call(cast.begin_turn(), 1, "issue_refund", refund | {"order_id": f"r{number}"}))
        request = Request.objects.get(order_id=f"r{number}")
        if approved:
            PENDING["approve"](request, people)
        if "expire" in (first, second):
            make_due(request, approved)
        deeds = APPROVED if approved else PENDING
        won = race(request, people, deeds[first], deeds[second])
        check(request, f"{'approved' if approved else 'pending'}: {first}/{second}", won)
        finish_off(request)


def make_due(request: Request, approved: bool) -> None:
    column = "execute_before" if approved else "expires_at"
    Request.objects.filter(pk=request.pk).update(**{column: timezone.now()})


def race(request: Request, people: dict[str, Staff], *deeds: Deed) -> list[object]:
    """Both at once; gives what each returned, or the domain's refusal. Anything else, a deadlock too, fails."""
    together = threading.Barrier(len(deeds))

    def run(deed: Deed) -> object:
        try:
            together.wait()
            return deed(request, people)
        except (DecisionError, brakes.BrakeRefused) as refusal:
            return refusal
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(deeds)) as pool:
        return list(pool.map(run, deeds))


def check(request: Request, what: str, won: list[object]) -> None:
    request.refresh_from_db()
    entries = seen_by_staff(lambda: list(Entry.objects.filter(request_reference=request.reference)))
    held = seen_by_staff(lambda: Account.objects.get(order_id=request.order_id).held_minor)
    is_open = request.state in ("pending", "approved")
    assert held == (request.amount_minor if is_open else 0), (what, request.state, held)
    assert len(entries) == int(request.state == "executed"), (what, request.state, won)
    denials = Decision.objects.filter(request=request, verdict="deny").count()
    assert denials == int(request.state == "denied"), (what, request.state)
    assert not (denials and Decision.objects.filter(request=request, verdict="approve", withdrawal=None).exists()), what
    if entries:
        assert entries[0].amount_minor == request.amount_minor, what


def with_open_door(lena: Staff, bo: Staff) -> None:
    """No brake from the pair before."""
    if Brake.objects.filter(released_at=None).exists():
        brakes.release(staff=lena, reason="over")
        brakes.release(staff=bo, reason="over")


def finish_off(request: Request) -> None:
    """What still waits must not count against the next pair: four waiting requests are the most."""
    if request.state in ("pending", "approved"):
        withdraw(reference=request.reference, customer_id="maya")


def test_fifty_workers_approvers_expiry_and_the_brake_have_one_outcome(committing_db: str) -> None:
    as_staff(cast.fill_shop)
    people = {name: cast.make_staff(name, "agent") for name in ("ada", "aaron")} | {
        "lena": cast.make_staff("lena", "lead")
    }
    refund = {"order_id": "4471", "amount_minor": 12_400, "reason": "damaged"}
    dispatch(make_call(cast.begin_turn(), 1, "issue_refund", refund))
    request = Request.objects.get()
    crowd = [PENDING["execute"]] * 50
    for place, name in ((2, "approve"), (5, "lower"), (12, "expire"), (20, "brake"), (30, "withdraw")):
        crowd.insert(place, PENDING[name])

    def run(deed: Deed) -> object:
        try:
            return deed(request, people)
        except (DecisionError, brakes.BrakeRefused) as refusal:
            return refusal
        finally:
            connections.close_all()

    with ThreadPoolExecutor(10) as pool:
        results = list(pool.map(run, crowd))
    check(request, "a crowd", results)
    assert results.count(True) == int(request.state == "executed")

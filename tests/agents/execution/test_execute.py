"""Carrying out what was approved: once, as approved, or not at all."""

import datetime as dt
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from agents.execution.execute import execute, ready
from agents.models import Message
from approvals.decisions.deciding import decide
from approvals.models import Request, Staff
from approvals.requests.expiry import expire_due
from approvals.requests.lifecycle import withdraw
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Account, Entry, Hold
from tests.conftest import Propose, make_call
from tests.support import cast
from tests.support.cast import here, seen_by_staff

pytestmark = pytest.mark.usefixtures("at_once")


@pytest.fixture
def waiting(propose: Propose) -> Request:
    """A refund of the whole £124 that waits."""
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


def approve(request: Request, staff: Staff, **more: Any) -> Request:
    return decide(
        reference=request.reference,
        staff=staff,
        verdict="approve",
        digest=request.digest,
        shown={},
        proof=here(),
        **more,
    )


def _hold_states() -> list[str]:
    return seen_by_staff(lambda: list(Hold.objects.values_list("state", flat=True)))


def test_approved_and_executed_once_with_event_notice_and_posted_hold(waiting: Request, agent: Staff) -> None:
    approve(waiting, agent)
    assert ready() == [waiting.reference]
    assert execute(waiting.reference) is True
    assert execute(waiting.reference) is False
    waiting.refresh_from_db()
    entry = seen_by_staff(Entry.objects.get)
    assert (waiting.state, waiting.entry_reference) == ("executed", entry.reference)
    assert entry.request_reference == waiting.reference
    assert _hold_states() == ["posted"]
    event = Event.objects.exclude(decision="intended").get(kind="execution")
    assert (event.decision, event.reference, event.downstream_reference) == (
        "executed", waiting.reference, entry.reference,
    )  # fmt: skip
    assert Message.objects.filter(author="notice", text__contains=entry.reference).count() == 1


def test_nothing_executes_before_the_undo_delay_is_over(waiting: Request, agent: Staff) -> None:
    approve(waiting, agent)
    Request.objects.update(execute_after=timezone.now() + dt.timedelta(seconds=60))
    assert ready() == []
    assert execute(waiting.reference) is False


def test_a_pending_request_is_never_executed(waiting: Request) -> None:
    assert execute(waiting.reference) is False
    assert seen_by_staff(Entry.objects.count) == 0


def test_two_people_are_needed_above_the_higher_line(propose: Propose, agent: Staff, lead: Staff) -> None:
    propose("issue_refund", order_id="4472", amount_minor=60_000, reason="late")
    request = Request.objects.get()
    assert approve(request, agent).state == "pending"
    assert execute(request.reference) is False
    assert approve(request, lead).state == "approved"
    assert execute(request.reference) is True
    assert seen_by_staff(lambda: Entry.objects.get().amount_minor) == 60_000


def test_drift_makes_it_stale_and_issues_one_fresh_request(waiting: Request, agent: Staff) -> None:
    approve(waiting, agent)
    as_staff(lambda: cast.Order.objects.filter(pk="4471").update(status="processed"))
    execute(waiting.reference)
    waiting.refresh_from_db()
    assert waiting.state == "stale"
    fresh = Request.objects.get(replaces=waiting.reference)
    assert (fresh.state, fresh.rule) == ("pending", "above_automatic_day")
    assert fresh.digest != waiting.digest
    assert sorted(_hold_states()) == ["pending", "voided"]
    assert seen_by_staff(Entry.objects.count) == 0
    approve(fresh, agent)
    as_staff(lambda: cast.Order.objects.filter(pk="4471").update(status="delivered"))
    execute(fresh.reference)
    assert Request.objects.count() == 2


def test_what_can_no_longer_be_done_is_stale_without_a_fresh_request(waiting: Request, agent: Staff) -> None:
    approve(waiting, agent)
    as_staff(lambda: cast.Order.objects.filter(pk="4471").update(status="cancelled"))
    execute(waiting.reference)
    assert [request.state for request in Request.objects.all()] == ["stale"]


def test_a_request_whose_digest_was_changed_does_not_execute(waiting: Request, agent: Staff) -> None:
    approve(waiting, agent)
    Request.objects.update(arguments=waiting.arguments | {"amount_minor": 12_399})
    execute(waiting.reference)
    assert Request.objects.get(pk=waiting.pk).state == "stale"
    assert seen_by_staff(Entry.objects.count) == 0


def test_a_handler_that_fails_ends_the_request_as_failed(
    waiting: Request, agent: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    approve(waiting, agent)

    def explode(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("agents.tools.refunds.plan_refund", explode)
    execute(waiting.reference)
    waiting.refresh_from_db()
    assert (waiting.state, _hold_states()) == ("failed", ["voided"])
    assert waiting.ended_reason.startswith("E-")


def test_expired_undecided_and_expired_unexecuted(waiting: Request, agent: Staff) -> None:
    Request.objects.update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    assert expire_due() == 1
    waiting.refresh_from_db()
    assert (waiting.state, _hold_states()) == ("expired", ["voided"])
    assert Event.objects.get(kind="request", decision="expired").actor_kind == "system"
    assert "expired" in Message.objects.filter(author="notice").last().text


def test_withdrawn_by_its_customer_alone(waiting: Request) -> None:
    withdraw(reference=waiting.reference, customer_id="maya")
    waiting.refresh_from_db()
    assert (waiting.state, _hold_states()) == ("withdrawn", ["voided"])


def test_many_workers_and_a_withdrawal_have_one_outcome(committing_db: str) -> None:
    """Fifty workers execute the same approved request while its customer withdraws it."""
    as_staff(cast.fill_shop)
    ada = cast.make_staff("ada", "agent")
    call = make_call(
        cast.begin_turn(), 1, "issue_refund", {"order_id": "4471", "amount_minor": 12_400, "reason": "damaged"}
    )
    from agents.dispatch.dispatch import dispatch

    request = Request.objects.get(pk=json.loads(dispatch(call).text)["reference"])
    approve(request, ada)

    def race(number: int) -> bool:
        try:
            if number == 25:
                withdraw(reference=request.reference, customer_id="maya")
                return True
            return execute(request.reference)
        except Exception:  # noqa: BLE001 - the withdrawal may lose, which is an answer too
            return False
        finally:
            connections.close_all()

    with ThreadPoolExecutor(10) as pool:
        won = list(pool.map(race, range(50)))
    request.refresh_from_db()
    entries = seen_by_staff(Entry.objects.count)
    assert won.count(True) == 1
    assert (request.state, entries) in [("executed", 1), ("withdrawn", 0)]
    assert seen_by_staff(lambda: Account.objects.get(order_id="4471").held_minor) == 0

"""In every work list: one item that raises, and the good ones are done all the same; what is parked is seen by who may
see it, and tried again."""

import dataclasses
import datetime as dt
import smtplib
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import Any
from unittest.mock import MagicMock

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from agents import work_lists
from agents.execution import elsewhere, holds_elsewhere
from agents.models import Turn
from agents.turns import loop
from agents.turns.claims import Claimed
from approvals.decisions import decoys
from approvals.models import Delivery, Request, Staff
from audit.models import Event
from base import parked, work
from base.models import WorkItem
from ledger.access.staff import as_staff
from ledger.models import Payout
from ledger.payouts import sending
from ledger.providers.connector import Answer
from tests.agents.execution.test_execute import approve
from tests.approvals.outbox.test_delivery import SMTP
from tests.conftest import Propose
from tests.support import cast
from tests.support.cast import seen_by_staff
from tests.support.env import replace

GOOD = ("7001", "7002", "7003")


@pytest.fixture
def requests(propose: Propose) -> list[Request]:
    """Three refunds that wait, the first of which will be poisoned."""
    for order in GOOD:
        as_staff(lambda order=order: cast.make_order(order, "maya", 9_900, method="maya-visa"))  # type: ignore[misc]
        propose("issue_refund", order_id=order, amount_minor=9_900, reason="damaged")
    return list(Request.objects.order_by("order_id"))


@dataclass(frozen=True)
class Case:
    """How three items come to be due in a list, the first of them poisoned, and how many were done."""

    name: str
    prepare: Callable[[list[Request], pytest.MonkeyPatch, Any], None]
    done: Callable[[], int]


def _poisoned(requests: list[Request], **fields: Any) -> None:
    Request.objects.filter(pk=requests[0].pk).update(**fields)


def _raises_for(first: str, otherwise: Callable[[str], object]) -> Callable[..., object]:
    def do(reference: str, **_: Any) -> object:
        if reference == first:
            raise KeyError("facts")
        return otherwise(reference)

    return do


def executions(requests: list[Request], _: pytest.MonkeyPatch, settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, undo_seconds=0)
    staff = cast.make_staff("lena", "lead")
    for request in requests:
        approve(request, staff)
    Request.objects.update(approvals_needed=1)
    _poisoned(requests, facts={"nonsense": 1})


def expiry(requests: list[Request], *_: Any) -> None:
    Request.objects.update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    _poisoned(requests, preview={})


def reminders(requests: list[Request], _: pytest.MonkeyPatch, settings: Any) -> None:
    told(settings)
    Request.objects.update(created_at=timezone.now() - dt.timedelta(hours=7))
    Request.objects.update(expires_at=timezone.now() + dt.timedelta(hours=6))
    _poisoned(requests, preview={})


def told(settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, notify=replace(settings.PLACET.notify, url="https://s", smtp=SMTP))


def doubts(requests: list[Request], monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    now = timezone.now()
    long_ago = {"execute_after": now, "execute_before": now, "decided_at": now, "lease_until": now}
    Request.objects.update(state="unknown", **long_ago)

    def found(reference: str) -> None:
        Request.objects.filter(pk=reference).update(state="failed", ended_reason="a test")

    monkeypatch.setattr(elsewhere, "carry_out", _raises_for(requests[0].pk, found))


def holds(requests: list[Request], monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    def place(reference: str) -> bool:
        return bool(Request.objects.filter(pk=reference).update(state="withdrawn", decided_at=timezone.now()))

    monkeypatch.setattr(holds_elsewhere, "place", _raises_for(requests[0].pk, place))


def outbox(_: list[Request], monkeypatch: pytest.MonkeyPatch, settings: Any, odd: str = "jane@example..com") -> None:
    """Sent as Django's own backend sends, to a server that takes everything."""
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    monkeypatch.setattr(smtplib, "SMTP", MagicMock())
    for n, address in enumerate((odd, "ann@example.com", "bob@example.com")):
        Delivery.objects.create(channel="email", key=str(n), to=address, subject="s", text="t")


def payouts(requests: list[Request], monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, payments="test")
    executions(requests, monkeypatch, settings)
    for request in requests[1:]:
        Request.objects.filter(pk=requests[0].pk).update(facts=requests[0].facts)
        assert work_lists.LISTS["executions"].do(request.pk)
    assert work_lists.LISTS["executions"].do(requests[0].pk)
    [first, *_] = seen_by_staff(lambda: list(Payout.objects.order_by("pk").values_list("key", flat=True)))

    def ask(provider: Any, asked: Any) -> Any:
        if asked.instruction.key == first:
            raise KeyError("facts")
        return Answer(reference=asked.instruction.key, state="settled")

    monkeypatch.setattr(sending, "_ask", ask)


def _states(*states: str) -> Callable[[], int]:
    return lambda: Request.objects.filter(state__in=states).count()


CASES = [
    Case("executions", executions, _states("executed")),
    Case("expiry", expiry, _states("expired")),
    Case("reminders", reminders, lambda: Request.objects.exclude(reminded_at=None).count()),
    Case("doubts", doubts, _states("failed")),
    Case("holds", holds, _states("withdrawn")),
    Case("outbox", outbox, lambda: Delivery.objects.exclude(sent_at=None).count()),
    Case("payouts", payouts, lambda: seen_by_staff(lambda: Payout.objects.filter(state="settled").count())),
]
OF_A_REQUEST = {"executions", "expiry", "doubts", "holds"}


def pauses_end(**changes: Any) -> None:
    WorkItem.objects.filter(parked_at=None).update(next_at=timezone.now(), **changes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_one_that_raises_holds_up_no_other_and_is_parked(
    case: Case, requests: list[Request], monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    case.prepare(requests, monkeypatch, settings)
    each = work_lists.LISTS[case.name]
    assert work.run(each) == 2
    assert case.done() == 2
    item = WorkItem.objects.get(list=case.name)
    assert (item.attempts, item.parked_at) == (1, None)
    pauses_end(attempts=each.most_attempts - 1)
    work.run(each)
    [found] = work_lists.waiting()
    assert (found.list, found.key, found.attempts) == (case.name, item.key, each.most_attempts)
    assert Event.objects.filter(decision="parked").count() == (case.name in OF_A_REQUEST | {"payouts"})
    assert case.done() == 2


def test_a_decoy_that_cannot_be_made_stops_nothing(shop: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.PLACET = replace(settings.PLACET, decoys_per_day=2)
    monkeypatch.setattr(decoys, "make", lambda: {}["last"])
    decoys.run_due()
    assert WorkItem.objects.get().list == "decoys"


@pytest.mark.parametrize("address", ["jane@example..com", "jane@exa\u202emple..com"])
def test_an_address_that_nobody_has_stops_no_mail(
    address: str, db: None, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    outbox([], monkeypatch, settings, odd=address)
    for _ in range(20):
        work.run(work_lists.LISTS["outbox"])
        pauses_end()
    assert Delivery.objects.get(sent_at=None).to == address
    assert WorkItem.objects.get().parked_at is not None


def test_parking_in_one_list_holds_up_no_other(requests: list[Request], settings: Any) -> None:
    """An execution that is parked still expires, which says the truth: nobody executed it in time."""
    executions(requests, pytest.MonkeyPatch(), settings)
    WorkItem.objects.create(list="executions", key=requests[0].pk, attempts=8, next_at=timezone.now())
    work.run(work_lists.LISTS["executions"])
    requests[0].refresh_from_db()
    assert (requests[0].state, requests[0].ended_reason) == ("approved", "")
    Request.objects.filter(pk=requests[0].pk).update(execute_before=timezone.now())
    work.run(work_lists.LISTS["expiry"])
    requests[0].refresh_from_db()
    assert requests[0].state == "expired"
    assert work_lists.waiting() == []


@pytest.fixture
def stuck(requests: list[Request]) -> str:
    """The first request's expiry is parked."""
    expiry(requests)
    WorkItem.objects.create(list="expiry", key=requests[0].pk, attempts=20, next_at=timezone.now())
    work.run(work_lists.LISTS["expiry"])
    return requests[0].pk


def test_the_command_lists_and_retries(stuck: str, requests: list[Request]) -> None:
    said = StringIO()
    call_command("work", "list", stdout=said)
    assert said.getvalue().startswith(f"expiry '{stuck}' since ")
    with pytest.raises(CommandError):
        call_command("work", "retry", "expiry", "R-NOBODY")
    Request.objects.filter(pk=stuck).update(preview=requests[0].preview)  # mended
    call_command("work", "retry", "expiry", stuck, stdout=said)
    assert Event.objects.get(decision="retried", reference=stuck).actor_kind == "system"
    work.run(work_lists.LISTS["expiry"])
    assert Request.objects.get(pk=stuck).state == "expired"
    call_command("work", "list", stdout=said)
    assert said.getvalue().endswith("Nothing is parked.\n")


def test_the_doctor_counts_what_is_parked(stuck: str) -> None:
    said = StringIO()
    call_command("doctor", stdout=said)
    assert "PARKED  expiry: 1, the oldest since 2" in said.getvalue()


@pytest.mark.parametrize(
    ("role", "reads", "acts"), [("agent", 403, 403), ("auditor", 200, 403), ("lead", 200, 302), ("admin", 200, 302)]
)
def test_who_sees_what_is_parked_and_who_has_it_tried_again(
    stuck: str, signed_in: Any, role: str, reads: int, acts: int
) -> None:
    browser = signed_in(cast.make_staff("somebody", role))
    page = browser.get(reverse("work"))
    assert (page.status_code, stuck in page.content.decode()) == (reads, reads == 200)
    assert ("Try again" in page.content.decode()) == (acts == 302)
    answer = browser.post(reverse("work"), {"list": "expiry", "key": stuck})
    assert answer.status_code == acts
    assert Event.objects.filter(decision="retried", actor_id="somebody").exists() == (acts == 302)
    assert (WorkItem.objects.get().parked_at is None) == (acts == 302)


def test_a_parked_turn_stands_among_them_until_it_is_tried_again(turn: Claimed, lead: Staff) -> None:
    loop.run(dataclasses.replace(turn, attempts=10))
    [found] = work_lists.waiting()
    assert (found.list, found.key) == ("turns", str(turn.turn_id))
    assert [(name, many) for name, many, _ in parked.sums()] == [("turns", 1)]
    work_lists.retry("turns", found.key, by=lead.username)
    assert work_lists.waiting() == []
    assert Turn.objects.filter(conversation_id=turn.conversation_id, state="queued").count() == 1
    with pytest.raises(work_lists.CannotRetry):
        work_lists.retry("turns", found.key)

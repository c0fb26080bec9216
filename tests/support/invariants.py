"""What must hold after anything, however it was interrupted. Each looks at one customer's rows, or at all."""

import json
from collections import Counter
from itertools import pairwise
from typing import Any

from django.db.models import F, Q, QuerySet, Sum
from django.db.models.functions import Now

from agents.models import Conversation, Message, ToolCall, Turn
from approvals.models import OPEN_STATES, Decision, Request
from approvals.policy.versions import in_force
from audit.models import Event
from ledger.models import Account, Entry, Hold, Order, Transfer
from standins.model.history import check_messages
from tests.support.cast import messages_for, seen_by_staff


def hold_all(customer_id: str = "", *, lease_seconds: float = 0.0) -> None:
    """Every invariant."""
    books_balance(customer_id)
    one_effect_per_key(customer_id)
    histories_are_valid(customer_id)
    all_is_recorded_once(customer_id)
    nothing_above_a_line_alone(customer_id)
    nothing_is_stuck(customer_id, lease_seconds=lease_seconds)
    one_visible_reply_per_turn(customer_id)


def _of(rows: QuerySet[Any], customer_id: str) -> Any:
    return rows.filter(customer_id=customer_id) if customer_id else rows


def books_balance(customer_id: str = "") -> None:
    """Double entry sums to zero: each account has what its transfers say, and no order gave back more than it took."""

    def check() -> None:
        for account in _of(Account.objects.exclude(kind__in=["external", "opening"]), customer_id):
            came = account.credits.aggregate(sum=Sum("amount_minor"))["sum"] or 0
            went = account.debits.aggregate(sum=Sum("amount_minor"))["sum"] or 0
            held = account.holds.filter(state="pending").aggregate(sum=Sum("amount_minor"))["sum"] or 0
            assert (account.balance_minor, account.held_minor) == (came - went, held)
        for order in _of(Order.objects.all(), customer_id):
            sums = dict(Transfer.objects.filter(order=order).values_list("kind").annotate(Sum("amount_minor")))
            assert 0 <= sums.get("refund", 0) <= sums["capture"]
            assert order.transfers.exclude(currency=order.currency).count() == 0

    seen_by_staff(check)


def one_effect_per_key(customer_id: str = "") -> None:
    """A key has one entry, the entry moved its amount once, and one call or one request asked for it."""
    entries = Entry.objects.annotate(moved=Sum("transfers__amount_minor"))
    for entry in seen_by_staff(lambda: list(_of(entries, customer_id))):
        if entry.tool == "issue_refund":
            assert entry.moved == entry.amount_minor, entry.reference
        asked = Request.objects.filter(entry_reference=entry.reference).count()
        called = ToolCall.objects.filter(decision="executed", reference=entry.reference).count()
        assert (asked, called) == ((1, 0) if entry.request_reference else (0, 1)), entry.reference
    pending = Hold.objects.filter(state="pending", owner__startswith="R-")
    owners = seen_by_staff(lambda: set(_of(pending, customer_id).values_list("owner", flat=True)))
    assert owners <= set(Request.objects.filter(state__in=OPEN_STATES).values_list("reference", flat=True))


def histories_are_valid(customer_id: str = "") -> None:
    """Every call has its one result in the next message, and the API would take the history with one more word."""
    for conversation in _of(Conversation.objects.all(), customer_id):
        last = conversation.turns.filter(state="finished").order_by("number").last()
        if last is None:
            continue
        history = messages_for(conversation.pk, last.number)
        for before, after in pairwise(history):
            called = _ids(before, "tool_use", "id")
            assert called == (_ids(after, "tool_result", "tool_use_id") if called else [])
        more = {"role": "user", "content": "One more word."}
        check_messages([*history, more] if history[-1]["role"] != "user" else history)


def _ids(message: dict[str, Any], kind: str, field: str) -> list[str]:
    content = message["content"]
    return [block[field] for block in content if block["type"] == kind] if isinstance(content, list) else []


def all_is_recorded_once(customer_id: str = "") -> None:
    """One event per dispatched call, refused ones too, and one per entry."""
    events = _of(Event.objects.all(), customer_id)
    turns = _of(Turn.objects.all(), customer_id).values("pk")
    calls = ToolCall.objects.filter(turn__in=turns)
    keys = [f"{c.message.conversation_id}:{c.message_id}:{c.block}" for c in calls.select_related("message")]
    answered = events.filter(kind="dispatch").exclude(decision__in=["observed", "intended"])
    assert Counter(keys) == Counter(answered.values_list("idempotency_key", flat=True))
    for reference, asked in seen_by_staff(
        lambda: list(_of(Entry.objects.all(), customer_id).values_list("reference", "request_reference"))
    ):
        wanted = Q(downstream_reference=reference, kind="execution") if asked else Q(reference=reference)
        assert events.filter(wanted, decision="executed").count() == 1, reference


def nothing_above_a_line_alone(customer_id: str = "") -> None:
    """Added up per customer and day, whatever crosses a line has the approvals it needs, by as many people."""
    moved: Counter[tuple[str, str, str]] = Counter()
    entries = seen_by_staff(lambda: list(_of(Entry.objects.filter(amount_minor__gt=0), customer_id).order_by("at")))
    for entry in entries:
        day = (entry.customer_id, entry.currency, entry.at.date().isoformat())
        moved[day] += entry.amount_minor
        lines = in_force().lines[entry.currency]
        given = Decision.objects.filter(request_id=entry.request_reference, verdict="approve").select_related("staff")
        people = {
            d.staff for d in given if d.staff.role in ("agent", "lead") and d.staff.customer_id != entry.customer_id
        }
        needed = (moved[day] > lines.automatic_day) + (moved[day] > lines.two_people_day)
        assert len(people) >= needed, (entry.reference, moved[day])
        assert all(d.digest == d.request.digest for d in given.select_related("request"))


def nothing_is_stuck(customer_id: str = "", *, lease_seconds: float = 0.0) -> None:
    """Nothing that is not finished is without an owner for longer than two leases (0: nothing is unfinished)."""
    unfinished = _of(Turn.objects.exclude(state="finished"), customer_id)
    due = _of(Request.objects.filter(state="approved", execute_after__lte=Now()), customer_id)
    if not lease_seconds:
        assert not unfinished.exists()
        assert not due.exists()
        return
    late = Q(seconds__gt=2 * lease_seconds)
    owned = Q(lease_until__gt=Now())
    assert not unfinished.exclude(owned).annotate(seconds=Now() - F("claimable_at")).filter(late).exists()


def one_visible_reply_per_turn(customer_id: str = "") -> None:
    """A finished turn was answered once: by the model's words, or by one notice that says why not."""
    for turn in _of(Turn.objects.filter(state="finished"), customer_id):
        said = Message.objects.filter(turn=turn, author="assistant").exclude(text="").count()
        told = Message.objects.filter(conversation_id=turn.conversation_id, key=f"turn:{turn.pk}").count()
        assert (said, told) == ((1, 0) if turn.reason == "answered" else (said, 1)), (turn.pk, turn.reason)
        assert said <= 1
        stored = Message.objects.filter(turn=turn, author="assistant").values_list("content", flat=True)
        assert all(isinstance(json.loads(content), list) for content in stored)

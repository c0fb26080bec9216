"""What people do with turns and sessions: look at the troubled ones, try again, end, sign out."""

import datetime as dt
import uuid

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from agents.chat.notices import ENDINGS, notice
from agents.chat.stream import ended, publish_on_commit
from agents.models import Conversation, Session, Turn
from agents.turns.claims import Claimed
from agents.turns.doorbell import ring_on_commit
from agents.turns.endings import close_open_calls
from audit.record import SYSTEM, Actor, NewEvent, record

FAILED = ("parked", "model_unavailable", "cut", "refusal", "context_window")


class CannotSteer(Exception):
    """Why this cannot be done with this turn."""


def troubled() -> QuerySet[Turn]:
    """Turns that are not finished, and those of the last day that failed; newest first."""
    recent = timezone.now() - dt.timedelta(days=1)
    failed = Q(reason__in=FAILED) | Q(reason__startswith="limit_")
    unanswered = Q(state="finished", finished_at__gte=recent) & ~Q(reason="answered")  # as its index is
    return Turn.objects.filter(~Q(state="finished") | unanswered & failed).order_by("-created_at")[:200]


def retry_turn(turn_id: uuid.UUID, *, by: str = "") -> Turn:
    """Run a failed turn's messages again, as the conversation's next turn. Under the conversation's lock."""
    with transaction.atomic():
        turn = _locked(turn_id)
        if turn.reason not in FAILED:
            raise CannotSteer(f"Turn {turn_id} is {turn.reason or turn.state}; only one that failed is tried again.")
        if turn.conversation.state != Conversation.State.OPEN:
            raise CannotSteer("Staff have this conversation, or it is closed; the assistant does not answer in it.")
        later = Turn.objects.filter(conversation_id=turn.conversation_id, number__gt=turn.number)
        if later.exists():
            raise CannotSteer("The conversation has gone on since; the customer's next message reads everything.")
        again = Turn.objects.create(
            conversation_id=turn.conversation_id, customer_id=turn.customer_id, number=turn.number + 1
        )
        _record(again, "retried", by)
        ring_on_commit("agents.tasks.work")
    return again


def end_turn(turn_id: uuid.UUID, *, by: str = "") -> Turn:
    """End a turn from outside. Raising its fence makes whatever a worker still does change nothing."""
    with transaction.atomic():
        turn = _locked(turn_id)
        if turn.state == Turn.State.FINISHED:
            raise CannotSteer(f"Turn {turn_id} is finished already ({turn.reason}).")
        close_open_calls(_as_claimed(turn))
        turn.refresh_from_db()  # it counts what was left open
        turn.fence += 1
        turn.state, turn.reason, turn.owner = Turn.State.FINISHED, "parked", ""
        turn.lease_until, turn.finished_at = None, timezone.now()
        turn.save()
        notice(turn.conversation_id, ENDINGS["parked"], key=f"turn:{turn.pk}")
        _record(turn, "ended", by)
        publish_on_commit(turn.conversation_id, ("turn.finished", ended(turn.pk, "parked")))
        ring_on_commit("agents.tasks.work")
    return turn


def _as_claimed(turn: Turn) -> Claimed:
    """The turn as whoever runs it would have it."""
    own = {
        name: getattr(turn, name) for name in ("fence", "number", "attempts", "waits", "conversation_id", "customer_id")
    }
    conversation = turn.conversation
    return Claimed(
        turn_id=turn.pk, session_id=conversation.session_id, definition_id=conversation.definition_id,
        started_at=turn.started_at or turn.created_at, **own,
    )  # fmt: skip


def _locked(turn_id: uuid.UUID) -> Turn:
    """The conversation's lock before the turn's, as posting and claiming have it."""
    conversation_id = Turn.objects.filter(pk=turn_id).values_list("conversation_id", flat=True).first()
    if conversation_id is None:
        raise CannotSteer(f"There is no turn {turn_id}; `turns list` shows them.")
    Conversation.objects.select_for_update(no_key=True).get(pk=conversation_id)
    return Turn.objects.select_for_update(no_key=True).get(pk=turn_id)


def _record(turn: Turn, decision: str, by: str) -> None:
    event = NewEvent(
        kind="turn",
        decision=decision,
        customer_id=turn.customer_id,
        conversation_id=turn.conversation_id,
        turn_id=turn.pk,
    )
    record(Actor(kind="staff", id=by) if by else SYSTEM, event)


def sign_out(*, customer_id: str, session_id: str) -> None:
    """End a customer's session: its tokens open nothing any more, its turns stop before their next dispatch."""
    with transaction.atomic():
        Session.objects.get_or_create(customer_id=customer_id, session_id=session_id)
        event = NewEvent(kind="sign_in", decision="signed_out", customer_id=customer_id, session_id=session_id)
        record(Actor(kind="customer", id=customer_id), event)

"""Ending a turn, however it ends: a valid history, a definite state, a sentence for the customer."""

from django.db import transaction
from django.utils import timezone

from agents import corrections, notices, results
from agents.claims import Claimed, hold
from agents.doorbell import ring_on_commit
from agents.models import Message, Turn
from agents.replies import calls_of
from agents.stream import publish_on_commit
from audit.failpoints import reach_on_commit
from audit.record import SYSTEM, NewEvent, record


def finish(turn: Claimed, reason: str) -> None:
    """End the turn: answer what was left open, tell the customer where the model did not, ring for the next."""
    with transaction.atomic():
        hold(turn, whatever_happened=True)
        _close_open_calls(turn)
        _correct(turn)
        if sentence := notices.ENDINGS.get(reason):
            notices.notice(turn.conversation_id, sentence, key=f"turn:{turn.turn_id}")
        if reason != "answered":
            record(SYSTEM, _event(turn, reason))
        Turn.objects.filter(pk=turn.turn_id).update(
            state=Turn.State.FINISHED, reason=reason, finished_at=timezone.now(), owner="", lease_until=None
        )
        reach_on_commit("turn_finished", turn.conversation_id)
        ended = {"turn_id": str(turn.turn_id), "state": "finished", "reason": reason}
        publish_on_commit(turn.conversation_id, "turn.finished", ended)
        if Turn.objects.filter(conversation_id=turn.conversation_id, state=Turn.State.QUEUED).exists():
            ring_on_commit("agents.tasks.work")


def _event(turn: Claimed, reason: str) -> NewEvent:
    return NewEvent(
        kind="turn",
        decision="ended",
        rule=reason,
        customer_id=turn.customer_id,
        conversation_id=turn.conversation_id,
        turn_id=turn.turn_id,
        session_id=turn.session_id,
    )


def _correct(turn: Claimed) -> None:
    texts = Message.objects.filter(turn_id=turn.turn_id, author="assistant").exclude(text="")
    text = texts.order_by("-id").values_list("text", flat=True).first() or ""
    if corrections.claims_an_effect(text) and not corrections.anything_executed(turn.conversation_id):
        notices.notice(turn.conversation_id, corrections.NOTHING_CHANGED, key=f"correction:{turn.turn_id}")


def _close_open_calls(turn: Claimed) -> None:
    """A stored reply whose calls will not run still needs one result for each, or the history is invalid."""
    last = Message.objects.filter(turn_id=turn.turn_id, author="assistant", in_history=True).order_by("-id").first()
    for call in calls_of(turn, last) if last else ():
        if results.stored(call) is None:
            results.keep(call, results.cut())

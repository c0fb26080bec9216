"""Ending a turn, however it ends: a valid history, a definite state, a sentence for the customer."""

from django.db import transaction

from agents.chat import notices
from agents.chat.stream import Event, ended, publish_on_commit
from agents.dispatch import results
from agents.dispatch.batches import left_open
from agents.dispatch.results import calls_of
from agents.models import Message
from agents.turns import corrections
from agents.turns.claims import Claimed, lock_turn
from agents.turns.doorbell import ring_on_commit
from agents.turns.limits import COUNT_LOST
from audit.record import SYSTEM, NewEvent, record
from base import sql
from base.failpoints import reach_on_commit

# What the model said last, and whether the conversation's next turn waits, come with it.
FINISHED = "state = 'finished', reason = %s, finished_at = statement_timestamp(), owner = '', lease_until = NULL"
NEXT_WAITS = "EXISTS (SELECT FROM agents_turn n WHERE n.conversation_id = t.conversation_id AND n.state = 'queued')"
_FINISH = f"""
    UPDATE agents_turn t SET {FINISHED}, {COUNT_LOST}, asked_tokens = 0, asked_microcents = 0
    WHERE id = %s RETURNING
        (SELECT text FROM agents_message m WHERE m.turn_id = t.id AND author = 'assistant' AND text <> ''
         ORDER BY m.id DESC LIMIT 1), {NEXT_WAITS}
"""  # noqa: S608 - our own text


_ENDS = {
    "end_turn": "answered",
    "stop_sequence": "answered",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_window",
    "taken_over": "taken_over",
}


def ending_of(reply: Message) -> str | None:
    """The reason for which a stored reply ends its turn; None while the model is to go on."""
    if reply.stop_reason == "pause_turn" or (reply.stop_reason == "tool_use" and reply.in_history):
        return None
    return _ENDS.get(reply.stop_reason, "cut")


def finish(turn: Claimed, reason: str) -> None:
    """End a turn that no reply ended."""
    with transaction.atomic():
        lock_turn(turn, whatever_happened=True)
        close(turn, reason)


def close(turn: Claimed, reason: str) -> None:
    """Within a transaction that holds the turn: answer what was left open, tell the customer where the model did not,
    ring for the next."""
    if reason != "answered":
        close_open_calls(turn)
        record(SYSTEM, _event(turn, reason))
    said, next_waits = sql.row(_FINISH, [reason, turn.turn_id]) or ("", False)
    _correct(turn, said or "")
    if sentence := notices.ENDINGS.get(reason):
        notices.notice(turn.conversation_id, sentence, key=f"turn:{turn.turn_id}")
    tell_of_end(turn, reason, next_waits)


def tell_of_end(turn: Claimed, reason: str, next_waits: bool, *before: Event) -> None:
    """What follows once a turn's end is committed; `before` are events that tell of what it ended with."""
    reach_on_commit("turn_finished", turn.conversation_id)
    publish_on_commit(turn.conversation_id, *before, ("turn.finished", ended(turn.turn_id, reason)))
    if next_waits:
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


def _correct(turn: Claimed, said: str) -> None:
    if corrections.asserts_an_effect(said) and not corrections.anything_executed(turn.conversation_id):
        notices.notice(turn.conversation_id, corrections.NOTHING_CHANGED, key=f"correction:{turn.turn_id}")


def close_open_calls(turn: Claimed) -> None:
    """A stored reply whose calls will not run still needs one result for each, or the history is invalid."""
    last = Message.objects.filter(turn_id=turn.turn_id, author="assistant", in_history=True).order_by("-id").first()
    for call in calls_of(turn, last) if last else ():
        if results.stored(call) is None:
            results.keep(call, left_open(call))

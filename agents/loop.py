"""One turn, bounded: ask the model, dispatch what it proposes, until it ends or a limit does.

Every writing transaction begins with `claims.hold`. The model is called outside any transaction and with
no database connection held.
"""

import json
import logging

from django.db import transaction

from agents import limits, notices, operator_notes
from agents.claims import Claimed, StoppedTurn, hand_back, hold
from agents.dispatch import dispatch
from agents.endings import finish
from agents.history import tool_uses
from agents.model import ModelDown, ModelRefusesUs, ReplyUnreadable
from agents.models import Message, ToolCall
from agents.replies import ask_and_store, calls_of
from agents.stream import publish
from agents.successor import begin_successor_if_long

log = logging.getLogger(__name__)

_ENDS = {
    "end_turn": "answered",
    "stop_sequence": "answered",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_window",
}


def run(turn: Claimed) -> None:
    """Run a claimed turn to its end, or hand it back to wait for a model that is down."""
    publish(turn.conversation_id, "turn.started", {"turn_id": str(turn.turn_id)})
    try:
        if (reason := _park_if_deadly(turn)) is None:
            while (reason := _step(turn)) is None:
                pass
    except StoppedTurn as stop:
        reason = stop.reason
    except ModelDown as down:
        _wait_for_model(turn, down)
        return
    except ModelRefusesUs as fault:
        log.error("turn %s is parked: %s", turn.turn_id, fault)
        reason = "parked"
    except ReplyUnreadable as fault:
        log.error("turn %s: %s", turn.turn_id, fault)
        reason = "cut"
    finish(turn, reason)


def _park_if_deadly(turn: Claimed) -> str | None:
    """A turn whose workers keep dying is not tried for ever."""
    if turn.attempts - turn.waits <= limits.MOST_DEATHS:
        return None
    log.error("turn %s is parked: %s workers died of it", turn.turn_id, limits.MOST_DEATHS)
    return "parked"


def _step(turn: Claimed) -> str | None:
    """One reply and its dispatches; the reason when the turn is over. A reply that was stored before a crash is
    dispatched from where it stopped; the model is not asked again."""
    message = Message.objects.filter(turn_id=turn.turn_id, author="assistant").order_by("-step").first()
    if message is None:
        _prepare(turn)
    if message is None or _wants_an_answer(message):
        if reached := limits.reached(turn):
            return reached
        message = ask_and_store(turn, step=(message.step or 0) + 1 if message else 1)
    if message.stop_reason == "tool_use" and message.in_history:
        for call in calls_of(turn, message):
            publish(turn.conversation_id, "activity", {"turn_id": str(turn.turn_id), "tool": call.name[:100]})
            dispatch(call)
        return None
    return None if message.stop_reason == "pause_turn" else _ENDS.get(message.stop_reason, "cut")


def _prepare(turn: Claimed) -> None:
    """What belongs before a turn's first model call: a new history for one grown long, the operator's news."""
    with transaction.atomic():
        hold(turn)
        begin_successor_if_long(turn)
        operator_notes.deliver(turn)


def _wants_an_answer(message: Message) -> bool:
    """Whether the model is to go on from a stored reply: it paused, or all its calls have their results."""
    if message.stop_reason == "pause_turn":
        return True
    calls = len(tool_uses(json.loads(message.content)))
    return message.stop_reason == "tool_use" and calls == ToolCall.objects.filter(message=message).count()


def _wait_for_model(turn: Claimed, down: ModelDown) -> None:
    """Give the worker back while the model is down; after several attempts the turn is given up, visibly."""
    if turn.waits >= limits.MOST_WAITS:
        log.error("turn %s is given up: %s", turn.turn_id, down)
        finish(turn, "model_unavailable")
        return
    log.warning("turn %s waits: the model is down: %s", turn.turn_id, down)
    with transaction.atomic():
        hold(turn, whatever_happened=True)
        notices.notice(turn.conversation_id, notices.MODEL_DOWN, key=f"model_down:{turn.turn_id}")
    hand_back(turn, seconds=limits.wait_seconds(turn.waits + 1, down.retry_after))

"""One turn, bounded: ask the model, dispatch what it proposes, until it ends or a limit does.

Every writing transaction begins with `claims.hold`. The model is called outside any transaction and with
no database connection held.
"""

import json
import logging
import time
from typing import Any

from django.db import transaction
from django.utils import timezone

from agents import corrections, limits, notices, results
from agents.claims import Claimed, StoppedTurn, hand_back, hold
from agents.dispatch import dispatch
from agents.doorbell import ring_on_commit
from agents.history import messages_for, text_of, tool_uses
from agents.model import ModelDown, ModelRefusesUs, Reply, ReplyUnreadable, ask
from agents.models import Message, ToolCall, Turn
from agents.pool import give_back_connection
from agents.prices import cost_microcents
from agents.prompt import definition
from agents.results import Call
from agents.stream import is_watched, publish, publish_on_commit
from agents.transcript import show_message
from audit.record import SYSTEM, NewEvent, record

log = logging.getLogger(__name__)


def run(turn: Claimed) -> None:
    """Run a claimed turn to its end, or hand it back to wait for a model that is down."""
    publish(turn.conversation_id, "turn.started", {"turn_id": str(turn.turn_id)})
    try:
        while (reason := _step(turn)) is None:
            pass
    except StoppedTurn as stop:
        reason = stop.reason
    except ModelDown as down:
        _wait_for_model(turn, down)
        return
    except (ModelRefusesUs, ReplyUnreadable) as fault:
        log.error("turn %s: %s", turn.turn_id, fault)
        reason = "parked" if isinstance(fault, ModelRefusesUs) else "cut"
    finish(turn, reason)


def _step(turn: Claimed) -> str | None:
    """One reply and its dispatches; the reason when the turn is over. A reply that was stored before a crash is
    dispatched from where it stopped; the model is not asked again."""
    message = Message.objects.filter(turn_id=turn.turn_id, author="assistant").order_by("-step").first()
    if message is None or (message.stop_reason == "tool_use" and _all_dispatched(message)):
        if reached := limits.reached(turn):
            return reached
        message = _ask(turn, step=(message.step or 0) + 1 if message else 1)
    if message.stop_reason == "tool_use" and message.in_history:
        for call in _calls(turn, message):
            publish(turn.conversation_id, "activity", {"turn_id": str(turn.turn_id), "tool": call.name[:100]})
            dispatch(call)
        return None
    if message.stop_reason == "pause_turn":
        return None
    return _ENDS.get(message.stop_reason, "cut")


_ENDS = {
    "end_turn": "answered",
    "stop_sequence": "answered",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_window",
}


def _calls(turn: Claimed, message: Message) -> list[Call]:
    return [
        Call(
            turn=turn,
            message_id=message.pk,
            block=position,
            tool_use_id=str(block.get("id", "")),
            name=str(block.get("name", "")),
            input=block.get("input"),
            provider_request_id=message.provider_request_id,
        )
        for position, block in tool_uses(json.loads(message.content))
    ]


def _all_dispatched(message: Message) -> bool:
    return len(tool_uses(json.loads(message.content))) == ToolCall.objects.filter(message=message).count()


def _ask(turn: Claimed, *, step: int) -> Message:
    """Call the model and store its reply as it came, before anything in it is acted on."""
    frozen = definition(turn.definition_id)
    history = messages_for(turn.conversation_id, turn.number)
    seconds = limits.seconds_left(turn)
    give_back_connection()  # turns mostly wait for the model
    on_text = _teller(turn, step) if is_watched(turn.conversation_id) else None
    reply = ask(frozen, history, seconds=seconds, on_text=on_text)
    with transaction.atomic():
        hold(turn, whatever_happened=True)
        message = _store(turn, step, reply)
        limits.count(turn, reply.usage, cost_microcents(frozen.model, reply.usage))
    if on_text and message.stop_reason == "tool_use":
        publish(turn.conversation_id, "text.reset", {"turn_id": str(turn.turn_id), "step": step})
    return message


def _teller(turn: Claimed, step: int) -> Any:
    """Sends the text so far in pieces a tenth of a second apart; a new step starts from nothing."""
    shown = {"turn_id": str(turn.turn_id), "step": step}
    publish(turn.conversation_id, "text.reset", shown)
    pieces: list[str] = []
    last = [0.0]

    def tell(text: str) -> None:
        pieces.append(text)
        if time.monotonic() - last[0] >= 0.1:
            publish(turn.conversation_id, "text.delta", {**shown, "text": "".join(pieces)})
            pieces.clear()
            last[0] = time.monotonic()

    return tell


def _store(turn: Claimed, step: int, reply: Reply) -> Message:
    """A reply that repeats an id, is empty, or ends in refusal is evidence and no part of the history."""
    content = json.loads(reply.content)
    ids = [block.get("id") for _, block in tool_uses(content)]
    readable = bool(content) and len(ids) == len(set(ids)) and reply.stop_reason != "refusal"
    stop = reply.stop_reason if readable or reply.stop_reason == "refusal" else "unreadable"
    if stop == "tool_use" and not ids:
        stop = "end_turn"
    message = Message.objects.create(
        conversation_id=turn.conversation_id,
        turn_id=turn.turn_id,
        author=Message.Author.ASSISTANT,
        content=reply.content.replace("\x00", "\ufffd"),
        text=text_of(content) if stop in ("end_turn", "stop_sequence", "max_tokens") else "",
        stop_reason=stop[:60],
        in_history=readable,
        step=step,
        provider_request_id=reply.request_id,
    )
    if message.text:
        publish_on_commit(turn.conversation_id, "message", {"message": show_message(message)})
    if stop != "tool_use" and readable:
        for call in _calls(turn, message):
            results.keep(call, results.cut())
    return message


def _wait_for_model(turn: Claimed, down: ModelDown) -> None:
    """Give the worker back while the model is down; after several attempts the turn is given up, visibly."""
    if turn.attempts >= limits.MODEL_ATTEMPTS:
        log.error("turn %s: given up: %s", turn.turn_id, down)
        finish(turn, "model_unavailable")
        return
    log.warning("turn %s: the model is down: %s", turn.turn_id, down)
    with transaction.atomic():
        hold(turn, whatever_happened=True)
        notices.notice(turn.conversation_id, notices.MODEL_DOWN, key=f"model_down:{turn.turn_id}")
    hand_back(turn, seconds=limits.wait_seconds(turn.attempts, down.retry_after))


def finish(turn: Claimed, reason: str) -> None:
    """End the turn: answer what was left open, tell the customer where the model did not, ring for the next."""
    with transaction.atomic():
        hold(turn, whatever_happened=True)
        _close_open_calls(turn)
        text = _last_text(turn)
        corrections.correct_claims(
            turn.conversation_id,
            turn.turn_id,
            text,
            something_executed=corrections.anything_executed(turn.conversation_id),
        )
        if sentence := notices.ENDINGS.get(reason):
            notices.notice(turn.conversation_id, sentence, key=f"turn:{turn.turn_id}")
        if reason != "answered":
            record(SYSTEM, _event(turn, reason))
        Turn.objects.filter(pk=turn.turn_id).update(
            state=Turn.State.FINISHED, reason=reason, finished_at=timezone.now(), owner="", lease_until=None
        )
        ended = {"turn_id": str(turn.turn_id), "state": "finished", "reason": reason}
        publish_on_commit(turn.conversation_id, "turn.finished", ended)
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


def _last_text(turn: Claimed) -> str:
    texts = Message.objects.filter(turn_id=turn.turn_id, author="assistant").exclude(text="")
    return texts.values_list("text", flat=True).last() or ""


def _close_open_calls(turn: Claimed) -> None:
    """A stored reply whose calls will not run still needs one result for each, or the history is invalid."""
    last = Message.objects.filter(turn_id=turn.turn_id, author="assistant", in_history=True).last()
    if last is None:
        return
    for call in _calls(turn, last):
        if results.stored(call) is None:
            results.keep(call, results.cut())

"""Asking the model, and storing its reply as it came before anything in it is acted on."""

import json
import time
from typing import Any

from django.db import transaction

from agents.chat.stream import publish, publish_on_commit
from agents.chat.transcript import show_message
from agents.context import operator_notes, taint
from agents.context.history import text_of, tool_uses
from agents.context.prompt import definition
from agents.dispatch import results
from agents.dispatch.results import calls_of
from agents.models import Definition, Message
from agents.turns import limits
from agents.turns.admission import begin_call
from agents.turns.breaker import breaker_of, counting
from agents.turns.claims import TAKEN_OVER, Claimed, lock_turn
from agents.turns.corrections import asserts_an_effect
from agents.turns.endings import FINISHED, NEXT_WAITS, close, ending_of, tell_of_end
from agents.turns.model import ModelDown, ModelRefusesUs, OnText, Reply, ask
from agents.turns.pool import give_back_connection
from agents.turns.prices import cost_microcents
from audit.record import SYSTEM, NewEvent, record
from base import sql
from base.failpoints import reach
from base.sql import Row

DELTA_SECONDS = 0.1


def ask_and_store(turn: Claimed, *, step: int, watched: bool) -> Message:
    """One model call, outside any transaction and without a connection; then its reply and its cost, and the end of the
    turn if this was the last. Raises what `begin_call` and `ask` raise."""
    frozen = definition(turn.definition_id)
    history = operator_notes.fitted(begin_call(turn, frozen), frozen.model, turn.turn_id)
    on_text = _teller(turn, step) if watched else None
    reply = _ask(turn, frozen, history, on_text)
    reach("model_replied", turn.conversation_id)
    message = _kept(turn, step, reply, limits.counted(reply.usage, cost_microcents(frozen.model, reply.usage)))
    reach("reply_stored", turn.conversation_id)
    if on_text and message.stop_reason == "tool_use":
        publish(turn.conversation_id, ("text.reset", {"turn_id": str(turn.turn_id), "step": step}))
    return message


def _ask(turn: Claimed, frozen: Definition, history: list[Any], on_text: OnText | None) -> Reply:
    """The call was noted before it is spent; what was not spent after all is taken back."""
    breaker, seconds = breaker_of(frozen.model), limits.seconds_left(turn)
    give_back_connection()  # turns mostly wait for the model
    try:
        breaker.admit()
        with counting(breaker):
            return ask(frozen, json.dumps(history), seconds=seconds, on_text=on_text)
    except (ModelDown, ModelRefusesUs) as problem:
        if isinstance(problem, ModelRefusesUs) or not problem.spent:
            limits.forget_call(turn)
        raise


def _teller(turn: Claimed, step: int) -> OnText:
    """Sends the text in pieces a tenth of a second apart; a step begins by taking back what was said before."""
    shown = {"turn_id": str(turn.turn_id), "step": step}
    publish(turn.conversation_id, ("text.reset", shown))
    pieces: list[str] = []
    last_sent = time.monotonic()

    def tell(text: str) -> None:
        nonlocal last_sent
        pieces.append(text)
        if time.monotonic() - last_sent >= DELTA_SECONDS:
            publish(turn.conversation_id, ("text.delta", {**shown, "text": "".join(pieces)}))
            pieces.clear()
            last_sent = time.monotonic()

    return tell


_COLUMNS = ("content", "text", "stop_reason", "in_history", "provider_request_id", "step")
_STORE = f"""
    WITH counted AS (
        UPDATE agents_turn t SET {limits.COUNT} {{ending}} FROM agents_conversation c
        WHERE t.id = %s AND t.fence = %s AND t.state = 'running' AND c.id = t.conversation_id {{unless}}
        RETURNING t.id, t.conversation_id, {NEXT_WAITS} AS next_waits),
    stored AS (
        INSERT INTO agents_message (conversation_id, turn_id, author, {", ".join(_COLUMNS)})
        SELECT conversation_id, id, 'assistant', {", ".join(["%s"] * len(_COLUMNS))} FROM counted
        RETURNING id, created_at)
    SELECT stored.id, stored.created_at, next_waits FROM stored, counted
"""  # noqa: S608 - our own texts
_HELD = _STORE.format(ending="", unless="")
_ALONE = _STORE.format(ending="", unless=f"AND NOT {TAKEN_OVER}")
_ALONE_AND_LAST = _STORE.format(ending=f", {FINISHED}", unless=f"AND NOT {TAKEN_OVER}")


def _kept(turn: Claimed, step: int, reply: Reply, count: list[Any]) -> Message:
    """The reply as stored, with all that belongs to it: in one statement where nothing but itself, or the end of the
    turn, does. Whoever took over meanwhile has marked the turn, so then it is not."""
    content = json.loads(reply.content)
    stop, readable = _judge(content, reply.stop_reason)
    message = _message(turn, step, reply, content, stop, readable)
    if _stands_alone(message, content) and _store_alone(turn, message, count):
        return message
    with transaction.atomic():
        if lock_turn(turn, whatever_happened=True).taken_over:
            message = _message(turn, step, reply, content, "taken_over", readable=False)
        _insert(message, _HELD, [*count, turn.turn_id, turn.fence])
        _keep_beside(turn, message, content)
        if reason := ending_of(message):
            close(turn, reason)
    return message


def _message(turn: Claimed, step: int, reply: Reply, content: list[Any], stop: str, readable: bool) -> Message:
    """A reply that repeats an id, is empty, ends in refusal, or comes after a person took over is evidence and no part
    of the history."""
    return Message(
        conversation_id=turn.conversation_id,
        turn_id=turn.turn_id,
        author=Message.Author.ASSISTANT,
        content=reply.content,
        text=text_of(content) if stop in ("end_turn", "stop_sequence", "max_tokens") else "",
        stop_reason=stop[:60],
        in_history=readable,
        step=step,
        provider_request_id=reply.request_id,
    )


def _stands_alone(message: Message, content: list[Any]) -> bool:
    """Whether nothing has to be stored beside it: no work of the provider's tools, no call that will not run, no claim
    to be corrected."""
    kinds = {block.get("type") for block in content if isinstance(block, dict)}
    if not message.in_history or not kinds <= {"text", "thinking", "redacted_thinking", "tool_use"}:
        return False
    if message.stop_reason == "tool_use":
        return True
    answers = ending_of(message) == "answered" and message.text and "tool_use" not in kinds
    return bool(answers) and not asserts_an_effect(message.text)


def _store_alone(turn: Claimed, message: Message, count: list[Any]) -> bool:
    mine = [turn.turn_id, turn.fence]
    if message.stop_reason == "tool_use":
        return _insert(message, _ALONE, [*count, *mine]) is not None
    stored = _insert(message, _ALONE_AND_LAST, [*count, "answered", *mine])
    if stored:
        tell_of_end(turn, "answered", stored[2], ("message", {"message": show_message(message)}))
    return stored is not None


def _insert(message: Message, statement: str, values: list[Any]) -> Row | None:
    """Store the reply and count it against the turn's limits."""
    stored = sql.row(statement, [*values, *(getattr(message, name) for name in _COLUMNS)])
    if stored:
        message.pk, message.created_at = stored[:2]
    return stored


def _keep_beside(turn: Claimed, message: Message, content: list[Any]) -> None:
    if message.text:
        publish_on_commit(turn.conversation_id, ("message", {"message": show_message(message)}))
    _observe(turn, message, content)
    if message.in_history:
        taint.keep_of_reply(turn.conversation_id, message.pk, content)
    if message.in_history and message.stop_reason != "tool_use":
        for call in calls_of(turn, message):
            results.keep(call, results.cut())


def _judge(content: list[Any], stop_reason: str) -> tuple[str, bool]:
    """What the reply's end means for us, and whether it may be resent."""
    calls = [block for _, block in tool_uses(content)]
    ids = [block.get("id") for block in calls]
    sound = len(ids) == len(set(ids)) and all(isinstance(block.get("input"), dict) for block in calls)
    if stop_reason == "refusal":
        return stop_reason, False
    if not content or not sound:
        return "unreadable", False
    if stop_reason == "tool_use" and not calls:
        return "end_turn", True
    return stop_reason or "unfinished", True


def _observe(turn: Claimed, message: Message, content: list[Any]) -> None:
    """What the provider's own tools did is not ours to decide, but it is recorded."""
    found = {b.get("tool_use_id"): b for b in content if isinstance(b, dict) and "tool_use_id" in b}
    for block in content:
        if isinstance(block, dict) and block.get("type") == "server_tool_use":
            record(
                SYSTEM,
                NewEvent(
                    kind="dispatch",
                    decision="observed",
                    customer_id=turn.customer_id,
                    conversation_id=turn.conversation_id,
                    turn_id=turn.turn_id,
                    session_id=turn.session_id,
                    tool_use_id=str(block.get("id", "")),
                    tool=str(block.get("name", "")),
                    provider_request_id=message.provider_request_id,
                ),
                arguments=json.dumps(block.get("input")),
                sources=_sources(found.get(block.get("id"))),
            )


def _sources(result: Any) -> list[str]:
    """Where a server tool's result came from: the addresses in it."""
    content = result.get("content") if isinstance(result, dict) else None
    rows = content if isinstance(content, list) else [content]
    return [str(row["url"])[:500] for row in rows if isinstance(row, dict) and "url" in row][:50]

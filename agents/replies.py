"""Asking the model, and storing its reply as it came before anything in it is acted on."""

import json
import time
from typing import Any

from django.db import connection, transaction

from agents import breaker, limits, operator_notes, results, taint
from agents.claims import Claimed, Held, hold
from agents.endings import close, ending_of
from agents.history import messages_for, text_of, tool_uses
from agents.model import ModelDown, ModelRefusesUs, OnText, Reply, ask
from agents.models import Definition, Message
from agents.pool import give_back_connection
from agents.prices import Usage, cost_microcents, estimated_tokens
from agents.prompt import definition
from agents.results import calls_of
from agents.stream import is_watched, publish, publish_on_commit
from agents.transcript import show_message
from audit.failpoints import reach
from audit.record import SYSTEM, NewEvent, record

DELTA_SECONDS = 0.1


def ask_and_store(turn: Claimed, *, step: int) -> Message:
    """One model call, outside any transaction and without a connection; then its reply and its cost, and the end of the
    turn if this was the last."""
    frozen = definition(turn.definition_id)
    history = operator_notes.fitted(messages_for(turn.conversation_id, turn.number), frozen.model, turn.turn_id)
    on_text = _teller(turn, step) if is_watched(turn.conversation_id) else None
    reply = _ask(turn, frozen, history, on_text)
    reach("model_replied", turn.conversation_id)
    with transaction.atomic():
        held = hold(turn, whatever_happened=True)
        message = _store(turn, step, reply, cost_microcents(frozen.model, reply.usage), held)
        if reason := ending_of(message):
            close(turn, reason)
    reach("reply_stored", turn.conversation_id)
    if on_text and message.stop_reason == "tool_use":
        publish(turn.conversation_id, "text.reset", {"turn_id": str(turn.turn_id), "step": step})
    return message


def _ask(turn: Claimed, frozen: Definition, history: list[Any], on_text: OnText | None) -> Reply:
    """Written down before it is spent, so that what a worker takes to its grave is counted too."""
    with breaker.guarding(frozen.model):
        tokens = estimated_tokens(frozen.system, frozen.tools, json.dumps(history))
        limits.begin_call(turn, tokens, cost_microcents(frozen.model, Usage(input=tokens)))
        seconds = limits.seconds_left(turn)
        give_back_connection()  # turns mostly wait for the model
        try:
            return ask(frozen, history, seconds=seconds, on_text=on_text)
        except (ModelDown, ModelRefusesUs) as problem:
            if isinstance(problem, ModelRefusesUs) or not problem.spent:
                limits.forget_call(turn)
            raise


def _teller(turn: Claimed, step: int) -> OnText:
    """Sends the text in pieces a tenth of a second apart; a step begins by taking back what was said before."""
    shown = {"turn_id": str(turn.turn_id), "step": step}
    publish(turn.conversation_id, "text.reset", shown)
    pieces: list[str] = []
    last_sent = time.monotonic()

    def tell(text: str) -> None:
        nonlocal last_sent
        pieces.append(text)
        if time.monotonic() - last_sent >= DELTA_SECONDS:
            publish(turn.conversation_id, "text.delta", {**shown, "text": "".join(pieces)})
            pieces.clear()
            last_sent = time.monotonic()

    return tell


_STORE = """
    INSERT INTO agents_message (conversation_id, turn_id, author, step, content, text, stop_reason, in_history,
                                provider_request_id)
    VALUES (%s, %s, 'assistant', %s, %s, %s, %s, %s, %s) RETURNING id, created_at
"""


def _store(turn: Claimed, step: int, reply: Reply, cost: int, held: Held) -> Message:
    """A reply that repeats an id, is empty, ends in refusal, or comes after a person took over is evidence and no part
    of the history."""
    content = json.loads(reply.content)
    stop, readable = ("taken_over", False) if held.taken_over else _judge(content, reply.stop_reason)
    message = Message(
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
    _insert(message, limits.counting(turn, reply.usage, cost))
    if message.text:
        publish_on_commit(turn.conversation_id, "message", {"message": show_message(message)})
    _observe(turn, message, content)
    if readable:
        taint.keep_of_reply(turn.conversation_id, message.pk, content)
    if readable and stop != "tool_use":
        for call in calls_of(turn, message):
            results.keep(call, results.cut())
    return message


def _insert(message: Message, counting: tuple[str, list[Any]]) -> None:
    """Store the reply and count it against the turn's limits, in one statement."""
    count, counted = counting
    values = [
        message.conversation_id, message.turn_id, message.step, message.content, message.text, message.stop_reason,
        message.in_history, message.provider_request_id,
    ]  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(f"WITH counted AS ({count}) {_STORE}", [*counted, *values])
        message.pk, message.created_at = cursor.fetchone()


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

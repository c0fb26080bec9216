"""What became of a tool call: the outcome's forms, and keeping it with its event, once."""

import json
import time
from dataclasses import dataclass, field, replace
from typing import Any

from agents.chat import notices
from agents.context import taint
from agents.context.history import tool_uses
from agents.context.prompt import definition
from agents.models import Message
from agents.tools.registry import Acted, tools
from agents.turns.claims import Claimed
from approvals.policy.rules import Verdict
from audit.record import Actor, NewEvent, recording
from base import sql
from base.references import new_reference
from ledger.books.entries import Posted
from ledger.books.plans import Plan

MOST_ARGUMENTS = 16_000
CUT = "Not executed: the reply was cut."


class NothingReturned(Exception):
    """A handler that returns nothing has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One `tool_use` block of a stored reply. `key` is conversation, message and block."""

    turn: Claimed
    message_id: int
    block: int
    tool_use_id: str
    name: str
    input: Any
    provider_request_id: str = ""

    @property
    def key(self) -> str:
        return f"{self.turn.conversation_id}:{self.message_id}:{self.block}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result for the model, and what the record says about it. Amounts in minor units."""

    decision: str
    text: str
    is_error: bool = False
    rule: str = ""
    reference: str = ""
    order_id: str = ""
    amount_minor: int | None = None
    currency: str = ""
    policy_version: int | None = None
    credential_id: str = ""
    effective: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    fault: str = ""
    told: str = ""
    latency_ms: int = 0
    untrusted: tuple[str, ...] = ()
    """Fields of the result that hold text from neither the customer nor the operator."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A write that was allowed (`posted`) or waits under `reference`."""

    plan: Plan
    verdict: Verdict
    arguments: dict[str, Any]
    credential_id: str
    posted: Posted | None = None
    reference: str = field(default_factory=lambda: new_reference("R"))


_STORED = "SELECT result, is_error, reference FROM agents_toolcall WHERE message_id = %s AND block = %s"


def stored(call: Call) -> Outcome | None:
    """What this call was answered before, if it was."""
    before = sql.row(_STORED, [call.message_id, call.block])
    return replayed(*before) if before else None


def replayed(text: str, is_error: bool, reference: str) -> Outcome:
    """What this call was answered before."""
    return Outcome(decision="replayed", text=text, is_error=is_error, reference=reference)


def read(found: dict[str, Any], effective: dict[str, Any], credential_id: str, untrusted: tuple[str, ...]) -> Outcome:
    """A look-up's answer as JSON text."""
    text = json.dumps(found, ensure_ascii=False)
    return Outcome(
        decision="executed",
        text=text,
        credential_id=credential_id,
        effective=effective,
        order_id=str(effective.get("order_id", "")),
        untrusted=untrusted,
    )


def written(done: Done) -> Outcome:
    """A write that was executed, or that waits for a person."""
    plan, posted = done.plan, done.posted
    reference = posted.reference if posted else done.reference
    status = "executed" if posted else "queued"
    message = plan.done if posted else f"{plan.summary}: {_QUEUED.format(reference)}"
    return Outcome(
        decision=status,
        text=json.dumps({"status": status, "reference": reference, "message": message}, ensure_ascii=False),
        rule=done.verdict.rule,
        reference=reference,
        order_id=plan.order_id,
        amount_minor=plan.amount_minor if plan.currency else None,
        currency=plan.currency,
        policy_version=done.verdict.policy_version,
        credential_id=done.credential_id,
        effective=done.arguments,
        facts=done.verdict.facts,
        told=f"{plan.done} Reference {reference}." if posted else "",
    )


def acted(done: Acted | None, effective: dict[str, Any]) -> Outcome:
    """A write outside the ledger that was carried out: no money, so no verdict of the policy."""
    if done is None:
        raise NothingReturned
    answer = {"status": "executed", "reference": done.reference, "message": done.message}
    return Outcome(
        decision="executed",
        text=json.dumps(answer, ensure_ascii=False),
        rule="no_money",
        reference=done.reference,
        effective=effective,
        told=f"{done.told} Reference {done.reference}." if done.told else "",
    )


_QUEUED = "queued for approval by a person, reference {}, usually decided within a day."


def refused(rule: str, message: str, facts: dict[str, Any] | None = None) -> Outcome:
    """A rule said no; the sentence says how to call again."""
    return Outcome(decision="refused", text=message, is_error=True, rule=rule, facts=facts or {})


def failed(call: Call, code: str, fault: Exception) -> Outcome:
    """A fault on our side: the code is in the log and the event, the fault itself is not for the model."""
    text = (
        f"{call.name[:100]} failed on our side ({code}). Do not call it again now; "
        "tell the customer and offer a person."
    )
    return Outcome(decision="failed", text=text, is_error=True, rule="fault", fault=f"{code} {type(fault).__name__}")


def cut() -> Outcome:
    """For a call in a reply that stopped for another reason than its calls."""
    return refused("cut", CUT)


def unconfirmed(call: Call) -> Outcome:
    """For a write in a shop that lives elsewhere, when nobody will ask it any more whether it was carried out."""
    text = (
        f"It could not be confirmed whether {call.name[:100]} was carried out. Do not call it again; tell the customer "
        "that this is being checked, and offer a person."
    )
    return Outcome(decision="unknown", text=text, is_error=True, rule="unconfirmed")


def timed(outcome: Outcome, began: float) -> Outcome:
    """With how long it took, from a reading of the monotonic clock on."""
    return replace(outcome, latency_ms=round((time.monotonic() - began) * 1000))


def keep(call: Call, outcome: Outcome) -> None:
    """Store the result with its event, its notice and the turn's counts, in the dispatch's transaction."""
    turn = call.turn
    recorded, values = _event(call, outcome)
    values += [
        call.message_id, call.block, turn.turn_id, call.tool_use_id, call.name[:200], outcome.decision,
        outcome.reference, outcome.text, outcome.is_error,
    ]  # fmt: skip
    counts: list[Any] = [_proposes(call.name), outcome.is_error, turn.turn_id]
    if outcome.told:
        told = [turn.conversation_id, outcome.told, f"executed:{outcome.reference}"]
        if row := sql.row(recorded + _KEEP_AND_TELL, [*values, *told, *counts]):
            notices.tell(turn.conversation_id, outcome.told, row)
    else:
        sql.run(recorded + _KEEP, [*values, *counts])
    taint.keep(turn.conversation_id, call.message_id, call.block, call.name, outcome.untrusted)


def _event(call: Call, outcome: Outcome) -> tuple[str, list[Any]]:
    """The event, as the beginning of a statement and its values."""
    turn, frozen, arguments = call.turn, definition(call.turn.definition_id), json.dumps(call.input)
    return recording(
        Actor(kind="customer", id=turn.customer_id),
        NewEvent(
            kind="dispatch",
            customer_id=turn.customer_id,
            conversation_id=turn.conversation_id,
            turn_id=turn.turn_id,
            session_id=turn.session_id,
            tool_use_id=call.tool_use_id,
            tool=call.name,
            idempotency_key=call.key,
            provider_request_id=call.provider_request_id,
            model=frozen.model,
            prompt_hash=frozen.prompt_hash,
            schema_hash=frozen.schema_hash,
            **{name: getattr(outcome, name) for name in _SHARED},
        ),
        arguments=arguments if len(arguments) <= MOST_ARGUMENTS else arguments[:MOST_ARGUMENTS] + " (cut)",
        effective=outcome.effective,
        facts=outcome.facts,
        reason=outcome.text if outcome.is_error else "",
        fault=outcome.fault,
        untrusted=outcome.untrusted or None,
    )


def _proposes(name: str) -> int:
    """1 for a write, refused or not: a turn's writes are its proposals."""
    tool = tools().get(name)
    return int(tool is not None and tool.writes)


_SHARED = (
    "decision", "rule", "reference", "order_id", "amount_minor", "currency", "policy_version", "credential_id",
    "latency_ms",
)  # fmt: skip
_RESULT = """, result AS (
        INSERT INTO agents_toolcall (message_id, block, turn_id, tool_use_id, tool, decision, reference, result,
                                     is_error)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s))
"""
_COUNT = """UPDATE agents_turn SET writes = writes + %s,
        errors_in_row = CASE WHEN %s THEN errors_in_row + 1 ELSE 0 END WHERE id = %s
"""
_KEEP = f"{_RESULT} {_COUNT}"
_KEEP_AND_TELL = f"{_RESULT}, told AS ({notices.SAY_ONCE}), counted AS ({_COUNT}) SELECT id, created_at FROM told"  # noqa: S608


def calls_of(turn: Claimed, message: Message) -> list[Call]:
    """The tool calls of a stored reply."""
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

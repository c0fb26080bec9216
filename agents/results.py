"""What became of a tool call: the outcome's forms, and keeping it with its event, once."""

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.db import connection

from agents.claims import Claimed
from agents.models import ToolCall
from agents.notices import notice
from agents.prompt import definition
from agents.tools.registry import Acted, tools
from approvals.policy import DEFAULT
from audit.record import Actor, NewEvent, record

if TYPE_CHECKING:
    from agents.dispatch import Done

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


def stored(call: Call) -> Outcome | None:
    """What this call was answered before, if it was."""
    before = ToolCall.objects.filter(message_id=call.message_id, block=call.block).first()
    if before is None:
        return None
    return Outcome(decision="replayed", text=before.result, is_error=before.is_error, reference=before.reference)


def read(found: dict[str, Any], effective: dict[str, Any], credential_id: str) -> Outcome:
    """A look-up's answer as JSON text."""
    text = json.dumps(found, ensure_ascii=False)
    return Outcome(
        decision="executed",
        text=text,
        credential_id=credential_id,
        effective=effective,
        order_id=str(effective.get("order_id", "")),
    )


def written(done: "Done") -> Outcome:
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
        policy_version=DEFAULT.version,
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


def keep(call: Call, outcome: Outcome) -> None:
    """Store the result with its event, its notice and the turn's counts, in the dispatch's transaction."""
    turn = call.turn
    frozen = definition(turn.definition_id)
    arguments = json.dumps(call.input)
    record(
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
    )
    ToolCall.objects.create(
        message_id=call.message_id,
        block=call.block,
        turn_id=turn.turn_id,
        tool_use_id=call.tool_use_id,
        tool=call.name[:200],
        decision=outcome.decision,
        reference=outcome.reference,
        result=outcome.text,
        is_error=outcome.is_error,
    )
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [_proposes(call.name), outcome.is_error, turn.turn_id])
    if outcome.told:
        notice(turn.conversation_id, outcome.told, key=f"executed:{outcome.reference}")


def _proposes(name: str) -> int:
    """1 for a write, refused or not: a turn's writes are its proposals."""
    tool = tools().get(name)
    return int(tool is not None and tool.writes)


_SHARED = (
    "decision", "rule", "reference", "order_id", "amount_minor", "currency", "policy_version", "credential_id",
    "latency_ms",
)  # fmt: skip
_COUNT = """
    UPDATE agents_turn SET writes = writes + %s,
        errors_in_row = CASE WHEN %s THEN errors_in_row + 1 ELSE 0 END WHERE id = %s
"""

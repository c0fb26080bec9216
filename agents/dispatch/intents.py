"""Intents: what was decided about a write before a shop that lives elsewhere was asked to carry it out."""

from typing import Any

from agents.dispatch.results import Call, Done
from approvals.policy.rules import Verdict
from audit.models import Event
from audit.record import Actor, NewEvent, record
from ledger.books.plans import Plan
from ledger.protocol.writes import Found


def intend(call: Call, done: Done) -> None:
    """Record what the shop is about to be asked, in the transaction that decided it."""
    record(
        Actor(kind="customer", id=call.turn.customer_id),
        NewEvent(
            kind="dispatch",
            decision="intended",
            rule=done.verdict.rule,
            customer_id=call.turn.customer_id,
            conversation_id=call.turn.conversation_id,
            turn_id=call.turn.turn_id,
            session_id=call.turn.session_id,
            tool_use_id=call.tool_use_id,
            tool=call.name,
            order_id=done.plan.order_id,
            amount_minor=done.plan.amount_minor if done.plan.currency else None,
            currency=done.plan.currency,
            policy_version=done.verdict.policy_version,
            credential_id=done.credential_id,
            idempotency_key=call.key,
        ),
        facts=done.verdict.facts,
    )


def intent_of(call: Call) -> Event | None:
    """What an earlier try of this call had decided, if it came so far."""
    mine = Event.objects.filter(conversation_id=call.turn.conversation_id, kind="dispatch", decision="intended")
    return mine.filter(idempotency_key=call.key).order_by("-id").first()


def as_intended(intent: Event, found: Found, arguments: dict[str, Any]) -> Done:
    """What an earlier try carried out without hearing the answer."""
    verdict = Verdict(outcome="allow", rule=intent.rule, policy_version=intent.policy_version or 0)
    plan = Plan.from_json(found.plan)
    return Done(plan=plan, verdict=verdict, arguments=arguments, credential_id=intent.credential_id)

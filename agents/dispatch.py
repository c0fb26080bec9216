"""ONE tool call: what is checked before the model gets its way, from top to bottom.

One transaction holds the effect, its event and the stored result: they commit together or not at all. The
race it closes: a worker that lost its turn (`claims.hold`) or a repeated call (`stored`) changes nothing.
"""

import logging
import time
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import DatabaseError, connection, transaction

from agents import guards, results
from agents.claims import Held, hold
from agents.results import Call, Outcome
from agents.tools.registry import Arguments, Caller, Tool, tools
from agents.watchdog import watching
from approvals import requests
from approvals.facts import Standing, facts_for, standing_of
from approvals.policy import DEFAULT, Verdict, decide
from audit.failpoints import reach
from ledger.client import ScopedClient, Shop
from ledger.entries import Posted
from ledger.errors import CredentialRefused, Refused
from ledger.locks import lock_customer
from ledger.plans import Plan
from ledger.references import new_reference

log = logging.getLogger(__name__)


def dispatch(call: Call) -> Outcome:
    """Decide and act on one `tool_use` block, and store its one result."""
    began = time.monotonic()
    with transaction.atomic():
        held = hold(call.turn)  # still ours, still signed in, not taken over
        if before := results.stored(call):  # seen before: the same answer, no second effect
            return before
        with watching(call):  # a call that hangs is abandoned and fenced off
            outcome = _attempt(call, held)
        outcome = replace(outcome, latency_ms=round((time.monotonic() - began) * 1000))
        reach("effect_written", call.turn.conversation_id)
        results.keep(call, outcome)  # the event, the result, the notice
    reach("request_committed" if outcome.decision == "queued" else "call_committed", call.turn.conversation_id)
    return outcome


def _attempt(call: Call, held: Held) -> Outcome:
    """A refusal or a fault rolls back to here, so it leaves no half effect, only its row."""
    try:
        with transaction.atomic():
            return _decide(call, held)
    except Refused as refusal:
        return results.refused(refusal.rule, refusal.message, refusal.facts)
    except CredentialRefused as refusal:
        return results.failed(call, guards.fault_code(), refusal)
    except Exception as fault:
        if isinstance(fault, DatabaseError) and (connection.connection is None or connection.connection.closed):
            raise  # the transaction is gone: the turn is tried again as a whole
        code = guards.fault_code()
        log.exception("%s %s failed", code, call.name)
        return results.failed(call, code, fault)


def _decide(call: Call, held: Held) -> Outcome:
    tool = guards.known_tool(call.name, tools())
    token = guards.credential_for(tool, call.turn.customer_id, call.turn.conversation_id)
    arguments = guards.valid_arguments(tool, call.input)
    guards.within_budget(tool, held)
    caller = Caller(customer_id=call.turn.customer_id, conversation_id=call.turn.conversation_id)
    if not tool.writes:
        return _read(tool, token, caller, arguments)
    lock_customer(call.turn.customer_id)  # or two conversations could each stay below a line
    if tool.act is not None:
        return results.acted(tool.act(caller, arguments), arguments.model_dump(exclude_none=True))
    standing = standing_of(call.turn.customer_id)
    client = ScopedClient(token, open_requests=standing.by_order)
    done = client.run(lambda shop: _write(call, tool, shop, arguments, standing))
    if done.verdict.outcome == "ask":
        _queue(call, done)
    return results.written(done)


def _read(tool: Tool, token: str, caller: Caller, arguments: Arguments) -> Outcome:
    client, read = ScopedClient(token), tool.read
    found = client.run(lambda shop: read(shop, arguments)) if read else tool.look and tool.look(caller, arguments)
    if found is None:
        raise results.NothingReturned(tool.name)
    return results.read(found, arguments.model_dump(exclude_none=True), client.credential.id)


def _write(call: Call, tool: Tool, shop: Shop, arguments: Arguments, standing: Standing) -> "Done":
    """Plan through the scoped client; the policy decides; then the effect, or a hold while it waits."""
    plan = tool.plan(shop, arguments) if tool.plan else None
    if plan is None:
        raise results.NothingReturned(tool.name)
    effective = arguments.model_dump(exclude_none=True)
    verdict = decide(DEFAULT, facts_for(plan, shop.moved(plan), standing, effective))
    done = Done(plan=plan, verdict=verdict, arguments=effective, credential_id=shop.credential.id)
    if verdict.outcome == "deny":
        raise Refused(verdict.rule, verdict.message, facts=verdict.facts)
    if verdict.outcome == "allow":
        return replace(done, posted=shop.post(plan, key=call.key))
    shop.reserve(plan, owner=done.reference)
    return done


def _queue(call: Call, done: "Done") -> None:
    requests.propose(
        reference=done.reference,
        plan=done.plan,
        arguments=done.arguments,
        verdict=done.verdict,
        policy=DEFAULT,
        origin=requests.Origin(
            key=call.key,
            conversation_id=call.turn.conversation_id,
            turn_id=call.turn.turn_id,
            tool_use_id=call.tool_use_id,
            session_id=call.turn.session_id,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A write that was allowed (`posted`) or waits under `reference`."""

    plan: Plan
    verdict: Verdict
    arguments: dict[str, Any]
    credential_id: str
    posted: Posted | None = None
    reference: str = field(default_factory=lambda: new_reference("R"))

"""ONE tool call: what is checked before the model gets its way, from top to bottom.

One transaction holds the effect, its event and the stored result: they commit together or not at all. The
race it closes: a worker that lost its turn or a repeated call (`claims.lock_turn`) changes nothing.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from django.db import DatabaseError, connection, transaction

from agents.context.taint import untrusted_in
from agents.dispatch import guards, remote, results
from agents.dispatch.judging import Case, case_of, judge, queue
from agents.dispatch.results import Call, Done, Outcome
from agents.dispatch.watchdog import watching
from agents.tools.registry import Arguments, Caller, Tool, tools
from agents.turns.claims import LockedTurn, LostTurn, StoppedTurn, lock_turn
from base.failpoints import reach
from base.locks import lock_customer
from ledger.access.client import ScopedClient, Shop


def dispatch(call: Call) -> Outcome:
    """Decide and act on one `tool_use` block, and store its one result."""
    if remote.is_asked(call.name):  # the shop lives elsewhere: no transaction may wait for it
        return remote.dispatch(call)
    began = time.monotonic()
    try:
        return _kept(call, began, lambda locked: _decide(call, locked))
    except (LostTurn, StoppedTurn):
        raise
    except Exception as problem:
        if isinstance(problem, DatabaseError) and (connection.connection is None or connection.connection.closed):
            raise  # nobody knows how it ended: the turn is tried again as a whole
        outcome = guards.outcome_of(call, problem)
    # A refusal or a fault has undone all that it did, and leaves only its row.
    return _kept(call, began, lambda locked: outcome)


def _kept(call: Call, began: float, decide: Callable[[LockedTurn], Outcome]) -> Outcome:
    with transaction.atomic():
        locked = lock_turn(call.turn, call=(call.message_id, call.block))  # still ours, still signed in, not taken over
        if locked.before:  # seen before: the same answer, no second effect
            return results.replayed(*locked.before)
        with watching(call):  # a call that hangs is abandoned and fenced off
            outcome = decide(locked)
        outcome = replace(outcome, latency_ms=round((time.monotonic() - began) * 1000))
        reach("effect_written", call.turn.conversation_id)
        results.keep(call, outcome)  # the event, the result, the notice
    reach("request_committed" if outcome.decision == "queued" else "call_committed", call.turn.conversation_id)
    return outcome


def _decide(call: Call, locked: LockedTurn) -> Outcome:
    tool = guards.known_tool(call.name, tools())
    token = guards.credential_for(tool, call.turn.customer_id, locked.around)
    arguments = guards.valid_arguments(tool, call.input)
    guards.within_budget(tool, locked)
    caller = Caller(customer_id=call.turn.customer_id, conversation_id=call.turn.conversation_id)
    if not tool.writes:
        return _read(tool, token, caller, arguments)
    guards.not_stopped(tool)  # by the brake
    lock_customer(call.turn.customer_id)  # or two conversations could each stay below a line
    if tool.act is not None:
        guards.customers_own_wish(tool, locked.around)
        return results.acted(tool.act(caller, arguments), arguments.model_dump(exclude_none=True))
    case = case_of(call, locked)
    client = ScopedClient(token, open_requests=case.standing.by_order)
    done = client.run(lambda shop: _write(call, tool, shop, arguments, case), savepoint=False)
    if done.verdict.outcome == "ask":
        queue(call, done)
    return results.written(done)


def _read(tool: Tool, token: str, caller: Caller, arguments: Arguments) -> Outcome:
    client, read = ScopedClient(token), tool.read
    if read:
        found, written = client.run(lambda shop: (read(shop, arguments), shop.untrusted), savepoint=False)
    else:
        found, written = tool.lookup(caller, arguments) if tool.lookup else {}, []
    if not found:
        raise results.NothingReturned(tool.name)
    effective = arguments.model_dump(exclude_none=True)
    return results.read(found, effective, client.credential.id, untrusted_in(tool, found, written))


def _write(call: Call, tool: Tool, shop: Shop, arguments: Arguments, case: Case) -> Done:
    """Plan through the scoped client; the policy decides; then the effect, or a hold while it waits."""
    plan = tool.plan(shop, arguments) if tool.plan else None
    if plan is None:
        raise results.NothingReturned(tool.name)
    done = judge(plan, shop.moved(plan), arguments.model_dump(exclude_none=True), case, shop.credential.id)
    if done.verdict.outcome == "allow":
        return replace(done, posted=shop.post(plan, key=call.key))
    shop.reserve(plan, owner=done.reference)
    return done

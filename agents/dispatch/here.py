"""A tool call where the shop is in this database: the effect, its event and the stored result are one transaction.

The race it closes: a worker that lost its turn or a repeated call (`claims.lock_turn`) changes nothing.
"""

import time
from collections.abc import Callable
from dataclasses import replace

from django.db import DatabaseError, connection, transaction

from agents.context.taint import untrusted_in
from agents.dispatch import guards, results
from agents.dispatch.judging import Admitted, Checks, queue
from agents.dispatch.results import Call, Done, Outcome
from agents.dispatch.watchdog import watching
from agents.tools.registry import Caller
from agents.turns.claims import LockedTurn, LostTurn, StoppedTurn, lock_turn
from base.failpoints import reach
from ledger.access.client import ScopedClient, Shop


def dispatch(call: Call, checks: Checks) -> Outcome:
    """Check, act and keep, or undo all and keep only why not."""
    began = time.monotonic()
    try:
        return _kept(call, began, lambda turn: _act(checks.admit(call, turn), checks))
    except (LostTurn, StoppedTurn):
        raise
    except Exception as problem:
        if isinstance(problem, DatabaseError) and (connection.connection is None or connection.connection.closed):
            raise  # nobody knows how it ended: the turn is tried again as a whole
        outcome = guards.outcome_of(call, problem)
    return _kept(call, began, lambda turn: outcome)


def _kept(call: Call, began: float, decide: Callable[[LockedTurn], Outcome]) -> Outcome:
    with transaction.atomic():
        turn = lock_turn(call.turn, call=(call.message_id, call.block))
        if turn.before:  # seen before: the same answer, no second effect
            return results.replayed(*turn.before)
        with watching(call):  # a call that hangs is abandoned and fenced off
            outcome = results.timed(decide(turn), began)
        reach("effect_written", call.turn.conversation_id)
        results.keep(call, outcome)  # the event, the result, the notice
    reach("request_committed" if outcome.decision == "queued" else "call_committed", call.turn.conversation_id)
    return outcome


def _act(admitted: Admitted, checks: Checks) -> Outcome:
    tool, call = admitted.tool, admitted.call
    if tool.act is not None:
        return results.acted(tool.act(_caller(call), admitted.arguments), admitted.effective)
    if not tool.writes:
        return _read(admitted)
    done = ScopedClient(admitted.token).run(lambda shop: _write(admitted, shop, checks), savepoint=False)
    if done.verdict.outcome == "ask":
        queue(call, done)
    return results.written(done)


def _read(admitted: Admitted) -> Outcome:
    tool, client = admitted.tool, ScopedClient(admitted.token)
    if read := tool.read:
        found, written = client.run(lambda shop: (read(shop, admitted.arguments), shop.untrusted), savepoint=False)
    else:
        found, written = tool.lookup(_caller(admitted.call), admitted.arguments) if tool.lookup else {}, []
    if not found:
        raise results.NothingReturned(tool.name)
    return results.read(found, admitted.effective, client.credential.id, untrusted_in(tool, found, written))


def _write(admitted: Admitted, shop: Shop, checks: Checks) -> Done:
    """Plan through the scoped client; the policy decides; then the effect, or a hold while it waits."""
    tool = admitted.tool
    plan = tool.plan(shop, admitted.arguments) if tool.plan else None
    if plan is None:
        raise results.NothingReturned(tool.name)
    done = checks.decide(admitted, plan, shop.moved(plan), shop.credential.id)
    if done.verdict.outcome == "allow":
        return replace(done, posted=shop.post(plan, key=admitted.call.key))
    shop.reserve(plan, owner=done.reference)
    return done


def _caller(call: Call) -> Caller:
    return Caller(customer_id=call.turn.customer_id, conversation_id=call.turn.conversation_id)

"""A tool call where the shop lives elsewhere: the same checks, and no transaction open while the shop is asked.

A write that the policy allows commits an intent first, then the shop acts, then outcome and result are stored
together. In between it is unknown; whoever dispatches the call again looks up what its key posted before anything
else. The shop refuses a write whose plan or sums are not those that were decided on, so it is decided again.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from django.conf import settings
from django.db import DatabaseError, transaction

from agents.context.taint import untrusted_in
from agents.dispatch import guards, results
from agents.dispatch.intents import as_intended, intend, intent_of
from agents.dispatch.judging import Admitted, Checks, queue
from agents.dispatch.results import Call, Done, Outcome
from agents.execution import holds_elsewhere
from agents.tools.registry import tools
from agents.turns.claims import LostTurn, StoppedTurn, lock_turn
from agents.turns.pool import give_back_connection
from audit.models import Event
from base.failpoints import reach
from ledger.access.credentials import verify
from ledger.books.entries import Posted, SameKeyOtherPlan
from ledger.errors import CredentialRefused
from ledger.protocol.remote import RemoteShop, ShopFault, ShopSilent
from ledger.protocol.writes import Changed, Found, Preview

log = logging.getLogger(__name__)
T = TypeVar("T")
MOST_TRIES = 3


def is_asked(name: str) -> bool:
    """Whether this tool asks a shop that lives elsewhere."""
    tool = tools().get(name)
    return bool(settings.PLACET.ledger_url and tool and (tool.read or tool.plan))


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a call. `intent` is what an earlier try had decided and may have carried out."""

    call: Call
    checks: Checks
    began: float
    intent: Event | None


def dispatch(call: Call, checks: Checks) -> Outcome:
    """Check, ask the shop, and keep what it answered. Raises ShopSilent while it is unknown what it did."""
    attempt = Attempt(call, checks, time.monotonic(), intent_of(call))
    try:
        admitted = _admitted(attempt)
        if isinstance(admitted, Outcome):
            return admitted
        give_back_connection()
        outcome = _write(attempt, admitted) if admitted.tool.writes else _read(admitted)
    except (LostTurn, StoppedTurn, DatabaseError, ShopSilent):
        raise
    except Exception as problem:  # noqa: BLE001 - logged with its code
        outcome = guards.outcome_of(call, problem)
    if outcome.decision != "queued":  # which was stored with its request
        _keep(attempt, outcome)
    return outcome


def _admitted(attempt: Attempt) -> Admitted | Outcome:
    """What may be put to the shop, or what was answered before. What may already have been carried out is asked about
    whatever has happened since; all other checks follow once it is known that it was not."""
    call, again = attempt.call, attempt.intent is not None
    with transaction.atomic():
        turn = lock_turn(call.turn, whatever_happened=again, call=(call.message_id, call.block))
        if turn.before:  # seen before: the same answer, no second effect
            return results.replayed(*turn.before)
        return attempt.checks.identify(call, turn) if again else attempt.checks.admit(call, turn)


def _read(admitted: Admitted) -> Outcome:
    tool, shop = admitted.tool, RemoteShop(admitted.token)
    try:
        found = tool.read(shop, admitted.arguments) if tool.read else None
    except ShopSilent as silent:  # nothing was to be done there, so nothing is unknown
        return guards.outcome_of(admitted.call, silent)
    if not found:
        raise results.NothingReturned(tool.name)
    return results.read(found, admitted.effective, shop.credential.id, untrusted_in(tool, found, shop.untrusted))


def _write(attempt: Attempt, admitted: Admitted) -> Outcome:
    call, shop = attempt.call, RemoteShop(admitted.token)
    if attempt.intent and (found := _in_doubt(lambda: shop.find(call.key))):
        return results.written(_posted(as_intended(attempt.intent, found, admitted.effective), found))
    for _ in range(MOST_TRIES):
        try:
            preview = shop.preview(admitted.tool.name, admitted.effective)
        except ShopSilent as silent:
            if attempt.intent:
                raise
            return guards.outcome_of(call, silent)
        done = _decided(attempt, admitted.token, preview)
        if done.verdict.outcome == "ask":
            holds_elsewhere.place(done.reference)
            return results.written(done)
        reach("intent_committed", call.turn.conversation_id)
        try:
            found = _in_doubt(lambda shown=preview.shown: shop.post(call.name, admitted.effective, shown, key=call.key))  # type: ignore[misc]
        except Changed:
            continue
        return results.written(_posted(done, found))
    raise ShopFault("what was shown kept changing")


def _decided(attempt: Attempt, token: str, preview: Preview) -> Done:
    """The whole list once more, as time has passed, then the verdict: with it either the request and the result, or
    the intent, in one transaction."""
    call, checks = attempt.call, attempt.checks
    with transaction.atomic():
        admitted = checks.admit(call, lock_turn(call.turn))
        done = checks.decide(admitted, preview.plan, preview.moved, verify(token).id)
        if done.verdict.outcome == "ask":
            queue(call, done)
            results.keep(call, results.timed(results.written(done), attempt.began))
        else:
            intend(call, done)
    return done


def _in_doubt(ask: Callable[[], T]) -> T:
    """With an intent, a fault is no answer: only the shop's books say what became of it."""
    try:
        return ask()
    except (ShopFault, CredentialRefused, SameKeyOtherPlan) as fault:
        log.exception("the shop's answer leaves a write unknown")
        raise ShopSilent(str(fault)) from fault


def _posted(done: Done, found: Found) -> Done:
    return replace(done, posted=Posted(reference=found.reference, done=done.plan.done, replayed=found.replayed))


def _keep(attempt: Attempt, outcome: Outcome) -> None:
    """Also when the customer has signed out meanwhile: what happened, happened."""
    call = attempt.call
    reach("effect_written", call.turn.conversation_id)
    with transaction.atomic():
        lock_turn(call.turn, whatever_happened=True)
        results.keep(call, results.timed(outcome, attempt.began))
    reach("call_committed", call.turn.conversation_id)

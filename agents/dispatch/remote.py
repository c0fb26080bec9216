"""ONE tool call where the shop lives elsewhere: the same checks, and no transaction open while the shop is asked.

A write that the policy allows commits an intent first, then the shop acts, then outcome and result are stored
together. In between it is unknown; whoever dispatches the call again looks up what its key posted before anything
else. The shop refuses a write whose plan or sums are not those that were decided on, so it is decided again.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

from django.conf import settings
from django.db import DatabaseError, transaction

from agents.context.taint import untrusted_in
from agents.dispatch import guards, results
from agents.dispatch.judging import case_of, judge, queue
from agents.dispatch.results import Call, Done, Outcome
from agents.execution import remote_holds
from agents.tools.registry import Tool, tools
from agents.turns.claims import LockedTurn, LostTurn, StoppedTurn, lock_turn
from agents.turns.pool import give_back_connection
from approvals.policy.facts import Standing, standing_of
from approvals.policy.rules import Verdict
from audit.models import Event
from audit.record import Actor, NewEvent, record
from base.failpoints import reach
from base.locks import lock_customer
from ledger.books.entries import Posted, SameKeyOtherPlan
from ledger.books.plans import Plan
from ledger.errors import CredentialRefused, open_request
from ledger.protocol.remote import RemoteShop, ShopFault, ShopSilent
from ledger.protocol.writes import Changed, Found
from ledger.shop.orders import Moved

log = logging.getLogger(__name__)
T = TypeVar("T")
MOST_TRIES = 3
MOST_AT_ONCE = 8


def is_asked(name: str) -> bool:
    """Whether this tool asks a shop that lives elsewhere."""
    tool = tools().get(name)
    return bool(settings.PLACET.ledger_url and tool and (tool.read or tool.plan))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that may be put to the shop. `intent` is what an earlier try had decided and may have carried out."""

    call: Call
    tool: Tool
    arguments: Any
    shop: RemoteShop
    began: float
    intent: Event | None

    @property
    def effective(self) -> dict[str, Any]:
        return dict(self.arguments.model_dump(exclude_none=True))


def dispatch(call: Call) -> Outcome:
    """Decide and act on one `tool_use` block, and store its one result. Raises ShopSilent while it is unknown."""
    began, intent = time.monotonic(), intent_of(call)
    try:
        with transaction.atomic():
            locked = lock_turn(call.turn, whatever_happened=intent is not None, call=(call.message_id, call.block))
            if locked.before:
                return results.replayed(*locked.before)
            prepared = _prepare(call, locked, began, intent)
        give_back_connection()
        outcome = _write(prepared) if prepared.tool.plan else _read(prepared)
    except (LostTurn, StoppedTurn, DatabaseError, ShopSilent):
        raise
    except Exception as problem:  # noqa: BLE001 - logged with its code
        outcome = guards.outcome_of(call, problem)
    if outcome.decision != "queued":  # which was stored with its request
        _keep(call, outcome, began)
    return outcome


def _prepare(call: Call, locked: LockedTurn, began: float, intent: Event | None) -> Prepared:
    tool = guards.known_tool(call.name, tools())
    token = guards.credential_for(tool, call.turn.customer_id, locked.around)
    arguments = guards.valid_arguments(tool, call.input)
    prepared = Prepared(call, tool, arguments, RemoteShop(token), began, intent)
    if intent is None:
        guards.within_budget(tool, locked)
        if tool.plan:
            _nothing_open(standing_of(call.turn.customer_id), str(prepared.effective.get("order_id", "")))
    return prepared


def _nothing_open(standing: Standing, order_id: str) -> None:
    if order_id and (reference := standing.by_order.get(order_id)):
        raise open_request(order_id, reference)


def _read(prepared: Prepared) -> Outcome:
    tool, shop = prepared.tool, prepared.shop
    try:
        found = tool.read(shop, prepared.arguments) if tool.read else None
    except ShopSilent as silent:  # nothing was to be done there, so nothing is unknown
        return guards.outcome_of(prepared.call, silent)
    if found is None:
        raise results.NothingReturned(tool.name)
    return results.read(found, prepared.effective, shop.credential.id, untrusted_in(tool, found, shop.untrusted))


def _write(prepared: Prepared) -> Outcome:
    if prepared.intent and (found := _in_doubt(lambda: prepared.shop.find(prepared.call.key))):
        return results.written(_as_intended(prepared, prepared.intent, found))
    for _ in range(MOST_TRIES):
        try:
            preview = prepared.shop.preview(prepared.tool.name, prepared.effective)
        except ShopSilent as silent:
            if prepared.intent:
                raise
            return guards.outcome_of(prepared.call, silent)
        done = _decide(prepared, preview.plan, preview.moved)
        if done.verdict.outcome == "ask":
            remote_holds.place(done.reference)
            return results.written(done)
        reach("intent_committed", prepared.call.turn.conversation_id)
        try:
            found = _in_doubt(
                lambda preview=preview: prepared.shop.post(  # type: ignore[misc]
                    prepared.tool.name, prepared.effective, preview.shown, key=prepared.call.key
                )
            )
        except Changed:
            continue
        return results.written(_posted(done, found))
    raise ShopFault("what was shown kept changing")


def _decide(prepared: Prepared, plan: Plan, moved: Moved) -> Done:
    """The verdict, and with it either the request and the result, or the intent."""
    call = prepared.call
    with transaction.atomic():
        locked = lock_turn(call.turn)
        guards.not_stopped(prepared.tool)
        lock_customer(call.turn.customer_id)
        case = case_of(call, locked)
        _nothing_open(case.standing, plan.order_id)
        done = judge(plan, moved, prepared.effective, case, prepared.shop.credential.id)
        if done.verdict.outcome == "ask":
            queue(call, done)
            results.keep(call, _timed(results.written(done), prepared.began))
        else:
            _intend(call, done)
    return done


def _intend(call: Call, done: Done) -> None:
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


def _in_doubt(ask: Callable[[], T]) -> T:
    """With an intent, a fault is no answer: only the shop's books say what became of it."""
    try:
        return ask()
    except (ShopFault, CredentialRefused, SameKeyOtherPlan) as fault:
        log.exception("the shop's answer leaves a write unknown")
        raise ShopSilent(str(fault)) from fault


def _posted(done: Done, found: Found) -> Done:
    posted = Posted(reference=found.reference, done=done.plan.done, replayed=found.replayed)
    return replace(done, posted=posted)


def _as_intended(prepared: Prepared, intent: Event, found: Found) -> Done:
    """What an earlier try carried out without hearing the answer."""
    verdict = Verdict(outcome="allow", rule=intent.rule, policy_version=intent.policy_version or 0)
    plan = Plan.from_json(found.plan)
    done = Done(plan=plan, verdict=verdict, arguments=prepared.effective, credential_id=intent.credential_id)
    return _posted(done, found)


def _timed(outcome: Outcome, began: float) -> Outcome:
    return replace(outcome, latency_ms=round((time.monotonic() - began) * 1000))


def _keep(call: Call, outcome: Outcome, began: float) -> None:
    """Also when the customer has signed out meanwhile: what happened, happened."""
    reach("effect_written", call.turn.conversation_id)
    with transaction.atomic():
        lock_turn(call.turn, whatever_happened=True)
        results.keep(call, _timed(outcome, began))
    reach("call_committed", call.turn.conversation_id)


def intent_of(call: Call) -> Event | None:
    """What an earlier try of this call had decided, if it came so far."""
    mine = Event.objects.filter(conversation_id=call.turn.conversation_id, kind="dispatch", decision="intended")
    return mine.filter(idempotency_key=call.key).order_by("-id").first()


def left_open(call: Call) -> Outcome:
    """The result of a call that will not be dispatched any more."""
    return results.unconfirmed(call) if is_asked(call.name) and intent_of(call) else results.cut()


def batches(calls: Iterable[Call]) -> Iterator[list[Call]]:
    """Neighbouring reads that ask the shop elsewhere together, everything else alone and in order."""
    for together, run in groupby(calls, key=lambda call: is_asked(call.name) and not tools()[call.name].writes):
        found = list(run)
        yield from [found] if together else [[call] for call in found]


def at_once(calls: list[Call], work: Callable[[Call], Outcome]) -> None:
    """Dispatch a batch; each call in a thread and with a connection of its own where there are several."""
    if len(calls) == 1:
        work(calls[0])
        return

    def alone(call: Call) -> None:
        try:
            work(call)
        finally:
            give_back_connection()

    with ThreadPoolExecutor(min(len(calls), MOST_AT_ONCE)) as pool:
        list(pool.map(alone, calls))

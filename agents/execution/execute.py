"""Carrying out what people approved: the same handler plans again under lock, and only what was approved runs.

One transaction per request: claim, digest, effect, event. The race it closes: fifty workers, the sweeper and a
withdrawal meet at the customer's and the request's lock, and one of them finds it approved.
"""

import logging

from django.conf import settings
from django.db import transaction

from agents.dispatch import guards
from agents.dispatch.planning import plan_write
from agents.execution import remote
from agents.execution.endings import Drift, credential_for, digest_with, end, executed, key_of, reissue
from approvals import brakes
from approvals.decisions.rechecks import no_longer_approved, send_back
from approvals.models import Request
from approvals.policy.facts import circumstances_of, facts_for, standing_of
from approvals.policy.rules import Verdict
from approvals.policy.versions import binding_of, verdict_of_reissue
from approvals.requests.lifecycle import locked
from base import sql
from base.failpoints import reach
from base.references import new_reference
from ledger.access.client import ScopedClient, Shop
from ledger.access.credentials import READ, WRITE, mint
from ledger.books.entries import Posted
from ledger.books.plans import Plan
from ledger.errors import Refused

log = logging.getLogger(__name__)


def ready() -> list[str]:
    """References of approved requests whose undo delay is over and whose time is not, by the database's clock, and
    which no brake freezes."""
    stopped = brakes.stopped()
    if stopped.answers or stopped.writes:
        return []
    return [reference for (reference,) in sql.rows(_READY, [list(stopped.tools)])]


_DUE = """
    SELECT reference FROM approvals_request
    WHERE state = 'approved' AND NOT is_decoy AND statement_timestamp() >= execute_after
      AND statement_timestamp() < execute_before
"""
_READY = f"{_DUE} AND tool <> ALL(%s) ORDER BY execute_after LIMIT 100"
_IS_DUE = f"{_DUE} AND reference = %s"


def execute_due() -> None:
    """Execute what is approved and past its undo delay."""
    for reference in ready():
        execute(reference)
    for reference in remote.in_doubt():
        remote.ask_again(reference)


def execute(reference: str) -> bool:
    """Execute one approved request, or end it as stale or failed; False when somebody else was first, or the brake
    is on: then what is approved stays so and waits."""
    with transaction.atomic():
        stopped = brakes.keep_open()
        request = locked(reference)
        if stopped.stops(request.tool) or sql.row(_IS_DUE, [reference]) is None:
            return False
        reach("execution_claimed", request.conversation_id)
        verdict = no_longer_approved(request)
        if verdict and verdict.outcome == "ask":
            send_back(request, verdict)
        elif verdict:
            _go_stale(request, Drift(f"the policy in force refuses it: {verdict.rule}"))
        elif settings.PLACET.ledger_url:
            remote.begin(request)
        else:
            _attempt(request)
    if settings.PLACET.ledger_url:
        remote.carry_out(reference)
    reach("execution_committed", request.conversation_id)
    return True


def _attempt(request: Request) -> None:
    """What fails leaves no half effect, only a definite state."""
    try:
        with transaction.atomic():
            _carry_out(request)
    except Drift as drift:
        _go_stale(request, drift)
    except Exception as fault:
        code = guards.fault_code()
        log.exception("%s execution of %s failed", code, request.reference)
        request.refresh_from_db()  # the row went back to what it was, the object did not
        end(request, Request.State.FAILED, f"{code} {type(fault).__name__}")


def _carry_out(request: Request) -> None:
    token = credential_for(request)
    others = standing_of(request.customer_id, without=[request.reference])
    client = ScopedClient(token, open_requests=others.by_order)
    posted = client.run(lambda shop: _post_approved(request, shop), savepoint=False)
    reach("execution_written", request.conversation_id)
    executed(request, entry_reference=posted.reference, done=posted.done, credential_id=client.credential.id)


def _post_approved(request: Request, shop: Shop) -> Posted:
    """Plan afresh with the own hold given back, compare with what was approved, then post."""
    shop.post_holds(request.hold_owner)
    try:
        plan = plan_write(shop, request.tool, request.arguments)
    except Refused as refusal:
        raise Drift(refusal.message) from refusal
    if digest_with(request, plan) != request.digest:
        raise Drift("what would happen has changed since it was approved", plan)
    return shop.post(plan, key=key_of(request), request_reference=request.reference)


def _go_stale(request: Request, drift: Drift) -> None:
    """Drift is never a surprise: the request ends, and one fresh request shows what would happen now."""
    end(request, Request.State.STALE, drift.why)
    if drift.plan is None or request.replaces:
        return
    token = mint(request.customer_id, request.conversation_id, READ, WRITE)
    fresh = new_reference("R")
    standing, policies = standing_of(request.customer_id), binding_of(request)

    def hold(shop: Shop) -> tuple[Plan, Verdict]:
        plan = plan_write(shop, request.tool, request.arguments)
        facts = facts_for(plan, shop.moved(plan), standing, request.arguments, circumstances_of(request))
        verdict = verdict_of_reissue(request, policies, facts)
        if verdict.outcome == "ask":
            shop.reserve(plan, owner=fresh)
        return plan, verdict

    plan, verdict = ScopedClient(token, open_requests=standing.by_order).run(hold)
    reissue(request, fresh, plan, verdict)

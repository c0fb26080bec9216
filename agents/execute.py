"""Carrying out what people approved: the same handler plans again under lock, and only what was approved runs.

One transaction per request: claim, digest, effect, event. The race it closes: fifty workers, the sweeper and a
withdrawal meet at the customer's and the request's lock, and one of them finds it approved.
"""

import logging

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from agents import guards, notices
from agents.tools.registry import tools
from approvals.digest import digest_of
from approvals.facts import facts_for, standing_of
from approvals.models import Request
from approvals.news import request_changed
from approvals.policy import DEFAULT, Facts, decide
from approvals.requests import Origin, event_of, locked, move, propose, void_holds
from audit.failpoints import reach
from audit.record import SYSTEM, record
from ledger.client import ScopedClient, Shop
from ledger.credentials import EXECUTE, READ, WRITE, mint
from ledger.entries import Posted
from ledger.errors import Refused
from ledger.plans import Plan
from ledger.references import new_reference

log = logging.getLogger(__name__)


class Drift(Exception):
    """What would happen now is not what was approved; `plan` is what would, if anything can."""

    def __init__(self, why: str, plan: Plan | None = None) -> None:
        super().__init__(why)
        self.why, self.plan = why, plan


def ready() -> list[str]:
    """References of approved requests whose undo delay is over and whose time is not, by the database's clock."""
    return list(_due().order_by("execute_after").values_list("reference", flat=True)[:100])


def _due() -> QuerySet[Request]:
    return Request.objects.filter(state="approved", execute_after__lte=Now(), execute_before__gt=Now())


def execute_due() -> None:
    """Execute what is approved and past its undo delay."""
    for reference in ready():
        execute(reference)


def execute(reference: str) -> bool:
    """Execute one approved request, or end it as stale or failed; False when somebody else was first."""
    with transaction.atomic():
        request = locked(reference)
        if not _due().filter(reference=reference).exists():
            return False
        reach("execution_claimed", request.conversation_id)
        try:
            with transaction.atomic():
                _carry_out(request)
        except Drift as drift:
            _go_stale(request, drift)
        except Exception as fault:
            code = guards.fault_code()
            log.exception("%s execution of %s failed", code, reference)
            _end(request, Request.State.FAILED, f"{code} {type(fault).__name__}")
    reach("execution_committed", request.conversation_id)
    return True


def _carry_out(request: Request) -> None:
    token = mint(request.customer_id, request.conversation_id, READ, WRITE, EXECUTE, digest=request.digest)
    others = standing_of(request.customer_id, without=[request.reference])
    client = ScopedClient(token, open_requests=others.by_order)
    posted = client.run(lambda shop: _post_approved(request, shop))
    reach("execution_written", request.conversation_id)
    move(request, to=Request.State.EXECUTED, expected=("approved",), entry_reference=posted.reference)
    record(
        SYSTEM,
        event_of(request, kind="execution", decision="executed", downstream_reference=posted.reference),
        credential=client.credential.id,
        digest=request.digest,
    )
    request_changed.send(Request, request=request, customer_message="")
    notices.notice(
        request.conversation_id,
        f"{posted.done} Reference {posted.reference}.",
        key=f"executed:{posted.reference}",
    )


def _post_approved(request: Request, shop: Shop) -> Posted:
    """Plan afresh with the own hold given back, compare with what was approved, then post."""
    shop.post_holds(request.reference)
    try:
        plan = _plan(request, shop)
    except Refused as refusal:
        raise Drift(refusal.message) from refusal
    if _digest(request, plan) != request.digest:
        raise Drift("what would happen has changed since it was approved", plan)
    return shop.post(plan, key=f"{request.reference}:{request.revision}", request_reference=request.reference)


def _plan(request: Request, shop: Shop) -> Plan:
    tool = tools().get(request.tool)
    if tool is None or tool.plan is None:
        raise Refused("unknown_tool", f"{request.tool} is not a write that can be executed any more")
    return tool.plan(shop, tool.arguments.model_validate(request.arguments))


def _digest(request: Request, plan: Plan) -> str:
    return digest_of(
        reference=request.reference,
        revision=request.revision,
        tool=request.tool,
        arguments=request.arguments,
        preview=plan.to_json(),
        customer_id=request.customer_id,
        policy_version=request.policy_version,
    )


def _go_stale(request: Request, drift: Drift) -> None:
    """Drift is never a surprise: the request ends, and one fresh request shows what would happen now."""
    _end(request, Request.State.STALE, drift.why)
    if drift.plan is None or request.replaces:
        return
    token = mint(request.customer_id, request.conversation_id, READ, WRITE)
    fresh = new_reference("R")
    standing = standing_of(request.customer_id)

    def hold(shop: Shop) -> tuple[Plan, Facts]:
        plan = _plan(request, shop)
        shop.reserve(plan, owner=fresh)
        return plan, facts_for(plan, shop.moved(plan), standing, request.arguments)

    plan, facts = ScopedClient(token, open_requests=standing.by_order).run(hold)
    verdict = decide(DEFAULT, facts)
    propose(
        reference=fresh,
        plan=plan,
        arguments=request.arguments,
        verdict=verdict,
        policy=DEFAULT,
        origin=_origin(request),
        replaces=request.reference,
    )


def _origin(request: Request) -> Origin:
    return Origin(
        key=f"{request.key}:reissued",
        conversation_id=request.conversation_id,
        turn_id=request.turn_id,
        tool_use_id=request.tool_use_id,
        session_id=request.session_id,
    )


def _end(request: Request, state: Request.State, why: str) -> None:
    move(request, to=state, expected=("approved",), ended_reason=why[:300])
    void_holds(request)
    record(SYSTEM, event_of(request, kind="execution", decision=state), reason=why)
    request_changed.send(Request, request=request, customer_message="")

"""The life of a request: proposed, decided, withdrawn or expired.

Order of locks: the customer, then the request. Every change of state is one conditional UPDATE; whoever
comes second is told who was first.
"""

import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals.errors import Conflict, Expired, no_request
from approvals.models import Request
from approvals.news import desk_changed, request_changed
from approvals.policy.deadlines import expires_at
from approvals.policy.rules import Policy, Verdict
from approvals.requests import rows
from approvals.requests.digest import digest_of
from audit.models import Kind
from audit.record import SYSTEM, Actor, NewEvent, record
from base import sql
from ledger.access.scopes import as_customer
from ledger.books.entries import end_holds
from ledger.books.plans import Plan
from ledger.models import Hold


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where a proposal came from. `key` is conversation, message and block: nothing a model can choose."""

    key: str
    conversation_id: uuid.UUID
    turn_id: uuid.UUID
    tool_use_id: str
    session_id: str


def propose(
    *, reference: str, plan: Plan, arguments: dict[str, Any], verdict: Verdict, policy: Policy, origin: Origin,
    replaces: str = "",
) -> Request:  # fmt: skip
    """Queue a write for a person, in the dispatch's transaction; its hold was placed under the same locks."""
    preview = plan.to_json()
    request = Request(
        reference=reference,
        key=origin.key,
        digest=digest_of(
            reference=reference,
            revision=1,
            tool=plan.tool,
            arguments=arguments,
            preview=preview,
            customer_id=plan.customer_id,
            policy_version=policy.version,
        ),
        tool=plan.tool,
        arguments=arguments,
        preview=preview,
        facts=verdict.facts,
        rule=verdict.rule,
        amount_minor=plan.amount_minor,
        currency=plan.currency,
        customer_id=plan.customer_id,
        order_id=plan.order_id,
        conversation_id=origin.conversation_id,
        turn_id=origin.turn_id,
        tool_use_id=origin.tool_use_id,
        session_id=origin.session_id,
        policy_version=policy.version,
        approvals_needed=verdict.approvals_needed,
        lead_needed=verdict.lead_needed,
        expires_at=expires_at(policy, verdict.rule, timezone.now()),
        replaces=replaces,
    )
    sql.insert(request)
    request_changed.send(Request, request=request, customer_message="")
    return request


def locked(reference: str) -> Request:
    """The request under the customer's lock and its own; NotFound otherwise."""
    request = rows.lock(reference)
    if request is None:
        raise no_request(reference)
    return request


def move(request: Request, *, to: Request.State, expected: tuple[str, ...], **changes: Any) -> Request:
    """One conditional UPDATE from an expected state, or Conflict naming who was first."""
    if not rows.change(request, expected, {"state": to.value, **changes}):
        raise Conflict(request.state, request.decided_by, request.decided_at)
    return request


def withdraw(*, reference: str, customer_id: str) -> Request:
    """The customer takes an own request back, as long as no worker has begun to execute it."""
    with transaction.atomic():
        request = locked(reference)
        if request.customer_id != customer_id:
            raise no_request(reference)
        actor = Actor(kind="customer", id=customer_id)
        return _end(request, Request.State.WITHDRAWN, ("pending", "approved"), actor, "withdrawn by the customer")


def disturbed(sender: object, *, order_id: str, customer_id: str, why: str, **_: object) -> None:
    """What waits on an order whose money changed outside Placet is stale. The sender holds the customer's lock."""
    waiting = Request.objects.filter(order_id=order_id, customer_id=customer_id, state__in=["pending", "approved"])
    for request in waiting.select_for_update(of=("self",)):
        _end(request, Request.State.STALE, (request.state,), SYSTEM, f"order {order_id} changed: {why}"[:300])


def expire(reference: str) -> bool:
    """End one that waited too long. Races with decide, withdraw and execute; the row's lock lets one of them be
    first."""
    with transaction.atomic():
        request = locked(reference)
        deadline = request.expires_at if request.state == "pending" else request.execute_before
        if request.state not in ("pending", "approved") or deadline is None or deadline > timezone.now():
            return False
        _end(request, Request.State.EXPIRED, (request.state,), SYSTEM, "nobody decided or executed it in time")
    return True


def _end(request: Request, to: Request.State, expected: tuple[str, ...], actor: Actor, why: str) -> Request:
    """A final state without an effect: the hold is voided, the record and the customer are told. A decoy has neither
    hold nor customer."""
    move(
        request,
        to=to,
        expected=expected,
        decided_by=actor.id if actor.kind == "customer" else request.decided_by,
        decided_at=timezone.now(),
        ended_reason=why,
    )
    if request.is_decoy:
        record(actor, decoy_event(request, decision=to), reason=why)
        desk_changed.send(Request, reference=request.pk)
        return request
    void_holds(request)
    record(actor, event_of(request, kind="request", decision=to), reason=why)
    request_changed.send(Request, request=request, customer_message="")
    return request


def void_holds(request: Request) -> None:
    """Give back what the request reserved, under its customer's scope."""
    as_customer(request.customer_id, lambda: end_holds(request.hold_owner, Hold.State.VOIDED))


def event_of(request: Request, *, kind: str, decision: str, downstream_reference: str = "") -> NewEvent:
    """The event columns that a request fills."""
    return NewEvent(
        kind=kind,
        decision=decision,
        customer_id=request.customer_id,
        conversation_id=request.conversation_id,
        turn_id=request.turn_id,
        tool_use_id=request.tool_use_id,
        tool=request.tool,
        rule=request.rule,
        reference=request.reference,
        downstream_reference=downstream_reference,
        order_id=request.order_id,
        amount_minor=request.amount_minor if request.currency else None,
        currency=request.currency,
        policy_version=request.policy_version,
        session_id=request.session_id,
    )


def tell_of_work(reference: str, decision: str, by: str, why: str) -> None:
    """Background work on a request was parked or is tried again: the record says so, and the desk shows it."""
    request = Request.objects.get(pk=reference)
    record(Actor(kind="staff", id=by) if by else SYSTEM, desk_event(request, decision), reason=why)


def desk_event(request: Request, decision: str) -> NewEvent:
    """An event of what staff do with a waiting request; a decoy's has a kind of its own."""
    if request.is_decoy:
        return decoy_event(request, decision=decision)
    return event_of(request, kind=Kind.REQUEST, decision=decision)


def decoy_event(request: Request, *, decision: str) -> NewEvent:
    """What the record says of a decoy: a kind of its own, and no amount that a sum could take for money."""
    return NewEvent(
        kind=Kind.DECOY,
        decision=decision,
        tool=request.tool,
        rule=request.rule,
        reference=request.reference,
        policy_version=request.policy_version,
    )


def require_decidable(request: Request) -> None:
    """Expired before Conflict: an expired request says so even when the sweeper has not come by."""
    if request.state == "expired" or (request.state == "pending" and request.expires_at <= timezone.now()):
        raise Expired(_("Request %(reference)s expired; nothing was changed.") % {"reference": request.reference})
    if request.state != "pending":
        raise Conflict(request.state, request.decided_by, request.decided_at)

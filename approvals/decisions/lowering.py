"""Approving less than was asked: a new revision with a digest of its own, planned by the ledger and held anew."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals.errors import DigestDiffers, Invalid
from approvals.models import Request
from approvals.requests.digest import digest_of
from approvals.requests.lifecycle import locked, move
from base.money import told
from ledger.access.client import ScopedClient, Shop
from ledger.access.credentials import READ, WRITE, mint
from ledger.books.plans import Plan
from ledger.errors import Refused
from ledger.shop.refunds import plan_refund

TOOL = "issue_refund"
_DRIFT = gettext_lazy(
    "What would happen has changed since this was asked, so it cannot be lowered: approve it as it stands, and it is "
    "issued afresh, or deny it."
)


def complaint_about(request: Request, verdict: str, amount_minor: int) -> str:
    """Why this amount cannot be approved in place of the proposed one; empty when it can."""
    if verdict != "approve" or request.tool != TOOL:
        return _("Only the approval of a refund takes an amount.")
    if not 0 < amount_minor < request.amount_minor:
        proposed = told(request.amount_minor, request.currency)
        return _("Give an amount above 0 and below the proposed %(amount)s.") % {"amount": proposed}
    return ""


def lower(request: Request, amount_minor: int) -> None:
    """Make the next revision, in the decision's transaction and under its locks. What was approved before belongs
    to the earlier revision and no longer counts; how many approvals are needed stays."""
    token = mint(request.customer_id, request.conversation_id, READ, WRITE)
    arguments = {**request.arguments, "amount_minor": amount_minor}
    following = Request(reference=request.reference, revision=request.revision + 1)

    def hold_less(shop: Shop) -> Plan:
        shop.void_holds(request.hold_owner)
        if _digest(request, request.revision, request.arguments, _plan(shop, request.arguments)) != request.digest:
            raise DigestDiffers(str(_DRIFT))
        plan = _plan(shop, arguments)
        shop.reserve(plan, owner=following.hold_owner)
        return plan

    try:
        plan = ScopedClient(token).run(hold_less)
    except Refused as refusal:
        raise DigestDiffers(str(_DRIFT)) from refusal
    move(
        request,
        to=Request.State.PENDING,
        expected=("pending",),
        revision=following.revision,
        digest=_digest(request, following.revision, arguments, plan),
        arguments=arguments,
        preview=plan.to_json(),
        amount_minor=amount_minor,
        lowered_from_minor=request.lowered_from_minor or request.amount_minor,
    )


def _plan(shop: Shop, arguments: dict[str, Any]) -> Plan:
    order = shop.order_to_change(arguments["order_id"])
    return plan_refund(order, arguments["amount_minor"], arguments.get("item_ids"))


def _digest(request: Request, revision: int, arguments: dict[str, Any], plan: Plan) -> str:
    return digest_of(
        reference=request.reference,
        revision=revision,
        tool=request.tool,
        arguments=arguments,
        preview=plan.to_json(),
        customer_id=request.customer_id,
        policy_version=request.policy_version,
    )


def as_lowered(reference: str, amount_minor: int) -> Request:
    """The request as an approval of this amount would leave it; nothing is changed. Raises what that would raise."""
    with transaction.atomic():
        request = locked(reference)
        if complaint := complaint_about(request, "approve", amount_minor):
            raise Invalid({"amount_minor": [complaint]})
        lower(request, amount_minor)
        transaction.set_rollback(True)
    return request

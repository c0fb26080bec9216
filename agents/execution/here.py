"""Carrying out what was approved where the shop is in this database: the same handler plans again under lock, and
effect, event and notice are one transaction."""

import logging

from django.db import transaction

from agents.dispatch import guards
from agents.dispatch.planning import plan_write
from agents.execution.checks import as_approved
from agents.execution.endings import Drift, credential_for, end, executed, go_stale, key_of
from approvals.models import Request
from base.failpoints import reach
from base.faults import is_transient
from ledger.access.client import ScopedClient, Shop
from ledger.access.credentials import READ, WRITE, mint
from ledger.books.entries import Posted
from ledger.errors import Refused
from ledger.protocol.writes import Preview, preview

log = logging.getLogger(__name__)


def carry_out(request: Request) -> None:
    """What fails leaves no half effect, only a definite state."""
    try:
        with transaction.atomic():
            _carry_out(request)
    except Drift as drift:
        if fresh := go_stale(request, drift, lambda: _previewed(request)):
            _scoped(request).run(
                lambda shop: shop.reserve(plan_write(shop, fresh.tool, fresh.arguments), owner=fresh.pk)
            )
    except Exception as fault:
        if is_transient(fault):
            raise  # it stays approved, and is tried again
        code = guards.fault_code()
        log.exception("%s execution of %s failed", code, request.reference)
        request.refresh_from_db()  # the row went back to what it was, the object did not
        end(request, Request.State.FAILED, f"{code} {type(fault).__name__}")


def _carry_out(request: Request) -> None:
    client = ScopedClient(credential_for(request))
    posted = client.run(lambda shop: _post(request, shop), savepoint=False)
    reach("execution_written", request.conversation_id)
    executed(request, entry_reference=posted.reference, done=posted.done, credential_id=client.credential.id)


def _post(request: Request, shop: Shop) -> Posted:
    """Plan afresh with the own hold given back, compare with what was approved, then post."""
    shop.post_holds(request.hold_owner)
    try:
        plan = plan_write(shop, request.tool, request.arguments)
    except Refused as refusal:
        raise Drift(refusal.message) from refusal
    as_approved(request, plan)
    return shop.post(plan, key=key_of(request), request_reference=request.reference)


def _scoped(request: Request) -> ScopedClient:
    return ScopedClient(mint(request.customer_id, request.conversation_id, READ, WRITE))


def _previewed(request: Request) -> Preview:
    return _scoped(request).run(lambda shop: preview(shop, lambda: plan_write(shop, request.tool, request.arguments)))

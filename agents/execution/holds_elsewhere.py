"""What waiting requests hold in a shop that lives elsewhere.

The request comes first, so every hold has an owner: placing it is tried again while the request waits, and it is
given back once the request has ended without an effect. A hold protects the customer from paying twice for patience;
what executes is checked by the shop whether it was placed or not.
"""

import logging

from django.conf import settings
from django.db import connection, transaction

from agents.turns.pool import give_back_connection
from approvals.models import Request
from approvals.requests.lifecycle import event_of
from audit.record import SYSTEM, record
from ledger.access.credentials import READ, WRITE, mint
from ledger.books.entries import SameKeyOtherPlan
from ledger.books.plans import digest_of_plan
from ledger.errors import CredentialRefused, Refused
from ledger.protocol.remote import RemoteShop, ShopFault, ShopSilent
from ledger.protocol.writes import Changed, Shown

log = logging.getLogger(__name__)

# The last condition waits until no try to place it can still be under way.
_UNSETTLED = """
    SELECT reference FROM approvals_request r
    WHERE amount_minor > 0 AND NOT is_decoy AND created_at > now() - interval '30 days'
      AND NOT EXISTS (SELECT FROM audit_event e WHERE e.reference = r.reference AND e.kind = 'request'
                      AND e.decision = ANY(CASE WHEN state = 'pending' THEN %s::text[] ELSE %s::text[] END))
      AND (state = 'pending' OR state = ANY(%s) AND decided_at < now() - make_interval(secs => %s))
    ORDER BY created_at LIMIT 20
"""
_TRIED, _OVER = ["held", "not_held"], ["released", "not_held"]
_ENDED = ["denied", "expired", "withdrawn", "stale", "failed"]


def settle() -> None:
    """Place what is not placed yet, and give back what is not needed any more."""
    if not settings.PLACET.ledger_url:
        return
    with connection.cursor() as cursor:
        cursor.execute(_UNSETTLED, [_TRIED, _OVER, _ENDED, 2 * settings.PLACET.tool_seconds])
        references = [row[0] for row in cursor.fetchall()]
    for reference in references:
        if not place(reference):
            return


def place(reference: str) -> bool:
    """Bring one request's hold in line with its state; False while the shop does not answer."""
    request = Request.objects.get(pk=reference)
    give_back_connection()
    shop = RemoteShop(mint(request.customer_id, request.conversation_id, READ, WRITE))
    try:
        if request.state in _ENDED:
            shop.void(owner=request.hold_owner)
            decision = "released"
        else:
            shown = Shown(digest=digest_of_plan(request.preview))
            shop.reserve(request.tool, request.arguments, shown, owner=request.hold_owner)
            decision = "held"
    except (Refused, Changed, SameKeyOtherPlan) as answer:
        log.warning("the shop holds nothing for %s: %s", reference, answer)
        decision = "not_held"
    except (ShopSilent, ShopFault, CredentialRefused) as silent:
        log.warning("the hold of %s is tried again: %s", reference, silent)
        return False
    with transaction.atomic():
        record(SYSTEM, event_of(request, kind="request", decision=decision))
    return True

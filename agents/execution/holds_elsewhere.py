"""What waiting requests hold in a shop that lives elsewhere.

The request comes first, so every hold has an owner: placing it is tried again while the request waits, and it is
given back once the request has ended without an effect. A hold protects the customer from paying twice for patience;
what executes is checked by the shop whether it was placed or not.
"""

import logging

from django.conf import settings
from django.db import transaction

from agents.turns.pool import give_back_connection
from approvals.models import Request
from approvals.requests.lifecycle import event_of, tell_of_work
from audit.record import SYSTEM, record
from base import work
from base.work import TryAgain, WorkList
from ledger.access.credentials import READ, WRITE, mint
from ledger.books.entries import SameKeyOtherPlan
from ledger.books.plans import digest_of_plan
from ledger.errors import CredentialRefused, Refused
from ledger.protocol.remote import RemoteShop, ShopFault, ShopSilent
from ledger.protocol.writes import Changed, Shown

log = logging.getLogger(__name__)

_TRIED, _OVER = ["held", "not_held"], ["released", "not_held"]
_ENDED = ["denied", "expired", "withdrawn", "stale", "failed"]


def settle() -> None:
    """Place what is not placed yet, and give back what is not needed any more; several side by side."""
    if settings.PLACET.ledger_url:
        work.run(HOLDS)


def _settle(key: str) -> None:
    if work.belongs(HOLDS, key) and not place(key.split()[-1]):
        raise TryAgain("the shop does not answer")


def _tell(key: str, decision: str, by: str, why: str) -> None:
    tell_of_work(key.split()[-1], decision, by, f"{key}: {why}")


# Due once no try to place it can still be under way. Giving back is an item of its own, which no parked try to place
# holds up.
HOLDS = WorkList(
    name="holds",
    source="approvals_request",
    key="CASE WHEN s.state = 'pending' THEN 'place ' ELSE 'release ' END || s.reference",
    belongs="""s.amount_minor > 0 AND NOT s.is_decoy AND s.created_at > now() - interval '30 days'
        AND (s.state = 'pending' OR s.state = ANY(%(ended)s))
        AND NOT EXISTS (SELECT FROM audit_event e WHERE e.reference = s.reference AND e.kind = 'request'
            AND e.decision = ANY(CASE WHEN s.state = 'pending' THEN %(tried)s::text[] ELSE %(over)s::text[] END))""",
    due="s.state = 'pending' OR s.decided_at < now() - make_interval(secs => %(in_flight)s)",
    values=lambda: {
        "ended": _ENDED, "tried": _TRIED, "over": _OVER, "in_flight": 2 * settings.PLACET.tool_seconds
    },
    order="s.created_at",
    do=_settle,
    lease_seconds=lambda: 60.0 + 2 * settings.PLACET.tool_seconds,
    most_attempts=100,
    longest_pause=1800.0,
    side_by_side=8,
    told=_tell,
)  # fmt: skip


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

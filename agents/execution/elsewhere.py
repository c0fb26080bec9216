"""Carrying out what people approved in a shop that lives elsewhere: *executing* before it is asked, and afterwards
what it answered. Without an answer it is *unknown*, and the same key is looked up until there is one.
"""

import datetime as dt
import logging
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agents.execution import holds_elsewhere
from agents.execution.checks import as_approved, may_still
from agents.execution.endings import CHANGED, Drift, credential_for, end, executed, go_stale, key_of
from agents.turns.pool import give_back_connection
from approvals.models import Request
from approvals.news import request_changed
from approvals.requests.lifecycle import event_of, locked, move, tell_of_work
from audit.record import SYSTEM, record
from base import work
from base.failpoints import reach
from base.work import TryAgain, WorkList
from ledger.books.entries import SameKeyOtherPlan
from ledger.books.plans import Plan, digest_of_plan
from ledger.errors import CredentialRefused, Refused
from ledger.protocol.remote import RemoteShop, ShopFault, ShopSilent
from ledger.protocol.writes import Approved, Changed, Found, Shown

log = logging.getLogger(__name__)
Ending = Callable[[Request], object]
IN_DOUBT = ("executing", "unknown")


def seconds_to_answer() -> float:
    """How long it can take to ask a shop that lives elsewhere; nothing where it lives here."""
    return 2.0 * settings.PLACET.tool_seconds if settings.PLACET.ledger_url else 0.0


def _lease() -> dt.datetime:
    """Until whoever asks first has had time to: only then does anybody ask what became of it."""
    return timezone.now() + dt.timedelta(seconds=seconds_to_answer())


def begin(request: Request) -> None:
    """Say that the shop will be asked, in the transaction that found the request approved."""
    move(request, to=Request.State.EXECUTING, expected=("approved",), lease_until=_lease())
    record(SYSTEM, event_of(request, kind="execution", decision="intended"), digest=request.digest)


def in_doubt() -> list[str]:
    """References of requests that the shop was asked to carry out, and nobody asks about now."""
    return work.claimable(DOUBTS)


def ask_due() -> None:
    """Ask what became of them, several side by side: a silent shop takes its time over each."""
    work.run(DOUBTS)


def ask_again(reference: str) -> None:
    """Ask what became of one. TryAgain while the shop does not say."""
    carry_out(reference, again=True)
    if Request.objects.filter(pk=reference, state__in=IN_DOUBT).exists():
        raise TryAgain("the shop does not say whether it was carried out")


DOUBTS = WorkList(
    name="doubts",
    source="approvals_request",
    key="s.reference",
    belongs="s.state IN ('executing', 'unknown')",
    due="s.lease_until <= statement_timestamp()",
    order="s.lease_until",
    do=ask_again,
    lease_seconds=lambda: 60.0 + 2 * seconds_to_answer(),
    most_attempts=100,
    longest_pause=1800.0,
    side_by_side=8,
    told=tell_of_work,
)
"""Each is asked about for some two days. Parked, it stays unknown: nobody says that it was or was not carried out."""


def carry_out(reference: str, *, again: bool = False) -> None:
    """Ask the shop, with no transaction open, and store its answer."""
    request = Request.objects.get(pk=reference)
    if request.state not in IN_DOUBT:
        return
    give_back_connection()
    try:
        ending = _ask(request, again)
    except (ShopSilent, ShopFault, CredentialRefused, SameKeyOtherPlan) as silent:
        log.warning("whether %s was carried out is unknown: %s", reference, silent)
        ending = _stay_unknown
    reach("execution_written", request.conversation_id)
    with transaction.atomic():
        request = locked(reference)
        if request.state in IN_DOUBT:
            ending(request)
    if request.state == Request.State.STALE:  # the old hold first: the new one may need its money
        for each in (reference, *Request.objects.filter(replaces=reference).values_list("reference", flat=True)):
            holds_elsewhere.place(each)


def _ask(request: Request, again: bool) -> Ending:
    shop = RemoteShop(credential_for(request))
    ended = partial(_executed, credential_id=shop.credential.id)
    if again and (found := shop.find(key_of(request))):
        return partial(ended, found=found)
    if again and not may_still(request):
        return partial(end, state=Request.State.FAILED, why="the shop did not carry it out while that was allowed")
    shown = Shown(digest=digest_of_plan(request.preview))
    approved = Approved(reference=request.reference, owner=request.hold_owner)
    try:
        as_approved(request, Plan.from_json(request.preview))
        found = shop.post(request.tool, request.arguments, shown, key=key_of(request), approved=approved)
    except Changed as changed:
        now = changed.preview
        return partial(go_stale, drift=Drift(CHANGED, again=True), now=lambda: now)
    except Drift as drift:
        return partial(end, state=Request.State.STALE, why=drift.why)
    except Refused as refusal:
        return partial(end, state=Request.State.STALE, why=refusal.message)
    return partial(ended, found=found)


def _executed(request: Request, *, found: Found, credential_id: str) -> None:
    done = str(found.plan["done"])
    executed(request, entry_reference=found.reference, done=done, credential_id=credential_id)


def _stay_unknown(request: Request) -> None:
    if request.state != Request.State.UNKNOWN:
        move(request, to=Request.State.UNKNOWN, expected=(request.state,), lease_until=_lease())
        record(SYSTEM, event_of(request, kind="execution", decision="unknown"))
        request_changed.send(Request, request=request, customer_message="")

"""Payouts that are due: sent or looked up, several side by side, each by itself."""

from collections.abc import Callable

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from audit.record import SYSTEM, Actor, record
from base import work
from base.work import TryAgain, WorkList
from ledger.access.scopes import as_customer
from ledger.models import Payout
from ledger.payouts.sending import LEASE, POLL, State, Told, carry_out, event_of, tell
from ledger.providers import connector


def due(most: int = 100) -> list[tuple[int, str]]:
    """Transfers and customers of payouts to send or to look up now, longest due first."""
    return [_named(key) for key in work.claimable(PAYOUTS, most)]


def carry_out_due(go_on: Callable[[], bool] = lambda: True) -> None:
    """Send or look up what is due, several side by side, as long as `go_on` says so."""
    work.run(PAYOUTS, go_on)


def _named(key: str) -> tuple[int, str]:
    transfer_id, customer_id = key.split(" ", 1)
    return int(transfer_id), customer_id


def _carry_out(key: str) -> None:
    transfer_id, customer_id = _named(key)
    if (provider := connector()) is None:
        _leave_to_the_shop(transfer_id, customer_id)
    else:
        try:
            carry_out(transfer_id, customer_id, provider)
        except TryAgain:
            raise
        except Exception:  # the list says when it is tried again
            as_customer(customer_id, lambda: Payout.objects.filter(pk=transfer_id).update(lease_until=None))
            raise


def _tell(key: str, decision: str, by: str, why: str) -> None:
    transfer_id, customer_id = _named(key)
    found = Payout.objects.select_related("transfer__payment_method")
    told = as_customer(customer_id, lambda: tell(found.get(pk=transfer_id)))
    record(Actor(kind="staff", id=by) if by else SYSTEM, event_of(told, decision), reason=why)


# A payout keeps a lease and a fence of its own beside the list's: the provider's reports and staff move it as well, and
# whoever is late writes nothing.
PAYOUTS = WorkList(
    name="payouts",
    source="ledger_due_payouts(2147483647, %(delay)s) WITH ORDINALITY",
    key="s.transfer_id || ' ' || s.customer_id",
    values=lambda: {"delay": settings.PLACET.payout_delay_seconds},
    order="s.ordinality",
    do=_carry_out,
    lease_seconds=lambda: 2 * LEASE.total_seconds(),
    most_attempts=100,
    first_pause=2.0,
    longest_pause=1800.0,
    side_by_side=4,
    remember_seconds=2 * POLL.total_seconds(),
    told=_tell,
)
"""Each is tried for some two days."""


def _leave_to_the_shop(transfer_id: int, customer_id: str) -> None:
    """Without a provider the shop pays from its own books; what a provider was told before waits for it."""

    def leave() -> Told | None:
        rows = Payout.objects.filter(pk=transfer_id)
        rows.exclude(state=State.PENDING).update(next_at=Now() + POLL)
        left = rows.filter(state=State.PENDING).update(state=State.OUTSIDE)
        return tell(rows.select_related("transfer__payment_method").get()) if left else None

    with transaction.atomic():
        if told := as_customer(customer_id, leave):
            record(SYSTEM, event_of(told, State.OUTSIDE))

"""`manage.py payouts list|resolve|reconcile`: money that leaves through the payment provider."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q

from audit.record import SYSTEM
from base.money import show
from ledger.access.staff import as_staff
from ledger.models import Payout
from ledger.payouts import desk
from ledger.payouts.desk import ATTENTION, CannotResolve
from ledger.payouts.reconciliation import DAYS, reconcile
from ledger.providers import connector
from ledger.providers.calls import CallFailed

MOST_ROWS = 200


class Command(BaseCommand):
    help = "List payouts, look up one whose outcome is unknown, or compare the books with the payment provider."

    def add_arguments(self, parser: CommandParser) -> None:
        deeds = parser.add_subparsers(dest="deed", required=True)
        listed = deeds.add_parser("list", help="those whose outcome is unknown or that failed and wait for somebody")
        listed.add_argument("--all", action="store_true", help=f"the newest {MOST_ROWS} in every state")
        resolved = deeds.add_parser("resolve", help="look one up at the provider and move it to where it is")
        resolved.add_argument("transfer", type=int, metavar="TRANSFER")
        compared = deeds.add_parser("reconcile", help="list what disagrees; exit code 1 when something is left")
        compared.add_argument("--days", type=int, default=DAYS, help=f"how far back, default {DAYS}")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["deed"] == "list":
            self._list(Q() if options["all"] else ATTENTION)
        elif options["deed"] == "resolve":
            self._resolve(options["transfer"])
        else:
            self._reconcile(options["days"])

    def _list(self, which: Q) -> None:
        rows = as_staff(lambda: list(desk.rows(which)[:MOST_ROWS]))
        for row in rows:
            self.stdout.write(_line(row))
        if not rows:
            self.stdout.write("No payout needs anybody.")

    def _resolve(self, transfer_id: int) -> None:
        try:
            self.stdout.write(desk.resolve(transfer_id, SYSTEM))
        except CannotResolve as refusal:
            raise CommandError(str(refusal)) from refusal

    def _reconcile(self, days: int) -> None:
        if (provider := connector()) is None:
            raise CommandError("No payment provider is set up: PLACET_PAYMENTS is off.")
        try:
            findings = reconcile(provider, days=days)
        except CallFailed as failed:
            raise CommandError(f"The payment provider does not answer ({failed.code}); try again later.") from failed
        for found in findings:
            self.stdout.write(f"{found.code} {found.reference}: {found.text}{' (repaired)' if found.repaired else ''}")
        left = [found for found in findings if not found.repaired]
        if left:
            raise CommandError(f"{len(left)} of {len(findings)} disagreements are left for a person.")
        self.stdout.write("The books and the provider agree.")


def _line(row: Payout) -> str:
    moved = row.transfer
    amount = show(moved.amount_minor, moved.currency)
    parts = (
        f"{row.pk} {row.state} {moved.kind} {amount} order={moved.order_id} entry={moved.entry_id} key={row.key}"
        f" provider={row.provider or '-'} reference={row.provider_reference or '-'} attempts={row.attempts}"
    )
    return f"{parts} error={row.error_code}" if row.error_code else parts

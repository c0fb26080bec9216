"""Comparing the provider's refunds, charges and disputes with the books, in both directions."""

import datetime as dt
from dataclasses import dataclass

from django.db import connection
from django.utils import timezone

from ledger.access.staff import as_staff
from ledger.models import Payout, Transfer
from ledger.payouts import outside
from ledger.providers.connector import Connector, Report

DAYS = 30
_NEWEST = dt.timedelta(minutes=10)
"""What is younger may be on its way, on either side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something on which the two disagreed. `repaired`: the books now say what the provider says."""

    code: str
    reference: str
    text: str
    repaired: bool


def reconcile(provider: Connector, *, days: int = DAYS) -> list[Finding]:
    """Apply what the provider has and we do not know, and list every disagreement. May raise CallFailed."""
    since = timezone.now() - dt.timedelta(days=days)
    if not connection.in_atomic_block:
        connection.close()
    reports = list(provider.reports(since))
    findings = [finding for report in reports if (finding := _compare(report))]
    seen = {report.reference for report in reports}
    return findings + as_staff(lambda: _missing(provider.name, since, seen))


def _compare(report: Report) -> Finding | None:
    asked = as_staff(lambda: outside.payout_of(report)) if report.kind != "dispute" else None
    outcome = outside.apply(report)
    if asked is None:
        return _of_others(report, outcome)
    amounts = (asked.instruction.amount_minor, asked.instruction.currency)
    if amounts != (report.amount_minor, report.currency):
        text = f"is {amounts[0]} {amounts[1]} here and {report.amount_minor} {report.currency} at the provider"
        return _finding("amount", asked.instruction.entry, text)
    if outcome == outside.APPLIED:
        text = f"was {asked.was} here and is {report.answer.state} at the provider"
        return _finding("state", asked.instruction.entry, text, repaired=True)
    if asked.was == "failed" != report.answer.state:
        return _finding("failed_here", asked.instruction.entry, f"failed here and is {report.answer.state} there")
    return None


def _of_others(report: Report, outcome: str) -> Finding | None:
    if outcome == outside.KNOWN:
        return None
    what = f"{report.kind} of {report.amount_minor} {report.currency} at the provider"
    if report.key:  # ours, and gone from our books: they were set back to an earlier day
        text = f"{what} under our key {report.key}, which is not in the books"
        return _finding("orphan", report.reference, text, repaired=outcome == outside.APPLIED)
    code = "outside" if outcome == outside.APPLIED else "unmatched"
    return _finding(code, report.reference, f"{what}, not made by Placet", repaired=outcome == outside.APPLIED)


def _finding(code: str, reference: str, text: str, *, repaired: bool = False) -> Finding:
    return Finding(code=code, reference=reference, text=text, repaired=repaired)


def _missing(provider: str, since: dt.datetime, seen: set[str]) -> list[Finding]:
    """What we believe the provider has, and it does not show."""
    rows = Payout.objects.filter(
        provider=provider,
        state__in=["sent", "settled"],
        first_sent_at__gt=since,
        changed_at__lt=timezone.now() - _NEWEST,
    )
    reported = Transfer.objects.filter(kind__in=["external_refund", "dispute"], at__gt=since)
    told = [(row.key, row.provider_reference, f"is {row.state} here") for row in rows]
    told += [(str(row.order_id), row.provider_reference, f"is a {row.kind} here") for row in reported]
    return [
        _finding("missing", str(reference), f"{whose} {what} and is not at the provider")
        for whose, reference, what in told
        if reference not in seen
    ]

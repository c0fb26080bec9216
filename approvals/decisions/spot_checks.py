"""A sample of what was executed without a person, for people to look at afterwards.

The same entries for everybody: those of a day with the smallest hashes, which nobody can choose, since references are
random. What is found wrong opens a task for a lead, as a reported mistake does.
"""

import datetime as dt
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models.functions import MD5
from django.utils.translation import gettext as _

from approvals.decisions.undo import recall_money
from approvals.errors import Conflict, Forbidden, Invalid, NotFound, grouped
from approvals.models import SpotCheck, Staff, Task
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import DECIDES
from base.names import role_name
from ledger.access.staff import as_staff
from ledger.models import Entry

MOST_TEXT = 1_000
DAY = dt.timedelta(days=1)


def sample(begins: dt.datetime) -> list[dict[str, Any]]:
    """The sample of the day that begins then, each with what was found, if anybody looked."""
    rows = as_staff(lambda: _entries(begins, settings.PLACET.sample_per_day))
    found = SpotCheck.objects.filter(entry_reference__in=[row["reference"] for row in rows]).select_related("staff")
    checks = {check.entry_reference: check for check in found}
    return [{**row, "check": checks.get(row["reference"])} for row in rows]


def _entries(begins: dt.datetime, most: int) -> list[dict[str, Any]]:
    automatic = Entry.objects.filter(at__gte=begins, at__lt=begins + DAY, request_reference="")
    columns = ("reference", "tool", "amount_minor", "currency", "customer_id", "conversation_id", "order_id", "at")
    chosen = automatic.order_by(MD5("reference"), "reference").values(*columns, "plan__summary")[:most]
    return list(chosen)


def record_spot_check(*, reference: str, staff: Staff, outcome: str, note: str) -> SpotCheck:
    """Say what one found; the first to say so has looked. Raises Forbidden, NotFound, Invalid and Conflict."""
    note = note.strip()
    if staff.role not in DECIDES or not staff.is_active:
        raise Forbidden(
            "role",
            _("The role %(role)s does not look at executions; agents and leads do.") % {"role": role_name(staff.role)},
        )
    if outcome not in SpotCheck.Outcome.values or len(note) > MOST_TEXT:
        raise Invalid(
            {"note": [_("Choose fine or wrong, and write at most %(most)s characters.") % {"most": grouped(MOST_TEXT)}]}
        )
    if outcome == SpotCheck.Outcome.WRONG and not note:
        raise Invalid({"note": [_("Say what is wrong, for the lead who looks after it.")]})
    entry = as_staff(lambda: Entry.objects.filter(pk=reference, request_reference="").first())
    if entry is None:
        raise NotFound(_("There is no such automatic execution."))
    if staff.customer_id == entry.customer_id:
        raise Forbidden("self", _("This is about your own customer account, so a colleague has to look at it."))
    try:
        return _keep(entry, staff, outcome, note)
    except IntegrityError as error:
        first = SpotCheck.objects.select_related("staff").get(entry_reference=reference)
        raise Conflict("spot-checked", first.staff.username, first.at) from error


def _keep(entry: Entry, staff: Staff, outcome: str, note: str) -> SpotCheck:
    """Of two who look at once the unique reference lets one be first, before any money is recalled."""
    customer_id = entry.customer_id
    with transaction.atomic():
        kept = SpotCheck.objects.create(
            entry_reference=entry.pk, customer_id=customer_id, staff=staff, outcome=outcome, note=note
        )
        if outcome == SpotCheck.Outcome.WRONG:
            money = recall_money(entry=entry.pk, customer_id=customer_id, staff=staff)
            Task.objects.create(
                kind=Task.Kind.MISTAKE, reference=entry.pk, customer_id=customer_id, text=note, opened_by=staff,
                money=money,
            )  # fmt: skip
        event = NewEvent(
            kind=Kind.REQUEST, decision="spot_checked", rule=outcome, reference=entry.pk, tool=entry.tool,
            customer_id=customer_id, conversation_id=entry.conversation_id, order_id=entry.order_id or "",
        )  # fmt: skip
        record(Actor(kind="staff", id=staff.username), event, note=note)
    return kept

"""Flags on customers: staff warn staff. What is flagged always asks; neither model nor customer learns of it."""

from collections.abc import Collection

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals.errors import Forbidden, Invalid, grouped
from approvals.models import Flag, Staff
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import DECIDES, LEAD
from base.locks import lock_customer
from base.names import role_name

MOST_REASON = 1_000


def flag(*, staff: Staff, customer_id: str, reason: str) -> Flag:
    """Warn of a customer, from the next write on; waits for the write under way."""
    if staff.role not in DECIDES or not staff.is_active:
        raise Forbidden(
            "role",
            _("The role %(role)s does not flag customers; agents and leads do.") % {"role": role_name(staff.role)},
        )
    if not reason.strip() or len(reason.strip()) > MOST_REASON:
        raise Invalid({"reason": [_("Say why, in at most %(most)s characters.") % {"most": grouped(MOST_REASON)}]})
    with transaction.atomic():
        lock_customer(customer_id)
        made = Flag.objects.create(customer_id=customer_id, author=staff, reason=reason.strip())
        _record(made, staff, "flagged")
    return made


def clear(*, staff: Staff, flag_id: int, customer_id: str) -> bool:
    """A lead takes a flag off; False when it was off before."""
    if staff.role != LEAD or not staff.is_active:
        raise Forbidden("role", _("Only a lead takes a flag off a customer."))
    with transaction.atomic():
        standing = Flag.objects.filter(pk=flag_id, customer_id=customer_id, cleared_at=None)
        if not standing.update(cleared_by=staff, cleared_at=timezone.now()):
            return False
        _record(Flag.objects.get(pk=flag_id), staff, "flag_cleared")
    return True


def flags_of(customer_id: str) -> list[Flag]:
    """Those that stand and those that were cleared, newest first."""
    found = Flag.objects.filter(customer_id=customer_id).select_related("author", "cleared_by")
    return list(found.order_by("-at")[:50])


def _record(made: Flag, staff: Staff, decision: str) -> None:
    event = NewEvent(kind=Kind.POLICY, decision=decision, customer_id=made.customer_id, rule="flag")
    record(Actor(kind="staff", id=staff.username), event, flag=made.pk, reason=made.reason)


def flagged_among(customer_ids: Collection[str]) -> set[str]:
    """Which of these customers are flagged now."""
    flags = Flag.objects.filter(customer_id__in=customer_ids, cleared_at=None)
    return set(flags.values_list("customer_id", flat=True))

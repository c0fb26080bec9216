"""Who may be the customer under another name: staff who share an e-mail address, a telephone number, a postal
address or a payment method with the customer do not decide, until a lead clears them."""

from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from approvals.errors import Forbidden, Invalid
from approvals.models import Clearance, Staff
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base import sql
from base.access import DECIDES, LEAD
from base.phones import same_phone
from ledger.access.staff import as_staff
from ledger.models import Customer, PaymentMethod


def shared_with(staff: Staff, customer_id: str) -> list[str]:
    """What a member of staff has in common with a customer who is not them by name; empty when they were cleared."""
    cleared = "SELECT true FROM approvals_clearance WHERE staff_id = %s AND customer_id = %s"
    if not (staff.customer_id or staff.email or staff.phone) or sql.row(cleared, [staff.pk, customer_id]):
        return []
    return as_staff(lambda: _shared(staff, customer_id))


def _shared(staff: Staff, customer_id: str) -> list[str]:
    people = {customer.pk: customer for customer in Customer.objects.filter(pk__in=[customer_id, staff.customer_id])}
    customer, own = people.get(customer_id), people.get(staff.customer_id)
    if customer is None:
        return []
    emails = {text.strip().casefold() for text in (staff.email, own.email if own else "")} - {""}
    found = [_("an e-mail address")] if customer.email.strip().casefold() in emails else []
    phones = [text for text in (staff.phone, own.phone if own else "") if text]
    if customer.phone and any(same_phone(customer.phone, phone) for phone in phones):
        found.append(_("a telephone number"))
    if own is not None and own != customer:
        found += [_("a postal address")] if _same_place(own.address, customer.address) else []
        found += [_("a payment method")] if _share_a_method(own, customer) else []
    return found


def _same_place(one: dict[str, Any], other: dict[str, Any]) -> bool:
    parts = ("line1", "postal_code", "country")
    first, second = (
        [str(address.get(part, "")).replace(" ", "").casefold() for part in parts] for address in (one, other)
    )
    return first == second and bool(first[0])


def _share_a_method(one: Customer, other: Customer) -> bool:
    own = PaymentMethod.objects.filter(customer=one).exclude(last4=None).values_list("brand", "last4")
    same = Q()
    for brand, last4 in own:
        same |= Q(brand=brand, last4=last4)
    return bool(own) and PaymentMethod.objects.filter(same, customer=other).exists()


def conflicts_of(customer_id: str) -> list[tuple[Staff, list[str]]]:
    """Staff who share something with a customer, and what: whom a lead may clear."""
    deciding = Staff.objects.filter(role__in=DECIDES, is_active=True).exclude(customer_id=customer_id)
    found = [(staff, shared_with(staff, customer_id)) for staff in deciding.exclude(customer_id="", email="", phone="")]
    return [(staff, what) for staff, what in found if what]


def clear(*, staff: Staff, customer_id: str, by: Staff, reason: str) -> None:
    """A lead says that what a colleague shares with the customer is chance."""
    if by.role != LEAD or not by.is_active or by == staff:
        raise Forbidden("role", _("A lead clears a colleague, and nobody themself."))
    if not reason.strip() or len(reason) > 1_000:
        raise Invalid({"reason": [_("Give a reason of at most 1,000 characters.")]})
    try:
        with transaction.atomic():
            Clearance.objects.create(staff=staff, customer_id=customer_id, cleared_by=by, reason=reason.strip())
            event = NewEvent(kind=Kind.ROLE, decision="cleared", customer_id=customer_id)
            record(Actor(kind="staff", id=by.username), event, staff=staff.username, reason=reason.strip())
    except IntegrityError as error:
        raise Invalid({"reason": [_("%(name)s was cleared before.") % {"name": staff.username}]}) from error

"""Finding conversations by what staff have at hand: a customer, a reference, an id."""

import re
import uuid

from django.db.models import Q

from agents.models import HandOff, Message
from approvals.models import Request
from ledger.access.staff import as_staff
from ledger.models import Customer

MOST_CUSTOMERS = 200
_REFERENCE = re.compile(r"[RT]-[0-9A-Z]{6,10}")


def found_by(text: str) -> Q:
    """The conversations that a search means: by their id, by a reference in them, or by who the customer is."""
    if not text:
        return Q()
    if _REFERENCE.fullmatch(text.upper()):
        return Q(pk__in=_by_reference(text.upper()))
    try:
        return Q(pk=uuid.UUID(text))
    except ValueError:
        return Q(customer_id__in=as_staff(lambda: _customers(text)))


def _by_reference(reference: str) -> list[uuid.UUID]:
    asked = list(Request.objects.filter(pk=reference, is_decoy=False).values_list("conversation_id", flat=True))
    asked += HandOff.objects.filter(reference=reference).values_list("conversation_id", flat=True)
    told = Message.objects.filter(key=f"executed:{reference}").values_list("conversation_id", flat=True)
    return asked + list(told[:1])


def _customers(text: str) -> list[str]:
    who = Q(pk__icontains=text) | Q(name__icontains=text) | Q(email__icontains=text)
    return list(Customer.objects.filter(who).order_by("pk").values_list("pk", flat=True)[:MOST_CUSTOMERS])


def names_of(customer_ids: set[str]) -> dict[str, str]:
    """By id, the names of customers."""
    return as_staff(lambda: dict(Customer.objects.filter(pk__in=customer_ids).values_list("pk", "name")))

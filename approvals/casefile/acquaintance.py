"""What the case file says about the person: how they signed in, who else pays like them, and how fast they ask."""

import datetime as dt
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Max, Q
from django.db.models.functions import Now

from approvals.models import Request
from ledger.access.staff import as_staff
from ledger.models import Entry, PaymentMethod

MONTH = dt.timedelta(days=30)
MOST_OTHERS = 20
USUAL_SECONDS = 600


def sign_in_of(request: Request) -> dict[str, Any]:
    """How the customer had proved who they are when this was asked, as far as their token said."""
    facts = request.facts
    return {"minutes": facts.get("sign_in_minutes"), "methods": list(facts.get("sign_in_methods") or ())}


def who_else_pays_so(customer_id: str) -> list[dict[str, str]]:
    """Other customers with a card of the same brand and last four digits. Under the staff scope."""
    own = PaymentMethod.objects.filter(customer_id=customer_id, last4__isnull=False).values_list("brand", "last4")
    same = Q(pk__in=[])
    for brand, last4 in own:
        same |= Q(brand=brand, last4=last4)
    others = PaymentMethod.objects.filter(same).exclude(customer_id=customer_id).order_by("customer_id")
    rows = others.values_list("customer_id", "customer__name", "brand", "last4").distinct()[:MOST_OTHERS]
    return [{"customer_id": row[0], "name": row[1], "method": f"{row[2]} ••{row[3]}"} for row in rows]


def writes_of(customer_id: str) -> int:
    """How many of this customer's writes were carried out in 30 days. Under the staff scope."""
    return Entry.objects.filter(at__gt=Now() - MONTH, customer_id=customer_id).count()


def usual_writes() -> float:
    """The same on average of all who had any: a sum over everybody's, so it is up to ten minutes old."""
    return float(cache.get_or_set("usual_writes", lambda: as_staff(_usual_writes), USUAL_SECONDS) or 0)


def _usual_writes() -> float:
    recent = Entry.objects.filter(at__gt=Now() - MONTH)
    found = recent.aggregate(entries=Count("reference"), customers=Count("customer_id", distinct=True))
    return round(int(found["entries"]) / max(int(found["customers"]), 1), 1)


def asked_before(request: Request) -> dict[str, Any]:
    """Across this customer's conversations: how many there were with a request, how many requests, how many denied."""
    own = Request.objects.filter(Q(is_decoy=False) | Q(pk=request.pk), customer_id=request.customer_id)
    return own.aggregate(
        conversations=Count("conversation_id", distinct=True),
        requests=Count("reference"),
        denied=Count("reference", filter=Q(state="denied")),
        latest=Max("created_at"),
    )

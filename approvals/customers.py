"""One customer as staff see them: profile, orders, what was done, and their requests."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from approvals.models import Request
from audit.access import READS_CONSOLE, staff_page
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from ledger.models import Customer, Entry, Order, PaymentMethod
from ledger.staff import as_staff

MOST_ROWS = 50


@staff_page(*READS_CONSOLE)
@require_safe
def customer(request: HttpRequest, customer_id: str) -> HttpResponse:
    """Reading a customer's file is an event."""
    file = None if "\x00" in customer_id else as_staff(lambda: _file(customer_id))
    if file is None:
        raise Http404
    actor = Actor(kind="staff", id=request.user.get_username())
    record(actor, NewEvent(kind=Kind.ACCESS, decision="read", customer_id=customer_id), what="customer")
    asked = Request.objects.filter(customer_id=customer_id).order_by("-created_at")[:MOST_ROWS]
    return render(request, "approvals/customer.html", {**file, "asked": asked})


def _file(customer_id: str) -> dict[str, Any] | None:
    found = Customer.objects.filter(pk=customer_id).first()
    if found is None:
        return None
    orders = Order.objects.filter(customer=found).select_related("account").order_by("-order_id")
    return {
        "customer": found,
        "methods": list(PaymentMethod.objects.filter(customer=found).order_by("position")),
        "orders": list(orders[:MOST_ROWS]),
        "entries": list(Entry.objects.filter(customer=found).order_by("-at")[:MOST_ROWS]),
    }

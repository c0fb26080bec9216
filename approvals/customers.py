"""One customer as staff see them: profile, orders, what was done, and their requests."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from approvals import flags, kinship, notes
from approvals.errors import Forbidden, Invalid
from approvals.models import Request, Staff
from audit.access import DECIDES, LEAD, READS_CONSOLE, role_of, staff_page
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
    context = {
        **file,
        "asked": asked,
        "flags": flags.flags_of(customer_id),
        "notes": notes.notes_of(customer_id),
        "kin": kinship.kin_of(customer_id),
        "clears": role_of(request.user) == LEAD,
        "flags_here": role_of(request.user) in DECIDES,
    }
    return render(request, "approvals/customer.html", context)


@staff_page(*DECIDES)
@require_POST
def flag(request: HttpRequest, customer_id: str) -> HttpResponse:
    """Warn colleagues of a customer, or take a warning off."""
    if "\x00" in customer_id or not as_staff(lambda: Customer.objects.filter(pk=customer_id).exists()):
        raise Http404
    assert isinstance(request.user, Staff)
    try:
        if number := request.POST.get("clear", ""):
            cleared = number.isascii() and number.isdigit() and len(number) < 19
            cleared = cleared and flags.clear(staff=request.user, flag_id=int(number), customer_id=customer_id)
            messages.info(request, "The flag is off." if cleared else "That flag was taken off before.")
        else:
            flags.flag(staff=request.user, customer_id=customer_id, reason=request.POST.get("reason", ""))
            messages.success(request, "Flagged: whatever is done for this customer now waits for a person.")
    except (Forbidden, Invalid) as error:
        messages.error(request, error.message)
    return redirect("customer", customer_id)


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

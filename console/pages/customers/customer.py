"""One customer as staff see them: everything in one place, each part with its newest rows."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agents.models import Conversation, Session
from approvals.casefile import conflicts, flags, notes
from approvals.casefile.acquaintance import who_else_pays_so
from approvals.models import Request
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import DECIDES, LEAD, READS_CONSOLE, role_of, staff_page
from ledger.access.staff import as_staff
from ledger.models import Customer, Entry, Order, PaymentMethod

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
    asked = Request.objects.filter(customer_id=customer_id).order_by("-created_at")
    conversations = (
        Conversation.objects.filter(customer_id=customer_id).select_related("holder").order_by("-created_at")
    )
    context = {
        **file,
        "asked": list(asked[:MOST_ROWS]),
        "conversations": list(conversations[:MOST_ROWS]),
        "sign_in": _sign_in(customer_id),
        "flags": flags.flags_of(customer_id),
        "notes": notes.notes_of(customer_id),
        "conflicts": conflicts.conflicts_of(customer_id),
        "clears": role_of(request.user) == LEAD,
        "flags_here": role_of(request.user) in DECIDES,
        "most": MOST_ROWS,
    }
    return render(request, "pages/customers/customer.html", context)


def _sign_in(customer_id: str) -> dict[str, Any] | None:
    """How the customer had proved who they are when they last wrote, as far as their token said."""
    last = Conversation.objects.filter(customer_id=customer_id).order_by("-created_at").first()
    if last is None:
        return None
    ended = Session.objects.filter(customer_id=last.customer_id, session_id=last.session_id).first()
    return {"at": last.auth_time, "methods": last.amr, "ended_at": ended.revoked_at if ended else None}


def _file(customer_id: str) -> dict[str, Any] | None:
    found = Customer.objects.filter(pk=customer_id).first()
    if found is None:
        return None
    orders = Order.objects.filter(customer=found).select_related("account").order_by("-order_id")
    return {
        "customer": found,
        "methods": list(PaymentMethod.objects.filter(customer=found).order_by("position")),
        "others": who_else_pays_so(customer_id),
        "orders": list(orders[:MOST_ROWS]),
        "entries": list(Entry.objects.filter(customer=found).order_by("-at")[:MOST_ROWS]),
    }

"""One customer as staff see them: everything in one place, each part with its newest rows."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy

from agents.models import Conversation, Session
from approvals.casefile import conflicts, flags, notes
from approvals.casefile.acquaintance import who_else_pays_so
from approvals.models import Request, Staff
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import DECIDES, LEAD, READS_CONSOLE, role_of, staff_page
from console.forms.customers import ClearanceForm, FlagForm, NoteForm
from console.forms.fields import Form
from ledger.access.staff import as_staff
from ledger.models import Customer, Entry, Order, PaymentMethod

MOST_ROWS = 50


@staff_page(READS_CONSOLE, what=gettext_lazy("A customer's file"))
def customer(request: HttpRequest, customer_id: str) -> HttpResponse:
    """Reading a customer's file is an event."""
    return page(request, customer_id)


def require_customer(customer_id: str) -> None:
    """Raises Http404 where there is none of that id."""
    if not as_staff(lambda: Customer.objects.filter(pk=customer_id).exists()):
        raise Http404


def page(request: HttpRequest, customer_id: str, *, status: int = 200, **refused: Form) -> HttpResponse:
    """A customer's file; a form that was `refused` stands in its place as it was filled in."""
    file = as_staff(lambda: _file(customer_id))
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
        "conflicts": _conflicts(customer_id, refused.get("clearance")),
        "clears": role_of(request.user) == LEAD,
        "flags_here": role_of(request.user) in DECIDES,
        "most": MOST_ROWS,
        "note_form": NoteForm(),
        "flag_form": FlagForm(),
        **refused,
    }
    return render(request, "pages/customers/customer.html", context, status=422 if refused else status)


def _conflicts(customer_id: str, refused: Form | None) -> list[tuple[Staff, list[str], Form]]:
    """Whom a lead may clear, for what, and the form to do it."""
    name = refused["staff"].value() if refused else ""
    return [
        (staff, what, refused if refused and staff.username == name else ClearanceForm(auto_id=f"clear-{staff.pk}-%s"))
        for staff, what in conflicts.conflicts_of(customer_id)
    ]


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

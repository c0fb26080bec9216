"""What an approver sees and the conversation never held. Nothing that makes a prompt may import this."""

import datetime as dt
from typing import Any

from django.db.models import Sum
from django.db.models.functions import Now

from approvals.models import Request, Staff
from audit.record import Actor, NewEvent, record
from ledger.models import Account, Customer, Entry, Order, Transfer
from ledger.orders import method_label
from ledger.staff import as_staff

DAY, MONTH = dt.timedelta(hours=24), dt.timedelta(days=30)
MOST_ROWS = 50


def case_file(request: Request, *, staff: Staff) -> dict[str, Any]:
    """The customer, the order's money, and earlier refunds and requests. Reading it is an event."""
    facts = as_staff(lambda: _ledger_facts(request))
    record(
        Actor(kind="staff", id=staff.username),
        NewEvent(
            kind="access",
            decision="read",
            reference=request.reference,
            customer_id=request.customer_id,
            conversation_id=request.conversation_id,
        ),
        what="case file",
    )
    others = Request.objects.filter(customer_id=request.customer_id).exclude(pk=request.pk)
    return {**facts, "requests": list(others.order_by("-created_at").values(*_REQUEST_FIELDS)[:MOST_ROWS])}


_REQUEST_FIELDS = ("reference", "state", "tool", "order_id", "amount_minor", "currency", "rule", "created_at")
_ENTRY_FIELDS = ("reference", "tool", "order_id", "amount_minor", "currency", "request_reference", "at")


def _ledger_facts(request: Request) -> dict[str, Any]:
    customer = Customer.objects.filter(pk=request.customer_id).values("customer_id", "name", "email").first()
    entries = Entry.objects.filter(customer_id=request.customer_id)
    return {
        "customer": customer,
        "order": _order(request.order_id) if request.order_id else None,
        "entries": list(entries.order_by("-at").values(*_ENTRY_FIELDS)[:MOST_ROWS]),
        "totals": {
            "moved_24h": _sum(entries.filter(currency=request.currency, at__gt=Now() - DAY)),
            "moved_30d": _sum(entries.filter(currency=request.currency, at__gt=Now() - MONTH)),
        },
    }


def _sum(entries: Any) -> int:
    return int(entries.aggregate(total=Sum("amount_minor"))["total"] or 0)


def _order(order_id: str) -> dict[str, Any] | None:
    order = Order.objects.filter(pk=order_id).values("order_id", "status", "currency", "items", "note").first()
    if order is None:
        return None
    transfers = Transfer.objects.filter(order_id=order_id).select_related("payment_method").order_by("id")
    held = Account.objects.filter(order_id=order_id).values_list("held_minor", flat=True).first() or 0
    captured = sum(t.amount_minor for t in transfers if t.kind == "capture")
    refunded = sum(t.amount_minor for t in transfers if t.kind == "refund")
    payments = [
        {
            "kind": t.kind,
            "amount_minor": t.amount_minor,
            "label": _label(t),
            "at": t.at,
            "entry": t.entry_id or "",
        }
        for t in transfers
    ]
    return {
        **order,
        "payments": payments,
        "captured_minor": captured,
        "refunded_minor": refunded,
        "held_minor": held,
        "refundable_minor": captured - refunded - held,
    }


def _label(transfer: Transfer) -> str:
    method = transfer.payment_method
    return method_label(method.kind, method.brand, method.last4, method.pk) if method else ""

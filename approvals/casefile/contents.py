"""What an approver sees and the conversation never held. Nothing that makes a prompt may import this."""

import datetime as dt
from typing import Any

from django.db.models import Sum
from django.db.models.functions import Now

from approvals.casefile.acquaintance import asked_before, sign_in_of, usual_writes, who_else_pays_so, writes_of
from approvals.casefile.flags import flags_of
from approvals.casefile.notes import notes_of
from approvals.models import Request, Staff
from audit.record import Actor, NewEvent, record
from ledger.access.staff import as_staff
from ledger.models import Account, Customer, Entry, Order, Transfer
from ledger.shop.orders import method_label

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
    others = Request.objects.filter(customer_id=request.customer_id, is_decoy=False).exclude(pk=request.pk)
    return {
        **facts,
        "pace": {"own": facts["pace"], "usual": usual_writes()},
        "requests": list(others.order_by("-created_at").values(*_REQUEST_FIELDS)[:MOST_ROWS]),
        "asked": asked_before(request),
        "sign_in": sign_in_of(request),
        "flags": [
            {"by": flag.author.username, "at": flag.at, "reason": flag.reason, "cleared_at": flag.cleared_at}
            for flag in flags_of(request.customer_id)
        ],
        "notes": [
            {"by": note.author.username, "at": note.at, "text": note.text} for note in notes_of(request.customer_id)
        ],
    }


_REQUEST_FIELDS = ("reference", "state", "tool", "order_id", "amount_minor", "currency", "rule", "created_at")
_ENTRY_FIELDS = ("reference", "tool", "order_id", "amount_minor", "currency", "request_reference", "at")


def _ledger_facts(request: Request) -> dict[str, Any]:
    customer = Customer.objects.filter(pk=request.customer_id).values("customer_id", "name", "email").first()
    entries = Entry.objects.filter(customer_id=request.customer_id)
    return {
        "customer": customer,
        "order": _order(request.order_id) if request.order_id else None,
        "others": who_else_pays_so(request.customer_id),
        "pace": writes_of(request.customer_id),
        "entries": list(entries.order_by("-at").values(*_ENTRY_FIELDS)[:MOST_ROWS]),
        "totals": {
            "moved_24h": _sum(entries.filter(currency=request.currency, at__gt=Now() - DAY)),
            "moved_30d": _sum(entries.filter(currency=request.currency, at__gt=Now() - MONTH)),
        },
    }


def _sum(entries: Any) -> int:
    return int(entries.aggregate(total=Sum("amount_minor"))["total"] or 0)


def _order(order_id: str) -> dict[str, Any] | None:
    fields = ("order_id", "status", "currency", "items", "note", "frozen")
    order = Order.objects.filter(pk=order_id).values(*fields).first()
    if order is None:
        return None
    transfers = Transfer.objects.filter(order_id=order_id).select_related("payment_method", "payout").order_by("id")
    account = Account.objects.get(order_id=order_id)
    captured = sum(t.amount_minor for t in transfers if t.kind == "capture")
    refunded = captured - account.balance_minor
    payments = [
        {
            "kind": t.kind,
            "amount_minor": t.amount_minor,
            "label": _label(t),
            "at": t.at,
            "entry": t.entry_id or "",
            "status": t.payout.state if hasattr(t, "payout") else "",
        }
        for t in transfers
    ]
    return {
        **order,
        "over_refunded_minor": account.over_refunded_minor,
        "payments": payments,
        "captured_minor": captured,
        "refunded_minor": refunded,
        "held_minor": account.held_minor,
        "refundable_minor": account.balance_minor - account.held_minor,
    }


def _label(transfer: Transfer) -> str:
    method = transfer.payment_method
    return method_label(method.kind, method.brand, method.last4, method.pk) if method else ""

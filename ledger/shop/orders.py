"""Orders as one customer may see them, and what has moved against the customer's limits."""

import json
import uuid
from dataclasses import dataclass, field
from typing import Any, Literal

from base import sql
from base.keyset import Keyset
from base.money import digits_of
from ledger.books.plans import Movement, Plan
from ledger.errors import order_frozen, order_not_found
from ledger.payouts.words import status_words
from ledger.shop.lists import MOST_ITEMS, cursor_checked, page

Json = dict[str, Any]


def method_label(kind: str, brand: str | None, last4: str | None, payment_method_id: str) -> str:
    """A payment method as people know it: Visa ••4242, PayPal, gift card ending 4071."""
    if kind == "card":
        return f"{(brand or 'card').title()} ••{last4 or '????'}"
    return "PayPal" if kind == "paypal" else f"gift card ending {payment_method_id[-4:]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A payment method of the customer's; `spendable_minor` is a gift card's balance less what is reserved."""

    payment_method_id: str
    kind: str
    brand: str | None
    last4: str | None
    currency: str | None
    spendable_minor: int

    @property
    def label(self) -> str:
        return method_label(self.kind, self.brand, self.last4, self.payment_method_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderState:
    """An order with its money. All amounts are minor units of `currency`."""

    order_id: str
    customer_id: str
    currency: str
    status: str
    address: Json
    items: list[Json]
    tracking: list[str]
    note: str | None
    placed_at: str | None
    delivered_at: str | None
    cancel_reason: str | None
    returning: Json | None
    exchanging: Json | None
    balance_minor: int
    """Captured less refunded."""
    held_minor: int
    frozen: bool
    payments: list[Json]
    methods: dict[str, Method]
    address_untrusted: bool = False
    """Whether the address was last written by a conversation that held untrusted text."""

    @property
    def refundable_minor(self) -> int:
        return self.balance_minor - self.held_minor

    @property
    def captured_minor(self) -> int:
        return sum(p["amount_minor"] for p in self.payments if p["kind"] == "capture")

    @property
    def value_minor(self) -> int:
        return sum(int(item["price_minor"]) for item in self.items)

    def net_by_method(self) -> dict[str, int]:
        """Captures less refunds of each payment method on this order, in order of first capture."""
        net: dict[str, int] = {}
        for payment in self.payments:
            method = payment["payment_method_id"]
            net[method] = net.get(method, 0) + payment["sign"] * payment["amount_minor"]
        return net

    def movement(self, kind: Literal["refund", "capture"], payment_method_id: str, amount_minor: int) -> Movement:
        """Money to or from one of the customer's methods, as a plan states it."""
        method = self.methods[payment_method_id]
        return Movement(
            kind=kind,
            payment_method_id=payment_method_id,
            method_kind=method.kind,
            amount_minor=amount_minor,
            label=method.label,
            paid_before=method.kind == "gift_card" or self.net_by_method().get(payment_method_id, 0) > 0,
        )


_STATE = """
    SELECT jsonb_build_object(
        'order_id', o.order_id, 'customer_id', o.customer_id, 'currency', o.currency, 'status', o.status,
        'address', o.address, 'items', o.items, 'tracking', o.tracking, 'note', o.note, 'placed_at', o.placed_at,
        'delivered_at', o.delivered_at, 'cancel_reason', o.cancel_reason, 'returning', o.returning,
        'exchanging', o.exchanging, 'balance_minor', coalesce(a.balance_minor, 0),
        'held_minor', coalesce(a.held_minor, 0), 'frozen', o.frozen,
        'address_untrusted', coalesce((
            SELECT e.untrusted FROM ledger_entry e
            WHERE e.order_id = o.order_id AND e.customer_id = o.customer_id
              AND e.plan -> 'order_changes' ? 'address' ORDER BY e.at DESC, e.reference DESC LIMIT 1), false),
        'payments', coalesce((
            SELECT jsonb_agg(jsonb_build_object('kind', t.kind, 'amount_minor', t.amount_minor,
                                                'payment_method_id', t.payment_method_id, 'at', t.at,
                                                'sign', CASE WHEN t.credit_id = a.id THEN 1 ELSE -1 END,
                                                'state', p.state) ORDER BY t.id)
            FROM ledger_transfer t LEFT JOIN ledger_payout p ON p.transfer_id = t.id
            WHERE t.order_id = o.order_id AND t.customer_id = o.customer_id), '[]'),
        'methods', (
            SELECT jsonb_agg(jsonb_build_object(
                'payment_method_id', m.payment_method_id, 'kind', m.kind, 'brand', m.brand, 'last4', m.last4,
                'currency', m.currency, 'spendable_minor', coalesce(g.balance_minor - g.held_minor, 0))
                ORDER BY m.position)
            FROM ledger_paymentmethod m
            LEFT JOIN ledger_account g ON g.payment_method_id = m.payment_method_id AND g.kind = 'gift_card'
            WHERE m.customer_id = o.customer_id))::text
    FROM ledger_order o LEFT JOIN ledger_account a ON a.order_id = o.order_id
    WHERE o.order_id = %s AND o.customer_id = %s
"""
# A statement of its own: one that waited for the lock would read the money as it was before the wait.
_LOCK = "SELECT FROM ledger_order WHERE order_id = %s AND customer_id = %s FOR NO KEY UPDATE"


def load_order(customer_id: str, order_id: str, *, lock: bool) -> OrderState:
    """An own order; the same Refused for a foreign one as for none. Locked to be changed, a frozen one is refused."""
    if lock:
        sql.run(_LOCK, [order_id, customer_id])
    row = sql.row(_STATE, [order_id, customer_id])
    if row is None:
        raise order_not_found(order_id)
    found = json.loads(row[0])
    if lock and found["frozen"]:
        raise order_frozen(order_id)
    methods = {m["payment_method_id"]: Method(**m) for m in found.pop("methods") or []}
    return OrderState(**found, methods=methods)


def show_order(state: OrderState) -> Json:
    """What `get_order` answers: everything about the order that its customer may know."""
    shown: Json = {
        "order_id": state.order_id,
        "status": state.status,
        "currency": state.currency,
        "currency_digits": digits_of(state.currency),
        "total_minor": state.value_minor,
        "refundable_minor": max(0, state.refundable_minor),
        "items": state.items,
        "payments": [_show_payment(payment) for payment in state.payments],
        "address": state.address,
        "tracking": state.tracking,
    }
    optional = ("note", "placed_at", "delivered_at", "cancel_reason", "returning", "exchanging")
    return shown | {name: value for name in optional if (value := getattr(state, name)) is not None}


def _show_payment(payment: Json) -> Json:
    """`status` says how far the bank is with money that Placet moved."""
    shown = {name: payment[name] for name in ("kind", "amount_minor", "payment_method_id")}
    words = status_words(payment["kind"], payment["state"])
    return shown | ({"status": words} if words else {})


_LIST = """
    SELECT jsonb_build_object(
        'order_id', o.order_id, 'status', o.status, 'currency', o.currency, 'placed_at', coalesce(o.placed_at, ''),
        'total_minor', (SELECT coalesce(sum((i ->> 'price_minor')::bigint), 0) FROM jsonb_array_elements(o.items) i),
        'refundable_minor', coalesce(a.balance_minor - a.held_minor, 0),
        'items', (SELECT coalesce(jsonb_agg(left(i ->> 'name', 80)), '[]')
                  FROM (SELECT i FROM jsonb_array_elements(o.items) i LIMIT 10) first))::text
    FROM ledger_order o LEFT JOIN ledger_account a ON a.order_id = o.order_id
    WHERE o.customer_id = %s AND (%s::text IS NULL OR o.status = %s::text)
      AND {after} ORDER BY {order} LIMIT %s
"""
_NEWEST = Keyset({"coalesce(o.placed_at, '')": str, "o.order_id": str}, downwards=True)


def list_orders(customer_id: str, status: str | None, cursor: str | None) -> Json:
    """The customer's orders, newest first, a page at a time."""
    with cursor_checked():
        after, values = _NEWEST.condition(cursor)
    statement = _LIST.format(after=after, order=_NEWEST.order)
    found = sql.rows(statement, [customer_id, status, status, *values, MOST_ITEMS + 1])
    rows = [json.loads(row[0]) for row in found]
    return page(rows, lambda row: _NEWEST.write([row["placed_at"], row["order_id"]]), "list_my_orders")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What a customer's executed writes add up to in a plan's currency, in minor units over 24 hours (`day`) and 30
    days (`month`), and whether one equals the plan."""

    customer_day_minor: int
    customer_month_minor: int
    order_day_minor: int
    order_month_minor: int
    conversation_day_minor: int
    conversation_month_minor: int
    repeats: bool
    methods: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Of each payment method of the plan: day and month."""
    on_the_way: dict[str, int] = field(default_factory=dict)
    """By currency the value of the most valuable order not delivered yet, where a plan changes an address."""


_MOVED = """
    WITH e AS (
        SELECT amount_minor, currency = %(currency)s AS same, at > now() - interval '24 hours' AS fresh, plan,
               order_id IS NOT DISTINCT FROM %(order)s AS here, conversation_id = %(conversation)s AS said_here, tool
        FROM ledger_entry WHERE customer_id = %(customer)s AND at > now() - interval '30 days')
    SELECT json_build_object(
        'customer_day_minor', coalesce(sum(amount_minor) FILTER (WHERE same AND fresh), 0),
        'customer_month_minor', coalesce(sum(amount_minor) FILTER (WHERE same), 0),
        'order_day_minor', coalesce(sum(amount_minor) FILTER (WHERE same AND here AND fresh), 0),
        'order_month_minor', coalesce(sum(amount_minor) FILTER (WHERE same AND here), 0),
        'conversation_day_minor', coalesce(sum(amount_minor) FILTER (WHERE same AND said_here AND fresh), 0),
        'conversation_month_minor', coalesce(sum(amount_minor) FILTER (WHERE same AND said_here), 0),
        'repeats', coalesce(bool_or(fresh AND here AND tool = %(tool)s AND amount_minor = %(amount)s), false),
        'methods', coalesce((
            SELECT json_object_agg(id, json_build_array(day, month)) FROM (
                SELECT m ->> 'payment_method_id' AS id, sum((m ->> 'amount_minor')::bigint) AS month,
                       coalesce(sum((m ->> 'amount_minor')::bigint) FILTER (WHERE fresh), 0) AS day
                FROM e, jsonb_array_elements(coalesce((plan -> 'movements') || (plan -> 'promised'), '[]')) m
                WHERE same AND m ->> 'payment_method_id' = ANY(%(methods)s) GROUP BY 1) sums), '{}'))
    FROM e
"""


def moved(customer_id: str, plan: Plan, conversation_id: uuid.UUID) -> Moved:
    """Sums over 24 hours and 30 days, refunds and charges alike, and the repeat rule's fact."""
    values = {
        "customer": customer_id,
        "currency": plan.currency,
        "order": plan.order_id or None,
        "conversation": conversation_id,
        "tool": plan.tool,
        "amount": plan.amount_minor,
        "methods": list({m.payment_method_id for m in (*plan.movements, *plan.promised)}),
    }
    row = sql.row(_MOVED, values)
    assert row is not None
    return Moved(**row[0])

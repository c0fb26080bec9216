"""Rows as lines of the shop's format. Payments come from the transfers, gift card balances from the books."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Prefetch, QuerySet

from ledger.files.format import Json
from ledger.models import Account, Customer, Order, PaymentMethod, Product, Transfer

_CHUNK = 500


class UnknownRow(LookupError):
    """The shop has no such customer or order; the message says which."""


def export_lines(customer_id: str | None = None, order_id: str | None = None) -> Iterator[Json]:
    """Lines of the whole shop, of one customer with their orders, or of one order, sorted by id.

    Runs in the staff's scope and is read there. Raises UnknownRow.
    """
    customers, products, orders = _customers(), Product.objects.order_by("product_id"), _orders()
    if customer_id is not None:
        customers, orders = customers.filter(customer_id=customer_id), orders.filter(customer_id=customer_id)
        _require(customers, f"There is no customer {customer_id!r}.")
    if order_id is not None:
        orders = orders.filter(order_id=order_id)
        _require(orders, f"There is no order {order_id!r}" + (" of this customer." if customer_id else "."))
    if order_id is None:
        yield from map(customer_line, customers.iterator(_CHUNK))
    if order_id is None and customer_id is None:
        yield from map(product_line, products.iterator(_CHUNK))
    yield from map(order_line, orders.iterator(_CHUNK))


def current_customer(customer_id: str) -> Json:
    """The customer's line as the row is now."""
    return customer_line(_customers().get(customer_id=customer_id))


def current_order(order_id: str) -> Json:
    """The order's line as the row is now."""
    return order_line(_orders().get(order_id=order_id))


def _require(rows: QuerySet[Any], sentence: str) -> None:
    if not rows.exists():
        raise UnknownRow(sentence)


def _customers() -> QuerySet[Customer]:
    cards = Account.objects.filter(kind=Account.Kind.GIFT_CARD)
    methods = PaymentMethod.objects.order_by("position").prefetch_related(
        Prefetch("account_set", queryset=cards, to_attr="cards")
    )
    return Customer.objects.order_by("customer_id").prefetch_related(Prefetch("payment_methods", queryset=methods))


def _orders() -> QuerySet[Order]:
    transfers = Prefetch("transfers", queryset=Transfer.objects.select_related("reversal").order_by("id"))
    return Order.objects.order_by("order_id").prefetch_related(transfers)


def _present(**values: Any) -> Json:
    return {name: value for name, value in values.items() if value is not None}


def customer_line(customer: Customer) -> Json:
    """A customer with payment methods."""
    return {
        "type": "customer",
        "customer_id": customer.customer_id,
        "name": customer.name,
        "email": customer.email,
        **_present(phone=customer.phone),
        "address": customer.address,
        "payment_methods": [_method(method) for method in customer.payment_methods.all()],
    }


def _method(method: PaymentMethod) -> Json:
    cards: list[Account] = method.cards  # type: ignore[attr-defined]
    return _present(
        payment_method_id=method.payment_method_id,
        kind=method.kind,
        brand=method.brand,
        last4=method.last4,
        currency=method.currency,
        balance_minor=cards[0].balance_minor if cards else None,
    )


def product_line(product: Product) -> Json:
    """A product with its variants."""
    return _present(
        type="product",
        product_id=product.product_id,
        name=product.name,
        description=product.description,
        items=product.items,
    )


def order_line(order: Order) -> Json:
    """An order with its payments in the order in which they were made."""
    line = _present(
        type="order",
        order_id=order.order_id,
        customer_id=order.customer_id,
        currency=order.currency,
        status=order.status,
        address=order.address,
        items=order.items,
        tracking=order.tracking,
        payments=_payments(order),
        note=order.note,
        placed_at=order.placed_at,
        delivered_at=order.delivered_at,
        cancel_reason=order.cancel_reason,
        exchange=order.exchanging,
    )
    return line if order.returning is None else {**line, "return": order.returning}


def _payments(order: Order) -> list[Json]:
    """What was undone again is left out, and the format knows two kinds alone."""
    moved = [t for t in order.transfers.all() if t.kind != Transfer.Kind.REVERSAL and not hasattr(t, "reversal")]
    return [_payment(transfer) for transfer in moved]


def _payment(transfer: Transfer) -> Json:
    came = transfer.kind in (Transfer.Kind.CAPTURE, Transfer.Kind.DISPUTE_WON)
    return _present(
        kind="capture" if came else "refund",
        amount_minor=transfer.amount_minor,
        payment_method_id=transfer.payment_method_id,
        provider_reference=transfer.provider_reference,
    )

"""The people and orders that the tests use. Maya is the customer, Noor somebody else's, the rest are staff."""

import time
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from django.utils import timezone

from agents import chat
from agents.claims import Claimed, claim
from agents.models import Conversation
from approvals.models import Staff
from approvals.presence import Presence
from ledger.models import Account, Customer, Order, PaymentMethod, Product, Transfer
from ledger.staff import as_staff

T = TypeVar("T")
ADDRESS = {"line1": "1 Quay", "line2": "", "city": "Bristol", "region": "", "postal_code": "BS1", "country": "GB"}
PASSWORD = "correct horse battery staple"


def make_customer(customer_id: str, *methods: dict[str, Any]) -> Customer:
    """A customer with payment methods; a gift card's `balance_minor` becomes its opening."""
    customer = Customer.objects.create(
        customer_id=customer_id,
        name=customer_id.title(),
        email=f"{customer_id}@example.com",
        address=ADDRESS,
        imported={},
    )
    for position, method in enumerate(methods):
        balance = method.pop("balance_minor", 0)
        made = PaymentMethod.objects.create(customer=customer, position=position, **method)
        if made.kind == "gift_card":
            _open_gift_card(made, balance)
    return customer


def _open_gift_card(method: PaymentMethod, balance_minor: int) -> None:
    currency = method.currency or ""
    card = Account.objects.create(
        kind="gift_card", currency=currency, customer_id=method.customer_id, payment_method=method
    )
    opening, _ = Account.objects.get_or_create(kind="opening", currency=currency)
    if balance_minor:
        Transfer.objects.create(
            kind="opening", debit=opening, credit=card, amount_minor=balance_minor, currency=currency,
            customer_id=method.customer_id, payment_method=method,
        )  # fmt: skip


def make_order(
    order_id: str,
    customer_id: str,
    *prices: int,
    method: str,
    status: str = "delivered",
    currency: str = "GBP",
    provider_reference: str | None = None,
) -> Order:
    """An order of one line per price, captured in full from one payment method."""
    items = [
        {"item_id": f"{order_id}-{n}", "product_id": "mug", "name": f"Thing {n}", "options": {}, "price_minor": price}
        for n, price in enumerate(prices, 1)
    ]
    order = Order.objects.create(
        order_id=order_id, customer_id=customer_id, currency=currency, status=status, address=ADDRESS, items=items,
        tracking=["TRK1"], imported={}, placed_at="2026-11-20T10:00:00Z",
    )  # fmt: skip
    account = Account.objects.create(kind="order", currency=currency, customer_id=customer_id, order=order)
    paying, _ = Account.objects.get_or_create(
        payment_method_id=method, currency=currency, defaults={"kind": "external", "customer_id": customer_id}
    )
    Transfer.objects.create(
        kind="capture", debit=paying, credit=account, amount_minor=sum(prices), currency=currency,
        customer_id=customer_id, order=order, payment_method_id=method, provider_reference=provider_reference,
    )  # fmt: skip
    return order


def fill_shop() -> None:
    """Maya pays with a Visa and has a gift card; Noor pays with PayPal."""
    make_customer(
        "maya",
        {"payment_method_id": "maya-visa", "kind": "card", "brand": "visa", "last4": "4242"},
        {"payment_method_id": "maya-gift-0001", "kind": "gift_card", "currency": "GBP", "balance_minor": 3_000},
    )
    make_customer("noor", {"payment_method_id": "noor-paypal", "kind": "paypal"})
    Product.objects.create(
        product_id="mug",
        name="Mug",
        items=[{"item_id": "mug-blue", "options": {"colour": "blue"}, "available": True, "price_minor": 900}],
        imported={},
    )
    make_order("4471", "maya", 9_900, 2_500, method="maya-visa")
    make_order("4472", "maya", 60_000, method="maya-visa")
    make_order("4473", "maya", 1_500, method="maya-visa", status="pending")
    make_order("5001", "noor", 8_000, method="noor-paypal")


def make_staff(username: str, role: str, **fields: Any) -> Staff:
    staff = Staff(username=username, role=role, **fields)
    staff.set_password(PASSWORD)
    staff.save()
    return staff


def begin_turn(customer_id: str = "maya", text: str = "hello", session_id: str = "s1") -> Claimed:
    """A conversation of this customer with one message, its turn claimed by this process."""
    conversation = chat.begin(customer_id=customer_id, session_id=session_id)
    return next_turn(conversation, text=text, session_id=session_id)


def next_turn(conversation: Conversation, text: str = "and now?", session_id: str = "s1") -> Claimed:
    """One more message in a conversation, its turn claimed."""
    chat.post_message(conversation_id=conversation.pk, session_id=session_id, client_id=uuid.uuid4().hex, text=text)
    claimed = claim("the tests")
    assert claimed is not None
    return claimed


def seen_by_staff(read: Callable[[], T]) -> T:
    """Look at the ledger as staff do."""
    return as_staff(read)


def until(happens: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for a condition, for so long at most."""
    end = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def here() -> Presence:
    """Somebody who has shown just now that it is them."""
    return Presence(authenticated_at=timezone.now())

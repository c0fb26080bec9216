"""The people and orders that the tests use. Maya is the customer, Noor somebody else's, the rest are staff."""

import time
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

from django.utils import timezone

from agents.chat import conversations
from agents.context.history import ROWS, composed
from agents.models import Conversation
from agents.turns.claims import Claimed, claim
from approvals.decisions.reauthentication import Proof
from approvals.models import Staff
from base import sql
from ledger.access.staff import as_staff
from ledger.models import Account, Customer, Order, PaymentMethod, Product, Transfer

T = TypeVar("T")
ADDRESS = {"line1": "1 Quay", "line2": "", "city": "Bristol", "region": "", "postal_code": "BS1", "country": "GB"}
PASSWORD = "correct horse battery staple"


def make_customer(customer_id: str, *methods: dict[str, Any]) -> Customer:
    """A customer with payment methods; a gift card's `balance_minor` becomes its opening."""
    customer = _customer(customer_id)
    customer.save(force_insert=True)
    for position, method in enumerate(methods):
        balance = method.pop("balance_minor", 0)
        made = PaymentMethod.objects.create(customer=customer, position=position, **method)
        if made.kind == "gift_card":
            _open_gift_card(made, balance)
    return customer


def _customer(customer_id: str) -> Customer:
    email = f"{customer_id}@example.com"
    return Customer(customer_id=customer_id, name=customer_id.title(), email=email, address=ADDRESS, imported={})


def _open_gift_card(method: PaymentMethod, balance_minor: int) -> None:
    card = _gift_card(method)
    card.save(force_insert=True)
    opening, _ = Account.objects.get_or_create(kind="opening", currency=card.currency)
    if balance_minor:
        _opening(opening, card, balance_minor).save(force_insert=True)


def _gift_card(method: PaymentMethod) -> Account:
    return Account(
        kind="gift_card", currency=method.currency or "", customer_id=method.customer_id, payment_method=method
    )


def _opening(opening: Account, card: Account, amount_minor: int) -> Transfer:
    return Transfer(
        kind="opening", debit=opening, credit=card, amount_minor=amount_minor, currency=card.currency,
        customer_id=card.customer_id, payment_method_id=card.payment_method_id,
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
    order = _order(order_id, customer_id, *prices, status=status, currency=currency)
    order.save(force_insert=True)
    account = _order_account(order)
    account.save(force_insert=True)
    paying, _ = Account.objects.get_or_create(
        payment_method_id=method, currency=currency, defaults={"kind": "external", "customer_id": customer_id}
    )
    _capture(paying, account, sum(prices), provider_reference).save(force_insert=True)
    return order


def _order(
    order_id: str, customer_id: str, *prices: int, status: str = "delivered", currency: str = "GBP"
) -> Order:  # fmt: skip
    items = [
        {"item_id": f"{order_id}-{n}", "product_id": "mug", "name": f"Thing {n}", "options": {}, "price_minor": price}
        for n, price in enumerate(prices, 1)
    ]
    return Order(
        order_id=order_id, customer_id=customer_id, currency=currency, status=status, address=ADDRESS, items=items,
        tracking=["TRK1"], imported={}, placed_at="2026-11-20T10:00:00Z",
    )  # fmt: skip


def _order_account(order: Order) -> Account:
    return Account(kind="order", currency=order.currency, customer_id=order.customer_id, order=order)


def _capture(paying: Account, account: Account, amount_minor: int, provider_reference: str | None = None) -> Transfer:
    return Transfer(
        kind="capture", debit=paying, credit=account, amount_minor=amount_minor, currency=account.currency,
        customer_id=account.customer_id, order_id=account.order_id, payment_method_id=paying.payment_method_id,
        provider_reference=provider_reference,
    )  # fmt: skip


def fill_shop() -> None:
    """Maya pays with a Visa and has a gift card; Noor pays with PayPal. In few statements: most tests begin here."""
    Customer.objects.bulk_create([_customer("maya"), _customer("noor")])
    visa = PaymentMethod(
        payment_method_id="maya-visa", customer_id="maya", position=0, kind="card", brand="visa", last4="4242"
    )
    gift = PaymentMethod(
        payment_method_id="maya-gift-0001", customer_id="maya", position=1, kind="gift_card", currency="GBP"
    )
    paypal = PaymentMethod(payment_method_id="noor-paypal", customer_id="noor", position=0, kind="paypal")
    PaymentMethod.objects.bulk_create([visa, gift, paypal])
    Product.objects.create(
        product_id="mug",
        name="Mug",
        items=[{"item_id": "mug-blue", "options": {"colour": "blue"}, "available": True, "price_minor": 900}],
        imported={},
    )
    orders = [
        _order("4471", "maya", 9_900, 2_500),
        _order("4472", "maya", 60_000),
        _order("4473", "maya", 1_500, status="pending"),
        _order("5001", "noor", 8_000),
    ]
    Order.objects.bulk_create(orders)
    opening, card = Account(kind="opening", currency="GBP"), _gift_card(gift)
    from_visa, from_paypal = (
        Account(kind="external", currency="GBP", customer_id=method.customer_id, payment_method=method)
        for method in (visa, paypal)
    )
    accounts = [_order_account(order) for order in orders]
    Account.objects.bulk_create([opening, card, from_visa, from_paypal, *accounts])
    paid = [(from_visa, 12_400), (from_visa, 60_000), (from_visa, 1_500), (from_paypal, 8_000)]
    captures = [_capture(paying, account, amount) for (paying, amount), account in zip(paid, accounts, strict=True)]
    Transfer.objects.bulk_create([_opening(opening, card, 3_000), *captures])


def make_staff(username: str, role: str, **fields: Any) -> Staff:
    staff = Staff(username=username, role=role, **fields)
    staff.set_password(PASSWORD)
    staff.save()
    return staff


def begin_turn(customer_id: str = "maya", text: str = "hello", session_id: str = "s1") -> Claimed:
    """A conversation of this customer with one message, its turn claimed by this process."""
    conversation = conversations.begin(customer_id=customer_id, session_id=session_id)
    return next_turn(conversation, text=text, session_id=session_id)


def next_turn(conversation: Conversation, text: str = "and now?", session_id: str = "s1") -> Claimed:
    """One more message in a conversation, its turn claimed."""
    conversations.post_message(
        conversation_id=conversation.pk, session_id=session_id, client_id=uuid.uuid4().hex, text=text
    )
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


def here() -> Proof:
    """Somebody who has shown just now that it is them."""
    return Proof(authenticated_at=timezone.now())


def messages_for(conversation_id: uuid.UUID, number: int) -> list[dict[str, Any]]:
    """What the model would be sent in turn `number`."""
    return composed(sql.rows(ROWS, [conversation_id, number]))

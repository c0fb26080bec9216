"""What an imported return or exchange promises: money held until the goods are back."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from django.utils import timezone

from audit.record import canonical
from base.references import ALPHABET
from ledger.files.format import ExchangeLine, Json, OrderLine
from ledger.files.lines import Line, Problems
from ledger.models import Account, Hold, Order


def promise_owner(order_id: str, promise: Json) -> str:
    """The owner of the hold that an imported `return` or `exchange` has: the same every time."""
    number = int.from_bytes(hashlib.sha256(canonical([order_id, promise]).encode()).digest()[:5])
    return "I-" + "".join(ALPHABET[number >> shift & 31] for shift in range(35, -1, -5))


@dataclass(frozen=True, slots=True)
class OrderNews:
    """An order's line that brings something, and the row as it was (None for a new one)."""

    line: Line
    known: Order | None

    @property
    def model(self) -> OrderLine:
        model: OrderLine = self.line.model
        return model

    @property
    def paid_before(self) -> int:
        """How many of the line's payments are in the books already."""
        return len(self.known.imported["payments"]) if self.known else 0

    @property
    def promise(self) -> Json | None:
        """The open promise that the line states."""
        return _open_promise(self.line.raw)

    @property
    def promise_before(self) -> Json | None:
        """The open promise that the last import stated."""
        return _open_promise(self.known.imported) if self.known else None


def _open_promise(raw: Json) -> Json | None:
    key = {"return_requested": "return", "exchange_requested": "exchange"}.get(raw["status"], "")
    promise: Json | None = raw.get(key)
    return promise


def end_promise(order: OrderNews) -> None:
    """End the hold of a promise that the shop no longer states: posted where money moved with that news."""
    before = order.promise_before
    if before is None or before == order.promise:
        return
    paid = len(order.model.payments) > order.paid_before
    Hold.objects.filter(owner=promise_owner(order.model.order_id, before), state=Hold.State.PENDING).update(
        state=Hold.State.POSTED if paid else Hold.State.VOIDED, ended_at=timezone.now()
    )


def hold_promise(order: OrderNews, problems: Problems) -> None:
    """Hold what a new promise needs. Runs after all payments of the file."""
    account, amount_minor = _needs(order.model)
    if account is None or amount_minor <= 0:
        return
    owner = promise_owner(order.model.order_id, order.promise or {})
    if amount_minor > free(account):
        key = "exchange.price_difference_minor"
        problems.add(order.line.number, f"{key}: is more than what is left for it ({left(account)})")
    elif Hold.objects.filter(owner=owner, account=account).exists():
        problems.add(order.line.number, "status: this very return or exchange was open before and has ended")
    else:
        Hold.objects.create(
            owner=owner,
            account=account,
            customer_id=order.model.customer_id,
            amount_minor=amount_minor,
            currency=order.model.currency,
        )


def _needs(order: OrderLine) -> tuple[Account | None, int]:
    """Which account the promise needs, and how much of it; a card or PayPal is charged later."""
    promise = order.promise
    assert promise is not None
    account = Account.objects.get(order_id=order.order_id)
    if not isinstance(promise, ExchangeLine):
        return account, min(_worth(promise.item_ids, order), free(account))
    if promise.price_difference_minor <= 0:
        return account, -promise.price_difference_minor
    card = Account.objects.filter(kind=Account.Kind.GIFT_CARD, payment_method_id=promise.payment_method_id)
    return card.first(), promise.price_difference_minor


def _worth(item_ids: Iterable[str], order: OrderLine) -> int:
    prices = [(item.item_id, item.price_minor) for item in order.items]
    total = 0
    for item_id in item_ids:
        line = next(entry for entry in prices if entry[0] == item_id)
        prices.remove(line)
        total += line[1]
    return total


def free(account: Account) -> int:
    """What is on an account and not held."""
    return account.balance_minor - account.held_minor


def left(account: Account) -> str:
    """The same in words, for a sentence."""
    held = f", {account.held_minor} of them held" if account.held_minor else ""
    return f"{account.balance_minor}{held}"

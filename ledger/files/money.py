"""The money of an import: accounts, payments as transfers, what a gift card opened with, what is promised."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Q

from ledger.files.format import MethodLine, OrderLine, PaymentLine
from ledger.files.lines import Problems, batches
from ledger.files.promises import OrderNews, end_promise, free, hold_promise, left
from ledger.models import Account, PaymentMethod, Transfer

Kind = Account.Kind


@dataclass
class Stated:
    """A gift card's balance as a customer's line states it; it holds after the file's payments."""

    number: int
    balance_minor: int
    due: bool


@dataclass
class Books:
    """Writes the money side. The totals that triggers keep are followed here, so that a payment which they
    would refuse becomes a sentence about its line."""

    problems: Problems
    stated: dict[str, Stated] = field(default_factory=dict)
    promises: list[OrderNews] = field(default_factory=list)
    _orders: dict[str, Account] = field(default_factory=dict)
    _methods: dict[tuple[str, str], Account] = field(default_factory=dict)
    _opening: dict[str, Account] = field(default_factory=dict)
    _transfers: list[Transfer] = field(default_factory=list)

    def open_cards(self, methods: Iterable[PaymentMethod]) -> None:
        """Make the accounts of gift cards."""
        Account.objects.bulk_create(
            (
                Account(kind=Kind.GIFT_CARD, currency=method.currency, customer_id=method.customer_id,
                        payment_method=method)
                for method in methods if method.kind == Kind.GIFT_CARD and method.currency
            ),
            ignore_conflicts=True,
        )  # fmt: skip

    def state(self, number: int, method: MethodLine, due: bool) -> None:
        """Note what a gift card of a customer that we have not touched is said to hold."""
        if method.balance_minor is not None:
            self.stated[method.payment_method_id] = Stated(number, method.balance_minor, due)

    def pay(self, news: list[OrderNews], methods: dict[str, PaymentMethod]) -> None:
        """Write the payments that are new, in the file's order."""
        for order in news:
            end_promise(order)
        self._open_accounts(news, methods)
        for order in news:
            for index, payment in enumerate(order.model.payments[order.paid_before :], order.paid_before):
                self._payment(order, index, payment)
            if order.promise and order.promise != order.promise_before:
                self.promises.append(order)
        self._write()

    def _open_accounts(self, news: list[OrderNews], methods: dict[str, PaymentMethod]) -> None:
        fresh = [
            Account(kind=Kind.ORDER, currency=order.model.currency, customer_id=order.model.customer_id,
                    order_id=order.model.order_id)
            for order in news
        ]  # fmt: skip
        for order in news:
            for method_id in {payment.payment_method_id for payment in order.model.payments}:
                if methods[method_id].kind != Kind.GIFT_CARD:
                    fresh.append(
                        Account(kind=Kind.EXTERNAL, currency=order.model.currency, payment_method_id=method_id,
                                customer_id=order.model.customer_id)
                    )  # fmt: skip
        Account.objects.bulk_create(fresh, ignore_conflicts=True)
        orders = [order.model.order_id for order in news]
        self._orders, self._methods = {}, {}
        for account in Account.objects.filter(Q(order_id__in=orders) | Q(payment_method_id__in=list(methods))):
            if account.order_id is not None:
                self._orders[account.order_id] = account
            else:
                self._methods[str(account.payment_method_id), account.currency] = account

    def _payment(self, order: OrderNews, index: int, payment: PaymentLine) -> None:
        assignments_of = self._orders[order.model.order_id]
        method = self._methods[payment.payment_method_id, order.model.currency]
        source, target = (method, assignments_of) if payment.kind == "capture" else (assignments_of, method)
        missing = payment.amount_minor - free(source)
        if missing > 0 and source is assignments_of:
            self._refuse(order, index, f"refunds {missing} minor units more than the order has left ({left(source)})")
        elif missing > 0 and source.kind == Kind.GIFT_CARD and payment.payment_method_id not in self.stated:
            self._refuse(
                order, index,
                f"the gift card lacks {missing} minor units (it has {left(source)}): send its customer's line too",
            )  # fmt: skip
        else:
            if missing > 0 and source.kind == Kind.GIFT_CARD:
                self._open(source, missing)
            self._move(source, target, payment, order.model)

    def _refuse(self, order: OrderNews, index: int, sentence: str) -> None:
        self.problems.add(order.line.number, f"payments.{index}: {sentence}")

    def _move(self, source: Account, target: Account, payment: PaymentLine, order: OrderLine) -> None:
        self._transfers.append(
            Transfer(
                kind=payment.kind, debit=source, credit=target, amount_minor=payment.amount_minor,
                currency=order.currency, customer_id=order.customer_id, order_id=order.order_id,
                payment_method_id=payment.payment_method_id, provider_reference=payment.provider_reference,
            )
        )  # fmt: skip
        source.balance_minor -= payment.amount_minor
        target.balance_minor += payment.amount_minor
        if payment.payment_method_id in self.stated:
            self.stated[payment.payment_method_id].due = True

    def _open(self, card: Account, amount_minor: int) -> None:
        """Put on a gift card, or take off where negative, what the shop says without a payment."""
        if card.currency not in self._opening:
            self._opening[card.currency], _ = Account.objects.get_or_create(kind=Kind.OPENING, currency=card.currency)
        other = self._opening[card.currency]
        debit, credit = (other, card) if amount_minor > 0 else (card, other)
        self._transfers.append(
            Transfer(
                kind=Transfer.Kind.OPENING, debit=debit, credit=credit, amount_minor=abs(amount_minor),
                currency=card.currency, customer_id=card.customer_id, payment_method_id=card.payment_method_id,
            )
        )  # fmt: skip
        card.balance_minor += amount_minor

    def _write(self) -> None:
        Transfer.objects.bulk_create(self._transfers)
        self._transfers.clear()

    def settle(self) -> None:
        """After the last payment: gift cards get the balances that were stated, and promises their holds."""
        for cards in batches(card for card, stated in self.stated.items() if stated.due):
            for account in Account.objects.filter(kind=Kind.GIFT_CARD, payment_method_id__in=cards):
                self._settle_card(account, self.stated[str(account.payment_method_id)])
            self._write()
        for order in self.promises:
            hold_promise(order, self.problems)

    def _settle_card(self, card: Account, stated: Stated) -> None:
        if stated.balance_minor < card.held_minor:
            self.problems.add(
                stated.number,
                f"payment_methods: {card.payment_method_id} has {card.held_minor} minor units reserved here, "
                f"so its balance cannot be {stated.balance_minor}",
            )
        elif stated.balance_minor != card.balance_minor:
            self._open(card, stated.balance_minor - card.balance_minor)

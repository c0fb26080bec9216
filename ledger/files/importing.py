"""Importing a file of the shop: whole or not at all, and never over what Placet has written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from django.db import connection

from ledger.access.staff import as_staff
from ledger.files.export import current_customer, current_order
from ledger.files.format import KINDS, CustomerLine, Json, OrderLine
from ledger.files.lines import Line, Problems, ShopError, batches, read_lines
from ledger.files.money import Books
from ledger.files.promises import OrderNews
from ledger.files.rows import customer_row, method_row, order_row, product_row, upsert
from ledger.models import Customer, Order, PaymentMethod, Product

Progress = Callable[[int, int], None]
_IMPORTS = 0x50_4D


@dataclass
class Counts:
    """How many lines brought a new row, changed one, or said what was known."""

    new: int = 0
    changed: int = 0
    same: int = 0


@dataclass
class _Survey:
    """What a first reading finds: every line is sound by itself, and no id stands twice."""

    lines: int = 0
    first: dict[tuple[str, str], int] = field(default_factory=dict)

    def ids(self, kind: str) -> list[str]:
        return [id_ for kind_, id_ in self.first if kind_ == kind]


def import_shop(file: BinaryIO, progress: Progress) -> Counts:
    """Import a seekable file in one transaction. Raises ShopError, and then nothing of it is kept.

    `progress` is told how many of how many lines are done.
    """
    survey = _survey(file)
    return as_staff(lambda: _Import(file, survey, progress).run())


def _survey(file: BinaryIO) -> _Survey:
    survey, problems = _Survey(), Problems()
    for line in read_lines(file, problems, *KINDS):
        survey.lines += 1
        methods = line.model.payment_methods if isinstance(line.model, CustomerLine) else ()
        keys = [(line.raw["type"], line.model.id), *(("payment_method", m.payment_method_id) for m in methods)]
        for kind, id_ in keys:
            if (kind, id_) in survey.first:
                problems.add(line.number, f"{kind} {id_!r} stands in line {survey.first[kind, id_]} already")
            survey.first.setdefault((kind, id_), line.number)
    problems.check()
    if not survey.lines:
        raise ShopError("the file holds no line")
    return survey


@dataclass
class _Import:
    file: BinaryIO
    survey: _Survey
    progress: Progress
    problems: Problems = field(default_factory=Problems)
    counts: Counts = field(default_factory=Counts)
    done: int = 0

    def run(self) -> Counts:
        self.books = Books(self.problems)
        self._lock()
        for lines in self._batches("customer"):
            self._customers(lines)
        for lines in self._batches("product"):
            self._products(lines)
        # Orders of a customer whose line is bad would only be blamed for it too.
        self.problems.check()
        for lines in self._batches("order"):
            self._orders(lines)
        self.problems.check()
        self.books.settle()
        self.problems.check()
        return self.counts

    def _lock(self) -> None:
        """Take the rows before comparing, orders first as every write does: without it a refund executed
        between comparing and writing would be overwritten."""
        orders, customers = self.survey.ids("order"), self.survey.ids("customer")
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_IMPORTS])
            cursor.execute(
                "SELECT FROM ledger_order WHERE order_id = ANY(%s) OR customer_id = ANY(%s) "
                "ORDER BY order_id FOR NO KEY UPDATE",
                [orders, customers],
            )
            cursor.execute(
                "SELECT FROM ledger_customer WHERE customer_id = ANY(%s) ORDER BY customer_id FOR NO KEY UPDATE",
                [customers],
            )

    def _batches(self, kind: str) -> Iterator[list[Line]]:
        for lines in batches(read_lines(self.file, self.problems, kind)):
            yield lines
            self.done += len(lines)
            self.progress(self.done, self.survey.lines)

    def _is_news(self, line: Line, row: Any, current: Callable[[str], Json]) -> bool:
        """Whether the line must be written. Notes a problem where Placet has written to the row."""
        if row is None:
            self.counts.new += 1
            return True
        now = line.raw if row.imported == line.raw else None
        if now is None and getattr(row, "touched_at", None) is not None:
            now = current(line.model.id)
            if now != line.raw:
                keys = ", ".join(_differing(now, line.raw))
                self.problems.add(line.number, f"{_name(line)} was changed here since, and the line differs in {keys}")
        self.counts.same += now is not None
        self.counts.changed += now is None
        return now is None

    def _products(self, lines: list[Line]) -> None:
        known = Product.objects.in_bulk([line.model.id for line in lines])
        # Only the shop writes products, so any difference is its news.
        news = [line for line in lines if self._is_news(line, known.get(line.model.id), _never)]
        upsert(Product, [product_row(line) for line in news])

    def _customers(self, lines: list[Line]) -> None:
        known = Customer.objects.in_bulk([line.model.id for line in lines])
        news = [line for line in lines if self._is_news(line, known.get(line.model.id), current_customer)]
        changed = {line.number for line in news}
        methods = self._methods_fit(news)
        upsert(Customer, [customer_row(line) for line in news])
        upsert(PaymentMethod, methods)
        self.books.open_cards(methods)
        for line in lines:
            row = known.get(line.model.id)
            if row is None or row.touched_at is None:
                for method in line.model.payment_methods:
                    self.books.state(line.number, method, line.number in changed)

    def _methods_fit(self, news: list[Line]) -> list[PaymentMethod]:
        """The payment methods of new and changed customers. A known one keeps its owner, kind and currency."""
        stated = {m.payment_method_id: (line, m) for line in news for m in line.model.payment_methods}
        known = PaymentMethod.objects.in_bulk(list(stated))
        for id_, method in known.items():
            line, model = stated[id_]
            if (method.customer_id, method.kind, method.currency) != (line.model.id, model.kind, model.currency):
                self.problems.add(line.number, f"payment_methods: {id_} is known with another owner, kind or currency")
        owned = PaymentMethod.objects.filter(customer_id__in=[line.model.id for line in news])
        numbers = {line.model.id: line.number for line in news}
        for id_, customer_id in owned.values_list("payment_method_id", "customer_id"):
            if id_ not in stated:
                self.problems.add(numbers[customer_id], f"payment_methods: {id_} is missing; a method stays for good")
        return [method_row(line, place, m) for line in news for place, m in enumerate(line.model.payment_methods)]

    def _orders(self, lines: list[Line]) -> None:
        known = Order.objects.in_bulk([line.model.id for line in lines])
        news = [
            OrderNews(line, known.get(line.model.id))
            for line in lines
            if self._is_news(line, known.get(line.model.id), current_order)
        ]
        customers = {order.model.customer_id for order in news}
        there = set(Customer.objects.filter(customer_id__in=customers).values_list("customer_id", flat=True))
        methods = {m.payment_method_id: m for m in PaymentMethod.objects.filter(customer_id__in=customers)}
        fit = []
        for order in news:
            fault = _fault(order, there, methods)
            if fault:
                self.problems.add(order.line.number, fault)
            else:
                fit.append(order)
        upsert(Order, [order_row(order) for order in fit])
        self.books.pay(fit, methods)


def _fault(order: OrderNews, customers: set[str], methods: dict[str, PaymentMethod]) -> str:
    """What does not fit the rows that an order's line names; empty where all does."""
    model, known = order.model, order.known
    if model.customer_id not in customers:
        return f"customer_id: there is no customer {model.customer_id!r} in this file or before it"
    if known and (known.customer_id, known.currency) != (model.customer_id, model.currency):
        return "customer_id and currency of a known order cannot change"
    if known and order.line.raw["payments"][: order.paid_before] != known.imported["payments"]:
        return "payments: those imported before must stay as they are; only later ones may follow"
    for where, method_id in _paying(model):
        method = methods.get(method_id)
        if method is None or method.customer_id != model.customer_id:
            return f"{where}: this customer has no payment method {method_id!r}"
        if method.kind == PaymentMethod.Kind.GIFT_CARD and method.currency != model.currency:
            return f"{where}: the gift card {method_id!r} is in {method.currency}, the order in {model.currency}"
    return ""


def _paying(model: OrderLine) -> Iterator[tuple[str, str]]:
    for index, payment in enumerate(model.payments):
        yield f"payments.{index}.payment_method_id", payment.payment_method_id
    for key, wish in (("return", model.returning), ("exchange", model.exchanging)):
        if wish is not None:
            yield f"{key}.payment_method_id", wish.payment_method_id


def _never(_: str) -> Json:
    raise AssertionError("products are not touched")


def _differing(now: Json, line: Json) -> list[str]:
    return sorted(key for key in now.keys() | line.keys() if now.get(key) != line.get(key))


def _name(line: Line) -> str:
    return f"{line.raw['type']} {line.model.id!r}"

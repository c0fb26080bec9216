"""Whatever is written in whatever order, the books agree: hypothesis tries sequences of every kind of write."""

import contextlib
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F, Q, Sum
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ledger.access.client import ScopedClient, Shop
from ledger.access.credentials import EXECUTE, READ, WRITE, bound_to, mint
from ledger.access.staff import as_staff
from ledger.books.plans import Plan, digest_of_plan
from ledger.errors import Refused
from ledger.models import Account, Hold, Order, Product, Transfer
from ledger.shop.cancellations import plan_cancellation
from ledger.shop.exchanges import plan_exchange
from ledger.shop.goods import NothingOpen, end_goods
from ledger.shop.item_changes import plan_item_changes
from ledger.shop.payment_changes import plan_payment_change
from ledger.shop.refunds import plan_refund
from ledger.shop.returns import plan_return
from tests.support import cast

ORDERS = ("P1", "D1", "Y1")
METHODS = ("visa", "paypal", "gift-usd1", "gift-jpy1")
VARIANTS = ("mug-1", "mug-2", "mug-3")
PRICES = (1_000, 1_500, 400)

orders, methods, variants = st.sampled_from(ORDERS), st.sampled_from(METHODS), st.sampled_from(VARIANTS)
swaps = st.lists(st.tuples(variants, variants), min_size=1, max_size=2)
plans = st.one_of(
    st.tuples(st.just("refund"), orders, st.integers(1, 3_000)),
    st.tuples(st.just("cancel"), orders),
    st.tuples(st.just("return"), orders, st.lists(variants, min_size=1, max_size=2), methods),
    st.tuples(st.just("exchange"), orders, swaps, methods),
    st.tuples(st.just("items"), orders, swaps, methods),
    st.tuples(st.just("payment"), orders, methods),
)
steps = st.one_of(
    st.tuples(st.just("now"), plans),
    st.tuples(st.sampled_from(["posted", "voided"]), plans),
    st.tuples(st.sampled_from(["goods_received", "goods_abandoned"]), orders),
)


def _fill(names: tuple[str, ...] = ORDERS) -> None:
    cast.make_customer(
        "maya",
        {"payment_method_id": "visa", "kind": "card"},
        {"payment_method_id": "paypal", "kind": "paypal"},
        {"payment_method_id": "gift-usd1", "kind": "gift_card", "currency": "USD", "balance_minor": 2_600},
        {"payment_method_id": "gift-jpy1", "kind": "gift_card", "currency": "JPY", "balance_minor": 700},
    )
    items = [
        {"item_id": item, "options": {}, "available": True, "price_minor": price}
        for item, price in zip(VARIANTS, PRICES, strict=True)
    ]
    Product.objects.create(product_id="mug", name="Mug", items=items, imported={})
    for order_id in names:
        currency = "JPY" if order_id.startswith("Y") else "USD"
        status = "pending" if order_id.startswith("P") else "delivered"
        cast.make_order(order_id, "maya", *PRICES, method="visa", status=status, currency=currency)
        lines = [
            {"item_id": item, "product_id": "mug", "name": "Mug", "options": {}, "price_minor": price}
            for item, price in zip(VARIANTS, PRICES, strict=True)
        ]
        Order.objects.filter(pk=order_id).update(items=lines)


def _plan(shop: Shop, what: tuple[Any, ...]) -> Plan:
    kind, order_id, *rest = what
    state = shop.order_to_change(order_id)
    if kind in ("exchange", "items"):
        pairs, method = rest
        old, new = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        planner = plan_exchange if kind == "exchange" else plan_item_changes
        return planner(state, old, new, method, shop.catalogue(state))
    planners: dict[str, Callable[[], Plan]] = {
        "refund": lambda: plan_refund(state, rest[0], None),
        "cancel": lambda: plan_cancellation(state, "no_longer_needed"),
        "return": lambda: plan_return(state, rest[0], rest[1]),
        "payment": lambda: plan_payment_change(state, rest[0]),
    }
    return planners[kind]()


def _write(step: tuple[str, Any]) -> None:
    """At once, or held as for a person and then executed or given up."""
    how, what = step
    if how.startswith("goods"):
        end_goods(what, how)
        return
    client, key = ScopedClient(mint("maya", uuid.uuid4(), READ, WRITE)), uuid.uuid4().hex
    if how == "now":
        client.run(lambda shop: shop.post(_plan(shop, what), key=key))
        return
    owner = f"R-{key[:8]}"
    approved = client.run(lambda shop: _plan(shop, what))
    client.run(lambda shop: shop.reserve(approved, owner=owner))
    _books_agree()
    if how == "posted":
        bound = bound_to(key, digest_of_plan(approved.to_json()))
        executor = ScopedClient(mint("maya", uuid.uuid4(), READ, WRITE, EXECUTE, digest=bound))
        executor.run(lambda shop: (shop.post_holds(owner), shop.post(_plan(shop, what), key=key)))
    else:
        as_staff(lambda: Hold.objects.filter(owner=owner).update(state="voided", ended_at="2026-11-30T00:00:00Z"))


def _books_agree() -> None:
    as_staff(_check)


def _sum(rows: Any) -> int:
    return int(rows.aggregate(total=Sum("amount_minor"))["total"] or 0)


def _check() -> None:
    for account in Account.objects.filter(kind__in=["order", "gift_card"]):
        moved = _sum(Transfer.objects.filter(credit=account)) - _sum(Transfer.objects.filter(debit=account))
        held = _sum(Hold.objects.filter(account=account, state="pending"))
        assert (account.balance_minor, account.held_minor) == (moved, held)
        assert 0 <= held <= moved
    for order in Order.objects.all():
        transfers = Transfer.objects.filter(order=order)
        assert _sum(transfers.filter(kind="refund")) <= _sum(transfers.filter(kind="capture"))
        assert not transfers.filter(~Q(currency=order.currency)).exists()
        promised = Hold.objects.filter(account__order=order, state="pending", owner__startswith="T-").exists()
        assert promised <= (order.status in ("return_requested", "exchange_requested"))
    assert not Transfer.objects.filter(~Q(debit__currency=F("credit__currency"))).exists()


@pytest.fixture
def small_shop(db: None) -> None:
    as_staff(_fill)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(st.lists(steps, min_size=1, max_size=10))
@example(
    [("now", ("return", "D1", ["mug-1", "mug-2"], "visa")), ("goods_received", "D1"), ("now", ("refund", "D1", 400))]
)
@example([("posted", ("exchange", "D1", [("mug-1", "mug-2")], "gift-usd1")), ("goods_received", "D1")])
@example([("now", ("exchange", "Y1", [("mug-2", "mug-3")], "gift-jpy1")), ("goods_abandoned", "Y1")])
@example([("posted", ("payment", "P1", "paypal")), ("now", ("items", "P1", [("mug-1", "mug-3")], "gift-usd1"))])
@example([("now", ("items", "P1", [("mug-3", "mug-2")], "gift-usd1")), ("voided", ("refund", "P1", 2_900))])
def test_the_books_agree_after_any_writes(small_shop: None, sequence: list[tuple[str, Any]]) -> None:
    with transaction.atomic():
        for step in sequence:
            with contextlib.suppress(Refused, NothingOpen), transaction.atomic():
                _write(step)
            _books_agree()
        transaction.set_rollback(True)

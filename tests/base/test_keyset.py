"""Whatever the rows, pages hold each of them once and in order, and a cursor that no list gave is told as such."""

import base64
import datetime as dt
import json
import uuid

import pytest
from django.db import connection, transaction
from django.db.models import CharField, F, QuerySet
from django.db.models.functions import Coalesce
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings, strategies

from base import sql
from base.keyset import BadCursor, Keyset, number
from ledger.access.staff import as_staff
from ledger.models import Product

pytestmark = pytest.mark.django_db
NAMES = strategies.lists(strategies.sampled_from(["", "a", "b", "ä", "Z"]), max_size=12)
SIZES = strategies.integers(1, 5)
USUAL = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
NOW = dt.datetime(2026, 1, 2, 3, 4, 5, 678, dt.UTC)


@pytest.mark.parametrize("downwards", [False, True])
@given(names=NAMES, size=SIZES)
@USUAL
def test_every_row_comes_once_in_order(downwards: bool, names: list[str], size: int) -> None:
    with transaction.atomic():
        as_staff(lambda: walk(Keyset({"name": str, "product_id": str}, downwards=downwards), names, size))
        transaction.set_rollback(True)


def make(product_id: str, name: str) -> None:
    Product.objects.create(product_id=product_id, name=name, items=[], imported={})


def walk(order: Keyset, names: list[str], size: int) -> None:
    """Page by page; behind the reader's back, another product comes in before what is already read."""
    for n, name in enumerate(names):
        make(f"p{n:02}", name)
    ours = Product.objects.filter(product_id__startswith="p")
    wanted = [row.pk for row in order.after(ours, None)]
    assert [names[int(pk[1:])] for pk in wanted] == [row.name for row in order.after(ours, None)]
    seen, cursor = [], ""
    while True:
        part = order.page(Product.objects.all(), cursor, size)
        seen += [row.pk for row in part.rows]
        assert seen == wanted[: len(seen)]
        if not (cursor := part.cursor):
            break
        where, values = order.condition(cursor)
        rest = sql.rows(f"SELECT product_id FROM ledger_product WHERE {where} ORDER BY {order.order}", values)
        assert [pk for (pk,) in rest] == wanted[len(seen) :]
        make(f"{'q' if order.order.endswith('DESC') else 'a'}{len(seen):02}", part.rows[0].name)
    assert seen == wanted


@given(values=strategies.lists(strategies.none() | strategies.integers(-3, 3), max_size=12), size=SIZES)
@USUAL
def test_rows_with_nulls_are_ordered_by_what_stands_in_for_them(values: list[int | None], size: int) -> None:
    order = Keyset({"coalesce(v, 0)": int, "k": int})
    table = "unnest(%s::bigint[]) WITH ORDINALITY AS t(v, k)"
    seen: list[int] = []
    cursor: str | None = None
    while True:
        where, key = order.condition(cursor)
        statement = f"SELECT coalesce(v, 0), k FROM {table} WHERE {where} ORDER BY {order.order} LIMIT {size}"
        rows = sql.rows(statement, [values, *key])
        seen += [k for _, k in rows]
        assert len(seen) <= len(values)
        if len(rows) < size:
            break
        cursor = order.write(rows[-1])
    assert seen == sorted(range(1, len(values) + 1), key=lambda k: (values[k - 1] or 0, k))


def packed(*values: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def test_a_cursor_gives_back_what_it_was_made_of() -> None:
    order = Keyset({"a": dt.datetime, "b": int, "c": str, "d": uuid.UUID})
    key = [NOW, -(2**63) + 1, "R-\N{SNOWMAN}~", uuid.uuid4()]
    assert order.read(order.write(key)) == key


def test_a_cursor_that_was_not_given_is_bad() -> None:
    order = Keyset({"at": dt.datetime, "n": int, "text": str})
    good = order.write([NOW, 1, "x"])
    mark = json.loads(base64.urlsafe_b64decode(good + "=" * (-len(good) % 4)))[0]
    at = NOW.isoformat()
    for bad in (
        "x", "~", "é", "\x00", "=", good[:-3], good + "!", "W" * 3_000, packed(), packed(1),
        Keyset({"n": int}).write([1]),
        Keyset({"at": dt.datetime, "n": int, "text": str}, downwards=True).write([NOW, 1, "x"]),
        packed(mark, at, "1"), packed(mark, at, "1", "x", "y"), packed(mark, "2026-01-01", "1", "x"),
        packed(mark, at, str(2**63), "x"), packed(mark, at, "1", "\x00"), packed(mark, at, "1", "\ud800"),
        packed(mark, "0001-01-01T00:00:00+23:59", "1", "x"), packed(mark, at, "1", None),
    ):  # fmt: skip
        with pytest.raises(BadCursor):
            order.read(bad)


def test_a_number_in_an_address() -> None:
    assert number("9223372036854775807") == 2**63 - 1
    for bad in ("", "-1", "x", "²", "9223372036854775808", "9" * 30):
        with pytest.raises(BadCursor):
            number(bad)


def test_the_condition_is_one_comparison_of_rows() -> None:
    order = Keyset({"shown": str, "product_id": str}, downwards=True)
    found: QuerySet[Product] = Product.objects.annotate(
        shown=Coalesce(F("description"), F("name"), output_field=CharField())
    )
    with CaptureQueriesContext(connection) as ran:
        list(order.after(found, order.write(["a", "b"])))
    assert "< ('a', 'b')" in ran[0]["sql"]

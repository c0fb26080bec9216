"""The public retail data: the shop imported once, and its rows compared before and after."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection, transaction
from pytest_django import DjangoDbBlocker

from agents.execution.execute import execute
from approvals.decisions.deciding import decide
from approvals.models import Request, Staff
from ledger.access.staff import as_staff
from ledger.files.export import export_lines
from ledger.files.importing import import_shop
from tests.support import cast
from tests.support.servers import cluster, on_fresh_database, pointed_at

Json = dict[str, Any]
FOLDER = Path(settings.PLACET.shared) / "data" / "retail"
needs_data = pytest.mark.skipif(
    not (FOLDER / "shop.jsonl").exists(), reason=f"the public retail data is not in {FOLDER} (set PLACET_SHARED)"
)
_TABLES = ("customer", "order", "account", "transfer", "hold", "entry", "product")


def read(name: str) -> list[Json]:
    """The lines of one of the files; none where it is absent."""
    file = FOLDER / name
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@pytest.fixture(scope="module")
def retail_shop(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A database of the module's own with the public shop in it."""
    with django_db_blocker.unblock():
        template = cluster().made_once("template_retail", _make_shop)
    with on_fresh_database(django_db_blocker, template):
        yield


def _make_shop(name: str) -> None:
    cluster().copy(name)
    with pointed_at(name), (FOLDER / "shop.jsonl").open("rb") as file:
        import_shop(file, lambda done, total: None)


@pytest.fixture
def approvers(retail_shop: None) -> Iterator[list[Staff]]:
    """A lead and an agent, in a transaction that is rolled back with all that the test does."""
    with undone():
        yield [cast.make_staff("lena", "lead"), cast.make_staff("ada", "agent")]


def approve_all(approvers: list[Staff]) -> None:
    """Whatever waits is approved by as many people as it needs, and executed."""
    for request in Request.objects.filter(state="pending"):
        for staff in approvers[: request.approvals_needed]:
            decide(
                reference=request.reference,
                staff=staff,
                verdict="approve",
                digest=request.digest,
                shown={},
                proof=cast.here(),
            )
        assert execute(request.reference)
        request.refresh_from_db()
        assert request.state == "executed", request.ended_reason


@contextmanager
def undone() -> Iterator[None]:
    """Whatever happens inside is rolled back."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def rows_of(customer_id: str) -> dict[str, Json]:
    """The customer's rows of the export by id, `item_ids` sorted as the data compares them."""
    lines = as_staff(lambda: list(export_lines(customer_id)))
    return {id_of(line): as_compared(line) for line in lines}


def id_of(line: Json) -> str:
    """What names an order's or a customer's line."""
    return str(line.get("order_id", line["customer_id"]))


def as_compared(line: Json) -> Json:
    """A line with the item ids of its promise sorted."""
    promises = {key: line[key] for key in ("return", "exchange") if key in line}
    for key, promise in promises.items():
        ids = {name: sorted(promise[name]) for name in ("item_ids", "new_item_ids") if name in promise}
        line = {**line, key: {**promise, **ids}}
    return line


@cache
def _fingerprint_sql() -> str:
    """Where each row lies and which transaction wrote it: any write makes a row anew, even one that changes nothing."""
    parts = [
        f"SELECT md5(coalesce(string_agg(t.ctid || ' ' || t.xmin, ',' ORDER BY t.ctid), '')) FROM ledger_{table} t"
        + (" WHERE t.customer_id IS DISTINCT FROM %(customer)s" if table != "product" else "")
        for table in _TABLES
    ]
    return " UNION ALL ".join(parts)


def others(customer_id: str) -> list[str]:
    """A fingerprint of everything in the books that is not this customer's; of all of it for no customer."""

    def look() -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute(_fingerprint_sql(), {"customer": customer_id})
            return [row[0] for row in cursor.fetchall()]

    return as_staff(look)

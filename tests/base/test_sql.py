"""Statements of our own: the same transaction and the same errors as the mapper's."""

import pytest
from django.db import IntegrityError, ProgrammingError, transaction

from agents.models import Limit
from base import sql

pytestmark = pytest.mark.django_db
INSERT = "INSERT INTO agents_limit (name, most, set_by) VALUES (%s, %s, 'nina')"


def test_rows_and_counts() -> None:
    assert sql.rows("SELECT n FROM generate_series(1, %s) n", [3]) == [(1,), (2,), (3,)]
    assert sql.row("SELECT n FROM generate_series(1, %s) n", [3]) == (1,)
    assert sql.row("SELECT 1 WHERE false") is None
    assert sql.run(INSERT, ["turn_writes", 3]) == 1
    assert Limit.objects.get().most == 3


def test_a_transaction_takes_them_back() -> None:
    with transaction.atomic():
        sql.run(INSERT, ["turn_writes", 3])
        transaction.set_rollback(True)
    assert not Limit.objects.exists()


def test_errors_are_those_of_the_mapper() -> None:
    with pytest.raises(IntegrityError, match="limit_not_negative"), transaction.atomic():
        sql.run(INSERT, ["turn_writes", -1])
    with pytest.raises(ProgrammingError), transaction.atomic():
        sql.row("SELECT nothing FROM nowhere")
    assert sql.row("SELECT 1") == (1,)


def test_a_row_just_made_is_stored_with_what_the_database_fills_in() -> None:
    made = Limit(name="turn_writes", most=3, set_by="nina")
    sql.insert(made)
    stored = Limit.objects.get()
    assert (stored.most, stored.set_at) == (3, made.set_at)
    made.most = 4
    made.save()
    assert Limit.objects.get().most == 4

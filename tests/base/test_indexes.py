"""Every index is paid for by each write, so none may stand that another makes needless."""

import pytest
from django.apps import apps

from base import sql

pytestmark = pytest.mark.django_db
_APPS = ("agents", "approvals", "audit", "console", "ledger")
_OURS = f"n.nspname = 'public' AND split_part(t.relname, '_', 1) IN {_APPS}"
_FOR_PREFIXES = f"""
    SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid
    JOIN pg_namespace n ON n.oid = t.relnamespace
    WHERE {_OURS} AND c.relname ~ '_like$'
"""
# Indexes on all rows whose columns are the first ones of another that is on all rows.
_COVERED = f"""
    SELECT i.indexrelid::regclass::text, o.indexrelid::regclass::text
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
    JOIN pg_index o ON o.indrelid = i.indrelid AND o.indexrelid <> i.indexrelid AND o.indpred IS NULL
    WHERE {_OURS} AND t.relname !~ '^approvals_staff_' AND NOT i.indisunique AND i.indpred IS NULL
      AND (o.indkey::int2[])[0:i.indnkeyatts - 1] = (i.indkey::int2[])[0:i.indnkeyatts - 1]
      AND (o.indclass::oid[])[0:i.indnkeyatts - 1] = (i.indclass::oid[])[0:i.indnkeyatts - 1]
"""


def test_no_index_is_for_searches_by_prefix() -> None:
    assert sql.rows(_FOR_PREFIXES) == []


def test_no_index_is_the_beginning_of_another() -> None:
    assert sql.rows(_COVERED) == []


def test_every_index_and_constraint_that_a_model_declares_is_there() -> None:
    """A change of a column's own index can take another one with it, and nobody is told."""
    models = [model for app in _APPS for model in apps.get_app_config(app).get_models()]
    declared = {each.name for model in models for each in (*model._meta.indexes, *model._meta.constraints)}
    there = sql.rows("SELECT indexname::text FROM pg_indexes UNION SELECT conname::text FROM pg_constraint")
    assert len(declared) > 100
    assert declared - {name for (name,) in there} == set()

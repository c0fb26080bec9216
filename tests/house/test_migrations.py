"""Migrations are a short series without gaps, and in step with the models."""

import re

import pytest
from django.core.management import call_command

from base.home import REPOSITORY
from tests.house.files import APPS


def test_each_series_has_no_gap() -> None:
    found = {app: sorted(p.name for p in (REPOSITORY / app / "migrations").glob("0*.py")) for app in APPS}
    series = {app: names for app, names in found.items() if names}
    assert series.keys() == {"agents", "approvals", "audit", "base", "console", "ledger"}
    for app, names in series.items():
        assert [int(name[:4]) for name in names] == list(range(1, len(names) + 1)), app


@pytest.mark.django_db
def test_no_model_changed_without_its_migration() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_no_migration_holds_a_rule() -> None:
    """Its text would be last year's: rules stand in `APP/sql`."""
    rule = re.compile(r"\b(FUNCTION|TRIGGER|POLICY|ROW LEVEL SECURITY|GRANT|REVOKE)\b")
    texts = {path: path.read_text() for app in APPS for path in (REPOSITORY / app).glob("migrations/0*.py")}
    assert len(texts) >= 5
    assert [path for path, text in texts.items() if rule.search(text)] == []

"""The catalogue says what the files in `APP/sql` say, and whatever differs is named."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from django.db import connection

from base.home import REPOSITORY
from run import catalogue, roles
from tests.support.servers import cluster, fresh_database

CHANGES = {
    "function refuse_change() is not as its file says": (
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"
    ),
    "function ledger_is_disabled(text) is not as its file says": (
        "GRANT EXECUTE ON FUNCTION ledger_is_disabled(text) TO PUBLIC"
    ),
    "function stray() is in the database and in no file": "CREATE FUNCTION stray() RETURNS int RETURN 1",
    "function ledger_is_disabled(text) is in a file and not in the database": "DROP FUNCTION ledger_is_disabled(text)",
    "trigger append_only on audit_event is not as its file says": (
        "ALTER TABLE audit_event DISABLE TRIGGER append_only"
    ),
    "trigger second_person on approvals_decision is in a file and not": (
        "DROP TRIGGER second_person ON approvals_decision"
    ),
    "trigger stray on agents_turn is in the database and in no file": (
        "CREATE TRIGGER stray BEFORE DELETE ON agents_turn FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    ),
    "policy own on ledger_order is not as its file says": "ALTER POLICY own ON ledger_order USING (true)",
    "policy stray on ledger_order is in the database and in no file": (
        "CREATE POLICY stray ON ledger_order TO placet_customer USING (true)"
    ),
    "row-level security of ledger_hold is not as its file says": "ALTER TABLE ledger_hold DISABLE ROW LEVEL SECURITY",
    "key hold_currency of ledger_hold is in a file and not": "ALTER TABLE ledger_hold DROP CONSTRAINT hold_currency",
    "grant of DELETE on audit_event to placet_app is in the database": "GRANT DELETE ON audit_event TO placet_app",
    "grant of SELECT on ledger_customer to PUBLIC is in the database": "GRANT SELECT ON ledger_customer TO PUBLIC",
    "grant of UPDATE (kind) on ledger_account to placet_customer is in": (
        "GRANT UPDATE (kind) ON ledger_account TO placet_customer"
    ),
    "grant of INSERT on audit_event to placet_app is in a file and not": "REVOKE INSERT ON audit_event FROM placet_app",
}


@pytest.fixture
def owner(django_db_setup: None) -> Iterator[psycopg.Connection]:
    """A connection of the tables' owner, of which nothing stays."""
    url = cluster().url(str(connection.settings_dict["NAME"]), roles.OWNER)
    with psycopg.connect(url, autocommit=True) as owner, owner.transaction(force_rollback=True):
        yield owner


def test_the_catalogue_is_as_the_files_say(owner: psycopg.Connection) -> None:
    assert catalogue.drift(owner) == []
    kinds = {name.split()[0] for name in catalogue.snapshot(owner)}
    assert kinds == {"function", "trigger", "policy", "row-level", "key", "grant"}


def test_each_file_can_be_run_again_as_it_is(owner: psycopg.Connection) -> None:
    """Somebody with a database and no Django can apply them by hand."""
    before = catalogue.snapshot(owner)
    assert len(catalogue.files()) > 10
    for path in catalogue.files():
        owner.execute(path.read_bytes())
    assert catalogue.snapshot(owner) == before


def test_every_rule_is_named_in_a_file(owner: psycopg.Connection) -> None:
    text = "\n".join(path.read_text() for path in catalogue.files())
    written = {" ".join(each).lower() for each in re.findall(r"CREATE (?:OR REPLACE )?(FUNCTION|POLICY) (\w+)", text)}
    written |= {f"trigger {name}" for name in re.findall(r"CREATE OR REPLACE TRIGGER (\w+)", text)}
    there = {" ".join(re.split(r"[ (]", name)[:2]) for name in catalogue.snapshot(owner)}
    assert {name for name in there if name.startswith(("function ", "trigger ", "policy "))} == written


@pytest.mark.parametrize("says", list(CHANGES))
def test_whatever_is_changed_is_named_and_put_right(owner: psycopg.Connection, says: str) -> None:
    owner.execute(CHANGES[says].encode())
    [found] = [sentence for sentence in catalogue.drift(owner) if says in sentence]
    assert found in catalogue.apply(owner)
    assert catalogue.drift(owner) == []


def test_nobody_queues_behind_it(owner: psycopg.Connection) -> None:
    """A transaction that is in the books is not waited for long, and is not ended."""
    with psycopg.connect(owner.info.dsn, password=cluster().password) as other:
        other.execute("LOCK TABLE ledger_hold IN ROW EXCLUSIVE MODE")
        with pytest.raises(catalogue.CatalogueBusyError, match="Somebody is using the tables"):
            catalogue.drift(owner)
        assert other.execute("SELECT 1").fetchone() == (1,)


def manage(database_url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    name = database_url.rpartition("/")[2]
    env = {**os.environ, "DATABASE_URL": database_url, "DATABASE_OWNER_URL": cluster().url(name, roles.OWNER)}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, env=env, cwd=REPOSITORY, capture_output=True, text=True, timeout=60)


def test_the_doctor_sees_it_and_migrate_puts_it_right() -> None:
    with fresh_database() as url:
        with psycopg.connect(cluster().url(url.rpartition("/")[2], roles.OWNER), autocommit=True) as owner:
            owner.execute("ALTER TABLE ledger_transfer DISABLE TRIGGER append_only")
        ill = manage(url, "doctor")
        assert ill.returncode == 1
        assert "The trigger append_only on ledger_transfer is not as its file says." in ill.stdout
        assert manage(url, "migrate", "-v", "0").returncode == 0
        well = manage(url, "doctor")
        assert (well.returncode, well.stderr) == (0, "")
        assert well.stdout.splitlines()[-1].startswith("holds   functions, triggers")


def test_a_database_of_another_version_is_refused_in_a_sentence() -> None:
    with fresh_database() as url:
        with psycopg.connect(cluster().url(url.rpartition("/")[2], roles.OWNER), autocommit=True) as owner:
            owner.execute(
                "INSERT INTO django_migrations (app, name, applied) VALUES ('ledger', '0002_books', now()),"
                " ('account', '0099_of_somebody_else', now())"
            )
        refused = manage(url, "migrate")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "ledger.0002_books" in refused.stderr
        assert "start with a new PLACET_HOME or an empty database" in refused.stderr
        assert refused.stderr.count("\n") == 1

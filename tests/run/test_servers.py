"""The database roles that set-up makes, and the databases that the tests work on."""

from threading import Thread

import psycopg
import pytest
from django.db import connection

from run import roles
from tests.support.servers import cluster, fresh_database

SCOPES = ("placet_customer", "placet_staff")


def test_no_role_of_ours_is_above_the_rules() -> None:
    with fresh_database(), psycopg.connect(cluster().url("postgres")) as admin:
        rows = admin.execute(
            "SELECT rolname, rolcanlogin FROM pg_roles WHERE rolname LIKE 'placet_%' "
            "AND NOT (rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb OR rolreplication)"
        ).fetchall()
    logins = {"placet_app": True, "placet_owner": True, "placet_customer": False, "placet_staff": False}
    assert dict(rows) == logins


def test_the_application_inherits_nothing_and_can_put_on_a_scope() -> None:
    with fresh_database() as url, psycopg.connect(url) as application:
        for scope in SCOPES:
            row = application.execute(
                "SELECT pg_has_role(%(s)s, 'USAGE'), pg_has_role(%(s)s, 'SET')", {"s": scope}
            ).fetchone()
            assert row == (False, True)


@pytest.mark.parametrize("statement", ["CREATE TABLE t ()", "CREATE TEMP TABLE t ()", "CREATE SCHEMA s"])
def test_the_application_makes_no_tables(statement: str) -> None:
    denied = pytest.raises(psycopg.errors.InsufficientPrivilege)
    with fresh_database() as url, psycopg.connect(url) as application, denied:
        application.execute(statement)


def test_making_the_roles_again_changes_nothing_and_needs_no_superuser() -> None:
    with fresh_database() as url:
        database = url.rpartition("/")[2]
        roles.make_roles(cluster().url(database, roles.OWNER), "another password")
        psycopg.connect(url).close()


def test_an_owner_address_that_leads_nowhere_is_one_sentence() -> None:
    with pytest.raises(roles.RolesError, match="DATABASE_OWNER_URL does not answer"):
        roles.make_roles("postgresql://placet_owner:p@127.0.0.1:1/placet", "p")


@pytest.mark.django_db
def test_tests_run_as_the_application() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("placet_app",)


def test_a_committing_test_has_its_own_database_in_every_thread(committing_db: str) -> None:
    seen = []

    def look() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_database()")
            seen.append(cursor.fetchone()[0])
        connection.close()

    look()
    thread = Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [committing_db.rpartition("/")[2]] * 2

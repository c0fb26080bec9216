"""The database roles: who owns, who serves, and the scopes that the serving role can put on."""

from pathlib import Path
from typing import LiteralString

import psycopg
from psycopg import sql

OWNER, APP, DATABASE = "placet_owner", "placet_app", "placet"
OLDEST_POSTGRES = 160000
_ROLES = (Path(__file__).parent / "sql" / "roles.sql").read_bytes()


class RolesError(RuntimeError):
    """The roles cannot be made; the message says what the owner lacks."""


def make_owner(superuser_url: str, password: str, database: str = DATABASE) -> None:
    """Make the owner's role and its database in a cluster of ours; what is there stays."""
    with psycopg.connect(superuser_url, autocommit=True) as connection:
        if not _exists(connection, "SELECT FROM pg_roles WHERE rolname = %s", OWNER):
            connection.execute(f"CREATE ROLE {OWNER} LOGIN NOSUPERUSER NOBYPASSRLS")
        _set_password(connection, OWNER, password)
        if not _exists(connection, "SELECT FROM pg_database WHERE datname = %s", database):
            name = sql.Identifier(database)
            connection.execute(sql.SQL("CREATE DATABASE {} OWNER placet_owner").format(name))


def make_roles(url: str, app_password: str) -> None:
    """Make the application's role and its scopes, as the owner of Placet's database or a superuser.

    The password is set when the role is new, and by a superuser always. Raises RolesError.
    """
    try:
        with psycopg.connect(url, connect_timeout=10) as connection:
            if connection.info.server_version < OLDEST_POSTGRES:
                raise RolesError("DATABASE_OWNER_URL leads to a Postgres before 16: use 16 or later.")
            new = not _exists(connection, "SELECT FROM pg_roles WHERE rolname = %s", APP)
            connection.execute(_ROLES)
            if new or connection.info.parameter_status("is_superuser") == "on":
                _set_password(connection, APP, app_password)
    except psycopg.errors.InsufficientPrivilege as error:
        raise RolesError(
            f"The database's owner may not make Placet's roles ({error.diag.message_primary}): "
            "run run/sql/roles.sql there as a superuser once."
        ) from error
    except psycopg.OperationalError as error:
        raise RolesError(f"DATABASE_OWNER_URL does not answer: {str(error).splitlines()[0]}") from error


_PLAIN: LiteralString = """
    SELECT rolname, rolsuper, rolbypassrls, EXISTS (SELECT FROM pg_tables WHERE tableowner = rolname
                                                    AND schemaname = 'public')
    FROM pg_roles WHERE rolname = current_user
"""
_FAULTS = ("is a superuser", "bypasses row-level security", "owns the tables")


def require_plain(url: str) -> None:
    """Refuse to serve as a role that no wall in the database holds for. Raises RolesError."""
    try:
        with psycopg.connect(url, connect_timeout=10) as connection:
            found = connection.execute(_PLAIN).fetchone()
    except psycopg.OperationalError as error:
        raise RolesError(f"DATABASE_URL does not answer: {str(error).splitlines()[0]}") from error
    name, *answers = found or ("", True, True, True)
    if wrong := " and ".join(fault for fault, is_so in zip(_FAULTS, answers, strict=True) if is_so):
        raise RolesError(
            f"The role {name} of DATABASE_URL {wrong}, so one customer could see another's rows: "
            f"give the address of {APP}, which run/sql/roles.sql makes."
        )


def _exists(connection: psycopg.Connection, query: LiteralString, name: str) -> bool:
    return connection.execute(query, [name]).fetchone() is not None


def _set_password(connection: psycopg.Connection, role: str, password: str) -> None:
    # Hashed here, so that no log of the server can hold it.
    hashed = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    statement = sql.SQL("ALTER ROLE {} PASSWORD {}")
    connection.execute(statement.format(sql.Identifier(role), sql.Literal(hashed)))

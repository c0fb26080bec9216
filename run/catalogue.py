"""The rules that the database itself keeps: functions, triggers, row-level security and grants. Their text is each
app's `sql/*.sql`; here it is applied, and compared with what the catalogue says."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import psycopg

from base.home import REPOSITORY

APPS = ("base", "audit", "ledger", "approvals", "agents", "console", "run")
"""In the order in which their files are applied: what is used comes before its users, and the grants come last."""
_MAKES_ROLES = "roles.sql"
Snapshot = Mapping[str, str]
"""Each rule by its name, as the catalogue defines it."""


class CatalogueBusyError(RuntimeError):
    """Others keep a table locked; the message says what to do."""


def files() -> list[Path]:
    """The texts, in the order in which they are applied."""
    found = (path for app in APPS for path in sorted((REPOSITORY / app / "sql").glob("*.sql")))
    return [path for path in found if path.name != _MAKES_ROLES]


def apply(owner: psycopg.Connection) -> list[str]:
    """Make the catalogue what the files say, whole or not at all; gives a sentence for each rule that was not so.

    Takes a connection of the tables' owner. Raises CatalogueBusyError after five seconds at a lock.
    """
    with owner.transaction():
        return list(_differences(*_renewed(owner, b"5s")))


def drift(owner: psycopg.Connection) -> list[str]:
    """A sentence for each rule that is not as the files say. Changes nothing; otherwise like `apply`."""
    with owner.transaction(force_rollback=True):
        # Shorter than the second after which Postgres looks for deadlocks: nobody's work is ended for a look.
        return list(_differences(*_renewed(owner, b"500ms")))


def _renewed(owner: psycopg.Connection, patience: bytes) -> tuple[Snapshot, Snapshot]:
    """The catalogue before and after everything of ours is taken away and made again from the files."""
    # Not behind a long transaction: whoever comes after would queue behind this one, and the product would stand.
    owner.execute(b"SET LOCAL lock_timeout = '%b'" % patience)
    before = snapshot(owner)
    try:
        owner.execute(_TAKE_AWAY)
        for path in files():
            owner.execute(path.read_bytes())
    except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected) as error:
        raise CatalogueBusyError(
            "Somebody is using the tables, so the rules in the database could not be compared with their files: try "
            "again, and if need be stop every process of Placet and end long transactions first."
        ) from error
    return before, snapshot(owner)


def snapshot(owner: psycopg.Connection) -> Snapshot:
    """Every function, trigger, policy, wall, key and grant in the catalogue now."""
    return dict(owner.execute(_SNAPSHOT).fetchall())


def _differences(before: Snapshot, after: Snapshot) -> Iterator[str]:
    for name in sorted({*before, *after}):
        if name not in after:
            yield f"The {name} is in the database and in no file."
        elif name not in before:
            yield f"The {name} is in a file and not in the database."
        elif before[name] != after[name]:
            yield f"The {name} is not as its file says."


# What no file names any more is gone after this. Ours is what the owner owns; an extension's belongs to it.
_TAKE_AWAY = """
DO $$ DECLARE statement text; BEGIN
    FOR statement IN
        SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass)
        FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
        WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace AND pg_get_userbyid(relowner) = current_user
    UNION ALL
        SELECT format('DROP POLICY %I ON %s', polname, polrelid::regclass)
        FROM pg_policy JOIN pg_class c ON c.oid = polrelid
        WHERE relnamespace = 'public'::regnamespace AND pg_get_userbyid(relowner) = current_user
    UNION ALL
        SELECT format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY', oid::regclass)
        FROM pg_class WHERE (relrowsecurity OR relforcerowsecurity)
          AND relnamespace = 'public'::regnamespace AND pg_get_userbyid(relowner) = current_user
    UNION ALL
        SELECT format('DROP ROUTINE %s', oid::regprocedure)
        FROM pg_proc p WHERE pronamespace = 'public'::regnamespace AND pg_get_userbyid(proowner) = current_user
          AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND classid = 'pg_proc'::regclass AND deptype = 'e')
    LOOP EXECUTE statement; END LOOP;
END $$;
"""
_SNAPSHOT = """
SELECT 'function ' || p.oid::regprocedure, pg_get_functiondef(p.oid) || proowner::regrole || (
    SELECT string_agg(acl::text, ' ' ORDER BY acl::text)
    FROM unnest(coalesce(proacl, acldefault('f', proowner))) acl)
FROM pg_proc p WHERE pronamespace = 'public'::regnamespace AND prokind IN ('f', 'p')
  AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = p.oid AND classid = 'pg_proc'::regclass AND deptype = 'e')
UNION ALL
SELECT format('trigger %s on %s', tgname, relname), concat_ws(' ', pg_get_triggerdef(t.oid), tgenabled)
FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace
UNION ALL
SELECT format('policy %s on %s', policyname, tablename),
       concat_ws(' ', permissive, roles, cmd, qual, 'check', with_check)
FROM pg_policies WHERE schemaname = 'public'
UNION ALL
SELECT 'row-level security of ' || relname, concat_ws(' ', relrowsecurity, relforcerowsecurity)
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
UNION ALL
SELECT format('key %s of %s', conname, conrelid::regclass), pg_get_constraintdef(oid)
FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace
UNION ALL
SELECT format('grant of %s on %s to %s', privilege_type, relname,
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END),
       is_grantable::text
FROM pg_class, aclexplode(relacl) WHERE relnamespace = 'public'::regnamespace AND grantee <> relowner
UNION ALL
SELECT format('grant of %s (%s) on %s to %s', privilege_type, attname, relname,
    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE grantee::regrole::text END),
       is_grantable::text
FROM pg_class c JOIN pg_attribute ON attrelid = c.oid, aclexplode(attacl)
WHERE relnamespace = 'public'::regnamespace AND grantee <> relowner
"""

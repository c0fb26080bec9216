"""The walls in the database: what each role may, what a scope shows, and what no client can talk its way around."""

import datetime as dt
import re
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import jwt
import psycopg
import pytest
from django.conf import settings
from django.db import DatabaseError, IntegrityError, ProgrammingError, connection, transaction
from django.db.models import Model
from django.utils import timezone

from base.home import REPOSITORY
from ledger.access.client import ScopedClient
from ledger.access.credentials import EXECUTE, READ, WRITE, mint, verify
from ledger.access.scopes import ScopeError, as_customer
from ledger.access.staff import as_staff
from ledger.errors import CredentialRefused, Refused
from ledger.models import Account, Customer, Dispute, Entry, Hold, Order, PaymentMethod, Payout, Transfer
from run import roles
from tests.support.servers import cluster

OWNED = (Customer, PaymentMethod, Order, Account, Entry, Transfer, Hold, Payout, Dispute)
SCOPES = ("placet_app", "placet_customer", "placet_staff")
APPEND_ONLY = (
    "audit_event", "audit_detail", "ledger_transfer", "ledger_entry", "approvals_decision", "approvals_signature",
)  # fmt: skip
CONVERSATION = uuid.uuid4()

pytestmark = pytest.mark.django_db


def sql(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run one statement in a savepoint, as whoever the connection is now."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, list(values))
        return cursor.fetchall() if cursor.description else []


def denied(statement: str, *values: Any) -> None:
    with pytest.raises(DatabaseError, match=r"permission denied|row-level security|append-only"):
        sql(statement, *values)


def as_maya(work: Callable[[], Any]) -> Any:
    return as_customer("maya", work)


def changes(table: str) -> tuple[str, ...]:
    column = sql("SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum = 1", table)[0][0]
    return f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"


def saving(row: Model) -> Callable[[], None]:
    return lambda: row.save(force_insert=True)


# What the roles are and may.


def test_the_applications_role_is_a_plain_one() -> None:
    rows = sql(
        "SELECT rolname, rolcanlogin, rolinherit, rolsuper OR rolbypassrls OR rolcreaterole OR rolcreatedb"
        " OR rolreplication FROM pg_roles WHERE rolname = ANY(%s) ORDER BY 1",
        list(SCOPES),
    )
    assert rows == [(name, name == "placet_app", False, False) for name in SCOPES]
    assert sql("SELECT current_user::text, session_user::text") == [("placet_app", "placet_app")]
    owners = sql("SELECT DISTINCT tableowner::text FROM pg_tables WHERE schemaname = 'public'")
    assert owners == [(roles.OWNER,)]
    members = sql("SELECT roleid::regrole::text, inherit_option, set_option, admin_option FROM pg_auth_members"
                  " WHERE member = 'placet_app'::regrole ORDER BY 1")  # fmt: skip
    assert members == [("placet_customer", False, True, False), ("placet_staff", False, True, False)]
    assert sql("SELECT count(*) FROM pg_auth_members WHERE member = ANY(%s::regrole[])", list(SCOPES[1:])) == [(0,)]


def granted_by_file() -> set[tuple[str, str, str, str]]:
    """(role, privilege, table, column): what run/sql/grants.sql says, read afresh."""
    text = re.sub(r"--.*", "", (REPOSITORY / "run" / "sql" / "grants.sql").read_text())
    found = set()
    for what, tables, to in re.findall(r"GRANT ([^;]*?) ON ([^;]*?) TO ([^;]*?);", text):
        if tables.startswith(("SCHEMA", "ALL SEQUENCES", "FUNCTION", "DATABASE")):
            continue
        for privilege, columns in re.findall(r"([A-Z]+)\s*(?:\(([^)]*)\))?", what):
            for table in re.split(r"[\s,]+", tables.removeprefix("TABLE ").strip()):
                for role in re.split(r"[\s,]+", to.strip()):
                    for column in columns.split(",") if columns else [""]:
                        found.add((role, privilege, table, column.strip().strip('"')))
    return found


def granted_in_catalogue() -> set[tuple[str, str, str, str]]:
    """The same from the catalogue, for every grantee but the owner; PUBLIC would show as `-`."""
    rows = sql("""
        SELECT grantee::regrole::text, privilege_type, relname::text, '' FROM pg_class, aclexplode(relacl)
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') AND grantee <> relowner
        UNION ALL
        SELECT grantee::regrole::text, privilege_type, relname::text, attname::text
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid, aclexplode(attacl)
        WHERE relnamespace = 'public'::regnamespace AND grantee <> relowner
    """)
    return set(rows)


def test_the_catalogue_grants_what_the_file_says_and_nothing_else() -> None:
    assert granted_in_catalogue() == granted_by_file()


def test_what_must_never_be_granted() -> None:
    grants = granted_in_catalogue()
    assert {role for role, *_ in grants} == set(SCOPES)
    assert {privilege for _, privilege, *_ in grants} == {"SELECT", "INSERT", "UPDATE", "DELETE"}
    assert {table for _, privilege, table, _ in grants if privilege == "DELETE"} == {
        "django_session", "usersessions_usersession", "console_cacheentry",
        "mfa_authenticator", "socialaccount_socialaccount", "socialaccount_socialtoken", "base_workitem",
    }  # fmt: skip
    for table in APPEND_ONLY:
        assert {privilege for _, privilege, each, _ in grants if each == table} <= {"SELECT", "INSERT"}
    app = {(privilege, table) for role, privilege, table, _ in grants if role == "placet_app"}
    assert {each for each in app if each[1].startswith("ledger_")} == {("SELECT", "ledger_product")}
    scopes = {table for role, _, table, _ in grants if role != "placet_app"}
    assert all(table.startswith("ledger_") for table in scopes)
    assert not any((role, privilege, table) == ("placet_staff", "INSERT", "ledger_entry")
                   for role, privilege, table, _ in grants)  # fmt: skip
    updates = {table for role, p, table, _ in grants if role == "placet_customer" and p == "UPDATE"}
    assert updates == {"ledger_customer", "ledger_order", "ledger_hold", "ledger_payout"}
    assert not any(column in ("customer_id", "order_id", "amount_minor", "balance_minor", "held_minor", "")
                   for role, p, _, column in grants if (role, p) == ("placet_customer", "UPDATE"))  # fmt: skip


def test_definer_functions_are_not_open_to_everybody() -> None:
    """A function that runs as the owner pins its search path, and PUBLIC may call none but triggers."""
    rows = sql("""
        SELECT proname::text, array_to_string(proconfig, ','), prorettype = 'trigger'::regtype,
               EXISTS (SELECT FROM aclexplode(coalesce(proacl, acldefault('f', proowner))) WHERE grantee = 0)
        FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace
    """)
    assert rows
    for name, config, is_trigger, is_public in rows:
        assert config == "search_path=public", name
        assert is_trigger or not is_public, name


def test_every_table_with_a_customer_has_its_wall() -> None:
    walled = {row[0] for row in sql("SELECT relname::text FROM pg_class WHERE relrowsecurity")}
    owned = {
        row[0]
        for row in sql("""
        SELECT relname::text FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
        WHERE attname = 'customer_id' AND relkind = 'r' AND relname LIKE 'ledger%%'
    """)
    }
    assert owned == walled == {model._meta.db_table for model in OWNED}


# Nobody edits what is for ever.


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_no_role_of_ours_changes_what_is_for_ever(table: str, shop: None) -> None:
    for statement in changes(table):
        denied(statement)
        for scope in (as_maya, as_staff):
            scope(partial(denied, statement))


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_not_even_the_owner_does(table: str) -> None:
    database = str(connection.settings_dict["NAME"])
    with psycopg.connect(cluster().url(database, roles.OWNER), autocommit=True) as owner:
        for statement in changes(table):
            with pytest.raises(psycopg.errors.InsufficientPrivilege, match="append-only"):
                owner.execute(statement)


def test_holds_are_never_deleted_and_end_once(shop: None) -> None:
    def end() -> None:
        account = Account.objects.get(order_id="4471")
        hold = {"owner": "R-000001", "account_id": account.pk, "customer_id": "maya", "currency": "GBP"}
        Hold.objects.create(**hold, amount_minor=100)
        denied("DELETE FROM ledger_hold")
        denied("UPDATE ledger_hold SET amount_minor = 1")
        assert Hold.objects.update(state="voided", ended_at=timezone.now()) == 1
        with pytest.raises(IntegrityError, match="ends once"), transaction.atomic():
            Hold.objects.update(state="pending", ended_at=None)

    as_maya(end)


# What a scope shows.


def test_without_a_scope_no_row_of_a_customer_is_seen(shop: None) -> None:
    for model in OWNED:
        denied(f"SELECT * FROM {model._meta.db_table}")
        with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
            list(model.objects.all())


def test_a_scope_without_a_customer_sees_nothing(shop: None) -> None:
    def count() -> list[int]:
        return [model.objects.count() for model in OWNED]

    assert as_customer("", count) == [0] * len(OWNED)
    assert as_customer("nobody", count) == [0] * len(OWNED)


def test_a_customers_scope_shows_that_customers_rows_to_queries_that_forget_to_filter(shop: None) -> None:
    assert as_maya(lambda: [each.pk for each in Customer.objects.all()]) == ["maya"]
    assert as_maya(lambda: {each.customer_id for model in OWNED for each in model.objects.all()}) == {"maya"}
    assert as_customer("noor", lambda: [each.pk for each in Order.objects.all()]) == ["5001"]
    assert as_maya(lambda: Order.objects.filter(pk="5001").first()) is None
    assert as_maya(lambda: Order.objects.filter(pk="5001").update(status="cancelled")) == 0
    assert as_staff(lambda: Order.objects.get(pk="5001").status) == "delivered"
    assert as_staff(Customer.objects.count) == 2


def entry(customer_id: str, order_id: str, reference: str = "T-000001") -> Entry:
    return Entry(
        reference=reference, key=reference, customer_id=customer_id, order_id=order_id, tool="x", amount_minor=1,
        currency="GBP", plan={}, credential_id="c",
    )  # fmt: skip


def test_a_customers_scope_writes_for_nobody_else(shop: None) -> None:
    noors = as_staff(lambda: Account.objects.get(order_id="5001"))
    visa = as_staff(lambda: Account.objects.get(payment_method_id="maya-visa"))
    own = as_staff(lambda: Account.objects.get(order_id="4471"))
    movement = {"kind": "refund", "amount_minor": 1, "currency": "GBP", "order_id": "4471"}
    foreign = [
        entry("noor", "5001"),
        Transfer(**movement, debit=noors, credit=visa, customer_id="noor"),
        Hold(owner="R-1", account=noors, customer_id="noor", amount_minor=1, currency="GBP"),
        Account(kind="external", currency="EUR", customer_id="noor", payment_method_id="noor-paypal"),
    ]
    for row in foreign:
        with pytest.raises(DatabaseError, match=r"row-level security|customer's account"):
            as_maya(saving(row))
    # Under one's own name, but with somebody else's account.
    for row in (
        Transfer(**movement, debit=noors, credit=visa, customer_id="maya"),
        Transfer(**movement, debit=own, credit=noors, customer_id="maya"),
        Hold(owner="R-1", account=noors, customer_id="maya", amount_minor=1, currency="GBP"),
    ):
        with pytest.raises(IntegrityError, match="customer's account"):
            as_maya(saving(row))


def test_the_staffs_scope_writes_no_entry(shop: None) -> None:
    with pytest.raises(ProgrammingError, match="permission denied"):
        as_staff(lambda: entry("maya", "4471").save(force_insert=True))
    as_staff(lambda: denied("UPDATE ledger_account SET balance_minor = 5"))
    as_staff(lambda: denied("UPDATE ledger_hold SET amount_minor = 5"))


# The books.


def test_totals_are_nobodys_to_set(shop: None) -> None:
    for statement in ("UPDATE ledger_account SET balance_minor = 1000000", "UPDATE ledger_account SET held_minor = 0"):
        as_maya(partial(denied, statement))
    for more in ({"balance_minor": 1_000}, {"held_minor": -1}):
        account = Account(kind="gift_card", currency="USD", customer_id="maya", payment_method_id="maya-visa", **more)
        with pytest.raises(IntegrityError, match="begins empty"):
            as_maya(saving(account))


def test_an_order_never_gives_back_more_than_it_took(shop: None) -> None:
    def refund(amount_minor: int) -> None:
        Transfer.objects.create(
            kind="refund", debit=Account.objects.get(order_id="4471"), amount_minor=amount_minor, currency="GBP",
            credit=Account.objects.get(payment_method_id="maya-visa"), customer_id="maya", order_id="4471",
        )  # fmt: skip

    with pytest.raises(IntegrityError, match="never_below_what_is_held"):
        as_maya(lambda: refund(12_401))
    as_maya(lambda: refund(12_400))
    assert as_maya(lambda: Account.objects.get(order_id="4471").balance_minor) == 0


@pytest.mark.parametrize(
    ("changed", "constraint"),
    [
        ({"currency": "USD"}, "transfer_(debit|credit)_currency"),
        ({"amount_minor": 0}, "transfer_moves_something"),
        ({"amount_minor": -5}, "transfer_moves_something"),
        ({"kind": "gift"}, "transfer_kind_fits_order"),
        ({"order_id": None}, "transfer_kind_fits_order"),
        ({"credit": "same"}, "transfer_between_two_accounts"),
    ],
)
def test_a_transfer_that_is_none(shop: None, changed: dict[str, Any], constraint: str) -> None:
    def move() -> None:
        order, visa = Account.objects.get(order_id="4471"), Account.objects.get(payment_method_id="maya-visa")
        given = {"kind": "refund", "debit": order, "credit": visa, "amount_minor": 5, "currency": "GBP",
                 "customer_id": "maya", "order_id": "4471", **changed}  # fmt: skip
        if given["credit"] == "same":
            given["credit"] = order
        Transfer.objects.create(**given)
        sql("SET CONSTRAINTS ALL IMMEDIATE")

    with pytest.raises(IntegrityError, match=constraint):
        as_maya(move)


# Putting a scope on and taking it off.


def worn() -> tuple[Any, ...]:
    return sql("SELECT current_user::text, coalesce(current_setting('placet.customer_id', true), '')")[0]


def test_a_scope_is_off_again_after_success_and_after_a_fault(shop: None) -> None:
    assert as_maya(worn) == ("placet_customer", "maya")
    assert worn() == ("placet_app", "")

    def fail() -> None:
        raise KeyError("x")

    def fail_in_sql() -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1/0")

    for work in (fail, fail_in_sql):
        with pytest.raises((KeyError, DatabaseError)):
            as_maya(work)
        assert worn() == ("placet_app", "")
    assert as_staff(worn) == ("placet_staff", "")


def test_a_scope_cannot_be_nested_or_widened(shop: None) -> None:
    for inner in (as_staff, lambda work: as_customer("noor", work)):
        with pytest.raises(ScopeError, match="on already"):
            as_maya(partial(inner, Customer.objects.count))
        assert worn() == ("placet_app", "")


def test_a_lazy_result_is_refused(shop: None) -> None:
    with pytest.raises(ScopeError, match="lazy"):
        as_maya(lambda: Customer.objects.all())
    assert worn() == ("placet_app", "")


# Credentials.


def claims(**changed: Any) -> dict[str, Any]:
    made = {
        "aud": "placet-ledger", "jti": "1", "sub": "maya", "conversation": str(CONVERSATION), "scopes": ["read"],
        "digest": "", "untrusted": False, "exp": timezone.now() + dt.timedelta(minutes=1), **changed,
    }  # fmt: skip
    return {name: value for name, value in made.items() if value is not None}


def signed(key: str | None = None, algorithm: str = "HS256", **changed: Any) -> str:
    return jwt.encode(claims(**changed), f"{settings.SECRET_KEY}:ledger" if key is None else key, algorithm)


def test_a_credential_is_what_was_minted() -> None:
    credential = verify(mint("maya", CONVERSATION, READ, WRITE, digest="d"))
    assert (credential.customer_id, credential.conversation_id, credential.digest) == ("maya", CONVERSATION, "d")
    assert credential.scopes == {READ, WRITE}
    assert len(credential.id) == 32
    assert ScopedClient(signed()).credential.id == "1"


@pytest.mark.parametrize(
    "forged",
    [
        "",
        "x.y.z",
        lambda: signed("another key that is long enough to be one"),
        lambda: signed("", "none"),
        lambda: signed(exp=timezone.now() - dt.timedelta(seconds=1)),
        lambda: signed(exp=None),
        lambda: signed(sub=None),
        lambda: signed(jti=None),
        lambda: signed(aud="placet-chat"),
        lambda: signed(aud=None),
        lambda: signed(scopes=None),
        lambda: signed(scopes=5),
        lambda: signed(conversation="x"),
        lambda: signed(conversation=5),
        lambda: signed(sub=5),
        lambda: signed()[:-4] + "AAAA",
        lambda: signed(f"{settings.SECRET_KEY}:widget-token"),
        lambda: signed(f"{settings.SECRET_KEY}:staff-token"),
    ],
)
def test_a_credential_that_is_none_opens_nothing(forged: Any, shop: None) -> None:
    token = forged if isinstance(forged, str) else forged()
    with pytest.raises(CredentialRefused) as caught:
        ScopedClient(token)
    assert "maya" not in str(caught.value)


def test_a_credential_reaches_its_own_customer_alone(shop: None) -> None:
    client = ScopedClient(mint("noor", CONVERSATION, READ))
    assert [row["order_id"] for row in client.run(lambda shop: shop.orders(None, None))["items"]] == ["5001"]
    with pytest.raises(Refused) as caught:
        client.run(lambda shop: shop.order("4471"))
    assert caught.value.rule == "not_found"
    assert client.run(lambda shop: Order.objects.filter(pk="4471").count()) == 0
    with pytest.raises(ScopeError):
        client.run(lambda shop: as_customer("maya", Order.objects.count))


def test_a_narrower_credential_does_less(shop: None) -> None:
    reads = ScopedClient(mint("maya", CONVERSATION, READ))
    assert reads.run(lambda shop: shop.order("4471").refundable_minor) == 12_400
    with pytest.raises(CredentialRefused, match="write"):
        reads.run(lambda shop: shop.order_to_change("4471"))
    with pytest.raises(CredentialRefused, match="execute"):
        ScopedClient(mint("maya", CONVERSATION, READ, WRITE)).run(lambda shop: shop.post_holds("R-1"))
    with pytest.raises(CredentialRefused, match="read"):
        ScopedClient(mint("maya", CONVERSATION, EXECUTE)).run(lambda shop: shop.profile())

"""Carrying a plan out: the entry, its transfers, what it promises, and the rows it changes, in one go."""

import json
import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models.functions import Now

from base import sql
from base.references import new_reference
from ledger.access.credentials import Credential
from ledger.books.plans import Movement, Plan
from ledger.models import Account, Customer, Hold, Order


class SameKeyOtherPlan(Exception):
    """An idempotency key came back with another plan: a fault on our side, nothing is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """An executed write. `done` is the sentence for the customer, without the reference."""

    reference: str
    done: str
    replayed: bool


# One statement: who posts the same key at the same moment waits, and then finds that nothing is left to do.
_POST = """
    WITH entry AS (
        INSERT INTO ledger_entry (reference, key, customer_id, order_id, tool, amount_minor, currency, plan,
                                  request_reference, credential_id, conversation_id, untrusted)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING
        RETURNING reference, customer_id, order_id, currency),
    moved AS (
        INSERT INTO ledger_transfer (kind, debit_id, credit_id, amount_minor, currency, customer_id, order_id,
                                     payment_method_id, entry_id)
        SELECT m.kind, m.debit, m.credit, m.amount, currency, customer_id, order_id, m.method, reference FROM entry,
            unnest(%s::text[], %s::bigint[], %s::bigint[], %s::bigint[], %s::text[])
            AS m(kind, debit, credit, amount, method)),
    touched AS (
        UPDATE ledger_order o SET touched_at = now() FROM entry
        WHERE o.order_id = entry.order_id AND o.customer_id = entry.customer_id)
    SELECT reference FROM entry
"""


def post(plan: Plan, *, key: str, credential: Credential | None, request_reference: str) -> Posted:
    """Execute a plan under the order's row lock. The unique key makes a second call answer with the first."""
    body, accounts = json.dumps(plan.to_json()), _accounts(plan, (*plan.movements, *plan.promised))
    row = sql.row(
        _POST,
        [
            new_reference("T"), key, plan.customer_id, plan.order_id or None, plan.tool, plan.amount_minor,
            plan.currency, body, request_reference, *_asked_by(credential), *_transfers(plan, accounts),
        ],
    )  # fmt: skip
    if row is None:
        return _posted_before(plan, key, body)
    _hold(plan, plan.promised, accounts, owner=row[0])
    _change_rows(plan)
    return Posted(reference=row[0], done=plan.done, replayed=False)


def _asked_by(credential: Credential | None) -> tuple[str, uuid.UUID | None, bool]:
    """Whose credential, in which conversation, and whether that held untrusted text; none for the shop's own deeds."""
    if credential is None:
        return "", None, False
    return credential.id, credential.conversation_id, credential.untrusted


def _posted_before(plan: Plan, key: str, body: str) -> Posted:
    row = sql.row("SELECT reference, plan = %s::jsonb FROM ledger_entry WHERE key = %s", [body, key])
    if row is None or not row[1]:
        raise SameKeyOtherPlan(f"{plan.tool} under {key}")
    return Posted(reference=str(row[0]), done=plan.done, replayed=True)


Accounts = dict[str, int]
"""By payment method, and the order's own under the empty name."""

_ACCOUNTS = """
    SELECT coalesce(payment_method_id, ''), id FROM ledger_account
    WHERE order_id = %s OR payment_method_id = ANY(%s::text[]) AND currency = %s
"""


def _accounts(plan: Plan, movements: Iterable[Movement]) -> Accounts:
    """Every account that the movements touch; a payment method's in this currency is made when first needed."""
    methods = {movement.payment_method_id for movement in movements}
    if not methods:
        return {}
    found: Accounts = dict(sql.rows(_ACCOUNTS, [plan.order_id, list(methods), plan.currency]))
    return found | {method: _new_account(plan, method) for method in methods - set(found)}


def _new_account(plan: Plan, method: str) -> int:
    """Two may need the first one at the same moment: the unique pair of method and currency lets one make it."""
    account, _ = Account.objects.get_or_create(
        payment_method_id=method,
        currency=plan.currency,
        defaults={"kind": Account.Kind.EXTERNAL, "customer_id": plan.customer_id},
    )
    return int(account.pk)


def _transfers(plan: Plan, accounts: Accounts) -> list[list[Any]]:
    """The transfers' columns: kind, debit, credit, amount, payment method."""
    rows = []
    for movement in plan.movements:
        method, order = accounts[movement.payment_method_id], accounts[""]
        debit, credit = (order, method) if movement.kind == "refund" else (method, order)
        rows.append((movement.kind, debit, credit, movement.amount_minor, movement.payment_method_id))
    return [list(column) for column in zip(*rows, strict=True)] or [[], [], [], [], []]


def reserve(plan: Plan, movements: Iterable[Movement], *, owner: str) -> None:
    """Hold what movements to come will need: order money for refunds, a gift card's balance for charges."""
    movements = tuple(movements)
    _hold(plan, movements, _accounts(plan, movements), owner=owner)


_HOLD = """
    INSERT INTO ledger_hold (owner, account_id, customer_id, amount_minor, currency, state)
    SELECT %s, account, %s, amount, %s, 'pending' FROM unnest(%s::bigint[], %s::bigint[]) AS h(account, amount)
"""


def _hold(plan: Plan, movements: Iterable[Movement], accounts: Accounts, *, owner: str) -> None:
    needs: Counter[int] = Counter()
    for movement in movements:
        if movement.kind == "refund":
            needs[accounts[""]] += movement.amount_minor
        elif movement.method_kind == "gift_card":
            needs[accounts[movement.payment_method_id]] += movement.amount_minor
    if needs:
        ordered = dict(sorted(needs.items()))  # accounts are locked by id everywhere
        sql.run(_HOLD, [owner, plan.customer_id, plan.currency, list(ordered), list(ordered.values())])


def end_holds(owner: str, state: Hold.State) -> int:
    """Post or void what an owner holds, once; returns how many holds ended."""
    return sql.run(_END, [state.value, owner])


_END = "UPDATE ledger_hold SET state = %s, ended_at = statement_timestamp() WHERE owner = %s AND state = 'pending'"


def _change_rows(plan: Plan) -> None:
    if plan.order_changes:
        Order.objects.filter(order_id=plan.order_id, customer_id=plan.customer_id).update(**plan.order_changes)
    gift_card = any(m.method_kind == "gift_card" for m in (*plan.movements, *plan.promised))
    if plan.customer_changes or gift_card:
        Customer.objects.filter(customer_id=plan.customer_id).update(**plan.customer_changes, touched_at=Now())

"""Carrying a plan out: the entry, its transfers, what it promises, and the rows it changes, in one go."""

import json
import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.utils import timezone

from ledger.credentials import Credential
from ledger.models import Account, Customer, Hold, Order, Transfer
from ledger.plans import Movement, Plan
from ledger.references import new_reference


class SameKeyOtherPlan(Exception):
    """An idempotency key came back with another plan: a fault on our side, nothing is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """An executed write. `done` is the sentence for the customer, without the reference."""

    reference: str
    done: str
    replayed: bool


_INSERT = """
    INSERT INTO ledger_entry (reference, key, customer_id, order_id, tool, amount_minor, currency, plan,
                              request_reference, credential_id, conversation_id, untrusted)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING RETURNING reference
"""


def post(plan: Plan, *, key: str, credential: Credential | None, request_reference: str) -> Posted:
    """Execute a plan under the order's row lock. The unique key makes a second call answer with the first."""
    body = json.dumps(plan.to_json())
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT,
            [
                new_reference("T"), key, plan.customer_id, plan.order_id or None, plan.tool, plan.amount_minor,
                plan.currency, body, request_reference, *_asked_by(credential),
            ],
        )  # fmt: skip
        row = cursor.fetchone()
    if row is None:
        return _posted_before(plan, key, body)
    reference = str(row[0])
    for movement in plan.movements:
        _transfer(plan, movement, reference)
    reserve(plan, plan.promised, owner=reference)
    _change_rows(plan)
    return Posted(reference=reference, done=plan.done, replayed=False)


def _asked_by(credential: Credential | None) -> tuple[str, uuid.UUID | None, bool]:
    """Whose credential, in which conversation, and whether that held untrusted text; none for the shop's own deeds."""
    if credential is None:
        return "", None, False
    return credential.id, credential.conversation_id, credential.untrusted


def _posted_before(plan: Plan, key: str, body: str) -> Posted:
    with connection.cursor() as cursor:
        cursor.execute("SELECT reference, plan = %s::jsonb FROM ledger_entry WHERE key = %s", [body, key])
        row = cursor.fetchone()
    if row is None or not row[1]:
        raise SameKeyOtherPlan(f"{plan.tool} under {key}")
    return Posted(reference=str(row[0]), done=plan.done, replayed=True)


def _transfer(plan: Plan, movement: Movement, reference: str) -> None:
    method, order = method_account(plan, movement), _order_account(plan)
    debit, credit = (order, method) if movement.kind == "refund" else (method, order)
    Transfer.objects.create(
        kind=movement.kind,
        debit_id=debit,
        credit_id=credit,
        amount_minor=movement.amount_minor,
        currency=plan.currency,
        customer_id=plan.customer_id,
        order_id=plan.order_id,
        payment_method_id=movement.payment_method_id,
        entry_id=reference,
    )


def method_account(plan: Plan, movement: Movement) -> int:
    """The account of a payment method in the plan's currency, made when first needed."""
    account, _ = Account.objects.get_or_create(
        payment_method_id=movement.payment_method_id,
        currency=plan.currency,
        defaults={"kind": Account.Kind.EXTERNAL, "customer_id": plan.customer_id},
    )
    return int(account.pk)


def _order_account(plan: Plan) -> int:
    return int(Account.objects.values_list("pk", flat=True).get(order_id=plan.order_id))


def reserve(plan: Plan, movements: Iterable[Movement], *, owner: str) -> None:
    """Hold what movements to come will need: order money for refunds, a gift card's balance for charges."""
    needs: Counter[int] = Counter()
    for movement in movements:
        if movement.kind == "refund":
            needs[_order_account(plan)] += movement.amount_minor
        elif movement.method_kind == "gift_card":
            needs[method_account(plan, movement)] += movement.amount_minor
    for account, amount_minor in sorted(needs.items()):
        Hold.objects.create(
            owner=owner,
            account_id=account,
            customer_id=plan.customer_id,
            amount_minor=amount_minor,
            currency=plan.currency,
        )


def end_holds(owner: str, state: Hold.State) -> int:
    """Post or void what an owner holds, once; returns how many holds ended."""
    return Hold.objects.filter(owner=owner, state=Hold.State.PENDING).update(state=state, ended_at=timezone.now())


def _change_rows(plan: Plan) -> None:
    now = timezone.now()
    if plan.order_id:
        changes: dict[str, Any] = {**plan.order_changes, "touched_at": now}
        Order.objects.filter(order_id=plan.order_id, customer_id=plan.customer_id).update(**changes)
    gift_card = any(m.method_kind == "gift_card" for m in (*plan.movements, *plan.promised))
    if plan.customer_changes or gift_card:
        Customer.objects.filter(customer_id=plan.customer_id).update(**plan.customer_changes, touched_at=now)

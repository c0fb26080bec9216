"""The end of a return or an exchange: the goods came back, or they never will.

What was promised is posted and moves, or is voided; either way the order is `delivered` again. The key `return`
or `exchange` stays and says what came back, or is taken off the order with a promise that was given up.
"""

from typing import Any, Literal

from django.db import transaction

from audit.record import SYSTEM, NewEvent, record
from base.locks import lock_customer
from ledger.access.scopes import as_customer
from ledger.access.staff import as_staff
from ledger.books.entries import Posted, end_holds, post
from ledger.books.plans import Movement, Plan, listed
from ledger.files.promises import promise_owner
from ledger.models import Entry, Hold, Order
from ledger.news import goods_ended
from ledger.shop.exchanges import due
from ledger.shop.orders import OrderState, load_order

Ending = Literal["goods_received", "goods_abandoned"]
_OPEN = {"return_requested": ("return_items", "return"), "exchange_requested": ("exchange_items", "exchange")}


class NothingOpen(Exception):
    """The order has no open return or exchange; the message is a sentence."""


def end_goods(order_id: str, ending: Ending) -> Posted:
    """End what an order's return or exchange holds, once. Raises NothingOpen, also where it has ended before."""
    with transaction.atomic():
        rows = as_staff(lambda: list(Order.objects.filter(order_id=order_id).values_list("customer_id", flat=True)))
        if not rows:
            raise NothingOpen(f"There is no order {order_id!r}.")
        lock_customer(rows[0])
        owner, plan, posted = as_customer(rows[0], lambda: _end(rows[0], order_id, ending))
        record(SYSTEM, _event(plan, posted), owner=owner)
        goods_ended.send(None, plan=plan, posted=posted, owner=owner)
    return posted


def _end(customer_id: str, order_id: str, ending: Ending) -> tuple[str, Plan, Posted]:
    """Under the order's row lock, so of two endings one finds it open."""
    state = load_order(customer_id, order_id, lock=True)
    if state.status not in _OPEN:
        raise NothingOpen(f"Order {order_id!r} is {state.status}: it has no open return or exchange.")
    owner = _owner(state)
    received = ending == "goods_received"
    held = sum(Hold.objects.filter(owner=owner, state=Hold.State.PENDING).values_list("amount_minor", flat=True))
    end_holds(owner, Hold.State.POSTED if received else Hold.State.VOIDED)
    plan = _plan_received(state, held) if received else _plan_abandoned(state)
    return owner, plan, post(plan, key=f"{ending}:{owner}", credential=None, request_reference="")


def _owner(state: OrderState) -> str:
    """Whose hold it is: the entry that registered it, or the import that brought it."""
    tool, _ = _OPEN[state.status]
    entry = Entry.objects.filter(order_id=state.order_id, tool=tool).order_by("-at").first()
    return entry.reference if entry else promise_owner(state.order_id, _promise(state))


def _promise(state: OrderState) -> dict[str, Any]:
    return (state.returning if state.status == "return_requested" else state.exchanging) or {}


def _plan_received(state: OrderState, held_minor: int) -> Plan:
    promise = _promise(state)
    method, changes = promise["payment_method_id"], {"status": "delivered"}
    if state.status == "return_requested":
        return _plan(state, "goods_received", due(state, method, -held_minor), changes)
    return _plan(state, "goods_received", due(state, method, promise["price_difference_minor"]), changes)


def _plan_abandoned(state: OrderState) -> Plan:
    return _plan(state, "goods_abandoned", (), {"status": "delivered", "returning": None, "exchanging": None})


def _plan(state: OrderState, tool: Ending, movements: tuple[Movement, ...], changes: dict[str, Any]) -> Plan:
    """No amount: the limits counted it when it was promised."""
    _, what = _OPEN[state.status]
    moved = listed(movements, state.currency) or "no money moves"
    done = (
        f"The goods of order {state.order_id} are back with us, so its {what} is complete: {moved}."
        if tool == "goods_received"
        else f"The {what} of order {state.order_id} was closed because the goods did not come back. No money moved."
    )
    return Plan(
        tool=tool,
        customer_id=state.customer_id,
        order_id=state.order_id,
        currency=state.currency,
        summary=f"{tool.replace('_', ' ').capitalize()} for the {what} of order {state.order_id}",
        done=done,
        status_before=state.status,
        order_value_minor=state.value_minor,
        movements=movements,
        order_before={"status": state.status, "returning": state.returning, "exchanging": state.exchanging},
        order_changes=changes,
    )


def _event(plan: Plan, posted: Posted) -> NewEvent:
    return NewEvent(
        kind="execution",
        decision="executed",
        tool=plan.tool,
        customer_id=plan.customer_id,
        order_id=plan.order_id,
        reference=posted.reference,
        amount_minor=sum(movement.amount_minor for movement in plan.movements),
        currency=plan.currency,
    )

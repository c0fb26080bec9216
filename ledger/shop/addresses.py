"""Changing where an order goes, or the address of a profile. An address is replaced whole."""

from django.db import connection

from ledger.books.plans import Plan
from ledger.shop.orders import Json, OrderState
from ledger.shop.statuses import require_pending


def plan_order_address(state: OrderState, address: Json) -> Plan:
    """Send an order elsewhere; the profile's address stays."""
    require_pending(state, "sent elsewhere")
    return Plan(
        tool="change_order_address",
        customer_id=state.customer_id,
        order_id=state.order_id,
        summary=f"Change the address of order {state.order_id}",
        done=f"Changed the address of order {state.order_id}.",
        status_before=state.status,
        order_value_minor=state.value_minor,
        order_before={"address": state.address},
        order_changes={"address": address},
    )


def plan_my_address(customer_id: str, before: Json, address: Json) -> Plan:
    """Change the profile's address; orders keep theirs."""
    return Plan(
        tool="change_my_address",
        customer_id=customer_id,
        summary="Change the address of the account",
        done="Changed the address of your account. Orders keep the address that they have.",
        customer_before={"address": before},
        customer_changes={"address": address},
    )


_ON_THE_WAY = """
    SELECT currency, max(value) FROM (
        SELECT o.currency, (SELECT coalesce(sum((i ->> 'price_minor')::bigint), 0)
                            FROM jsonb_array_elements(o.items) i) AS value
        FROM ledger_order o
        WHERE o.customer_id = %s AND o.status IN ('pending', 'pending_items_changed', 'processed')) orders
    GROUP BY currency
"""


def on_the_way(customer_id: str) -> dict[str, int]:
    """By currency, the value in minor units of the customer's most valuable order that is not delivered yet."""
    with connection.cursor() as cursor:
        cursor.execute(_ON_THE_WAY, [customer_id])
        return {currency: int(value) for currency, value in cursor.fetchall()}

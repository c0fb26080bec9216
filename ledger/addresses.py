"""Changing where an order goes, or the address of a profile. An address is replaced whole."""

from ledger.orders import Json, OrderState
from ledger.plans import Plan
from ledger.statuses import require_pending


def plan_order_address(state: OrderState, address: Json) -> Plan:
    """Send an order elsewhere; the profile's address stays."""
    require_pending(state, "sent elsewhere")
    return Plan(
        tool="change_order_address",
        customer_id=state.customer_id,
        order_id=state.order_id,
        summary=f"Change the address of order {state.order_id}",
        done=f"Changed the address of order {state.order_id}.",
        currency=state.currency,
        status_before=state.status,
        order_value_minor=state.value_minor,
        order_before={"address": state.address},
        order_changes={"address": address},
    )


def plan_my_address(customer_id: str, before: Json, address: Json, on_the_way: tuple[str, int]) -> Plan:
    """Change the profile's address; orders keep theirs. `on_the_way`: currency and value, in minor units, of the
    most valuable order that is not delivered yet."""
    currency, value_minor = on_the_way
    return Plan(
        tool="change_my_address",
        customer_id=customer_id,
        currency=currency,
        summary="Change the address of the account",
        done="Changed the address of your account. Orders keep the address that they have.",
        order_value_minor=value_minor,
        customer_before={"address": before},
        customer_changes={"address": address},
    )

"""Which of the customer's payment methods a write may use, and whether a gift card covers it."""

from base.money import show
from ledger.errors import Refused
from ledger.shop.orders import Method, OrderState


def own_method(state: OrderState, payment_method_id: str, tool: str) -> Method:
    """One of the customer's own methods; the same Refused for somebody else's as for none."""
    method = state.methods.get(payment_method_id)
    if method is None:
        raise Refused(
            "payment_method",
            f"No payment method {payment_method_id} in this account. Ask the customer which of theirs it should be, "
            f"and call {tool} again with one of: {named(state)}.",
        )
    if method.kind == "gift_card" and method.currency != state.currency:
        raise Refused(
            "payment_method",
            f"The {method.label} is in {method.currency} and order {state.order_id} in {state.currency}. Ask the "
            f"customer for another method, and call {tool} again with one of: {named(state)}.",
        )
    return method


def named(state: OrderState) -> str:
    """The methods that fit the order, as a refusal offers them: id and label."""
    fitting = [m for m in state.methods.values() if m.kind != "gift_card" or m.currency == state.currency]
    return ", ".join(f"{m.payment_method_id} ({m.label})" for m in fitting) or "none fits"


def require_cover(state: OrderState, method: Method, amount_minor: int, tool: str) -> None:
    """A gift card must hold what it is to pay, less what is reserved on it already."""
    if method.kind == "gift_card" and method.spendable_minor < amount_minor:
        raise Refused(
            "balance",
            f"The {method.label} has {show(method.spendable_minor, state.currency)} to spend and "
            f"{show(amount_minor, state.currency)} are needed. Ask the customer for another method, and call {tool} "
            f"again with one of: {named(state)}.",
        )


def require_refundable(state: OrderState, amount_minor: int) -> None:
    """An order must hold what is to go back, less what is held already."""
    if amount_minor > state.refundable_minor:
        raise Refused(
            "balance",
            f"Order {state.order_id} has {show(max(0, state.refundable_minor), state.currency)} left to give back and "
            f"{show(amount_minor, state.currency)} would be needed. Do not call again; offer hand_off_to_human.",
        )

"""In which status an order takes which write, and what to offer instead."""

from ledger.errors import Refused
from ledger.shop.orders import OrderState

_INSTEAD = {
    "pending": "Until it is sent, it can be cancelled with cancel_order or changed with change_order_items, "
    "change_order_payment or change_order_address.",
    "pending_items_changed": "Its items were changed, so it can no longer be changed or cancelled; once it is "
    "delivered, offer return_items or exchange_items.",
    "processed": "It is on its way and cannot be changed; once it is delivered, offer return_items or exchange_items.",
    "delivered": "It has arrived; offer return_items or exchange_items.",
    "cancelled": "Nothing more can happen to it.",
    "return_requested": "A return of it is open; nothing else can change until the goods are back.",
    "exchange_requested": "An exchange of it is open; nothing else can change until the goods are back.",
}


def require_pending(state: OrderState, deed: str) -> None:
    """Exactly `pending`: an order whose items were changed takes no further change."""
    _require(state, "pending", deed)


def require_delivered(state: OrderState, deed: str) -> None:
    """Exactly `delivered`, and nothing of it came back before: a second time needs a person who counts the goods."""
    _require(state, "delivered", deed)
    if state.returning is not None or state.exchanging is not None:
        raise Refused(
            "status",
            f"Items of order {state.order_id} came back already, so it cannot be {deed} here. Do not call again; "
            "offer hand_off_to_human.",
        )


def _require(state: OrderState, status: str, deed: str) -> None:
    if state.status != status:
        raise Refused(
            "status",
            f"Order {state.order_id} is {state.status}, so it cannot be {deed}: that needs {status}. "
            f"{_INSTEAD.get(state.status, 'Offer hand_off_to_human.')} Tell the customer.",
        )

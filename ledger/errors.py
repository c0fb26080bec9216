"""What a write or look-up can be refused for; the sentence is meant for the model and the customer."""

from typing import Any


class Refused(Exception):
    """A rule says no. `rule` is a stable code for the record, the message says how to call again."""

    def __init__(self, rule: str, message: str, *, facts: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.rule, self.message, self.facts = rule, message, facts or {}


class CredentialRefused(Exception):
    """A credential is forged, expired, foreign or too narrow. Says nothing about what it asked for."""


def order_frozen(order_id: str) -> Refused:
    """While a payment of the order is disputed nothing on it changes."""
    return Refused(
        "frozen",
        f"A payment of order {order_id} is disputed with the bank, so nothing on this order can change until that is "
        "decided. Do not call again for it; tell the customer, and offer hand_off_to_human.",
    )


def order_not_found(order_id: str) -> Refused:
    """The one answer for an order that does not exist and for somebody else's."""
    return Refused(
        "not_found",
        f"No order {order_id} in this account. Call list_my_orders, "
        "or ask the customer for the number in the confirmation e-mail.",
    )


def open_request(order_id: str, reference: str) -> Refused:
    """Why an order takes no write while a request on it waits."""
    return Refused(
        "open_request",
        f"Order {order_id} has a request waiting for a person: {reference}. Nothing else on this order can "
        f"change until it is decided; the customer can withdraw it with withdraw_request('{reference}').",
    )

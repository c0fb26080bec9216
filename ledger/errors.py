"""What a write or look-up can be refused for; the sentence is meant for the model and the customer."""

from typing import Any


class Refused(Exception):
    """A rule says no. `rule` is a stable code for the record, the message says how to call again."""

    def __init__(self, rule: str, message: str, *, facts: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.rule, self.message, self.facts = rule, message, facts or {}


class CredentialRefused(Exception):
    """A credential is forged, expired, foreign or too narrow. Says nothing about what it asked for."""


def order_not_found(order_id: str) -> Refused:
    """The one answer for an order that does not exist and for somebody else's."""
    return Refused(
        "not_found",
        f"No order {order_id} in this account. Call list_my_orders, "
        "or ask the customer for the number in the confirmation e-mail.",
    )

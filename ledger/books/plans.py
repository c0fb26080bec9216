"""A plan: everything that one write would change, computed before anything changes.

The policy judges it, the approver reads it, the digest binds it, and `entries.post` carries it out; so a
write can never do what was not shown.
"""

import hashlib
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from audit.record import canonical
from base.money import show


@dataclass(frozen=True, slots=True, kw_only=True)
class Movement:
    """Money to (`refund`) or from (`capture`) one of the customer's own payment methods."""

    kind: Literal["refund", "capture"]
    payment_method_id: str
    method_kind: str
    amount_minor: int
    label: str
    paid_before: bool
    """Whether money may go there unasked: a positive net capture on the order, or a gift card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One write, canonical. `amount_minor` is the money that moves or is promised, either way."""

    tool: str
    customer_id: str
    order_id: str = ""
    currency: str = ""
    amount_minor: int = 0
    summary: str
    done: str
    """The sentence that tells the customer, once it is in the ledger."""
    status_before: str = ""
    order_value_minor: int = 0
    movements: tuple[Movement, ...] = ()
    promised: tuple[Movement, ...] = ()
    order_before: dict[str, Any] = field(default_factory=dict)
    order_changes: dict[str, Any] = field(default_factory=dict)
    customer_before: dict[str, Any] = field(default_factory=dict)
    customer_changes: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As stored with a request, shown to the approver and bound by the digest."""
        body = {name: getattr(self, name) for name in self.__slots__}
        return body | {name: [asdict(movement) for movement in body[name]] for name in ("movements", "promised")}

    @classmethod
    def from_json(cls, body: dict[str, Any]) -> "Plan":
        """The plan that `to_json` gave; TypeError or KeyError for what is none."""
        moves = {name: tuple(Movement(**move) for move in body[name]) for name in ("movements", "promised")}
        return cls(**{**body, **moves})


def digest_of_plan(body: dict[str, Any]) -> str:
    """Hex SHA-256 of a plan's JSON in canonical form: what a remote caller saw, and what a credential is bound to."""
    return hashlib.sha256(canonical(body).encode()).hexdigest()


def listed(movements: tuple[Movement, ...], currency: str) -> str:
    """ "£12.00 to Visa ••4242 and £3.00 to gift card": amounts and destinations in words."""
    return " and ".join(
        f"{show(m.amount_minor, currency)} {'to' if m.kind == 'refund' else 'from'} {m.label}" for m in movements
    )

"""The scoped client: the only way from a tool to the shop.

It is made from a credential, works under row-level security, and filters by the credential's customer as
well, so a handler that forgets whose session it is still sees one customer.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from ledger.access.credentials import EXECUTE, READ, WRITE, Credential, verify
from ledger.access.scopes import as_customer
from ledger.books.entries import Posted, end_holds, post, reserve
from ledger.books.plans import Plan
from ledger.models import Hold
from ledger.shop import addresses, orders, products, profiles
from ledger.shop.items import Catalogue
from ledger.shop.orders import Moved, OrderState
from ledger.shop.payable import require_payable

T = TypeVar("T")


class Lookups(Protocol):
    """What a read may ask of the shop, be it in this database or elsewhere."""

    def profile(self) -> dict[str, Any]: ...
    def orders(self, status: str | None, cursor: str | None) -> dict[str, Any]: ...
    def order(self, order_id: str) -> OrderState: ...
    def product(self, product_id: str) -> dict[str, Any]: ...
    def products(self, query: str | None, cursor: str | None) -> dict[str, Any]: ...


class Shop:
    """The shop as one customer may see and change it, inside `ScopedClient.run`."""

    def __init__(self, credential: Credential) -> None:
        self.credential = credential
        self.customer_id = credential.customer_id
        self.untrusted: list[str] = []
        """Which fields of what was read were written by a conversation that held untrusted text."""

    def profile(self) -> dict[str, Any]:
        if profiles.address_is_untrusted(self.customer_id):
            self.untrusted.append("address")
        return profiles.show_profile(self.customer_id)

    def orders(self, status: str | None, cursor: str | None) -> dict[str, Any]:
        return orders.list_orders(self.customer_id, status, cursor)

    def order(self, order_id: str) -> OrderState:
        """An own order as it stands; Refused with the one not-found answer otherwise."""
        state = orders.load_order(self.customer_id, order_id, lock=False)
        if state.address_untrusted:
            self.untrusted.append("address")
        return state

    def order_to_change(self, order_id: str) -> OrderState:
        """An own order under its row lock."""
        self.credential.require(WRITE)
        return orders.load_order(self.customer_id, order_id, lock=True)

    def product(self, product_id: str) -> dict[str, Any]:
        return products.show_product(product_id)

    def products(self, query: str | None, cursor: str | None) -> dict[str, Any]:
        return products.list_products(query, cursor)

    def catalogue(self, state: OrderState) -> Catalogue:
        """The variants of what an order holds, by product and item."""
        return products.catalogue(item["product_id"] for item in state.items)

    def plan_address(self, address: dict[str, Any]) -> Plan:
        """A new address for the customer's profile."""
        self.credential.require(WRITE)
        return profiles.plan_address(self.customer_id, address)

    def moved(self, plan: Plan) -> Moved:
        """What this customer's ledger holds against the limits, without this plan. Refused where the payment provider
        could never move its money."""
        require_payable(plan)
        moved = orders.moved(self.customer_id, plan, self.credential.conversation_id)
        if "address" in (*plan.order_changes, *plan.customer_changes):
            return replace(moved, on_the_way=addresses.on_the_way(self.customer_id))
        return moved

    def post(self, plan: Plan, *, key: str, request_reference: str = "") -> Posted:
        """Carry a plan out; the same key answers with what was posted before."""
        self.credential.require(WRITE)
        self.credential.require_action(key, plan.to_json)
        return post(plan, key=key, credential=self.credential, request_reference=request_reference)

    def reserve(self, plan: Plan, *, owner: str) -> None:
        """Hold what a waiting plan will need, for the request that owns it."""
        self.credential.require(WRITE)
        self.credential.require_no_action()
        reserve(plan, (*plan.movements, *plan.promised), owner=owner)

    def post_holds(self, owner: str) -> int:
        """End what a request held because it is executed; needs the credential of an approved execution."""
        self.credential.require(EXECUTE)
        return end_holds(owner, Hold.State.POSTED)

    def void_holds(self, owner: str) -> int:
        """Give back what a request held that ended without an effect."""
        self.credential.require(WRITE)
        self.credential.require_no_action()
        return end_holds(owner, Hold.State.VOIDED)


class ScopedClient:
    """Verifies a credential once and runs work under its customer's scope."""

    def __init__(self, token: str) -> None:
        self.credential = verify(token)

    def run(self, work: Callable[[Shop], T], *, savepoint: bool = True) -> T:
        """Run `work` with the shop, in one transaction under row-level security (`savepoint`: as of `in_scope`)."""
        self.credential.require(READ)
        shop = Shop(self.credential)
        return as_customer(self.credential.customer_id, lambda: work(shop), savepoint=savepoint)

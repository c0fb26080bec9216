"""The scoped client: the only way from a tool to the shop.

It is made from a credential, works under row-level security, and filters by the credential's customer as
well, so a handler that forgets whose session it is still sees one customer.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from ledger import addresses, orders, products, profiles
from ledger.credentials import EXECUTE, READ, WRITE, Credential, verify
from ledger.entries import Posted, end_holds, post, reserve
from ledger.errors import Refused
from ledger.items import Catalogue
from ledger.models import Hold
from ledger.orders import Moved, OrderState
from ledger.plans import Plan
from ledger.scopes import as_customer

T = TypeVar("T")
NOTHING_OPEN: Mapping[str, str] = {}


class Shop:
    """The shop as one customer may see and change it, inside `ScopedClient.run`."""

    def __init__(self, credential: Credential, open_requests: Mapping[str, str]) -> None:
        self.credential = credential
        self.customer_id = credential.customer_id
        self._open_requests = open_requests

    def profile(self) -> dict[str, Any]:
        return profiles.show_profile(self.customer_id)

    def orders(self, status: str | None, cursor: str | None) -> dict[str, Any]:
        return orders.list_orders(self.customer_id, status, cursor)

    def order(self, order_id: str) -> OrderState:
        """An own order as it stands; Refused with the one not-found answer otherwise."""
        return orders.load_order(self.customer_id, order_id, lock=False)

    def order_to_change(self, order_id: str) -> OrderState:
        """An own order under its row lock, unless a request on it is open."""
        self.credential.require(WRITE)
        state = orders.load_order(self.customer_id, order_id, lock=True)
        if reference := self._open_requests.get(order_id):
            raise Refused(
                "open_request",
                f"Order {order_id} has a request waiting for a person: {reference}. Nothing else on this order can "
                f"change until it is decided; the customer can withdraw it with withdraw_request('{reference}').",
            )
        return state

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
        """What this customer's ledger holds against the limits, without this plan."""
        moved = orders.moved(self.customer_id, plan)
        if "address" in (*plan.order_changes, *plan.customer_changes):
            return replace(moved, on_the_way=addresses.on_the_way(self.customer_id))
        return moved

    def post(self, plan: Plan, *, key: str, request_reference: str = "") -> Posted:
        """Carry a plan out; the same key answers with what was posted before."""
        self.credential.require(WRITE)
        return post(plan, key=key, credential_id=self.credential.id, request_reference=request_reference)

    def reserve(self, plan: Plan, *, owner: str) -> None:
        """Hold what a waiting plan will need, for the request that owns it."""
        self.credential.require(WRITE)
        reserve(plan, (*plan.movements, *plan.promised), owner=owner)

    def post_holds(self, owner: str) -> int:
        """End what a request held because it is executed; needs the credential of an approved execution."""
        self.credential.require(EXECUTE)
        return end_holds(owner, Hold.State.POSTED)


class ScopedClient:
    """Verifies a credential once and runs work under its customer's scope."""

    def __init__(self, token: str, *, open_requests: Mapping[str, str] = NOTHING_OPEN) -> None:
        self.credential = verify(token)
        self._open_requests = open_requests

    def run(self, work: Callable[[Shop], T]) -> T:
        """Run `work` with the shop, in one transaction under row-level security."""
        self.credential.require(READ)
        shop = Shop(self.credential, self._open_requests)
        return as_customer(self.credential.customer_id, lambda: work(shop))

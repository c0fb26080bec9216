"""A customer's own profile, as its owner may see it."""

from typing import Any

from ledger.books.plans import Plan
from ledger.models import Customer, Entry
from ledger.shop.addresses import plan_my_address


def show_profile(customer_id: str) -> dict[str, Any]:
    """Name, e-mail, address and payment methods of the session's customer."""
    customer = Customer.objects.get(customer_id=customer_id)
    methods = customer.payment_methods.order_by("position")
    return {
        "customer_id": customer.customer_id,
        "name": customer.name,
        "email": customer.email,
        "address": customer.address,
        "payment_methods": [
            {name: value for name in ("payment_method_id", "kind", "brand", "last4", "currency")
             if (value := getattr(method, name)) is not None}
            for method in methods
        ],
    }  # fmt: skip


def email_of(customer_id: str) -> str:
    """Where the session's customer gets mail; empty where they are not known."""
    return Customer.objects.filter(customer_id=customer_id).values_list("email", flat=True).first() or ""


def address_is_untrusted(customer_id: str) -> bool:
    """Whether the profile's address was last written by a conversation that held untrusted text."""
    writes = Entry.objects.filter(customer_id=customer_id, plan__customer_changes__has_key="address")
    return bool(writes.order_by("-at", "-reference").values_list("untrusted", flat=True).first())


def plan_address(customer_id: str, address: dict[str, Any]) -> Plan:
    """A new address for the profile, from its row under lock."""
    customer = Customer.objects.select_for_update(no_key=True).get(customer_id=customer_id)
    return plan_my_address(customer_id, customer.address, address)

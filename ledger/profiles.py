"""A customer's own profile, as its owner may see it."""

from typing import Any

from ledger.models import Customer


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

"""The made-up shop of the measurements: `python -m bench.shop N` imports N customers with one order each."""

import io
import json
import os
import sys
from typing import Any

from bench.contender import order_of

ADDRESS = {"line1": "1 Quay", "line2": "", "city": "Bristol", "region": "", "postal_code": "BS1", "country": "GB"}


def customer_of(number: int) -> str:
    """The customer whose order this is."""
    return f"customer-{number}"


def _lines(number: int) -> list[dict[str, Any]]:
    customer, card = customer_of(number), f"card-{number}"
    item = {"item_id": "mug-blue", "product_id": "mug", "name": "Mug", "options": {}, "price_minor": 12_400}
    return [
        {
            "type": "customer", "customer_id": customer, "name": customer, "email": f"{customer}@example.com",
            "address": ADDRESS,
            "payment_methods": [{"payment_method_id": card, "kind": "card", "brand": "visa", "last4": "4242"}],
        },
        {
            "type": "order", "order_id": order_of(number), "customer_id": customer, "currency": "GBP",
            "status": "delivered", "address": ADDRESS, "items": [item], "tracking": ["TRK1"],
            "payments": [{"kind": "capture", "amount_minor": 12_400, "payment_method_id": card}],
            "placed_at": "2026-11-20T10:00:00Z",
        },
    ]  # fmt: skip


def main() -> None:
    """Import the shop, make the one who approves, and leave the agent's definition for the other contenders."""
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from django.conf import settings

    from agents.context import prompt
    from agents.tools import registry
    from approvals.people.accounts import create_staff
    from ledger.files.importing import import_shop

    rows = [line for number in range(int(sys.argv[1])) for line in _lines(number)]
    import_shop(io.BytesIO("\n".join(map(json.dumps, rows)).encode()), lambda done, total: None)
    create_staff("ada", "agent", "a password of the bench")
    definition = {"system": prompt.SYSTEM, "tools": json.loads(registry.schemas()), "model": settings.PLACET.model}
    (settings.PLACET.home / "definition.json").write_text(json.dumps(definition))


if __name__ == "__main__":
    main()

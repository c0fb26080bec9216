"""Orders as the plans of the ledger take them, without a database."""

from typing import Any

from ledger.shop.orders import Method, OrderState

USD = {"card": ("card", None, 0), "paypal": ("paypal", None, 0), "gift": ("gift_card", "USD", 3_000),
       "gift-eur": ("gift_card", "EUR", 9_000)}  # fmt: skip
CATALOGUE = {
    "mug": {
        "mug-1": {"item_id": "mug-1", "options": {"size": "s"}, "available": True, "price_minor": 1_000},
        "mug-2": {"item_id": "mug-2", "options": {"size": "m"}, "available": True, "price_minor": 1_400},
        "mug-3": {"item_id": "mug-3", "options": {"size": "l"}, "available": False, "price_minor": 1_400},
        "mug-4": {"item_id": "mug-4", "options": {"size": "xs"}, "available": True, "price_minor": 600},
    },
    "lamp": {"lamp-1": {"item_id": "lamp-1", "options": {}, "available": True, "price_minor": 5_000}},
}
ITEMS = ("mug-1", "lamp-1", "mug-1")


def line(item_id: str) -> dict[str, Any]:
    product = item_id.split("-")[0]
    variant = CATALOGUE[product][item_id]
    return {
        "item_id": item_id,
        "product_id": product,
        "name": product.title(),
        "options": variant["options"],
        "price_minor": variant["price_minor"],
    }


def capture(amount_minor: int, method: str = "card") -> dict[str, Any]:
    paid = {"kind": "capture", "amount_minor": amount_minor, "payment_method_id": method, "at": "2026-11-01"}
    return {**paid, "sign": 1}


def refund(amount_minor: int, method: str = "card") -> dict[str, Any]:
    return {**capture(amount_minor, method), "kind": "refund", "sign": -1}


def state(
    status: str = "pending", *payments: dict[str, Any], held_minor: int = 0, currency: str = "USD", **more: Any
) -> OrderState:
    """An order of two mugs and a lamp, $70.00 from the card unless payments say otherwise."""
    payments = payments or (capture(7_000),)
    balance = sum(p["amount_minor"] * (1 if p["kind"] == "capture" else -1) for p in payments)
    methods = {
        id_: Method(payment_method_id=id_, kind=kind, brand="visa" if kind == "card" else None,
                    last4="4242" if kind == "card" else None, currency=currency and card_currency,
                    spendable_minor=spendable)
        for id_, (kind, card_currency, spendable) in USD.items()
    }  # fmt: skip
    base: dict[str, Any] = {
        "order_id": "#W1", "customer_id": "maya", "currency": currency, "status": status,
        "address": {"line1": "1 Quay"},
        "items": [line(item) for item in ITEMS], "tracking": [], "note": None, "placed_at": None, "delivered_at": None,
        "cancel_reason": None, "returning": None, "exchanging": None, "balance_minor": balance,
        "held_minor": held_minor, "payments": list(payments), "methods": methods, "frozen": False,
    }  # fmt: skip
    return OrderState(**(base | more))

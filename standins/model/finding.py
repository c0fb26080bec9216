"""Which order, items and payment method the customer means; asks where that stays open."""

import re
from typing import Any

from standins.model import reading, wording
from standins.model.conversation import Conversation, Say

WHOLE = re.compile(r"\b(whole|full|fully|all|everything|entire|complete|rest|remaining)\b", re.I)
LATEST = re.compile(r"\b(last|latest|newest|most recent)\b", re.I)
MAX_LISTED = 8


def find_order(conversation: Conversation, total: reading.Amount | None = None) -> dict[str, Any]:
    """The order that is meant, looked up; asks where that stays open. `total` finds one by what it cost."""
    number = conversation.mentioned_order()
    if number is None:
        return _found(conversation, str(_unnamed(conversation, total)["order_id"]))
    called = conversation.call("get_order", order_id=number)
    if not called.error:
        return {"order_id": number} | called.value
    if not re.search(r"^no order|not found|no such", called.text, re.I) or "list_my_orders" not in conversation.tools:
        raise Say(wording.failed(called.text))
    digits = number.lstrip("#")
    ids = [str(order.get("order_id", "")) for order in conversation.pages("list_my_orders")]
    alike = [order_id for order_id in ids if order_id.upper().endswith(digits)]
    if len(alike) != 1 or alike[0] == number:
        raise Say(f"I can't find order {number} in your account. Could you check the number again?")
    return _found(conversation, alike[0])


def _found(conversation: Conversation, order_id: str) -> dict[str, Any]:
    return {"order_id": order_id} | conversation.read("get_order", order_id=order_id)


def _unnamed(conversation: Conversation, total: reading.Amount | None) -> dict[str, Any]:
    mine = [order for order in conversation.pages("list_my_orders") if order.get("order_id")]
    if not mine:
        raise Say("I don't see any orders in your account.")
    priced = [o for o in mine if total and total.minor(str(o.get("currency"))) == o.get("total_minor")]
    if len(priced) == 1 and WHOLE.search(conversation.wish):
        return priced[0]
    if len(mine) == 1 or LATEST.search(conversation.wish):
        return mine[0]
    lines = [wording.order_line(order) for order in mine[:MAX_LISTED]]
    raise Say(wording.bullets("These are your orders:", lines, "Which one is it?"))


def find_items(conversation: Conversation, order: dict[str, Any]) -> list[str]:
    """The ids of the items named; asks where none is."""
    items = [item for item in order.get("items") or [] if isinstance(item, dict) and item.get("item_id")]
    wish = conversation.wish.lower()
    named = [item for item in items if _is_named(item, wish)]
    chosen = named or (items if len(items) == 1 or WHOLE.search(conversation.wish) else [])
    if not chosen:
        names = [f"{item.get('name')} ({item['item_id']})" for item in items]
        raise Say(wording.bullets(f"Order {order['order_id']} has:", names, "Which shall I return?"))
    return [str(item["item_id"]) for item in chosen]


def _is_named(item: dict[str, Any], wish: str) -> bool:
    name = str(item.get("name") or "")
    return str(item["item_id"]).lower() in wish or bool(name and name.lower() in wish)


def find_method(conversation: Conversation, order: dict[str, Any]) -> str:
    """The payment method named, else the one that paid for the order."""
    payments = [p for p in order.get("payments") or [] if isinstance(p, dict) and p.get("kind") == "capture"]
    method = named_method(conversation) or next((p.get("payment_method_id") for p in payments), None)
    if method is None:
        raise Say("Which of your payment methods should I use?")
    return str(method)


def named_method(conversation: Conversation) -> str | None:
    """The payment method named by its id or its kind."""
    if found := reading.METHOD_ID.search(conversation.wish):
        return found[0]
    kind = re.search(r"\b(?:to|with|by|on)\b.*\b(paypal|gift card|card)\b", conversation.wish, re.I)
    if kind is None:
        return None
    wanted = kind[1].lower().replace(" ", "_")
    methods = conversation.read("get_my_profile").get("payment_methods") or []
    return next((str(m.get("payment_method_id")) for m in methods if m.get("kind") == wanted), None)

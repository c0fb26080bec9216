"""A shop small enough to read, and the loop that lets the stand-in use it."""

import json
from typing import Any

ORDER = {
    "order_id": "#W4471",
    "status": "delivered",
    "currency": "GBP",
    "items": [
        {"item_id": "1000000001", "product_id": "p1", "name": "Lamp", "options": {}, "price_minor": 7400},
        {"item_id": "1000000002", "product_id": "p2", "name": "Rug", "options": {}, "price_minor": 5000},
    ],
    "payments": [{"kind": "capture", "amount_minor": 12400, "payment_method_id": "credit_card_1"}],
    "tracking": ["TRK-9"],
    "refundable_minor": 12400,
}
YEN = {
    "order_id": "#W5000",
    "status": "pending",
    "currency": "JPY",
    "items": [],
    "payments": [],
    "refundable_minor": 900,
}
ORDERS = {order["order_id"]: order for order in (ORDER, YEN)}
PROFILE = {
    "name": "Ann",
    "payment_methods": [
        {"payment_method_id": "credit_card_1", "kind": "card"},
        {"payment_method_id": "paypal_7", "kind": "paypal"},
    ],
}
NOT_FOUND = "No order {} in this account. Call list_my_orders, or ask the customer for the number in the e-mail."
LIST = [
    {
        "order_id": "#W4471",
        "status": "delivered",
        "currency": "GBP",
        "total_minor": 12400,
        "items": ["Lamp", "Rug"],
    },
    {"order_id": "#W5000", "status": "pending", "currency": "JPY", "total_minor": 900, "items": []},
]
WAITING = {"reference": "R-7F3K9Q", "summary": "Refund of £124.00", "state": "waiting"}

READS = {
    "list_my_orders": {"items": LIST, "next_cursor": None},
    "list_my_requests": {"items": [WAITING], "next_cursor": None},
    "get_my_profile": PROFILE,
    "get_refund_policy": {"text": "Thirty days, unused."},
    "list_products": {"items": [{"product_id": "p1", "name": "Lamp"}], "next_cursor": None},
    "get_product": {"name": "Lamp", "product_id": "p1"},
    "search_help": {"items": [{"name": "gift-wrap"}], "next_cursor": None},
    "read_help_article": {"text": "We wrap gifts for free."},
}
WRITES = (
    "issue_refund", "cancel_order", "return_items", "exchange_items", "change_order_items",
    "change_order_payment", "change_order_address", "change_my_address", "hand_off_to_human",
    "withdraw_request",
)  # fmt: skip
TOOLS = [
    {"name": name, "description": "", "input_schema": {"type": "object"}} for name in ("get_order", *READS, *WRITES)
]


def run_tool(name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """A result as the product would give it: text and whether it is an error."""
    if name == "get_order":
        order = ORDERS.get(arguments["order_id"])
        return (json.dumps(order), False) if order else (NOT_FOUND.format(arguments["order_id"]), True)
    if name in READS:
        return json.dumps(READS[name]), False
    if name == "issue_refund" and arguments["amount_minor"] > 12400:
        return "Only £124.00 of order #W4471 can be refunded. Call issue_refund with at most 12400.", True
    if name == "issue_refund" and arguments["amount_minor"] > 5000:
        return json.dumps({"status": "queued", "reference": "R-7F3K9Q", "message": "Usually within a day."}), False
    return json.dumps({"status": "executed", "reference": "T-7F3K9Q", "message": f"{name} is done."}), False


class Chat:
    """A conversation with the stand-in; remembers the history and each tool that was called."""

    def __init__(self, server: Any, tools: list[dict[str, Any]] | None = None) -> None:
        self.server = server
        self.tools = TOOLS if tools is None else tools
        self.history: list[dict[str, Any]] = []
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def say(self, text: str) -> str:
        """Sends a customer's message; the text that the model ends with."""
        self.history.append({"role": "user", "content": text})
        for _ in range(10):
            reply = self.server.create(self.history, tools=self.tools)
            blocks = [block.to_dict() for block in reply.content]
            self.history.append({"role": "assistant", "content": blocks})
            if reply.stop_reason != "tool_use":
                return reply.content[0].text
            self.history.append({"role": "user", "content": [self._result(block) for block in blocks]})
        raise AssertionError("the stand-in does not come to an end")

    def _result(self, block: dict[str, Any]) -> dict[str, Any]:
        self.calls.append((block["name"], block["input"]))
        text, error = run_tool(block["name"], block["input"])
        return {"type": "tool_result", "tool_use_id": block["id"], "content": text, "is_error": error}

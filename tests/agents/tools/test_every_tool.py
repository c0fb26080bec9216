"""What holds for each tool: its name and arguments, no identity among them, and a look-up that fails."""

import json
import logging
from typing import Any

import pytest

from agents.tools.registry import tools
from audit.models import Event
from tests.conftest import Propose

ADDRESS = {"line1": "2 Quay", "line2": "", "city": "Bath", "region": "B", "postal_code": "BA1", "country": "GB"}
SWAP = {"item_ids": ["x"], "new_item_ids": ["y"], "payment_method_id": "maya-visa"}
# Each tool with arguments that are valid, and what it looks up or does first.
CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "get_my_profile": ({}, "ledger.shop.profiles.show_profile"),
    "list_my_orders": ({}, "ledger.shop.orders.list_orders"),
    "get_order": ({"order_id": "4471"}, "ledger.shop.orders.load_order"),
    "list_my_requests": ({}, "agents.tools.requests.cursor_checked"),
    "get_product": ({"product_id": "mug"}, "ledger.shop.products.show_product"),
    "list_products": ({}, "ledger.shop.products.list_products"),
    "get_refund_policy": ({}, "agents.tools.refund_policy.policy_text"),
    "calculator": ({"a": 1, "op": "+", "b": 2}, "agents.tools.calculator.Decimal"),
    "search_help": ({"query": "refund"}, "agents.tools.help_articles.articles"),
    "read_help_article": ({"name": "refunds"}, "agents.tools.help_articles.articles"),
    "issue_refund": ({"order_id": "4471", "amount_minor": 1, "reason": "late"}, "ledger.shop.orders.load_order"),
    "cancel_order": ({"order_id": "4473", "reason": "no_longer_needed"}, "ledger.shop.orders.load_order"),
    "return_items": (
        {"order_id": "4471", "item_ids": ["4471-1"], "payment_method_id": "maya-visa"}, "ledger.shop.orders.load_order",
    ),
    "exchange_items": ({"order_id": "4471"} | SWAP, "ledger.shop.orders.load_order"),
    "change_order_items": ({"order_id": "4473"} | SWAP, "ledger.shop.orders.load_order"),
    "change_order_payment": ({"order_id": "4473", "payment_method_id": "maya-visa"}, "ledger.shop.orders.load_order"),
    "change_order_address": ({"order_id": "4473"} | ADDRESS, "ledger.shop.orders.load_order"),
    "change_my_address": (ADDRESS, "ledger.shop.profiles.plan_address"),
    "hand_off_to_human": ({"summary": "wants a person"}, "agents.tools.hand_off.new_reference"),
    "withdraw_request": ({"reference": "R-1"}, "agents.tools.requests.Request"),
}  # fmt: skip
HANDLERS = ("read", "plan", "lookup", "act")


def test_these_are_the_tools() -> None:
    assert tools().keys() == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
def test_no_tool_takes_an_identity_or_an_unknown_argument(name: str, propose: Propose) -> None:
    schema = tools()[name].schema()["input_schema"]
    assert schema["additionalProperties"] is False
    assert not {"customer_id", "user_id", "email", "session_id", "token"} & schema["properties"].keys()
    outcome = propose(name, **CALLS[name][0], customer_id="noor")
    assert (outcome.decision, outcome.rule) == ("refused", "arguments")
    assert "customer_id is not an argument" in outcome.text
    assert "Call again with" in outcome.text


@pytest.mark.parametrize("name", CALLS)
def test_a_lookup_that_raises_is_a_failure_with_one_code(
    name: str, propose: Propose, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    arguments, lookup = CALLS[name]

    class Down:
        objects = None

        def __new__(cls, *_: object, **__: object) -> "Down":
            raise RuntimeError("secret of the house")

    monkeypatch.setattr(lookup, Down)
    with caplog.at_level(logging.ERROR):
        outcome = propose(name, **arguments)
    code = outcome.text.split("(")[1].split(")")[0]
    assert (outcome.decision, outcome.is_error) == ("failed", True)
    assert outcome.text == (
        f"{name} failed on our side ({code}). Do not call it again now; tell the customer and offer a person."
    )
    assert code in Event.objects.get(decision="failed").detail.body
    assert code in caplog.text


@pytest.mark.parametrize("name", CALLS)
def test_a_handler_that_returns_nothing_has_failed(
    name: str, propose: Propose, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tools()[name]
    handlers = {kind: (lambda *_: None) if getattr(tool, kind) else None for kind in HANDLERS}
    fields = {"name": name, "description": tool.description, "arguments": tool.arguments, **handlers}
    monkeypatch.setitem(tools(), name, type(tool)(**fields))
    outcome = propose(name, **CALLS[name][0])
    assert (outcome.decision, "failed on our side (E-" in outcome.text) == ("failed", True)
    assert Event.objects.filter(kind="dispatch", decision="failed").count() == 1


@pytest.mark.parametrize("name", CALLS)
def test_a_tool_has_one_handler_and_says_what_it_is_for(name: str) -> None:
    tool = tools()[name]
    assert sum(getattr(tool, kind) is not None for kind in HANDLERS) == 1
    assert len(tool.description) > 20
    assert json.dumps(tool.schema())

"""What a write would do, by its name and arguments: for what was approved, and for the ledger's protocol."""

from typing import Any

from agents.dispatch import guards
from agents.dispatch.results import NothingReturned
from agents.tools.registry import tools
from ledger.access.client import Shop
from ledger.books.plans import Plan
from ledger.errors import Refused


def plan_write(shop: Shop, name: str, arguments: dict[str, Any]) -> Plan:
    """The plan of a write in the shop; Refused for another tool, arguments that do not fit, and by its rules."""
    tool = guards.known_tool(name, tools())
    if tool.plan is None:
        raise Refused("unknown_tool", f"{name} is not a write in the shop.")
    plan = tool.plan(shop, guards.valid_arguments(tool, arguments))
    if plan is None:
        raise NothingReturned(name)
    return plan

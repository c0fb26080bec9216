"""The tools that a model may propose. Adding one: a new file beside this one and a line in FAMILIES."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from pydantic import BaseModel, ConfigDict

from ledger.access.client import Lookups, Shop
from ledger.books.plans import Plan

FAMILIES = (
    "orders", "refunds", "profile", "catalogue", "cancellations", "returns", "exchanges", "item_changes",
    "payment_changes", "addresses", "requests", "refund_policy", "calculator", "help_articles", "hand_off",
)  # fmt: skip


class Arguments(BaseModel):
    """The base of every tool's arguments: strict types, unknown arguments refused, no identity field."""

    model_config = ConfigDict(strict=True, extra="forbid", str_max_length=4_000)


class NoArguments(Arguments):
    """For tools that take none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """In whose session a tool is called; for tools that look or act outside the shop."""

    customer_id: str
    conversation_id: uuid.UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Acted:
    """What a write outside the ledger did. `told` is the notice for the customer; empty where another tells them."""

    reference: str
    message: str
    told: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Exactly one of four handlers. `read` and `plan` work on the shop: a read answers at once; a write only plans,
    and dispatch decides what becomes of the plan. `lookup` and `act` do the same where no money and no order is
    concerned, so an `act` is carried out at once."""

    name: str
    description: str
    arguments: type[Arguments]
    read: Callable[[Lookups, Any], dict[str, Any]] | None = None
    plan: Callable[[Shop, Any], Plan] | None = None
    lookup: Callable[[Caller, Any], dict[str, Any]] | None = None
    act: Callable[[Caller, Any], Acted] | None = None
    untrusted: tuple[str, ...] = ()
    """Paths of the result's fields that hold text from neither the customer nor the operator ("note", "items.name");
    "" is the whole result. From the first that holds anything on, every write of the conversation asks."""
    moves_money: bool = False
    asks_for_a_person: bool = False

    @property
    def writes(self) -> bool:
        return self.plan is not None or self.act is not None

    def schema(self) -> dict[str, Any]:
        """The tool as the Messages API takes it."""
        return {
            "name": self.name,
            "description": self.description,
            "input_schema": _schema_of(self.arguments),
        }


def _schema_of(arguments: type[Arguments]) -> dict[str, Any]:
    schema = arguments.model_json_schema()
    for noise in ("title", "description"):
        schema.pop(noise, None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
    return schema


@cache
def tools() -> dict[str, Tool]:
    """Every tool by name, in the order of FAMILIES."""
    families = (import_module(f"agents.tools.{family}") for family in FAMILIES)
    return {tool.name: tool for family in families for tool in family.TOOLS}


def policy_tools() -> list[str]:
    """The writes that a policy decides on."""
    return [tool.name for tool in tools().values() if tool.plan]


def schemas() -> str:
    """The `tools` of a request, as JSON text that stays the same byte for byte."""
    return json.dumps([tool.schema() for tool in tools().values()], separators=(",", ":"))

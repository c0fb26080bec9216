"""The guards of dispatch, each one flat and with a sentence that says what to do next. Each fails closed."""

import json
import logging
import secrets
from typing import Any

from pydantic import ValidationError

from agents.dispatch import results
from agents.dispatch.results import Call, Outcome
from agents.tools.registry import Arguments, Tool
from agents.turns import limits
from agents.turns.claims import LockedTurn
from approvals import brakes
from approvals.policy.facts import Circumstances, Standing
from base.references import ALPHABET
from ledger.access.credentials import READ, WRITE, mint
from ledger.errors import Refused, open_request

log = logging.getLogger(__name__)


def known_tool(name: str, offered: dict[str, Tool]) -> Tool:
    """A tool that this conversation was offered; unknown and not allowed read the same."""
    if (tool := offered.get(name)) is None:
        raise Refused("unknown_tool", f"No tool {name[:100]!r}. Tools here: {', '.join(offered)}.")
    return tool


def credential_for(tool: Tool, customer_id: str, around: Circumstances) -> str:
    """Minted for the session's customer before an argument is read; a read's cannot write."""
    scopes = (READ, WRITE) if tool.writes else (READ,)
    return mint(customer_id, around.conversation_id, *scopes, untrusted=bool(around.untrusted_text))


def valid_arguments(tool: Tool, received: Any) -> Arguments:
    """The arguments, strictly typed; unknown ones are refused, and the refusal says how to call again."""
    if not isinstance(received, dict):
        raise Refused("arguments", f"{tool.name} takes an object of arguments. {_usage(tool)}")
    if _has_unprintable(received):
        raise Refused("arguments", f"An argument holds a NUL or broken character. {_usage(tool)}")
    try:
        return tool.arguments.model_validate(received)
    except ValidationError as exc:
        errors = sorted(exc.errors(include_url=False), key=lambda error: error["type"] != "extra_forbidden")
        faults = "; ".join(_fault(error) for error in errors[:5])
        raise Refused("arguments", f"{tool.name} was not called: {faults}. {_usage(tool)}") from exc


def _fault(error: Any) -> str:
    where = ".".join(str(part)[:60] for part in error["loc"]) or "arguments"
    if error["type"] == "extra_forbidden":
        return f"{where} is not an argument"
    return f"{where}: {error['msg'][:1].lower()}{error['msg'][1:200]}"


def _usage(tool: Tool) -> str:
    """ "Call again with order_id (string), amount_minor (integer) ...": the arguments in words."""
    schema = tool.arguments.model_json_schema()
    required = set(schema.get("required", ()))
    parts = [
        f"{name} ({_kind(field)}{'' if name in required else ', optional'})"
        for name, field in schema.get("properties", {}).items()
    ]
    return f"Call again with {', '.join(parts)} and nothing else." if parts else "Call again without arguments."


def _kind(field: dict[str, Any]) -> str:
    if "enum" in field:
        return " or ".join(map(str, field["enum"]))
    if "anyOf" in field:
        return _kind(field["anyOf"][0])
    if field.get("type") == "array":
        return f"list of {_kind(field.get('items', {}))}s"
    minimum = field.get("minimum", field.get("exclusiveMinimum"))
    return f"{field.get('type', 'value')}" + (" above 0" if minimum == 0 else "")


def _has_unprintable(value: Any) -> bool:
    text = json.dumps(value, ensure_ascii=False)
    return "\\u0000" in text or any("\ud800" <= character <= "\udfff" for character in text)


def within_budget(tool: Tool, locked: LockedTurn) -> None:
    """A turn proposes a few writes, refused ones too; more is not one customer's wish."""
    if tool.writes and locked.writes >= limits.current("turn_writes"):
        raise Refused(
            "limit_writes",
            f"This turn has proposed {locked.writes} writes, the most it may. Do not propose another now; "
            "tell the customer what was done and ask how to go on.",
        )


def not_stopped(tool: Tool) -> None:
    """The brake, which nobody can pull from here until the effect is committed. Asking for a person, and taking a
    request back, move nothing, so they stop only when they are named."""
    stopped = brakes.keep_open()
    if tool.name in stopped.tools or (tool.plan and stopped.stops(tool.name)):
        raise Refused(
            "brake",
            f"{tool.name} is stopped by the shop's staff at the moment, so nothing was changed. Do not call it again "
            "in this conversation; tell the customer that this cannot be done right now, and offer a person.",
        )


def customers_own_wish(tool: Tool, around: Circumstances) -> None:
    """What is carried out without a policy's verdict is not taken from a model that has read untrusted text, unless
    it only asks for a person."""
    if tool.act is not None and around.untrusted_text and not tool.asks_for_a_person:
        raise Refused(
            "untrusted_text",
            f"{tool.name} cannot be used here, because this conversation holds text from outside the shop. Nothing was "
            "changed; tell the customer to do it with the button beside the request in this chat, or offer a person.",
        )


def nothing_open(order_id: str, standing: Standing) -> None:
    """What waits for a person on an order is decided before anything else about it is asked."""
    if order_id and (reference := standing.by_order.get(order_id)):
        raise open_request(order_id, reference)


def outcome_of(call: Call, problem: Exception) -> Outcome:
    """What a call ends in that was refused or failed; a fault's code joins the log, the event and the sentence."""
    if isinstance(problem, Refused):
        return results.refused(problem.rule, problem.message, problem.facts)
    code = fault_code()
    log.error("%s %s failed", code, call.name, exc_info=problem)
    return results.failed(call, code, problem)


def fault_code() -> str:
    """What joins the model's sentence, the log and the event of an unforeseen failure: E-4K7Q2M."""
    return "E-" + "".join(secrets.choice(ALPHABET) for _ in range(6))

"""The sentences of the stand-in's replies. Facts come from tool results alone."""

import re
from typing import Any

from standins.model.reading import money

GREETING = (
    "Hello! I'm this shop's AI assistant. I can look up your orders, arrange refunds, returns and exchanges, "
    "cancel an order, change an address, and pass you on to a person. Tell me what you need."
)
UNCLEAR = "I'm not sure I understood that. Is it about an order, a refund, or something else?"
THANKS = "You're welcome! I'm here whenever you need anything else."

DEEDS = {
    "issue_refund": "issue refunds",
    "cancel_order": "cancel orders",
    "hand_off_to_human": "pass you on to a person",
    "list_my_orders": "see your orders",
    "get_order": "look up orders",
    "list_my_requests": "see your requests",
}
STATUSES = {
    "pending": "is being prepared and has not been sent yet",
    "pending_items_changed": "is being prepared with the changed items and has not been sent yet",
    "processed": "has been handed to the carrier and is on its way",
    "delivered": "has been delivered",
    "cancelled": "has been cancelled",
    "return_requested": "is waiting for the items that you are sending back",
    "exchange_requested": "is waiting for the items that you are exchanging",
}
STATES = {
    "waiting": "waiting for approval",
    "approved": "approved and about to be carried out",
    "executed": "done",
    "denied": "not approved",
    "failed": "failed",
    "unknown": "being checked with the payment provider",
}
ADDRESSED_TO_MODEL = re.compile(r"^(do not call|call|ask|tell|offer|use|try|then)\b|\bthe customer\b", re.I)
TOOL_NAME = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")
NOTE = re.compile(
    r"\b(R-\w{6,10})\b[^.\n]*?\b(executed|approved|denied|expired|withdrawn|failed|stale|unknown)\b", re.I
)


def plain(text: str) -> str:
    """A tool's sentences without those meant for the model and without names of tools."""
    sentences = re.split(r"(?<=[.!?])\s+", text.strip())
    kept = [TOOL_NAME.sub("that step", s) for s in sentences if not ADDRESSED_TO_MODEL.search(s)]
    text = " ".join(kept)
    return text[:1].upper() + text[1:]


def failed(error: str) -> str:
    """An error, passed on as it is."""
    reason = plain(error) or "The shop's system refused it."
    return f"I'm sorry, that did not work. {reason} If you like, I can pass you on to a person."


def not_offered(tool: str, has_people: bool) -> str:
    """What to say where the shop did not offer the tool."""
    text = f"I'm sorry, I can't {DEEDS.get(tool, 'do that')} here."
    return text + (" I can pass you on to a person who can." if has_people else "")


def outcome(tool: str, result: dict[str, Any]) -> str:
    """What became of a write; claims nothing that the result does not say."""
    status, reference = result.get("status"), result.get("reference")
    message = plain(str(result.get("message") or ""))
    if status == "executed":
        lead = "A colleague will take over from here." if tool == "hand_off_to_human" else "That's done."
        tail = f"Your reference is {reference}." if reference and str(reference) not in message else ""
    elif status == "queued":
        told_already = bool(reference) and str(reference) in message
        lead = "I've sent this on"
        lead += "." if told_already else f": it is queued for approval, reference {reference}."
        tail = "Nothing has changed yet; you will be told here as soon as it is decided."
    else:
        lead, tail = (
            "I'm sorry, I can't tell whether that was done.",
            "Please let me pass you on to a person.",
        )
    return " ".join(part for part in (lead, message, tail) if part)


def order_status(order: dict[str, Any]) -> str:
    """One order in words."""
    status = str(order.get("status", ""))
    parts = [f"Your order {order.get('order_id', '')} {STATUSES.get(status, f'has the status {status!r}')}."]
    if names := _names(order):
        parts.append(f"It contains {names}.")
    if order.get("delivered_at") and status == "delivered":
        parts.append(f"It arrived on {str(order['delivered_at'])[:10]}.")
    if tracking := [t for t in order.get("tracking") or [] if isinstance(t, str)]:
        parts.append(f"Tracking number: {', '.join(tracking)}.")
    currency = str(order.get("currency", ""))
    refunds = [p for p in order.get("payments") or [] if isinstance(p, dict) and p.get("kind") == "refund"]
    if amounts := [money(p.get("amount_minor"), currency) for p in refunds]:
        parts.append(f"Refunded so far: {', '.join(amounts)}.")
    return " ".join(parts)


def order_line(order: dict[str, Any]) -> str:
    """One order of a list."""
    status = str(order.get("status", "")).replace("_", " ")
    total = money(order.get("total_minor"), str(order.get("currency", "")))
    return f"{order.get('order_id')}: {_names(order) or 'no items listed'}, {total}, {status}"


def request_line(request: dict[str, Any]) -> str:
    """One request of a list."""
    state = str(request.get("state", ""))
    summary = f" ({request['summary']})" if request.get("summary") else ""
    return f"{request.get('reference')}{summary}: {STATES.get(state, state)}"


def note_lines(notes: list[str], known: set[str]) -> list[str]:
    """Outcomes that the operator told and the list of requests does not hold."""
    found = {m[1].upper(): m[2].lower() for note in notes for m in NOTE.finditer(note)}
    return [f"{ref}: {STATES.get(state, state)}" for ref, state in found.items() if ref not in known]


def told(value: dict[str, Any], text: str) -> str:
    """A result of any shape: its text, or its plain fields one by one."""
    for field in ("text", "body", "policy", "message"):
        if isinstance(value.get(field), str):
            return str(value[field])
    simple = {key: field for key, field in value.items() if isinstance(field, (str, int)) and not key.endswith("_id")}
    if not simple:
        return text or "I see nothing there."
    return "; ".join(f"{key.replace('_', ' ')}: {field}" for key, field in simple.items()) + "."


def bullets(lead: str, lines: list[str], tail: str = "") -> str:
    """A short list."""
    return "\n".join([lead, *(f"- {line}" for line in lines), *([tail] if tail else [])])


def _names(order: dict[str, Any]) -> str:
    items = order.get("items") or []
    names = [item if isinstance(item, str) else item.get("name", "") for item in items if item]
    return ", ".join(name for name in names if name)

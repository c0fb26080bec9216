"""The operator channel: how the model learns what became of requests.

A `system` message right after the customer's, made of enums, references, amounts and checked ids. Nobody's
free words pass here: not staff's, not the customer's, not a stranger's.
"""

import datetime as dt
import re
import uuid
from typing import Any

from django.utils import timezone

from agents.models import Message
from agents.turns.claims import Claimed
from approvals.models import Request
from base import sql
from base.money import show

_WITH_ROLE = ("claude-opus-5-5", "claude-opus-5", "claude-opus-4-8", "claude-sonnet-5-5", "claude-haiku-5-5")
_CHECKED_ID = re.compile(r"[A-Za-z0-9#_.-]{1,60}")
_OUTCOMES = {
    "approved": "approved by a person; it will be carried out shortly",
    "lowered": "lowered by a person from {asked} to this amount. Do not propose the difference or the original again",
    "undone": "waiting for a person again, because its approval was taken back; nothing was changed",
    "executed": "executed as {entry}",
    "denied": "denied by a person; nothing was changed. Do not propose it again",
    "reopened": "denied before, and reopened by a person: it may be proposed again if the customer asks for it",
    "expired": "not decided in time and expired; nothing was changed",
    "withdrawn": "withdrawn by the customer; nothing was changed",
    "stale": "not carried out because something changed meanwhile",
    "failed": "not carried out because of a fault on our side",
}


def note_of(request: Request, what: str = "") -> str | None:
    """The sentence on a request's state, or None when the model knows it already."""
    outcome = _OUTCOMES.get(what or request.state)
    if outcome is None:
        return None
    order = f", order {request.order_id}" if _CHECKED_ID.fullmatch(request.order_id) else ""
    amount = f", {show(request.amount_minor, request.currency)}" if request.currency else ""
    asked = show(request.lowered_from_minor or request.amount_minor, request.currency) if request.currency else ""
    told = outcome.format(entry=request.entry_reference, asked=asked)
    return f"Request {request.reference} ({request.tool}{order}{amount}): {told}."


def keep_note(request: Request, what: str = "") -> None:
    """Store the note until the customer's next turn, in the transaction of what it tells of."""
    if note := note_of(request, what):
        sql.run(_KEEP, [request.conversation_id, note])


_KEEP = """
    INSERT INTO agents_message (conversation_id, author, text, content, stop_reason, in_history, provider_request_id)
    VALUES (%s, 'operator', %s, '', '', true, '')
"""


def keep_note_of_staff(conversation_id: uuid.UUID, since: dt.datetime) -> None:
    """That a person answered, and when: never what they said, which is no part of the history either."""
    told = _STAFF.format(since.astimezone(dt.UTC), timezone.now())
    sql.run(_KEEP, [conversation_id, told])


_STAFF = (
    "A person of the shop's staff answered the customer in this conversation between {:%Y-%m-%d %H:%M} and "
    "{:%Y-%m-%d %H:%M} UTC. You do not see what the person wrote; what the customer wrote meanwhile stands above. "
    "Ask the customer where you need to know what was said, and look things up again before you rely on them."
)


def deliver(turn: Claimed) -> None:
    """Put what has come since the last turn into this one, before its first model call."""
    waiting = Message.objects.filter(
        conversation_id=turn.conversation_id, author=Message.Author.OPERATOR, turn_id__isnull=True
    )
    waiting.update(turn_id=turn.turn_id)


def fitted(history: list[dict[str, Any]], model: str, turn_id: uuid.UUID) -> list[dict[str, Any]]:
    """The history for a model: where it has no `system` role inside messages, notes end the user's turn,
    marked with a nonce that no customer could know."""
    if model.startswith(_WITH_ROLE):
        return history
    return [_as_user(message, turn_id) if message["role"] == "system" else message for message in history]


def _as_user(message: dict[str, Any], turn_id: uuid.UUID) -> dict[str, Any]:
    text = f"[note from the shop's system {turn_id.hex}] {message['content']}"
    return {"role": "user", "content": [{"type": "text", "text": text}]}

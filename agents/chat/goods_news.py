"""Telling a customer that goods came back, or that their return was closed without them."""

import uuid
from typing import Any

from agents.chat.notices import notice
from agents.models import ToolCall
from approvals.models import Request
from ledger.books.entries import Posted


def tell_of_goods(sender: Any, *, posted: Posted, owner: str, **_: Any) -> None:
    """A notice in the conversation that asked for it, in the transaction that ended it."""
    conversation_id = _asked_in(owner)
    if conversation_id:
        notice(conversation_id, f"{posted.done} Reference {posted.reference}.", key=f"executed:{posted.reference}")


def _asked_in(owner: str) -> uuid.UUID | None:
    """Where the entry came from; none for what the shop itself brought."""
    approved = Request.objects.filter(entry_reference=owner).values_list("conversation_id", flat=True)
    at_once = ToolCall.objects.filter(reference=owner).values_list("turn__conversation_id", flat=True)
    return approved.first() or at_once.first()

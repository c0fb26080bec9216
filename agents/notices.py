"""What the customer is told by Placet itself, written from the ledger and the requests, never by a model."""

import uuid
from typing import Any

from agents.models import Message
from agents.operator_notes import keep_note
from agents.stream import publish_on_commit
from agents.transcript import show_message
from approvals.models import Request

STATES = {
    "pending": "waiting", "executing": "approved", "stale": "failed",
    **{name: name for name in ("approved", "executed", "denied", "expired", "withdrawn", "failed", "unknown")},
}  # fmt: skip


def notice(conversation_id: uuid.UUID, text: str, *, key: str) -> None:
    """Add a notice to the conversation, once per key, in the transaction of what it tells of."""
    message = Message(
        conversation_id=conversation_id, author=Message.Author.NOTICE, text=text, key=key, in_history=False
    )
    if Message.objects.filter(conversation_id=conversation_id, key=key).exists():
        return
    message.save(force_insert=True)
    publish_on_commit(conversation_id, "message", {"message": show_message(message)})


def tell_of_request(sender: Any, *, request: Request, customer_message: str, **_: Any) -> None:
    """A request changed: the customer hears of it in the same transaction, and open chats are told."""
    keep_note(request)
    shown = {"reference": request.reference, "state": STATES[request.state]}
    publish_on_commit(request.conversation_id, "request", shown)
    sentence = _SENTENCES.get(request.state)
    if sentence is None:
        return
    summary = request.preview["summary"]
    text = sentence.format(reference=request.reference, summary=summary[:1].lower() + summary[1:])
    if customer_message:
        text = f"{text}\n\n{customer_message}"
    notice(request.conversation_id, text, key=f"request:{request.reference}:{request.revision}:{request.state}")


_SENTENCES = {
    "approved": "A person approved request {reference}: {summary}. It will be carried out in a moment.",
    "denied": "A person decided not to approve request {reference} ({summary}). Nothing was changed.",
    "expired": "Request {reference} ({summary}) was not decided in time and has expired. Nothing was changed; "
    "you can ask for it again.",
    "withdrawn": "Request {reference} ({summary}) was withdrawn. Nothing was changed.",
    "failed": "Request {reference} ({summary}) could not be carried out. Nothing was changed; "
    "a person will look at it.",
    "stale": "Something changed since request {reference} ({summary}) was made, so it was not carried out.",
}

MODEL_DOWN = (
    "Our assistant cannot be reached right now. Your message is safe: it will be answered as soon as the assistant "
    "is back, and you do not need to send it again."
)
_LIMITS = ("model_calls", "input_tokens", "output_tokens", "money", "seconds", "writes", "errors", "day")
_LIMIT = (
    "This could not be finished in one go, so it was stopped here. Everything that was carried out is confirmed "
    "above; please write again to go on, or ask for a person."
)
ENDINGS = {
    **{f"limit_{name}": _LIMIT for name in _LIMITS},
    "max_tokens": "The answer became too long and was cut. Nothing was carried out beyond what is confirmed above.",
    "context_window": "This conversation has become too long for our assistant. Please start a new one.",
    "refusal": "Our assistant cannot help with this. You can rephrase it, or ask for a person.",
    "cut": "The answer broke off, and nothing in it was carried out. Please send your message again.",
    "model_unavailable": "Our assistant could not be reached, so your message was not answered. Nothing was changed; "
    "please try again later.",
    "parked": "We have a technical problem and could not answer. Nothing was changed; our team has been told.",
    "signed_out": "You were signed out, so this was stopped. What was carried out is confirmed above.",
    "taken_over": "A person from our team has taken over this conversation.",
}

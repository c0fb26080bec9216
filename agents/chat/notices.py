"""What the customer is told by Placet itself, written from the ledger and the requests, never by a model."""

import uuid
from typing import Any

from django.conf import settings

from agents.chat.stream import is_watched, publish_on_commit
from agents.chat.transcript import show_message
from agents.context.operator_notes import keep_note
from agents.models import Message
from agents.states import STATES
from approvals.decisions.tally import taken_back
from approvals.models import Request
from approvals.outbox.delivery import tell_customer
from base import sql
from base.sql import Row
from ledger.access.scopes import as_customer
from ledger.shop.profiles import email_of

SAY_ONCE = """
    INSERT INTO agents_message (conversation_id, author, text, key, in_history, content, stop_reason,
                                provider_request_id)
    VALUES (%s, 'notice', %s, %s, false, '', '', '') ON CONFLICT (conversation_id, key)
    WHERE key IS NOT NULL DO NOTHING
    RETURNING id, created_at
"""


def notice(conversation_id: uuid.UUID, text: str, *, key: str) -> None:
    """Add a notice to the conversation, once per key, in the transaction of what it tells of."""
    if row := sql.row(SAY_ONCE, [conversation_id, text, key]):
        tell(conversation_id, text, row)


def tell(conversation_id: uuid.UUID, text: str, row: Row) -> None:
    """News of a notice just stored, by what SAY_ONCE gave."""
    message = Message(pk=row[0], created_at=row[1], author=Message.Author.NOTICE, text=text)
    publish_on_commit(conversation_id, ("message", {"message": show_message(message)}))


def tell_of_request(sender: Any, *, request: Request, customer_message: str, what: str = "", **_: Any) -> None:
    """A request changed: the customer hears of it in the same transaction, and open chats are told."""
    keep_note(request, what)
    _mail(request, what)
    shown = {"reference": request.reference, "state": STATES[request.state]}
    publish_on_commit(request.conversation_id, ("request", shown))
    if text := text_of(request, what or request.state, customer_message):
        notice(request.conversation_id, text, key=_key(request, what))


def text_of(request: Request, what: str, customer_message: str = "") -> str:
    """What the customer reads when this becomes of the request; empty when nothing is said."""
    sentence = _SENTENCES.get(what)
    if sentence is None:
        return ""
    summary = request.preview["summary"]
    text = sentence.format(reference=request.reference, summary=summary[:1].lower() + summary[1:])
    return f"{text}\n\n{customer_message}" if customer_message else text


def _mail(request: Request, what: str) -> None:
    """The outcome by e-mail, where the chat is closed: our templates and the ledger's words, nothing of a model."""
    sentence = _BY_MAIL.get(what or request.state)
    if not sentence or not settings.PLACET.notify.smtp or is_watched(request.conversation_id):
        return
    to = as_customer(request.customer_id, lambda: email_of(request.customer_id))
    text = sentence.format(
        reference=request.reference, summary=request.preview["summary"], entry=request.entry_reference
    )
    key = _key(request, what).replace("request:", "mail:", 1)
    tell_customer(key=key, to=to, subject=f"Your request {request.reference}", text=text)


_BY_MAIL = {
    "executed": "{summary}: this was carried out. Reference {entry}.",
    "denied": "{summary}: a person decided not to approve this. Nothing was changed; you can read more in the chat.",
    "expired": "{summary}: this was not decided in time and has expired. Nothing was changed; you can ask again.",
    "failed": "{summary}: this could not be carried out. Nothing was changed; a person will look at it.",
    "stale": "{summary}: something changed since you asked, so it was not carried out. You can read more in the chat.",
}


def _key(request: Request, what: str) -> str:
    """Once per change: what was taken back may be decided again."""
    again = len(taken_back(request))
    return f"request:{request.reference}:{request.revision}:{what or request.state}" + (f":{again}" if again else "")


_SENTENCES = {
    "approved": "A person approved request {reference}: {summary}. It will be carried out in a moment.",
    "lowered": "A person changed request {reference} to a lower amount. It is now: {summary}.",
    "undone": "The approval of request {reference} ({summary}) was taken back, so it waits for a decision again. "
    "Nothing was changed.",
    "denied": "A person decided not to approve request {reference} ({summary}). Nothing was changed.",
    "reopened": "A person has looked at request {reference} ({summary}) again: you can ask for it once more, "
    "and it will be decided afresh.",
    "expired": "Request {reference} ({summary}) was not decided in time and has expired. Nothing was changed; "
    "you can ask for it again.",
    "withdrawn": "Request {reference} ({summary}) was withdrawn. Nothing was changed.",
    "failed": "Request {reference} ({summary}) could not be carried out. Nothing was changed; "
    "a person will look at it.",
    "unknown": "We cannot say yet whether request {reference} ({summary}) was carried out. We keep asking, and "
    "tell you here.",
    "stale": "Something changed since request {reference} ({summary}) was made, so it was not carried out.",
}

MODEL_DOWN = (
    "Our assistant cannot be reached right now. Your message is safe: it will be answered as soon as the assistant "
    "is back, and you do not need to send it again."
)
PAUSED = (
    "Our team has paused this assistant for now, so your message was not answered and nothing more is carried out. "
    "Please write again later."
)
SHOP_SILENT = (
    "Our shop system does not answer right now, so we cannot say yet whether your last request was carried out. We "
    "keep asking, and you do not need to send it again."
)
SHOP_GIVEN_UP = (
    "We could not find out whether your last request was carried out. Please do not send it again: a person will check "
    "it."
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
    "model_unavailable": "Our assistant could not be reached, so your message was not answered. What was carried "
    "out, if anything, is confirmed above; please try again later.",
    "parked": "We have a technical problem and could not answer. What was carried out, if anything, is confirmed "
    "above; our team has been told.",
    "signed_out": "You were signed out, so this was stopped. What was carried out is confirmed above.",
}

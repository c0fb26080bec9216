"""What a customer does in the chat: begin a conversation, write, read."""

import datetime as dt
import json
import uuid
from dataclasses import dataclass

from agents.chat.stream import Event, ended, publish_on_commit
from agents.chat.transcript import show_message
from agents.context.prompt import binding_now
from agents.models import Conversation, Message
from agents.turns.doorbell import ring_on_commit
from base import sql
from base.failpoints import reach_on_commit


class OtherText(Exception):
    """A client id came back with another text."""


class ConversationClosed(Exception):
    """Nothing more can be written here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """A stored message and the turn that reads it; `new` is false for the same client id again."""

    message_id: int
    turn_id: uuid.UUID
    new: bool


def begin(*, customer_id: str, session_id: str) -> Conversation:
    """A new conversation, frozen to the agent definition of now, and bound by no looser policy than that of now."""
    definition_id, policy_version = binding_now()
    conversation = Conversation(
        customer_id=customer_id, session_id=session_id, definition_id=definition_id, policy_version=policy_version
    )
    sql.insert(conversation)
    return conversation


_POST = "SELECT outcome, message, turn, at FROM agents_post_message(%s, %s, %s, %s::jsonb, %s, %s, %s)"


def post_message(
    *, conversation_id: uuid.UUID, session_id: str, client_id: str, text: str, auth_time: dt.datetime | None = None,
    amr: tuple[str, ...] = (),
) -> Posted:  # fmt: skip
    """Store what the customer wrote on the conversation's queued turn, made if there is none.

    The conversation's lock is taken by claims too; without it a message could land on a turn that has just
    been claimed and be read by nobody.
    """
    signed_in = (session_id, auth_time, json.dumps(amr))
    row = sql.row(_POST, [conversation_id, *signed_in, client_id, text, uuid.uuid4()])
    assert row is not None
    outcome, message_id, turn_id, at = row
    if outcome == "other_text":
        raise OtherText
    if outcome == Conversation.State.CLOSED:
        raise ConversationClosed
    if outcome == "again":
        return Posted(message_id=message_id, turn_id=turn_id, new=False)
    reach_on_commit("message_committed", conversation_id)
    shown = show_message(Message(pk=message_id, author=Message.Author.CUSTOMER, text=text, created_at=at))
    news: list[Event] = [("message", {"message": shown})]
    if outcome == Conversation.State.WITH_STAFF:
        news.append(("turn.finished", ended(turn_id, "taken_over")))
    else:
        ring_on_commit("agents.tasks.work")
    publish_on_commit(conversation_id, *news)
    return Posted(message_id=message_id, turn_id=turn_id, new=True)

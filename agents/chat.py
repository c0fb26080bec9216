"""What a customer does in the chat: begin a conversation, write, read."""

import uuid
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max

from agents.doorbell import ring_on_commit
from agents.models import Conversation, Message, Turn
from agents.prompt import current_definition_id
from agents.stream import publish_on_commit
from agents.transcript import show_message
from audit.failpoints import reach_on_commit


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
    """A new conversation, frozen to the agent definition of now."""
    return Conversation.objects.create(
        customer_id=customer_id, session_id=session_id, definition_id=current_definition_id()
    )


def post_message(*, conversation_id: uuid.UUID, session_id: str, client_id: str, text: str) -> Posted:
    """Store what the customer wrote on the conversation's queued turn, made if there is none.

    The conversation's lock is taken by claims too; without it a message could land on a turn that has just
    been claimed and be read by nobody.
    """
    with transaction.atomic():
        conversation = Conversation.objects.select_for_update(no_key=True).get(pk=conversation_id)
        before = Message.objects.filter(conversation=conversation, client_id=client_id).first()
        if before is not None:
            return _again(before, text)
        if conversation.state == Conversation.State.CLOSED:
            raise ConversationClosed
        if conversation.session_id != session_id:
            Conversation.objects.filter(pk=conversation_id).update(session_id=session_id)
        turn = _queued_turn(conversation)
        message = Message.objects.create(
            conversation=conversation,
            turn=turn,
            author=Message.Author.CUSTOMER,
            text=text,
            client_id=client_id,
        )
        reach_on_commit("message_committed", conversation_id)
        publish_on_commit(conversation_id, "message", {"message": show_message(message)})
        ring_on_commit("agents.tasks.work")
    return Posted(message_id=message.pk, turn_id=turn.pk, new=True)


def _again(before: Message, text: str) -> Posted:
    if before.text != text or before.turn_id is None:
        raise OtherText
    return Posted(message_id=before.pk, turn_id=before.turn_id, new=False)


def _queued_turn(conversation: Conversation) -> Turn:
    queued = Turn.objects.filter(conversation=conversation, state=Turn.State.QUEUED).first()
    if queued is not None:
        return queued
    last = Turn.objects.filter(conversation=conversation).aggregate(last=Max("number"))["last"] or 0
    return Turn.objects.create(conversation=conversation, customer_id=conversation.customer_id, number=last + 1)

"""What a customer does in the chat: begin a conversation, write, read."""

import datetime as dt
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from agents.doorbell import ring_on_commit
from agents.models import Conversation, Message, Turn
from agents.prompt import current_definition_id
from agents.stream import ended, publish_on_commit
from agents.transcript import show_message
from approvals.policies import version_in_force
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
    """A new conversation, frozen to the agent definition of now, and bound by no looser policy than that of now."""
    return Conversation.objects.create(
        customer_id=customer_id,
        session_id=session_id,
        definition_id=current_definition_id(),
        policy_version=version_in_force(),
    )


def post_message(
    *, conversation_id: uuid.UUID, session_id: str, client_id: str, text: str, auth_time: dt.datetime | None = None,
    amr: tuple[str, ...] = (),
) -> Posted:  # fmt: skip
    """Store what the customer wrote on the conversation's queued turn, made if there is none.

    The conversation's lock is taken by claims too; without it a message could land on a turn that has just
    been claimed and be read by nobody.
    """
    with transaction.atomic():
        conversation = Conversation.objects.select_for_update(no_key=True).get(pk=conversation_id)
        before, queued, last = _look(conversation_id, client_id)
        if before:
            return _again(before, text)
        if conversation.state == Conversation.State.CLOSED:
            raise ConversationClosed
        signed_in = {"session_id": session_id, "auth_time": auth_time, "amr": list(amr)}
        if any(getattr(conversation, name) != value for name, value in signed_in.items()):
            Conversation.objects.filter(pk=conversation_id).update(**signed_in)
        with_staff = conversation.state == Conversation.State.WITH_STAFF
        turn_id = queued or (_unrun_turn if with_staff else _new_turn)(conversation, number=last + 1)
        message = Message.objects.create(
            conversation=conversation,
            turn_id=turn_id,
            author=Message.Author.CUSTOMER,
            text=text,
            client_id=client_id,
        )
        reach_on_commit("message_committed", conversation_id)
        publish_on_commit(conversation_id, "message", {"message": show_message(message)})
        if with_staff:
            publish_on_commit(conversation_id, "turn.finished", ended(turn_id, "taken_over"))
        else:
            ring_on_commit("agents.tasks.work")
    return Posted(message_id=message.pk, turn_id=turn_id, new=True)


# A statement of its own: it begins after the conversation's lock was got, so it sees what was written meanwhile.
_LOOK = """
    SELECT (SELECT json_build_array(id, text, turn_id) FROM agents_message
            WHERE conversation_id = %s AND client_id = %s),
           (SELECT id FROM agents_turn WHERE conversation_id = %s AND state = 'queued'),
           (SELECT coalesce(max(number), 0) FROM agents_turn WHERE conversation_id = %s)
"""


def _look(conversation_id: uuid.UUID, client_id: str) -> tuple[list[Any] | None, uuid.UUID | None, int]:
    """The message that bears this client id, the turn that waits, and the last turn's number."""
    with connection.cursor() as cursor:
        cursor.execute(_LOOK, [conversation_id, client_id, conversation_id, conversation_id])
        before, queued, last = cursor.fetchone()
    return before, queued, last


def _again(before: list[Any], text: str) -> Posted:
    message_id, said, turn_id = before
    if said != text or turn_id is None:
        raise OtherText
    return Posted(message_id=message_id, turn_id=uuid.UUID(turn_id), new=False)


def _unrun_turn(conversation: Conversation, *, number: int) -> uuid.UUID:
    """For what is written while staff have the conversation: a turn that no worker runs. The next one that runs reads
    it in the history."""
    last = Turn.objects.filter(conversation=conversation, number=number - 1, reason="taken_over", attempts=0).first()
    if last is not None:
        return last.pk
    finished = {"state": Turn.State.FINISHED, "reason": "taken_over", "finished_at": timezone.now()}
    return Turn.objects.create(
        conversation=conversation, customer_id=conversation.customer_id, number=number, **finished
    ).pk


def _new_turn(conversation: Conversation, *, number: int) -> uuid.UUID:
    return Turn.objects.create(conversation=conversation, customer_id=conversation.customer_id, number=number).pk

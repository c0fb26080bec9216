"""A person takes a conversation over from the model, answers in it, and hands it back or closes it.

Each deed begins with the conversation's lock, as posting and claiming do. Taking over then changes the running turn,
which waits for the dispatch under way: once it has returned, nothing more is dispatched of what the model had in mind.
The model never reads what staff write; it is told between when and when a person answered.
"""

import uuid

from django.db import connection, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from agents.chat.notices import notice
from agents.chat.stream import ended, publish_on_commit, silence
from agents.chat.transcript import show_message
from agents.context import operator_notes
from agents.models import Conversation, HandOff, Message
from agents.turns.doorbell import ring_on_commit
from approvals.decisions.participants import keep_part
from approvals.errors import DecisionError, Forbidden, NotFound
from approvals.models import Staff
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import DECIDES, LEAD
from base.names import role_name

State = Conversation.State


class NotYours(DecisionError):
    """Somebody else has the conversation, or nobody can; the message says who and since when."""


class OtherText(DecisionError):
    """A client id came back with another text."""


def name_of(staff: Staff) -> str:
    """How the customer is told of a member of staff: the first name, else the name they sign in with."""
    name = (staff.first_name or staff.username).strip()[:60]
    return name[:1].upper() + name[1:]


def refusal_for(conversation: Conversation, staff: Staff) -> Forbidden | None:
    """Why this person may not answer here, so that a page can say so before they type."""
    if staff.role not in DECIDES or not staff.is_active:
        sentence = _("The role %(role)s does not answer customers; agents and leads do.") % {
            "role": role_name(staff.role)
        }
        return Forbidden("role", sentence)
    if staff.customer_id and staff.customer_id == conversation.customer_id:
        return Forbidden("self", _("This is your own customer account, so a colleague has to answer."))
    return None


def take_over(*, conversation_id: uuid.UUID, staff: Staff, instead_of: str = "") -> Conversation:
    """The model falls silent and the customer is told who speaks. `instead_of` is the colleague whom the page showed
    as having it: a lead takes it from them. Of two who try at once the second one gets NotYours."""
    with transaction.atomic():
        found = _locked(conversation_id, staff)
        if found.holder == staff:
            return found
        _require_free(found, staff, instead_of)
        _silence(found.pk)
        HandOff.objects.filter(conversation=found, ended_at=None).update(ended_at=Now(), ended_by=staff)
        keep_part(conversation_id=found.pk, staff=staff)
        was = found.holder.username if found.holder else ""
        _move(found, State.WITH_STAFF, holder=staff, held_since=Now())
        told = f"You are now talking to {name_of(staff)} from our team."
        _tell(found, staff, "taken_over", told, instead_of=was)
    return found


def _require_free(found: Conversation, staff: Staff, instead_of: str) -> None:
    if found.state == State.CLOSED:
        raise NotYours(_("Nothing was changed: this conversation is closed."))
    if found.holder is None or (staff.role == LEAD and found.holder.username == instead_of):
        return
    raise _held_by(found)


def _held_by(found: Conversation) -> NotYours:
    if found.holder is None or found.held_since is None:
        closed = _("Nothing was changed: this conversation is closed.")
        return NotYours(
            closed if found.state == State.CLOSED else _("Nothing was changed: the assistant has it again.")
        )
    told = {"who": found.holder.username, "when": f"{found.held_since:%H:%M}"}
    return NotYours(_("Nothing was changed: %(who)s has this conversation, since %(when)s UTC.") % told)


_SILENCE_RUNNING = """
    UPDATE agents_turn SET silenced = true, claimable_at = least(claimable_at, statement_timestamp())
    WHERE conversation_id = %s AND state = 'running' RETURNING id
"""
_END_QUEUED = """
    UPDATE agents_turn SET state = 'finished', reason = 'taken_over', finished_at = statement_timestamp()
    WHERE conversation_id = %s AND state = 'queued' RETURNING id
"""


def _silence(conversation_id: uuid.UUID) -> None:
    """The running turn ends before its next dispatch; the queued one never runs, and the person reads its messages."""
    with connection.cursor() as cursor:
        cursor.execute(_SILENCE_RUNNING, [conversation_id])
        for (running,) in cursor.fetchall():
            transaction.on_commit(lambda turn=running: silence(turn), robust=True)  # type: ignore[misc]
            ring_on_commit("agents.tasks.work")  # it may wait for a model without a worker
        cursor.execute(_END_QUEUED, [conversation_id])
        for (queued,) in cursor.fetchall():
            publish_on_commit(conversation_id, ("turn.finished", ended(queued, "taken_over")))


def say(*, conversation_id: uuid.UUID, staff: Staff, client_id: str, text: str) -> Message:
    """What the holder writes to the customer. The same client id again is the same message."""
    with transaction.atomic():
        found = _locked(conversation_id, staff)
        key = f"staff:{staff.pk}:{client_id}"
        if before := Message.objects.filter(conversation=found, key=key).first():
            if before.text != text:
                raise OtherText(_("This was sent before with another text; send it again."))
            return before
        if found.holder != staff:
            raise _held_by(found)
        message = Message.objects.create(
            conversation=found, author=Message.Author.STAFF, text=text, key=key, in_history=False, staff=staff,
            said_by=name_of(staff),
        )  # fmt: skip
        _record(found, staff, "staff_wrote", message=message.pk)
        publish_on_commit(found.pk, ("message", {"message": show_message(message)}))
    return message


def hand_back(*, conversation_id: uuid.UUID, staff: Staff) -> Conversation:
    """The model answers again, from the customer's next message on."""
    with transaction.atomic():
        found = _held(conversation_id, staff)
        _note_for_the_model(found)
        _move(found, State.OPEN, holder=None, held_since=None)
        told = f"{name_of(staff)} has left this conversation. Our AI assistant answers you again."
        _tell(found, staff, "handed_back", told)
    return found


def close(*, conversation_id: uuid.UUID, staff: Staff) -> Conversation:
    """Nothing more can be written here; requests that wait go on."""
    with transaction.atomic():
        found = _held(conversation_id, staff)
        _move(found, State.CLOSED, holder=None, held_since=None)
        told = f"{name_of(staff)} has closed this conversation. You can begin a new one at any time."
        _tell(found, staff, "closed", told)
    return found


def _note_for_the_model(found: Conversation) -> None:
    wrote = Message.objects.filter(conversation=found, author=Message.Author.STAFF, created_at__gte=found.held_since)
    if found.held_since and wrote.exists():
        operator_notes.keep_note_of_staff(found.pk, found.held_since)


def _locked(conversation_id: uuid.UUID, staff: Staff) -> Conversation:
    """The conversation under its lock, for one who may answer in it. Raises NotFound and Forbidden."""
    found = Conversation.objects.select_for_update(no_key=True).filter(pk=conversation_id).first()
    if found is None:
        raise NotFound(_("There is no such conversation."))
    if refusal := refusal_for(found, staff):
        raise refusal
    return found


def _held(conversation_id: uuid.UUID, staff: Staff) -> Conversation:
    """The same, for its holder or a lead."""
    found = _locked(conversation_id, staff)
    if found.holder is None or (found.holder != staff and staff.role != LEAD):
        raise _held_by(found)
    return found


def _move(found: Conversation, state: State, **changes: object) -> None:
    Conversation.objects.filter(pk=found.pk).update(state=state, **changes)
    found.refresh_from_db()


def _tell(found: Conversation, staff: Staff, decision: str, sentence: str, **detail: str) -> None:
    """The record, the customer, and whoever looks at it now."""
    event_id = _record(found, staff, decision, **detail)
    notice(found.pk, sentence, key=f"staff:{event_id}")
    shown = {"state": found.state, "staff": name_of(found.holder) if found.holder else None}
    publish_on_commit(found.pk, ("conversation", shown))


def _record(found: Conversation, staff: Staff, decision: str, **detail: object) -> int:
    event = NewEvent(kind=Kind.TURN, decision=decision, customer_id=found.customer_id, conversation_id=found.pk)
    return record(Actor(kind="staff", id=staff.username), event, **detail)

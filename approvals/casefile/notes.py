"""Notes on customers, by staff for staff."""

import uuid

from django.db import transaction
from django.utils.translation import gettext as _

from approvals.errors import Forbidden, Invalid, grouped
from approvals.models import Note, Staff
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import DECIDES
from base.names import role_name

MOST_TEXT = 2_000


def write_note(*, staff: Staff, customer_id: str, text: str, conversation_id: uuid.UUID | None = None) -> Note:
    """Add a note, on one of the customer's conversations or on the customer; it is never changed and never leaves the
    console."""
    text = text.strip()
    if staff.role not in DECIDES or not staff.is_active:
        raise Forbidden(
            "role", _("The role %(role)s writes no notes; agents and leads do.") % {"role": role_name(staff.role)}
        )
    if not text or len(text) > MOST_TEXT:
        raise Invalid({"text": [_("Write something, in at most %(most)s characters.") % {"most": grouped(MOST_TEXT)}]})
    with transaction.atomic():
        note = Note.objects.create(customer_id=customer_id, conversation_id=conversation_id, author=staff, text=text)
        event = NewEvent(kind=Kind.ACCESS, decision="noted", customer_id=customer_id, conversation_id=conversation_id)
        record(Actor(kind="staff", id=staff.username), event, note=text)
    return note


def notes_of(customer_id: str) -> list[Note]:
    """Newest first."""
    return list(Note.objects.filter(customer_id=customer_id).select_related("author").order_by("-at", "-pk")[:50])


def notes_on(conversation_id: uuid.UUID) -> list[Note]:
    """Those that were written in a conversation, newest first."""
    found = Note.objects.filter(conversation_id=conversation_id).select_related("author")
    return list(found.order_by("-at", "-pk")[:50])

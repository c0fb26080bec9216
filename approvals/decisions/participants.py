"""Who of the staff took part in a conversation: they steered it, so they do not decide what comes of it."""

import uuid

from approvals.models import Participant, Staff
from base import sql


def keep_part(*, conversation_id: uuid.UUID, staff: Staff) -> None:
    """Remember it, in the transaction of the deed; once is enough."""
    Participant.objects.bulk_create([Participant(conversation_id=conversation_id, staff=staff)], ignore_conflicts=True)


def takes_part(*, conversation_id: uuid.UUID, staff: Staff) -> bool:
    """Whether this person ever took it over."""
    part = "SELECT FROM approvals_participant WHERE conversation_id = %s AND staff_id = %s"
    return sql.row(part, [conversation_id, staff.pk]) is not None

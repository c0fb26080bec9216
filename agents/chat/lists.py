"""Lists of conversations for staff: by who has them, in pages that cost the same anywhere."""

import datetime as dt
import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from agents.models import Conversation, HandOff, Message
from base.keyset import Keyset

PAGE = 50
MOST_COUNTED = 99
_LONGEST = Keyset({"waits_since": dt.datetime, "id": uuid.UUID})
_NEWEST = Keyset({"created_at": dt.datetime, "id": uuid.UUID}, downwards=True)
TABS = ("all", "open", "handed_over", "with_staff", "closed")


@dataclass(frozen=True, slots=True)
class Page:
    """Conversations with `first`, what the customer said first, and `waits_since` and `summary` where the model asked
    for a person; `following` is the place where the next page begins, empty on the last one."""

    conversations: list[Conversation]
    following: str


def page(*, tab: str, where: Q, place: str) -> Page:
    """Newest first; those that were handed over by how long they wait, the longest first. Raises BadCursor."""
    order = _LONGEST if tab == "handed_over" else _NEWEST
    part = order.page(_annotated(tab).filter(where), place, PAGE)
    return Page(part.rows, part.cursor)


def _annotated(tab: str) -> "QuerySet[Any]":
    said = Message.objects.filter(conversation=OuterRef("pk"), author=Message.Author.CUSTOMER).order_by("id")
    found = Conversation.objects.select_related("holder").annotate(first=Subquery(said.values("text")[:1]))
    if tab == "handed_over":
        found = found.filter(hand_offs__isnull=False, hand_offs__ended_at__isnull=True)
        return found.annotate(waits_since=F("hand_offs__at"), summary=F("hand_offs__summary"))
    waiting = HandOff.objects.filter(conversation=OuterRef("pk"), ended_at=None)
    found = found.annotate(
        waits_since=Subquery(waiting.values("at")[:1]), summary=Subquery(waiting.values("summary")[:1])
    )
    return found if tab == "all" else found.filter(state=tab)


def handed_over_count() -> int:
    """How many conversations wait for a person, counted to a hundred."""
    return HandOff.objects.filter(ended_at=None)[: MOST_COUNTED + 1].count()


def waiting_hand_off(conversation_id: uuid.UUID) -> HandOff | None:
    """What the model asked a person for, while it waits."""
    return HandOff.objects.filter(conversation_id=conversation_id, ended_at=None).first()

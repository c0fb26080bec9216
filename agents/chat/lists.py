"""Lists of conversations for staff: by who has them, in pages that cost the same anywhere."""

import datetime as dt
import uuid
from dataclasses import dataclass
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from django.utils.dateparse import parse_datetime

from agents.models import Conversation, HandOff, Message

PAGE = 50
MOST_COUNTED = 99
TABS = ("all", "open", "handed_over", "with_staff", "closed")


class BadPlace(ValueError):
    """A place in the list that no page gave."""


@dataclass(frozen=True, slots=True)
class Page:
    """Conversations with `first`, what the customer said first, and `waits_since` and `summary` where the model asked
    for a person; `following` is the place where the next page begins, empty on the last one."""

    conversations: list[Conversation]
    following: str


def page(*, tab: str, where: Q, place: str) -> Page:
    """Newest first; those that were handed over by how long they wait, the longest first."""
    found = _annotated(tab).filter(where)
    if tab == "handed_over":
        found = found.order_by("waits_since", "id")
        if place:
            at, key = _place(place)
            found = found.filter(Q(waits_since__gt=at) | Q(waits_since=at, id__gt=key))
    else:
        found = found.order_by("-created_at", "-id")
        if place:
            at, key = _place(place)
            found = found.filter(Q(created_at__lt=at) | Q(created_at=at, id__lt=key))
    rows = list(found[: PAGE + 1])
    last = rows[PAGE - 1] if len(rows) > PAGE else None
    sorted_by = "waits_since" if tab == "handed_over" else "created_at"
    return Page(rows[:PAGE], f"{getattr(last, sorted_by).isoformat()} {last.pk}" if last else "")


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


def _place(text: str) -> tuple[dt.datetime, uuid.UUID]:
    moment, _, key = text.rpartition(" ")
    try:
        at, conversation_id = parse_datetime(moment), uuid.UUID(key)
    except ValueError as error:
        raise BadPlace(text) from error
    if at is None or at.tzinfo is None:
        raise BadPlace(text)
    return at, conversation_id


def handed_over_count() -> int:
    """How many conversations wait for a person, counted to a hundred."""
    return HandOff.objects.filter(ended_at=None)[: MOST_COUNTED + 1].count()


def waiting_hand_off(conversation_id: uuid.UUID) -> HandOff | None:
    """What the model asked a person for, while it waits."""
    return HandOff.objects.filter(conversation_id=conversation_id, ended_at=None).first()

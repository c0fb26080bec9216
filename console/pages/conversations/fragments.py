"""Conversations as staff read them. What the model said is its own word; what its tools answered is what was so."""

import datetime as dt
import json
import uuid
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone

from agents.context.taint import text_at
from agents.models import Conversation, Message, ToolCall
from audit.models import Event, Kind
from audit.record import Actor, NewEvent, record
from base import keyset
from base.access import READS_CONSOLE, staff_page

MOST_MESSAGES = 200
ONE_READING = dt.timedelta(minutes=10)


@staff_page(READS_CONSOLE)
def transcript(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """What was said, as a fragment for the page of a request."""
    found = get_object_or_404(Conversation, pk=conversation_id)
    return render(request, "components/_transcript.html", read_by(request, found))


def read_by(request: HttpRequest, found: Conversation) -> dict[str, Any]:
    """The newest messages, or those before `before`, with their calls. Reading is an event, once in a while of it."""
    try:
        before = keyset.number(request.GET.get("before") or str(keyset.MOST_NUMBER))
    except keyset.BadCursor as error:
        raise Http404 from error
    messages = Message.objects.filter(conversation=found, id__lt=before).select_related("staff")
    newest = list(messages.prefetch_related("tool_calls").order_by("-id")[: MOST_MESSAGES + 1])
    shown = newest[:MOST_MESSAGES][::-1]
    _record_reading(request.user.get_username(), found)
    marks = _marks(found)
    return {
        "conversation": found,
        "said": [(message, _calls(message, marks)) for message in shown],
        "untrusted": list(found.untrusted_texts.order_by("id")),
        "about": request.GET.get("about", ""),
        "older": shown[0].pk if len(newest) > MOST_MESSAGES else None,
    }


def _record_reading(name: str, found: Conversation) -> None:
    """A page that follows a conversation reads it again and again; that is one reading."""
    own = Event.objects.filter(conversation_id=found.pk, kind=Kind.ACCESS, decision="read", actor_id=name)
    if not own.filter(at__gt=timezone.now() - ONE_READING).exists():
        event = NewEvent(kind=Kind.ACCESS, decision="read", customer_id=found.customer_id, conversation_id=found.pk)
        record(Actor(kind="staff", id=name), event, what="transcript")


Marks = dict[tuple[int, int], list[str]]


def _marks(found: Conversation) -> Marks:
    """Which fields are untrusted text, by message and block."""
    marks: Marks = {}
    for text in found.untrusted_texts.order_by("id"):
        marks.setdefault((text.message_id, text.block), []).append(text.field)
    return marks


def _calls(message: Message, marks: Marks) -> list[dict[str, Any]]:
    """What a reply asked its tools, each with the result that it got, and what provider's tools brought into it."""
    results = {call.block: call for call in message.tool_calls.all()}
    blocks = json.loads(message.content) if message.content else []
    return [
        {
            "tool": block.get("name") or block.get("type", ""),
            "input": block.get("input"),
            "call": results.get(number),
            "untrusted": _texts(block, results.get(number), marks.get((message.pk, number), [])),
        }
        for number, block in enumerate(blocks)
        if isinstance(block, dict) and (block.get("type") == "tool_use" or (message.pk, number) in marks)
    ]


def _texts(block: dict[str, Any], call: ToolCall | None, fields: list[str]) -> list[tuple[str, str]]:
    """The untrusted texts of a result by field: of a call of ours, or of what stands in the reply itself."""
    result = json.loads(call.result) if call and fields else block.get("content")
    return [(field, text_at(result, field)) for field in fields]

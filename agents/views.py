"""Conversations as staff read them. What the model said is its claim; what its tools answered is what was so."""

import json
import uuid
from typing import Any

from django.db.models import OuterRef, Q, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.dateparse import parse_datetime
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from agents.models import Conversation, Message, ToolCall
from agents.taint import text_at
from audit.access import READS_CONSOLE, staff_page
from audit.models import Kind
from audit.record import Actor, NewEvent, record

PAGE = 50
MOST_MESSAGES = 200


@staff_page(*READS_CONSOLE)
@require_safe
def conversations(request: HttpRequest) -> HttpResponse:
    """Newest first; `before` is where the page before this one ended."""
    said = Message.objects.filter(conversation=OuterRef("pk"), author=Message.Author.CUSTOMER).order_by("id")
    found = Conversation.objects.filter(_before(request.GET.get("before", "")))
    found = found.annotate(first=Subquery(said.values("text")[:1])).order_by("-created_at", "-id")
    page = list(found[: PAGE + 1])
    more = len(page) > PAGE
    last = page[PAGE - 1] if more else None
    before = urlencode({"before": f"{last.created_at.isoformat()} {last.pk}"}) if last else ""
    return render(request, "agents/conversations.html", {"conversations": page[:PAGE], "before": before})


def _before(text: str) -> Q:
    if not text:
        return Q()
    moment, _, key = text.rpartition(" ")
    try:
        at, conversation_id = parse_datetime(moment), uuid.UUID(key)
    except ValueError as error:
        raise Http404 from error
    if at is None or at.tzinfo is None:
        raise Http404
    return Q(created_at__lt=at) | Q(created_at=at, id__lt=conversation_id)


@staff_page(*READS_CONSOLE)
@require_safe
def conversation(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """One conversation on a page of its own."""
    return _transcript(request, conversation_id, "agents/conversation.html")


@staff_page(*READS_CONSOLE)
@require_safe
def transcript(request: HttpRequest, conversation_id: uuid.UUID) -> HttpResponse:
    """The same as a fragment, for the page of a request."""
    return _transcript(request, conversation_id, "agents/_transcript.html")


def _transcript(request: HttpRequest, conversation_id: uuid.UUID, template: str) -> HttpResponse:
    found = get_object_or_404(Conversation, pk=conversation_id)
    before = request.GET.get("before", "")
    if before and not (before.isascii() and before.isdigit() and len(before) < 19):
        raise Http404
    messages = Message.objects.filter(conversation=found, id__lt=int(before or 2**63 - 1))
    newest = list(messages.prefetch_related("tool_calls").order_by("-id")[: MOST_MESSAGES + 1])
    shown = newest[:MOST_MESSAGES][::-1]
    record(
        Actor(kind="staff", id=request.user.get_username()),
        NewEvent(kind=Kind.ACCESS, decision="read", customer_id=found.customer_id, conversation_id=found.pk),
        what="transcript",
    )
    marks = _marks(found)
    context = {
        "conversation": found,
        "said": [(message, _calls(message, marks)) for message in shown],
        "untrusted": list(found.untrusted_texts.order_by("id")),
        "about": request.GET.get("about", ""),
        "older": shown[0].pk if len(newest) > MOST_MESSAGES else None,
    }
    return render(request, template, context)


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

"""What people read of a conversation: plain text, and the model's Markdown as harmless HTML."""

from functools import cache
from typing import Any

import nh3
from django.db.models import Q, QuerySet
from markdown_it import MarkdownIt

from agents.models import Message

_TAGS = {"p", "br", "em", "strong", "ul", "ol", "li", "code", "pre", "blockquote", "a", "h3", "h4", "hr"}
VISIBLE = ~Q(author__in=[Message.Author.OPERATOR, Message.Author.OPENING]) & ~Q(text="")


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False, "linkify": False})


def to_html(text: str) -> str:
    """Markdown to HTML with a few tags and no attribute but https links."""
    return nh3.clean(
        _markdown().render(text),
        tags=_TAGS,
        attributes={"a": {"href"}},
        url_schemes={"https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )


def show_message(message: Message) -> dict[str, Any]:
    """A message as the chat API gives it."""
    shown = {
        "id": str(message.pk),
        "author": message.author,
        "text": message.text,
        "created_at": message.created_at.isoformat() if message.pk else None,
    }
    if message.author == Message.Author.STAFF:
        return shown | {"name": message.said_by}
    return shown | ({"html": to_html(message.text)} if message.author == Message.Author.ASSISTANT else {})


def visible(conversation_id: Any) -> QuerySet[Message]:
    """The messages that people see, oldest first."""
    return Message.objects.filter(VISIBLE, conversation_id=conversation_id).order_by("id")

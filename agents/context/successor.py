"""A conversation never dies of its length: grown long, it goes on in a new history.

The new history opens with a summary made from the ledger and the record, not by the model: what was looked
up, what was executed, what waits. Everything said before stays readable to people.
"""

from django.db.models import F

from agents.models import Conversation, Message, Turn
from agents.turns.claims import Claimed
from approvals.models import Request
from audit.models import Event
from base.money import show

LONG_TOKENS = 60_000
MOST_LINES = 60


def has_grown_long(turn: Claimed) -> bool:
    """Whether the last turn in which a model was asked, of this history, took that much."""
    asked = Turn.objects.filter(
        conversation_id=turn.conversation_id,
        number__lt=turn.number,
        number__gte=F("conversation__history_from"),
        last_input_tokens__gt=0,
    )
    last = asked.order_by("-number").values_list("last_input_tokens", flat=True).first()
    return last is not None and last > LONG_TOKENS


def begin_successor(turn: Claimed) -> None:
    """Before a turn's first model call, under the conversation's lock and the turn's."""
    Message.objects.create(
        conversation_id=turn.conversation_id,
        turn_id=turn.turn_id,
        author=Message.Author.OPENING,
        text=_summary(turn),
        key=f"opening:{turn.turn_id}",
    )
    Conversation.objects.filter(pk=turn.conversation_id).update(history_from=turn.number)


def _summary(turn: Claimed) -> str:
    earlier = Message.objects.filter(conversation_id=turn.conversation_id, turn__number__lt=turn.number)
    said = earlier.filter(author=Message.Author.CUSTOMER).count()
    lines = [
        "[From the shop's records, not from the customer] This conversation goes on from a longer one, of which you "
        f"no longer see the wording: the customer wrote {said} messages. What the records hold of it:",
        *_executed(turn),
        *_requests(turn),
        f"Orders looked at: {', '.join(_orders(turn)) or 'none'}.",
        "Look things up again before you rely on them.",
    ]
    return "\n".join(lines[: MOST_LINES + 4])


def _executed(turn: Claimed) -> list[str]:
    events = Event.objects.filter(
        conversation_id=turn.conversation_id, decision="executed", reference__startswith="T-"
    ).order_by("-id")[: MOST_LINES // 2]
    return [
        f"- Executed {event.tool}, order {event.order_id or 'none'}, "
        f"{show(event.amount_minor or 0, event.currency) if event.currency else 'no money'}: {event.reference}."
        for event in events
    ]


def _requests(turn: Claimed) -> list[str]:
    requests = Request.objects.filter(conversation_id=turn.conversation_id).order_by("-created_at")[: MOST_LINES // 2]
    return [
        f"- Request {request.reference}, {request.tool}, order {request.order_id or 'none'}, "
        f"{show(request.amount_minor, request.currency) if request.currency else 'no money'}: {request.state}."
        for request in requests
    ]


def _orders(turn: Claimed) -> list[str]:
    found = (
        Event.objects.filter(conversation_id=turn.conversation_id, kind="dispatch", decision="executed")
        .exclude(order_id="")
        .values_list("order_id", flat=True)
        .distinct()
    )
    return list(found[:20])

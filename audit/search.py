"""Looking through the record: filters that are checked, and pages that cost the same anywhere in it."""

import datetime as dt
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.db.models import Q
from django.utils.dateparse import parse_date, parse_datetime

from audit.models import ActorKind, Event, Kind
from base.http.errors import invalid
from base.keyset import BadCursor, Keyset

MOST = 200
_NEWEST = Keyset({"id": int}, downwards=True)


@dataclass(frozen=True, slots=True)
class Page:
    """Events, newest first, with their detail; `next_cursor` is None on the last page."""

    events: list[Event]
    next_cursor: str | None


def search(filters: Mapping[str, str], *, cursor: str | None, limit: int) -> Page:
    """One page of at most 200 events. Empty filters do not filter; an ApiError (422) names every bad one."""
    conditions, wrong = _conditions(filters)
    if faults := _checked(cursor):
        wrong["cursor"] = faults
    if not 1 <= limit <= MOST:
        wrong["limit"] = [f"Give a number from 1 to {MOST}."]
    if wrong:
        raise invalid(wrong)
    part = _NEWEST.page(Event.objects.filter(conditions).select_related("detail"), cursor, limit)
    return Page(part.rows, part.cursor or None)


def _conditions(filters: Mapping[str, str]) -> tuple[Q, dict[str, list[str]]]:
    conditions, wrong = Q(), dict[str, list[str]]()
    for name, text in filters.items():
        if name not in FILTERS:
            wrong[name] = [f"No such filter. There are: {', '.join(FILTERS)}."]
        elif text:
            try:
                conditions &= FILTERS[name](text)
            except ValueError as error:
                wrong[name] = [str(error)]
    return conditions, wrong


def _checked(cursor: str | None) -> list[str]:
    try:
        _NEWEST.after(Event.objects.all(), cursor)
    except BadCursor:
        return ["Take the cursor from the page before, unchanged."]
    return []


def _exactly(column: str) -> Callable[[str], Q]:
    return lambda text: Q(**{column: _plain(text)})


def _plain(text: str) -> str:
    if len(text) > 200 or "\x00" in text:
        raise ValueError("Give at most 200 characters, none of them NUL.")
    return text


def _reference(text: str) -> Q:
    """A request's own, or that of what came of it."""
    return Q(reference=_plain(text)) | Q(downstream_reference=text)


def _actor(text: str) -> Q:
    """Staff and the system have an index of their own; a customer acts in their own name, and is found by that."""
    own = Q(actor_kind=ActorKind.CUSTOMER, customer_id=_plain(text))
    return Q(actor_id=text) & (~Q(actor_kind=ActorKind.CUSTOMER) | own)


def _kind(text: str) -> Q:
    if text not in Kind.values:
        raise ValueError(f"Give one of: {', '.join(Kind.values)}.")
    return Q(kind=text)


def _conversation(text: str) -> Q:
    try:
        return Q(conversation_id=uuid.UUID(text))
    except ValueError as error:
        raise ValueError("Give a conversation's id, a UUID.") from error


def _from(text: str) -> Q:
    return Q(at__gte=_moment(text))


def _to(text: str) -> Q:
    """Up to this moment, or to the end of this day."""
    whole_day = dt.timedelta(days=1) if len(text) <= len("2026-01-31") else dt.timedelta()
    return Q(at__lt=_moment(text) + whole_day)


def _moment(text: str) -> dt.datetime:
    """ISO 8601; without an offset it is UTC. A `+` that a query string turned into a blank is meant."""
    problem = "Give a day or a time such as 2026-01-31 or 2026-01-31T09:00:00Z."
    try:
        moment = parse_datetime(text.strip().replace(" ", "+")) or parse_date(text.strip())
    except ValueError as error:
        raise ValueError(problem) from error
    if moment is None or not 1000 < moment.year < 9999:
        raise ValueError(problem)
    if not isinstance(moment, dt.datetime):
        moment = dt.datetime.combine(moment, dt.time())
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


FILTERS: dict[str, Callable[[str], Q]] = {
    "actor": _actor,
    "customer": _exactly("customer_id"),
    "conversation": _conversation,
    "tool": _exactly("tool"),
    "tool_use_id": _exactly("tool_use_id"),
    "reference": _reference,
    "kind": _kind,
    "decision": _exactly("decision"),
    "from": _from,
    "to": _to,
}

"""The staff API of the record."""

import json
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from audit.api_shapes import EventPage
from audit.models import Event, Kind
from audit.record import Actor, NewEvent, record
from audit.search import FILTERS, search
from base.access import READS_RECORD
from base.http.errors import invalid
from base.http.paging import next_url
from base.http.staff_api import StaffView

USUAL = 50


_PLAIN = (
    "customer_id", "tool_use_id", "tool", "rule", "reference", "downstream_reference", "amount_minor", "currency",
    "policy_version",
)  # fmt: skip


def show(event: Event) -> dict[str, Any]:
    """An event as the API gives it; what does not apply is null."""
    detail = json.loads(event.detail.body)
    return {
        "id": str(event.pk),
        "at": event.at,
        "kind": event.kind,
        "actor": {"kind": event.actor_kind, "id": event.actor_id},
        "conversation_id": str(event.conversation_id) if event.conversation_id else None,
        "turn_id": str(event.turn_id) if event.turn_id else None,
        "arguments": _arguments(detail.get("arguments")),
        "decision": event.decision,
        "reason": detail.get("reason"),
        **{name: _or_null(getattr(event, name)) for name in _PLAIN},
    }


def _or_null(value: Any) -> Any:
    return None if value == "" else value


def _arguments(text: str | None) -> Any:
    """The arguments as the model gave them; text where they were no JSON that a client could read."""
    try:
        return None if text is None else json.loads(text, parse_constant=str)
    except ValueError:
        return text


class Events(StaffView):
    roles = READS_RECORD

    @extend_schema(
        responses={200: EventPage},
        parameters=[OpenApiParameter(name, str) for name in (*FILTERS, "cursor")] + [OpenApiParameter("limit", int)],
    )
    def get(self, request: Request) -> Response:
        """Events, newest first. Reading them is an event too."""
        asked = {name: str(value) for name, value in request.query_params.items() if name not in ("cursor", "limit")}
        page = search(asked, cursor=request.query_params.get("cursor"), limit=_limit(request))
        reader = Actor(kind="staff", id=request.user.get_username())
        record(reader, NewEvent(kind=Kind.ACCESS, decision="read"), page="api events", filters=asked)
        return Response(
            {"results": [show(event) for event in page.events], "next": next_url(request, page.next_cursor)}
        )


def _limit(request: Request) -> int:
    try:
        return int(request.query_params.get("limit", USUAL))
    except ValueError as exc:
        raise invalid({"limit": ["Give a whole number."]}) from exc

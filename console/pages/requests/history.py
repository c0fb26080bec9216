"""What happened to a request, from the record: who, what, when."""

import json
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from approvals.models import Request
from audit.models import Event, Kind
from console.pages.requests.questions import LABELS

MOST = 200
_WORDS: dict[str, str | Promise] = {
    "queued": gettext_lazy("proposed by the assistant"),
    "claimed": gettext_lazy("took it"),
    "released": gettext_lazy("gave it back"),
    "given": gettext_lazy("gave it to a colleague"),
    "assigned": gettext_lazy("second approval assigned"),
    "asked": gettext_lazy("asked the customer"),
    "approved": gettext_lazy("approved"),
    "denied": gettext_lazy("denied"),
    "undone": gettext_lazy("took the approval back"),
    "sent_back": gettext_lazy("sent back to be decided again"),
    "executed": gettext_lazy("carried out"),
    "expired": gettext_lazy("expired"),
    "withdrawn": gettext_lazy("withdrawn"),
    "stale": gettext_lazy("went stale"),
    "failed": gettext_lazy("could not be carried out"),
    "unknown": gettext_lazy("sent, outcome not known yet"),
    "mistake": gettext_lazy("reported a mistake"),
    "task_done": gettext_lazy("looked after the mistake"),
    "reopened": gettext_lazy("reopened"),
}


def history_of(request: Request) -> list[dict[str, Any]]:
    """Oldest first; without who read it, which the record shows."""
    events = Event.objects.filter(reference=request.pk).exclude(kind=Kind.ACCESS).select_related("detail")
    return [
        {"at": event.at, "by": _actor(event), "what": _WORDS.get(event.decision, event.decision), "more": _more(event)}
        for event in events.order_by("id")[:MOST]
    ]


def _actor(event: Event) -> str:
    if event.actor_kind == "staff":
        return event.actor_id
    return gettext("the customer") if event.actor_kind == "customer" else gettext("Placet")


def _more(event: Event) -> str:
    """To whom, or what for."""
    detail = json.loads(event.detail.body)
    if event.decision in ("given", "assigned"):
        return str(detail.get("to") or detail.get("staff") or "")
    return str(LABELS.get(detail.get("question", ""), "")) if event.decision == "asked" else ""

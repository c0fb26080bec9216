"""Turns as staff see and steer them: what runs, what waits, what was parked, each with its story."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, gettext_lazy

from agents.models import Turn
from agents.turns import steering
from audit.models import Event
from base.access import ADMIN, LEAD, READS_CONSOLE, role_of, staff_page
from console.forms.conversations import SteerForm

STEERS = (LEAD, ADMIN)
_DEEDS = {"retry": steering.retry_turn, "end": steering.end_turn}


@staff_page(READS_CONSOLE, what=gettext_lazy("Turns of the assistant"))
def turns(request: HttpRequest) -> HttpResponse:
    """What is not finished, and what failed in the last day."""
    return render(request, "pages/conversations/turns.html", {"turns": steering.troubled()})


@staff_page(READS_CONSOLE)
def turn(request: HttpRequest, turn_id: uuid.UUID) -> HttpResponse:
    """One turn: how far it got, what it used, and its events."""
    return _page(request, turn_id)


def _page(request: HttpRequest, turn_id: uuid.UUID, status: int = 200) -> HttpResponse:
    found = get_object_or_404(Turn, pk=turn_id)
    context = {
        "turn": found,
        "events": Event.objects.filter(conversation_id=found.conversation_id, turn_id=turn_id).order_by("id")[:200],
        "steers": role_of(request.user) in STEERS,
        "may_retry": found.reason in steering.FAILED,
        "may_end": found.state != Turn.State.FINISHED,
    }
    return render(request, "pages/conversations/turn.html", context, status=status)


@staff_page(acts=STEERS, what=gettext_lazy("Try a turn again, or end it"))
def steer(request: HttpRequest, turn_id: uuid.UUID) -> HttpResponse:
    """Try a failed turn again, or end one that runs."""
    found = get_object_or_404(Turn, pk=turn_id)
    form = SteerForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.refusal.message)
        return _page(request, turn_id, status=422)
    try:
        made = _DEEDS[form.cleaned_data["deed"]](found.pk, by=request.user.get_username())
    except steering.CannotSteer as refusal:
        messages.error(request, str(refusal))
        return redirect("turn", found.pk)
    messages.success(request, gettext("It is tried again.") if made.pk != found.pk else gettext("The turn was ended."))
    return redirect("turn", made.pk)

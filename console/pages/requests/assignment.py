"""What one does with a request besides deciding it: take it, give it away, let it rest, ask the customer."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy

from approvals import errors
from approvals.decisions import eligibility
from approvals.people import shifts
from approvals.requests import assignment
from base.access import DECIDES, LEAD, staff_page
from console.forms.requests import AskForm, AssignForm, GiveForm, SnoozeForm
from console.pages.requests import questions
from console.pages.requests.queue import row_after
from console.pages.requests.request import refused
from console.people import staff_of


@staff_page(acts=DECIDES)
def assign(request: HttpRequest, reference: str) -> HttpResponse:
    """Tell colleagues that one is on it, or give it back."""
    form = AssignForm(request.POST)
    if not form.is_valid():
        return refused(request, reference, form)
    deed = assignment.release if form.cleaned_data["release"] else assignment.assign
    done = _try(request, lambda: deed(reference=reference, staff=staff_of(request)))
    if not form.cleaned_data["source"]:
        return redirect("request", reference)
    if "HX-Request" not in request.headers:
        return redirect("console")
    told = " ".join(str(message) for message in messages.get_messages(request))
    return row_after(request, reference, gettext("You are on it.") if done else told)


@staff_page(acts=DECIDES, what=gettext_lazy("Give a request to a colleague"))
def give(request: HttpRequest, reference: str) -> HttpResponse:
    """Have a colleague take it."""
    form = GiveForm(request.POST)
    if not form.is_valid():
        return refused(request, reference, form)
    to = form.cleaned_data["to"]

    def deed() -> None:
        assignment.give(reference=reference, to=to, by=staff_of(request))
        messages.success(request, gettext("%(name)s has it now.") % {"name": to.username})

    _try(request, deed)
    return redirect("request", reference)


@staff_page(acts=(LEAD,), what=gettext_lazy("Have the second approval assigned again"))
def reassign(request: HttpRequest, reference: str) -> HttpResponse:
    """Have the second approval assigned to somebody else."""
    _try(request, lambda: eligibility.reassign(reference=reference, by=staff_of(request)))
    return redirect("request", reference)


@staff_page(acts=DECIDES, what=gettext_lazy("Let a request rest in one's own queue"))
def snooze(request: HttpRequest, reference: str) -> HttpResponse:
    """Leave it out of one's own queue for a while, or have it back."""
    form = SnoozeForm(request.POST)
    if not form.is_valid():
        return refused(request, reference, form)
    if form.cleaned_data["wake"]:
        shifts.wake(reference=reference, staff=staff_of(request))
        messages.success(request, gettext("It is in your queue again."))
        return redirect("request", reference)

    def deed() -> None:
        shifts.snooze(reference=reference, staff=staff_of(request), how_long=form.cleaned_data["how_long"])
        messages.success(request, gettext("%(reference)s rests in your queue.") % {"reference": reference})

    return redirect("console") if _try(request, deed) else redirect("request", reference)


@staff_page(acts=DECIDES, what=gettext_lazy("Ask the customer a fixed question"))
def ask(request: HttpRequest, reference: str) -> HttpResponse:
    """Ask the customer one of the fixed questions."""
    form = AskForm(request.POST)
    if not form.is_valid():
        return refused(request, reference, form)

    def deed() -> None:
        questions.ask(reference=reference, staff=staff_of(request), code=form.cleaned_data["code"])
        messages.success(request, gettext("Asked: the customer reads it in the chat."))

    _try(request, deed)
    return redirect("request", reference)


def _try(request: HttpRequest, deed: Callable[[], Any]) -> bool:
    """Do it, or say why not. What is unknown is not found."""
    try:
        deed()
    except errors.NotFound as error:
        raise Http404 from error
    except errors.DecisionError as error:
        messages.error(request, error.message)
        return False
    return True

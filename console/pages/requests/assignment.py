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
from console.pages.requests import questions
from console.pages.requests.queue import row_after
from console.people import staff_of


@staff_page(acts=DECIDES)
def assign(request: HttpRequest, reference: str) -> HttpResponse:
    """Tell colleagues that one is on it, or give it back."""
    deed = assignment.release if "release" in request.POST else assignment.assign
    done = _try(request, lambda: deed(reference=reference, staff=staff_of(request)))
    if request.POST.get("from") != "queue":
        return redirect("request", reference)
    if "HX-Request" not in request.headers:
        return redirect("console")
    told = " ".join(str(message) for message in messages.get_messages(request))
    return row_after(request, reference, gettext("You are on it.") if done else told)


@staff_page(acts=DECIDES, what=gettext_lazy("Give a request to a colleague"))
def give(request: HttpRequest, reference: str) -> HttpResponse:
    """Have a colleague take it."""

    def deed() -> None:
        to = shifts.colleague(request.POST.get("to", ""))
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
    if "wake" in request.POST:
        shifts.wake(reference=reference, staff=staff_of(request))
        messages.success(request, gettext("It is in your queue again."))
        return redirect("request", reference)

    def deed() -> None:
        shifts.snooze(reference=reference, staff=staff_of(request), how_long=request.POST.get("how_long", ""))
        messages.success(request, gettext("%(reference)s rests in your queue.") % {"reference": reference})

    return redirect("console") if _try(request, deed) else redirect("request", reference)


@staff_page(acts=DECIDES, what=gettext_lazy("Ask the customer a fixed question"))
def ask(request: HttpRequest, reference: str) -> HttpResponse:
    """Ask the customer one of the fixed questions."""

    def deed() -> None:
        questions.ask(reference=reference, staff=staff_of(request), code=request.POST.get("code", ""))
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

"""Several requests at once, with a line for each on what became of it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy

from approvals import errors
from approvals.decisions import bulk
from approvals.decisions.reauthentication import presence_of
from base.access import DECIDES, staff_page
from console.forms.requests import DenySeveralForm, GiveForm, SeveralForm
from console.people import staff_of


@staff_page(acts=DECIDES, what=gettext_lazy("Decide or give away several requests at once"))
def several(request: HttpRequest) -> HttpResponse:
    """Approve, deny or give away the requests chosen in the queue, each with the digest that was shown there."""
    try:
        done = _do(request)
    except errors.DecisionError as error:
        return render(request, "pages/queue/several.html", {"error": error, "done": []}, status=422)
    return render(request, "pages/queue/several.html", {"done": done})


def _do(request: HttpRequest) -> list[bulk.Done]:
    form, staff = SeveralForm(request.POST).checked(), staff_of(request)
    chosen = form["item"]
    if form["deed"] == "approve":
        return bulk.approve_all(chosen=chosen, staff=staff)
    if form["deed"] == "give":
        return bulk.give_all(chosen=chosen, by=staff, **GiveForm(request.POST).checked())
    words = DenySeveralForm(request.POST).checked()
    return bulk.deny_all(chosen=chosen, staff=staff, proof=presence_of(request, {}), **words)

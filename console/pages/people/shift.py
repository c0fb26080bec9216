"""One's own work: what one has, being away, and handing everything over at the end of a shift."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy, ngettext

from approvals import errors
from approvals.models import Staff
from approvals.people import shifts
from approvals.requests.assignment import assignments_of
from base.access import DECIDES, staff_page
from console.forms.people import ShiftForm
from console.people import staff_of


@staff_page(DECIDES, acts=DECIDES, what=gettext_lazy("One's own shift: away, hand over"))
def shift(request: HttpRequest) -> HttpResponse:
    """What one has; a POST goes away, comes back or hands over."""
    if request.method != "POST":
        return _page(request)
    form = ShiftForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.refusal.message)
        return _page(request, status=422)
    try:
        messages.success(request, _do(staff_of(request), **form.cleaned_data))
    except errors.DecisionError as error:
        messages.error(request, error.message)
    return redirect("shift")


def _page(request: HttpRequest, status: int = 200) -> HttpResponse:
    staff = staff_of(request)
    context = {"away": shifts.is_away(staff), "mine": assignments_of(staff), "colleagues": shifts.colleagues(staff)}
    return render(request, "pages/people/shift.html", context, status=status)


def _do(staff: Staff, deed: str, to: Staff | None) -> str:
    if deed == "leave":
        return gettext("You are away. %(moved)s") % {"moved": _moved(shifts.leave(staff))}
    if deed == "come_back":
        shifts.come_back(staff)
        return gettext("You are back.")
    return _moved(shifts.hand_over(staff, to=to))


def _moved(references: list[str]) -> str:
    number = len(references)
    return ngettext("%(n)s request was handed over.", "%(n)s requests were handed over.", number) % {"n": number}

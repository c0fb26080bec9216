"""The page of the brake: what is stopped, and the forms that stop and let go."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy

from agents.tools.registry import tools
from approvals import brakes
from approvals.errors import Invalid
from approvals.models import Staff
from base.access import READS_CONSOLE, role_of, staff_page
from console.forms.brake import ALL_WRITES, ANSWERS, BrakeForm
from console.people import staff_of


@staff_page(READS_CONSOLE, acts=brakes.BRAKES, what=gettext_lazy("The brake: see it; pull it and let go"))
def brake(request: HttpRequest) -> HttpResponse:
    """Everybody on the console sees what is stopped; leads and administrators move it."""
    error, status, form = "", 200, BrakeForm()
    if request.method == "POST":
        form = BrakeForm(request.POST)
        try:
            messages.success(request, _move(staff_of(request), form))
            return redirect("brake")
        except (brakes.BrakeRefused, Invalid) as refusal:
            error = refusal.message
            status = 422 if isinstance(refusal, Invalid) else 403 if refusal.code in ("role", "same_person") else 409
    context = {
        "standing": brakes.standing(),
        "writes": [tool.name for tool in tools().values() if tool.writes],
        "moves": role_of(request.user) in brakes.BRAKES,
        "error": {"message": error} if error else None,
        "form": form,
    }
    return render(request, "pages/brake.html", context, status=status)


def _move(staff: Staff, form: BrakeForm) -> str:
    given = form.checked()
    deed = brakes.release if given["release"] else brakes.pull
    tool = "" if given["what"] in (ALL_WRITES, ANSWERS) else given["what"]
    return brakes.told(deed(staff=staff, reason=given["reason"], tool=tool, answers=given["what"] == ANSWERS))

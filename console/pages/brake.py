"""The page of the brake: what is stopped, and the forms that stop and let go."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, gettext_lazy

from agents.tools.registry import tools
from approvals import brakes
from approvals.errors import Invalid
from approvals.models import Staff
from base.access import READS_CONSOLE, role_of, staff_page

ALL_WRITES, ANSWERS = "writes", "answers"


@staff_page(READS_CONSOLE, acts=brakes.BRAKES, what=gettext_lazy("The brake: see it; pull it and let go"))
def brake(request: HttpRequest) -> HttpResponse:
    """Everybody on the console sees what is stopped; leads and administrators move it."""
    error, status = "", 200
    if request.method == "POST":
        try:
            messages.success(request, _move(request))
            return redirect("brake")
        except (brakes.BrakeRefused, Invalid) as refusal:
            error = refusal.message
            status = 422 if isinstance(refusal, Invalid) else 403 if refusal.code in ("role", "same_person") else 409
    context = {
        "standing": brakes.standing(),
        "writes": [tool.name for tool in tools().values() if tool.writes],
        "moves": role_of(request.user) in brakes.BRAKES,
        "error": {"message": error} if error else None,
        "typed": request.POST,
    }
    return render(request, "pages/brake.html", context, status=status)


def _move(request: HttpRequest) -> str:
    what, reason = request.POST.get("what", ""), request.POST.get("reason", "")
    if what not in (ALL_WRITES, ANSWERS) and what not in tools():
        raise Invalid({"what": [gettext("Choose what to stop.")]})
    assert isinstance(request.user, Staff)
    deed = brakes.release if "release" in request.POST else brakes.pull
    tool = "" if what in (ALL_WRITES, ANSWERS) else what
    return brakes.told(deed(staff=request.user, reason=reason, tool=tool, answers=what == ANSWERS))

"""Several requests at once, with a line for each on what became of it."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals import errors
from approvals.decisions import bulk
from approvals.decisions.reauthentication import presence_of
from approvals.people import shifts
from base.access import DECIDES, staff_page
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
    form, staff = request.POST, staff_of(request)
    chosen = [(reference, digest) for reference, _blank, digest in (v.partition(" ") for v in form.getlist("item"))]
    if any("\x00" in reference for reference, _digest in chosen):
        raise errors.Invalid({"items": [_("There is no such request.")]})
    match form.get("deed"):
        case "approve":
            return bulk.approve_all(chosen=chosen, staff=staff)
        case "deny":
            return bulk.deny_all(
                chosen=chosen, staff=staff, reason_code=form.get("reason_code", ""),
                customer_message=form.get("customer_message", ""), proof=presence_of(request),
            )  # fmt: skip
        case "give":
            return bulk.give_all(chosen=chosen, to=shifts.colleague(form.get("to", "")), by=staff)
    raise errors.Invalid({"deed": [_("Choose what to do with them.")]})

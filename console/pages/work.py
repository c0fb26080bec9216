"""Background work that was given up: what it was and why, and trying it again."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents import work_lists
from agents.work_lists import CannotRetry
from base.access import ADMIN, LEAD, READS_RECORD, role_of, staff_page
from console.forms.work import RetryForm

ACTS = (LEAD, ADMIN)
NAMES = {
    "outbox": _("E-mails and webhook posts"),
    "reminders": _("Reminders"),
    "escalations": _("Reminders to leads"),
    "payouts": _("Payouts"),
    "executions": _("Carrying out what was approved"),
    "doubts": _("Asking the shop what became of a request"),
    "holds": _("Holds in a shop that lives elsewhere"),
    "expiry": _("Ending requests whose time is over"),
    "decoys": _("Decoys"),
    "turns": _("Turns of the assistant"),
}


@staff_page(READS_RECORD, acts=ACTS, what=_("Parked work: read it; have it tried again"))
def work(request: HttpRequest) -> HttpResponse:
    """What is parked, oldest first; POST has one tried again."""
    return _retry(request) if request.method == "POST" else _page(request)


def _page(request: HttpRequest, status: int = 200) -> HttpResponse:
    rows = [{"item": item, "name": NAMES.get(item.list, item.list)} for item in work_lists.waiting()]
    context = {"rows": rows, "acts": role_of(request.user) in ACTS}
    return render(request, "pages/work.html", context, status=status)


def _retry(request: HttpRequest) -> HttpResponse:
    form = RetryForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.refusal.message)
        return _page(request, status=422)
    try:
        work_lists.retry(form.cleaned_data["list"], form.cleaned_data["key"], by=request.user.get_username())
    except CannotRetry as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, gettext("It is tried again."))
    return redirect("work")

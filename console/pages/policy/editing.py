"""The policy's pages beyond reading: a form for the common lines, withdrawing a proposal, and long replays."""

import datetime as dt
import json
from typing import Any

from django.contrib import messages
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals.models import PolicyVersion, Staff
from approvals.policy import versions
from approvals.policy.document import InvalidDocument
from approvals.policy.simulation import Simulation, go_on
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import READS_RECORD, staff_page
from console.forms.policy import BaseForm, DaysForm, PolicyForm, StepForm
from console.pages.overview.charts import Chart, draw
from console.pages.policy.simulation_state import SECONDS, seal, unseal


@staff_page(versions.WRITES_POLICY, acts=versions.WRITES_POLICY)
def edit(request: HttpRequest) -> HttpResponse:
    """The common lines of a version as fields, filled with the one in force; a POST proposes the next version."""
    form = PolicyForm(_base(request).document, request.POST if request.method == "POST" else None)
    if request.method != "POST":
        return _edit(request, form)
    try:
        made = versions.propose(staff=_staff(request), text=json.dumps(form.document()))
    except InvalidDocument as error:
        form.put(error.faults)
        return _edit(request, form, 422)
    messages.success(
        request,
        _("You proposed version %(number)s. Another lead or administrator can activate it.") % {"number": made.version},
    )
    return redirect("policy-version", made.version)


def _base(request: HttpRequest) -> PolicyVersion:
    """What is edited: the version that the form or the address names, else the one in force."""
    form = BaseForm(request.POST or {"base": request.GET.get("from", "")})
    if not form.is_valid():
        raise Http404
    number = form.cleaned_data["base"]
    return get_object_or_404(PolicyVersion, pk=versions.version_in_force() if number is None else number)


def _edit(request: HttpRequest, form: PolicyForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "base": _base(request).pk, "now": versions.version_in_force()}
    return render(request, "pages/policy/edit.html", context, status=status)


@staff_page(acts=versions.WRITES_POLICY, what=gettext_lazy("Withdraw a proposed policy"))
def withdraw(request: HttpRequest, number: int) -> HttpResponse:
    """Take a proposal back; it is kept and can never be put in force."""
    get_object_or_404(PolicyVersion, pk=number)
    try:
        versions.withdraw(staff=_staff(request), version=number)
    except versions.PolicyRefused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, _("Version %(number)s is withdrawn.") % {"number": number})
    return redirect("policy-version", number)


@staff_page(READS_RECORD)
def simulation(request: HttpRequest, number: int) -> HttpResponse:
    """Begin to take the verdicts of so many days again; what takes longer goes on by `simulation_step`."""
    get_object_or_404(PolicyVersion, pk=number)
    form = DaysForm(request.GET)
    if not form.is_valid():
        wrong = {"number": number, "wrong": form.refusal.message}
        return render(request, "pages/policy/_simulation.html", wrong, status=422)
    days = form.cleaned_data["days"]
    actor = Actor(kind="staff", id=_staff(request).username)
    record(actor, NewEvent(kind=Kind.ACCESS, decision="read", policy_version=number), what=f"simulation of {days} days")
    return _step(request, number, Simulation(days=days))


@staff_page(acts=READS_RECORD)
def simulation_step(request: HttpRequest, number: int) -> HttpResponse:
    """Go on with a replay that this person began."""
    get_object_or_404(PolicyVersion, pk=number)
    form = StepForm(request.POST)
    try:
        sealed = form.cleaned_data["state"] if form.is_valid() else ""
        found = unseal(sealed, version=number, staff_id=_staff(request).pk)
    except signing.BadSignature:
        message = _("This simulation is too old; begin again.")
        return render(request, "pages/policy/_simulation.html", {"number": number, "wrong": message}, status=422)
    return _step(request, number, found)


def _step(request: HttpRequest, number: int, found: Simulation) -> HttpResponse:
    go_on(versions.policy_at(number), found, SECONDS)
    context: dict[str, Any] = {"number": number, "simulation": found}
    if found.done:
        context["chart"] = _chart(found) if found.by_day else None
    else:
        context["state"] = seal(found, version=number, staff_id=_staff(request).pk)
    whole = "pages/policy/simulation.html" if not request.headers.get("HX-Request") else "pages/policy/_simulation.html"
    return render(request, whole, context)


def _chart(found: Simulation) -> Chart:
    """Days without a write are there with no bars, so that equal distances are equal times."""
    last = dt.datetime.fromisoformat(found.began).astimezone(dt.UTC).date()
    days = [last - dt.timedelta(days=back) for back in reversed(range(found.days + 1))]
    reviews = {day: found.by_day.get(day.isoformat(), [0, 0]) for day in days}
    columns = (_("as decided"), _("under this version"))
    return draw("reviews", _("Reviews per day (UTC)"), columns, reviews, str, compared=True)


def _staff(request: HttpRequest) -> Staff:
    assert isinstance(request.user, Staff)
    return request.user

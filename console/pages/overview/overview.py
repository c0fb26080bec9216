"""The overview: what to look at today, and how the shop's agent and its people do."""

import datetime as dt

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals import brakes
from approvals.decisions import spot_checks
from approvals.errors import DecisionError, NotFound
from base.access import ADMIN, AUDITOR, DECIDES, LEAD, READS_CONSOLE, role_of, staff_page
from base.money import told
from console.forms.overview import SpotCheckForm
from console.pages.overview import numbers
from console.pages.overview.charts import Chart, draw
from console.people import staff_of

SEES_MONEY = (LEAD, AUDITOR, ADMIN)


@staff_page(READS_CONSOLE, what=gettext_lazy("The overview (money and costs: not for agents)"))
def page(request: HttpRequest) -> HttpResponse:
    """The range, the time zone and the day of the sample stand in the address."""
    return _page(request, _day(request.GET.get("day", "")))


def _page(request: HttpRequest, day: dt.date, status: int = 200) -> HttpResponse:
    span = _span(request)
    role = role_of(request.user)
    kept: dict[str, str | int] = {"days": span.days, "tz": span.zone.key, "day": day.isoformat()}
    context = {
        "span": span,
        "ranges": [(days, urlencode({**kept, "days": days})) for days in numbers.RANGES],
        "day": day,
        "days_around": _around(day, kept),
        "sample": spot_checks.sample(dt.datetime.combine(day, dt.time(), dt.UTC)),
        "may_check": role in DECIDES,
        "waiting": numbers.waiting(),
        "decided": numbers.decided(span),
        "limits": numbers.limits_hit(span),
        "standing": brakes.standing(),
        "charts": _charts(span) if role in SEES_MONEY else [],
    }
    return render(request, "pages/overview/overview.html", context, status=status)


def _charts(span: numbers.Span) -> list[Chart]:
    both = (_("Without a person"), _("After an approval"))
    charts = [
        draw(
            f"money-{currency}",
            _("Executed in %(currency)s") % {"currency": currency},
            both,
            days,
            lambda number, currency=currency: told(number, currency),  # type: ignore[misc]
        )
        for currency, days in numbers.money(span).items()
    ]
    cost = numbers.model_cost(span)
    return [*charts, draw("cost", _("Model cost"), (_("US dollars"),), cost, _dollars)]


def _dollars(microcents: int) -> str:
    return told(round(microcents / 1_000_000), "USD")


def _span(request: HttpRequest) -> numbers.Span:
    days, zone = request.GET.get("days", "7"), numbers.zone_named(request.GET.get("tz", "UTC"))
    if days not in map(str, numbers.RANGES) or zone is None:
        raise Http404
    return numbers.Span(int(days), zone)


def _day(text: str) -> dt.date:
    """A day of the sample, in UTC, so that everybody looks at the same; today without one."""
    today = timezone.now().date()
    try:
        day = parse_date(text) if text else today
    except ValueError as error:
        raise Http404 from error
    if day is None or not dt.date(2020, 1, 1) <= day <= today:
        raise Http404
    return day


def _around(day: dt.date, kept: dict[str, str | int]) -> list[tuple[dt.date, str]]:
    """The days before and after, as far as there are any."""
    near = [day + dt.timedelta(days=by) for by in (-1, 1)]
    return [(each, urlencode({**kept, "day": each.isoformat()})) for each in near if each <= timezone.now().date()]


@staff_page(acts=DECIDES, what=gettext_lazy("Look at an automatic execution and say what one found"))
def spot_check(request: HttpRequest) -> HttpResponse:
    """Say what one found in an execution of the sample."""
    form = SpotCheckForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.refusal.message)
        return _page(request, _day(form.cleaned_data.get("day", "")), status=422)
    given = form.cleaned_data
    day = _day(given.pop("day"))
    try:
        kept = spot_checks.record_spot_check(staff=staff_of(request), **given)
    except NotFound as error:
        raise Http404 from error
    except DecisionError as error:
        messages.error(request, error.message)
    else:
        wrong = _("Kept, and a task is open for a lead.")
        messages.success(request, wrong if kept.outcome == "wrong" else _("Kept: it was fine."))
    return redirect(f"{reverse('overview')}?{urlencode({'day': day.isoformat()})}#sample")

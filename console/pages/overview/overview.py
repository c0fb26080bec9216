"""The overview: what to look at today, and how the shop's agent and its people do."""

import datetime as dt
from typing import cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from approvals import brakes
from approvals.decisions import spot_checks
from approvals.errors import DecisionError, NotFound
from approvals.models import Staff
from base.access import ADMIN, AUDITOR, DECIDES, LEAD, READS_CONSOLE, role_of, staff_page
from base.money import told
from console.pages.overview import numbers
from console.pages.overview.charts import Chart, draw

SEES_MONEY = (LEAD, AUDITOR, ADMIN)


@staff_page(*READS_CONSOLE)
@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """The range, the time zone and the day of the sample stand in the address."""
    span, day = _span(request), _day(request.GET.get("day", ""))
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
    return render(request, "pages/overview/overview.html", context)


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


@staff_page(*DECIDES)
@require_POST
def spot_check(request: HttpRequest) -> HttpResponse:
    """Say what one found in an execution of the sample."""
    given = {name: request.POST.get(name, "") for name in ("reference", "outcome", "note")}
    try:
        kept = spot_checks.record_spot_check(staff=cast(Staff, request.user), **given)
    except NotFound as error:
        raise Http404 from error
    except DecisionError as error:
        messages.error(request, error.message)
    else:
        wrong = _("Kept, and a task is open for a lead.")
        messages.success(request, wrong if kept.outcome == "wrong" else _("Kept: it was fine."))
    day = _day(request.POST.get("day", ""))
    return redirect(f"{reverse('overview')}?{urlencode({'day': day.isoformat()})}#sample")

"""The queue: one page of a view, and what has changed of it since it was shown."""

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy, ngettext

from approvals.decisions.bulk import MOST
from approvals.models import Decision
from approvals.people import shifts
from approvals.policy.versions import in_force
from approvals.requests import queue as the_queue
from approvals.requests import queue_filters
from base.access import DECIDES, READS_CONSOLE, staff_page
from base.keyset import BadCursor
from base.templatetags.words import RULES, TOOLS
from console.forms.requests import PulseForm
from console.live.viewers import viewers
from console.people import staff_of


@staff_page(READS_CONSOLE, what=gettext_lazy("The queue of requests"))
def queue(request: HttpRequest) -> HttpResponse:
    """One page of the view that the address names."""
    staff, shown_at = staff_of(request), timezone.now()
    filters = _filters(request)
    try:
        page = the_queue.page(filters, staff, after=request.GET.get("after", ""))
    except BadCursor as error:
        raise Http404 from error
    context = _row_context(request, filters, page.rows) | {
        "after": page.after,
        "later": "after" in request.GET,
        "found": capped(the_queue.count(filters, staff)),
        "waiting": capped(the_queue.waiting_count()),
        "shown_at": shown_at.isoformat(),
        "away": shifts.is_away(staff),
        "tabs": {name: label for name, (label, _) in queue_filters.TABS.items()},
        "sorts": {name: queue_filters.SORTS[name][0] for name in queue_filters.sorts_of(filters.tab)},
        "views": queue_filters.views_of(filters.tab),
        "tools": TOOLS,
        "rules": RULES,
        "currencies": sorted(in_force().lines),
        "kept": _kept(request),
        "reasons": Decision.Reason.choices,
        "colleagues": shifts.colleagues(staff) if staff.role in DECIDES else [],
        "most": MOST,
    }
    return render(request, "pages/queue/queue.html", context)


@staff_page(READS_CONSOLE)
def pulse(request: HttpRequest) -> HttpResponse:
    """For an open queue: the rows on screen that look different now, and how many are new in its view. `row` is a
    reference with the seal that was shown; `since` is when."""
    form = PulseForm(request.GET)
    if not form.is_valid():
        raise Http404
    filters, staff, since = _filters(request), staff_of(request), form.cleaned_data["since"]
    seals = dict(form.cleaned_data["row"][: the_queue.PAGE])
    rows = the_queue.rows_of(list(seals))
    around = _row_context(request, filters, rows)
    fresh = the_queue.count(filters, staff, since=since) if "after" not in request.GET else 0
    waiting = the_queue.waiting_count()
    answer = {
        "rows": {
            row["reference"]: _row(request, around, row) for row in rows if seals[row["reference"]] != row["seal"]
        },
        "fresh": ngettext("%(n)s new request: show it", "%(n)s new requests: show them", fresh) % {"n": capped(fresh)}
        if fresh
        else "",
        "waiting": capped(waiting),
        "alert": ngettext("%(n)s new request waits", "%(n)s new requests wait", fresh) % {"n": capped(fresh)},
        "count": fresh,
    }
    return JsonResponse(answer, headers={"Cache-Control": "no-store"})


def row_after(request: HttpRequest, reference: str, said: str) -> HttpResponse:
    """A row of what waits, as it stands after something was done there, with what the page shall say."""
    rows = the_queue.rows_of([reference])
    around = _row_context(request, queue_filters.read({}), rows)
    news = json.dumps({"said": {"text": said, "reference": reference}})
    return HttpResponse("".join(_row(request, around, row) for row in rows), headers={"HX-Trigger": news})


def _row(request: HttpRequest, around: dict[str, Any], row: dict[str, Any]) -> str:
    return render_to_string("pages/queue/_row.html", around | {"row": row}, request)


def _row_context(request: HttpRequest, filters: queue_filters.Filters, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the template of a row needs beside it."""
    seen = viewers([row["reference"] for row in rows if row["state"] == "pending"])
    for row in rows:
        row["viewers"] = seen.get(row["reference"], [])
        row["seal"] = "-".join([row["seal"], *row["viewers"]])
    return {
        "filters": filters,
        "tab": filters.tab,
        "rows": rows,
        "may_choose": filters.tab == "pending" and staff_of(request).role in DECIDES,
    }


def _filters(request: HttpRequest) -> queue_filters.Filters:
    try:
        return queue_filters.read(request.GET.dict())
    except queue_filters.NoSuchView as error:
        raise Http404 from error


def _kept(request: HttpRequest) -> str:
    """The address's query without the page, for links and polls."""
    query = request.GET.copy()
    for name in [name for name, text in query.items() if name in ("after", "since", "row") or not text]:
        del query[name]
    return query.urlencode()


def capped(number: int) -> str:
    """A count as it is shown: a thousand, and then "1,000+"."""
    most = the_queue.MOST_COUNTED
    return f"{number:,}" if number <= most else gettext("%(most)s+") % {"most": f"{most:,}"}

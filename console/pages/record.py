"""The record for lead, auditor and admin. Whoever reads it is recorded as well."""

import json

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy

from audit.models import Event, Kind
from audit.record import Actor, NewEvent, record
from audit.search import FILTERS, Page, search
from base.access import READS_RECORD, staff_page
from base.http.errors import ApiError

PAGE = 50


@staff_page(READS_RECORD, what=gettext_lazy("The record"))
def events(request: HttpRequest) -> HttpResponse:
    """A page of events; filters and the place in the list are in the address."""
    filters = {name: request.GET[name].strip() for name in FILTERS if request.GET.get(name, "").strip()}
    try:
        page, fields = search(filters, cursor=request.GET.get("cursor"), limit=PAGE), {}
    except ApiError as error:
        page, fields = Page([], None), error.body["fields"]
    _was_read(request, page="events", filters=filters)
    context = {
        "events": page.events,
        "fields": [(name, request.GET.get(name, ""), fields.get(name, [])) for name in FILTERS],
        "filters": filters,
        "wrong": fields,
        "problems": [text for name in fields if name not in FILTERS for text in fields[name]],
        "kinds": Kind.values,
        "next": urlencode({**filters, "cursor": page.next_cursor}) if page.next_cursor else "",
    }
    return render(request, "pages/record/events.html", context, status=422 if fields else 200)


@staff_page(READS_RECORD)
def event(request: HttpRequest, event_id: int) -> HttpResponse:
    """Everything that one event holds."""
    found = get_object_or_404(Event.objects.select_related("detail"), pk=event_id)
    _was_read(request, page="event", event_id=event_id)
    columns = [
        (field.name, getattr(found, field.attname))
        for field in Event._meta.concrete_fields
        if getattr(found, field.attname) not in (None, "")
    ]
    detail = json.loads(found.detail.body)
    return render(request, "pages/record/event.html", {"event": found, "columns": columns, "detail": detail})


def _was_read(request: HttpRequest, **what: object) -> None:
    actor = Actor(kind="staff", id=request.user.get_username())
    record(actor, NewEvent(kind=Kind.ACCESS, decision="read"), **what)

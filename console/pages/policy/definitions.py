"""What the assistant is told and may call, version by version: what changed, what came of it, and going back."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agents.context import pins
from agents.context.definitions import Used, change, lines_between, tools_between, used
from agents.context.prompt import current_definition_id, missing_tools, release_definition_id
from agents.models import Definition
from base.access import READS_RECORD, role_of, staff_page
from console.forms.policy import AgainstForm, PinForm
from console.people import staff_of

_STATUS = {"reason": 422, "tools": 422, "same": 409, "overtaken": 409}


@staff_page(READS_RECORD, what=gettext_lazy("The assistant's definitions"))
def definitions(request: HttpRequest) -> HttpResponse:
    """Every definition with its rates beside those of the one before, newest first, and who chose what."""
    context = {"rows": list(reversed(_rows())), "pins": pins.history(), **_now()}
    return render(request, "pages/policy/definitions.html", context)


def _now() -> dict[str, Any]:
    release, current, newest = release_definition_id(), current_definition_id(), pins.newest()
    pinned = newest.definition_id if newest else None
    return {
        "release": release,
        "current": current,
        "pin": newest if pinned else None,
        "seen": newest.number if newest else 0,
        "lost": missing_tools(pinned) if pinned else (),
    }


def _rows() -> list[dict[str, Any]]:
    """Oldest first. A definition that no conversation had yet is compared with the last that one had."""
    rows: list[dict[str, Any]] = []
    before: Used | None = None
    for each in used():
        changes = {
            "deny_change": before and change(before.deny_percent, each.deny_percent),
            "hand_off_change": before and change(before.hand_off_percent, each.hand_off_percent),
        }
        rows.append({"used": each, "before": before, **changes})
        before = each
    return rows


@staff_page(READS_RECORD)
def definition(request: HttpRequest, digest: str) -> HttpResponse:
    """One definition and what differs from another: the one before, unless the address says which."""
    return _page(request, digest)


def _page(
    request: HttpRequest,
    digest: str,
    refusal: pins.PinRefused | None = None,
    form: PinForm | None = None,
    status: int = 200,
) -> HttpResponse:
    found = get_object_or_404(Definition, pk=digest)
    rows = _rows()
    row = next(each for each in rows if each["used"].digest == digest)
    against = _against(request, row)
    context = {
        "found": found,
        "row": row,
        "rows": rows,
        "against": against,
        "prompt": lines_between(against.system, found.system) if against else [],
        "tools": tools_between(against, found) if against else [],
        "missing": missing_tools(digest),
        "chooses": role_of(request.user) in pins.PINS,
        "error": refusal,
        "form": form or PinForm(),
        **_now(),
    }
    return render(request, "pages/policy/definition.html", context, status=status)


def _against(request: HttpRequest, row: dict[str, Any]) -> Definition | None:
    before = row["before"].digest if row["before"] else None
    digest = request.GET.get("against", before)
    if digest is None:
        return None
    form = AgainstForm({"against": digest})
    if not form.is_valid():
        raise Http404
    return get_object_or_404(Definition, pk=form.cleaned_data["against"])


@staff_page(acts=pins.PINS, what=gettext_lazy("Choose the definition of new conversations"))
def use(request: HttpRequest, digest: str) -> HttpResponse:
    """Begin new conversations with this definition."""
    form = PinForm(request.POST)
    if not form.is_valid():
        return _page(request, digest, form=form, status=422)
    given = form.cleaned_data
    try:
        pins.pin(staff=staff_of(request), digest=digest, reason=given["reason"], seen=given["seen"] or 0)
    except pins.PinRefused as refusal:
        if refusal.code == "unknown":
            raise Http404 from refusal
        return _page(request, digest, refusal, form=form, status=_STATUS[refusal.code])
    messages.success(request, _("New conversations begin with this definition. Those that have begun keep theirs."))
    return redirect("definition", digest)

"""Ready-made messages and the words of reason codes: reading them, editing them, and what they said before."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals import errors
from approvals.decisions import macros, reasons
from approvals.models import Decision, MacroEdit, Staff
from base.access import READS_CONSOLE, role_of, staff_page

_STATUS: dict[type[errors.DecisionError], int] = {errors.Forbidden: 403, errors.Invalid: 422, macros.Taken: 409}
_MOST_VERSION = 2**31 - 1
_SAMPLE = {
    "customer_name": "Maya Jones",
    "order_id": "#W1234567",
    "amount": "£12.50",
    "reference": "R-7F3K9Q",
}


@staff_page(READS_CONSOLE, what=gettext_lazy("Ready-made messages and reasons"))
def macro_list(request: HttpRequest) -> HttpResponse:
    """Every macro and every reason code as they stand."""
    context = {"macros": macros.latest(), "reasons": reasons.latest(), "edits": _edits(request)}
    return render(request, "pages/macros/macros.html", context)


@staff_page(
    READS_CONSOLE,
    acts=macros.EDITS_MACROS,
    what=gettext_lazy("A ready-made message or a reason: see its history; change it"),
)
def macro(request: HttpRequest, number: int | None = None) -> HttpResponse:
    """One macro with its history, or the form for a new one; a POST saves the next version."""
    past = macros.history(number) if number is not None else []
    if number is not None and not past:
        raise Http404
    if request.method != "POST":
        return _macro_page(request, past)
    names = ("name", "use", "reason_code", "text")
    fields = {**{name: request.POST.get(name, "") for name in names}, "offered": "offered" in request.POST}
    try:
        made = macros.save(staff=_staff(request), macro=number, version=_version(request), fields=fields)
    except errors.DecisionError as error:
        return _macro_page(request, past, error)
    messages.success(request, _("Saved: “%(name)s”.") % {"name": made.name})
    return redirect("macros")


def _macro_page(request: HttpRequest, past: list[MacroEdit], error: errors.DecisionError | None = None) -> HttpResponse:
    now = past[0] if past else MacroEdit(use="deny", offered=True)
    context = {
        "now": now,
        "past": past,
        "next": past[0].version + 1 if past else 1,
        "typed": _typed(request, now, ("name", "use", "reason_code", "text")),
        "uses": MacroEdit.Use.choices,
        "reasons": reasons.latest(),
        "variables": [(f"{{{name}}}", meaning) for name, meaning in macros.VARIABLES.items()],
        "sample": _sample(now.text) if past else "",
        "edits": _edits(request),
        **_error(error),
    }
    return render(request, "pages/macros/macro.html", context, status=_STATUS[type(error)] if error else 200)


def _sample(text: str) -> str:
    return macros.filled(text, {**_SAMPLE, "shop": settings.PLACET.notify.shop})


@staff_page(READS_CONSOLE, acts=macros.EDITS_MACROS)
def reason(request: HttpRequest, code: str) -> HttpResponse:
    """One reason code with its history; a POST saves its next words."""
    if code not in Decision.Reason.values:
        raise Http404
    error: errors.DecisionError | None = None
    if request.method == "POST":
        fields = {name: request.POST.get(name, "") for name in ("label", "help")}
        try:
            reasons.save(
                staff=_staff(request),
                code=code,
                version=_version(request),
                fields={**fields, "offered": "offered" in request.POST},
            )
        except errors.DecisionError as caught:
            error = caught
        else:
            messages.success(request, _("Saved: “%(name)s”.") % {"name": fields["label"].strip()})
            return redirect("macros")
    past = reasons.history(code)
    context = {
        "now": past[0],
        "past": past,
        "next": past[0].version + 1,
        "typed": _typed(request, past[0], ("label", "help")),
        "edits": _edits(request),
        **_error(error),
    }
    return render(request, "pages/macros/reason.html", context, status=_STATUS[type(error)] if error else 200)


def _error(error: errors.DecisionError | None) -> dict[str, Any]:
    fields = error.fields if isinstance(error, errors.Invalid) else {}
    return {"error": error, "fields": fields}


def _typed(request: HttpRequest, now: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """What was typed, which a refusal keeps, or else what holds now."""
    if request.method == "POST":
        return {**{name: request.POST.get(name, "") for name in names}, "offered": "offered" in request.POST}
    return {name: getattr(now, name) for name in (*names, "offered")}


def _version(request: HttpRequest) -> int:
    """The version that the form would make; what is no number is one that nobody can make."""
    text = request.POST.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else _MOST_VERSION


def _edits(request: HttpRequest) -> bool:
    return role_of(request.user) in macros.EDITS_MACROS


def _staff(request: HttpRequest) -> Staff:
    assert isinstance(request.user, Staff)
    return request.user

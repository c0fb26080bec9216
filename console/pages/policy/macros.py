"""Ready-made messages and the words of reason codes: reading them, editing them, and what they said before."""

from django.conf import settings
from django.contrib import messages
from django.forms.models import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals import errors
from approvals.decisions import macros, reasons
from approvals.models import Decision, MacroEdit, Staff
from base.access import READS_CONSOLE, role_of, staff_page
from console.forms.fields import Form
from console.forms.macros import MacroForm, ReasonForm

_STATUS: dict[type[errors.DecisionError], int] = {errors.Forbidden: 403, errors.Invalid: 422, macros.Taken: 409}
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
    form = MacroForm(request.POST)
    try:
        macros.require_editor(_staff(request))
        fields = form.checked()
        made = macros.save(staff=_staff(request), macro=number, version=fields.pop("version"), fields=fields)
    except errors.DecisionError as error:
        return _macro_page(request, past, error, form)
    messages.success(request, _("Saved: “%(name)s”.") % {"name": made.name})
    return redirect("macros")


def _macro_page(
    request: HttpRequest,
    past: list[MacroEdit],
    error: errors.DecisionError | None = None,
    form: MacroForm | None = None,
) -> HttpResponse:
    now = past[0] if past else MacroEdit(use="deny", offered=True)
    context = {
        "now": now,
        "past": past,
        "next": past[0].version + 1 if past else 1,
        "form": _told(form or MacroForm(initial=model_to_dict(now)), error),
        "variables": [(f"{{{name}}}", meaning) for name, meaning in macros.VARIABLES.items()],
        "sample": _sample(now.text) if past else "",
        "edits": _edits(request),
        "error": error,
    }
    return render(request, "pages/macros/macro.html", context, status=_STATUS[type(error)] if error else 200)


def _sample(text: str) -> str:
    return macros.filled(text, {**_SAMPLE, "shop": settings.PLACET.notify.shop})


@staff_page(READS_CONSOLE, acts=macros.EDITS_MACROS)
def reason(request: HttpRequest, code: str) -> HttpResponse:
    """One reason code with its history; a POST saves its next words."""
    if code not in Decision.Reason.values:
        raise Http404
    past = reasons.history(code)
    error: errors.DecisionError | None = None
    form = ReasonForm(request.POST if request.method == "POST" else None, initial=model_to_dict(past[0]))
    if request.method == "POST":
        try:
            macros.require_editor(_staff(request))
            fields = form.checked()
            made = reasons.save(staff=_staff(request), code=code, version=fields.pop("version"), fields=fields)
        except errors.DecisionError as caught:
            error = caught
        else:
            messages.success(request, _("Saved: “%(name)s”.") % {"name": made.label})
            return redirect("macros")
    context = {
        "now": past[0],
        "past": past,
        "next": past[0].version + 1,
        "form": _told(form, error),
        "edits": _edits(request),
        "error": error,
    }
    return render(request, "pages/macros/reason.html", context, status=_STATUS[type(error)] if error else 200)


def _told(form: Form, error: errors.DecisionError | None) -> Form:
    """The form with what the service found wrong in it."""
    if error is not None and form.is_valid():
        form.put(error)
    return form


def _edits(request: HttpRequest) -> bool:
    return role_of(request.user) in macros.EDITS_MACROS


def _staff(request: HttpRequest) -> Staff:
    assert isinstance(request.user, Staff)
    return request.user

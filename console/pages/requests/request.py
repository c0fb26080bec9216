"""One request with everything that a decision needs, and deciding it."""

import json
from typing import Any, cast

from django.contrib import messages
from django.core import signing
from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext as _

from approvals import errors
from approvals.casefile.contents import case_file
from approvals.decisions import deciding, eligibility, evidence, reauthentication, tally
from approvals.decisions.lowering import TOOL as LOWERED_TOOL
from approvals.decisions.reopening import can_be_reopened
from approvals.models import Request, Staff
from approvals.people import shifts
from approvals.requests.drift import drift_of
from approvals.requests.risk import risk_of
from base.access import DECIDES, LEAD, READS_CONSOLE, staff_page
from console.forms.fields import Form
from console.forms.requests import DecisionForm, MistakeForm, ReadingForm, ReopenForm
from console.live.viewers import seen
from console.pages.requests import questions
from console.pages.requests.history import history_of
from console.people import staff_of

_STATUS: dict[type[errors.DecisionError], int] = {
    errors.Forbidden: 403,
    errors.Invalid: 422,
    errors.Expired: 410,
    errors.Conflict: 409,
    errors.DigestDiffers: 412,
}
_RISKED = ("facts", "rule", "approvals_needed", "amount_minor", "currency", "policy_version")
_FORM_SECONDS = 24 * 3600


@staff_page(READS_CONSOLE, acts=DECIDES, what=gettext_lazy("A request: read it; decide it"))
def request_page(request: HttpRequest, reference: str) -> HttpResponse:
    """One request; a POST decides it."""
    found = get_object_or_404(Request.objects.select_related("assigned_to", "second_approver"), pk=reference)
    if request.method != "POST":
        return _page(request, found)
    form = DecisionForm(request.POST)
    try:
        _decide(request, reference, form)
    except errors.DecisionError as error:
        found.refresh_from_db()
        return _page(request, found, error=error, form=form)
    return redirect("request", reference)


def _decide(request: HttpRequest, reference: str, form: DecisionForm) -> None:
    given = form.checked()
    _require_cards(reference, staff_of(request), given["verdict"])
    currency = Request.objects.filter(pk=reference).values_list("currency", flat=True).first() or ""
    found = deciding.decide(
        reference=reference,
        staff=staff_of(request),
        verdict=cast(deciding.Verdict, given["verdict"]),
        digest=given["digest"],
        shown=_shown(request, reference, given["shown"]),
        reason_code=given["reason_code"],
        note=given["note"],
        customer_message=given["customer_message"],
        amount_minor=form.amount_minor(currency),
        proof=reauthentication.presence_of(request, given),
    )
    if found.is_decoy:
        return _tell_of_decoy(request, found)
    approved = given["verdict"] == "approve"
    said = gettext("You approved %(reference)s.") if approved else gettext("You denied %(reference)s.")
    left = found.approvals_needed - tally.approvals_given(found)
    more = gettext("It needs one more person's approval.") if found.state == "pending" and left else ""
    messages.success(request, f"{said % {'reference': reference}} {more}".strip())
    return None


def _tell_of_decoy(request: HttpRequest, found: Request) -> None:
    if found.state == Request.State.DENIED:
        messages.success(request, gettext("You caught it: %(reference)s was a decoy.") % {"reference": found.pk})
    else:
        said = gettext("%(reference)s was a decoy, and you approved it. Nothing was carried out.")
        messages.error(request, said % {"reference": found.pk})


def _require_cards(reference: str, staff: Staff, verdict: str) -> None:
    """On the page, why it asks has to be opened before it is approved."""
    found = get_object_or_404(Request, pk=reference)
    missing = evidence.unopened(found, evidence.reading_of(found, staff)) if found.state == "pending" else None
    if verdict == "approve" and missing:
        said = _("Read this first, it shows why this asks: %(card)s.") % {"card": missing.label}
        raise errors.Invalid({"cards": [said]})


@staff_page(acts=DECIDES)
def reading(request: HttpRequest, reference: str) -> HttpResponse:
    """The page tells which card came into view, and for how long."""
    found = get_object_or_404(Request, pk=reference)
    form = ReadingForm(request.POST)
    if not form.is_valid():
        raise Http404
    evidence.opened(request=found, staff=staff_of(request), **form.cleaned_data)
    return HttpResponse(status=204)


def _shown(request: HttpRequest, reference: str, sealed: str) -> Any:
    """What this person's page showed, from its sealed field; a page that is too old has to be read again."""
    try:
        return signing.loads(sealed, salt=_salt(request, reference), max_age=_FORM_SECONDS)
    except signing.BadSignature as error:
        if refusal := eligibility.refusal_for(get_object_or_404(Request, pk=reference), staff_of(request)):
            raise refusal from error
        raise errors.DigestDiffers(_("This page was open for too long; read it again as it now stands.")) from error


def _salt(request: HttpRequest, reference: str) -> str:
    return f"shown {reference} to {staff_of(request).pk}"


def refused(request: HttpRequest, reference: str, form: Form) -> HttpResponse:
    """The page with what was wrong in one of its smaller forms, which keep what was typed."""
    found = get_object_or_404(Request.objects.select_related("assigned_to", "second_approver"), pk=reference)
    return _page(request, found, error=form.refusal, form=form)


def _page(
    request: HttpRequest, found: Request, error: errors.DecisionError | None = None, form: Form | None = None
) -> HttpResponse:
    staff = staff_of(request)
    case = case_file(found, staff=staff)
    refusal = eligibility.refusal_for(found, staff)
    shown = {"revision": found.revision, "digest": found.digest, "preview": found.preview}
    shown |= {"rule": found.rule, "facts": found.facts, "case": case}
    plain = json.loads(json.dumps(shown, cls=DjangoJSONEncoder))
    context = {
        "found": found,
        "case": case,
        "changes": _changes(found.preview),
        "given": tally.approvals_given(found),
        "refusal": refusal,
        "decides": found.state == "pending" and refusal is None,
        "shown": signing.dumps(plain, salt=_salt(request, found.pk), compress=True),
        "confirm": reauthentication.confirmation_for(found, staff, request, error),
        "error": error,
        "fields": error.fields if isinstance(error, errors.Invalid) else {},
        "typed": (form if isinstance(form, DecisionForm) else DecisionForm()).typed,
        "mistake": form if isinstance(form, MistakeForm) else MistakeForm(),
        "reopening": form if isinstance(form, ReopenForm) else ReopenForm(),
    }
    context |= _around(found, case) | _may(found, staff)
    status = _STATUS[type(error)] if error else 200
    return render(request, "pages/request/request.html", context, status=status)


def _around(found: Request, case: dict[str, Any]) -> dict[str, Any]:
    """What surrounds the request on its page."""
    row = {name: getattr(found, name) for name in _RISKED}
    return {
        "customer_name": found.preview.get("customer_name") or found.customer_id,
        "order_id": found.order_id or found.preview.get("order_id", ""),
        "decisions": found.decisions.select_related("staff", "withdrawal", "signature").order_by("at"),
        "drift": drift_of(found),
        "risk": risk_of(row, flagged=any(not flag["cleared_at"] for flag in case["flags"])),
        "history": history_of(found),
        "asked": questions.asked(found),
        "moving": found.state in ("approved", "executing", "unknown"),
    }


def _may(found: Request, staff: Staff) -> dict[str, Any]:
    """What this person may do besides deciding."""
    waits, acts = found.state == "pending", staff.role in DECIDES
    assignee = found.assigned_to if waits and found.assigned_until and found.assigned_until > timezone.now() else None
    own = staff.pk in [approver.staff_id for approver in tally.approvers_of(found)]
    snoozed = found.snoozes.filter(staff=staff, until__gt=timezone.now()).first() if waits else None
    return {
        "assignee": assignee,
        "mine": assignee == staff,
        "may_act": acts and waits,
        "may_give": acts and waits and (assignee in (None, staff) or staff.role == LEAD),
        "colleagues": shifts.colleagues(staff) if acts and waits else [],
        "questions": questions.askable(found) if acts and waits else [],
        "snoozed_until": snoozed.until if snoozed else None,
        "may_lower": found.tool == LOWERED_TOOL,
        "may_undo": own and found.state in ("pending", "approved"),
        "may_reopen": staff.role == LEAD and can_be_reopened(found),
        "may_report": acts and found.state == "executed",
        "keeps_draft": waits and not own,
    }


def _changes(preview: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """What the order and the customer would have instead of what they have: field, before, after."""
    return [
        (name, preview.get(f"{whose}_before", {}).get(name), after)
        for whose in ("order", "customer")
        for name, after in preview.get(f"{whose}_changes", {}).items()
    ]


@staff_page(READS_CONSOLE)
def request_status(request: HttpRequest, reference: str) -> HttpResponse:
    """For an open page: 204 while nothing has changed, else a line that says what has, or a reload."""
    found = get_object_or_404(Request, pk=reference)
    given = tally.approvals_given(found)
    if request.GET.get("seen") == f"{found.state}-{found.revision}-{given}":
        return HttpResponse(status=204)
    if "reload" in request.GET:  # where nobody is typing
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    return render(request, "pages/request/_changed.html", {"found": found, "given": given})


@staff_page(READS_CONSOLE)
def viewers(request: HttpRequest, reference: str) -> HttpResponse:
    """An open page says that somebody looks at it, and hears who else does; 204 while that is the same."""
    get_object_or_404(Request, pk=reference)
    others = seen(reference, staff_of(request).username)
    names = ",".join(others)
    if request.GET.get("seen", "") == names:
        return HttpResponse(status=204)
    return render(request, "pages/request/_viewers.html", {"reference": reference, "others": others, "names": names})

"""The console: what waits, one request with everything a decision needs, and one customer."""

import json
from typing import Any, cast

from django.contrib import messages
from django.core import signing
from django.core.serializers.json import DjangoJSONEncoder
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from approvals import bulk, decisions, eligibility, errors, evidence, presence, requests, tally
from approvals.casefile import case_file
from approvals.drift import drift_of
from approvals.lowering import TOOL as LOWERED_TOOL
from approvals.models import CardView, Request, Staff
from approvals.queue import TABS, rows, seal_of, waiting_count
from audit.access import DECIDES, LEAD, READS_CONSOLE, staff_page
from ledger.money import parse

_STATUS: dict[type[errors.DecisionError], int] = {
    errors.Forbidden: 403,
    errors.Invalid: 422,
    errors.Expired: 410,
    errors.Conflict: 409,
    errors.DigestDiffers: 412,
}
_TYPED = ("reason_code", "note", "customer_message", "amount")
_FORM_SECONDS = 24 * 3600


@staff_page(*READS_CONSOLE)
@require_safe
def queue(request: HttpRequest) -> HttpResponse:
    """The requests of one tab. A poll that has seen them already gets 204, so that nothing on screen moves."""
    tab = request.GET.get("state", "pending")
    if tab not in TABS:
        raise Http404
    found = rows(tab)
    seal = seal_of(found)
    if request.headers.get("HX-Request") and request.GET.get("seen") == seal:
        return HttpResponse(status=204)
    context = {"tabs": TABS, "tab": tab, "rows": found, "seal": seal, "waiting": waiting_count()}
    context["may_approve"] = tab == "pending" and _staff(request).role in DECIDES and any(row["bulk"] for row in found)
    page = "approvals/_queue.html" if "seen" in request.GET else "approvals/queue.html"
    return render(request, page, context)


@staff_page(*DECIDES)
@require_POST
def approve_several(request: HttpRequest) -> HttpResponse:
    """Approve the requests chosen in the queue, each with the digest that was shown there."""
    chosen = [(reference, digest) for reference, _, digest in (v.partition(" ") for v in request.POST.getlist("item"))]
    try:
        done = bulk.approve_all(chosen=chosen, staff=_staff(request))
    except errors.Invalid as error:
        messages.error(request, error.message)
        return redirect("console")
    if approved := [one.reference for one in done if one.error is None]:
        messages.success(request, f"You approved {', '.join(approved)}.")
    for one in done:
        if one.error is not None:
            messages.error(request, f"{one.reference}: {one.error.message}")
    return redirect("console")


@staff_page(*READS_CONSOLE)
@require_http_methods(["GET", "HEAD", "POST"])
def request_page(request: HttpRequest, reference: str) -> HttpResponse:
    """One request; a POST decides it."""
    found = get_object_or_404(Request.objects.select_related("claimed_by", "assigned_to"), pk=reference)
    if request.method != "POST":
        return _page(request, found)
    try:
        _decide(request, reference)
    except errors.DecisionError as error:
        found.refresh_from_db()
        return _page(request, found, error=error)
    return redirect("request", reference)


def _decide(request: HttpRequest, reference: str) -> None:
    form = request.POST
    _require_cards(reference, _staff(request), form.get("verdict", ""))
    currency = Request.objects.filter(pk=reference).values_list("currency", flat=True).first() or ""
    found = decisions.decide(
        reference=reference,
        staff=_staff(request),
        verdict=cast(decisions.Verdict, form.get("verdict", "")),
        digest=form.get("digest", ""),
        shown=_shown(request, reference),
        reason_code=form.get("reason_code", ""),
        note=form.get("note", ""),
        customer_message=form.get("customer_message", ""),
        amount_minor=_amount(form.get("amount", ""), form.get("verdict", ""), currency),
        presence=presence.presence_of(request),
    )
    if found.is_decoy:
        return _tell_of_decoy(request, found)
    what = "approved" if form["verdict"] == "approve" else "denied"
    left = found.approvals_needed - tally.approvals_given(found)
    more = " It needs one more person's approval." if found.state == "pending" and left else ""
    messages.success(request, f"You {what} {reference}.{more}")
    return None


def _tell_of_decoy(request: HttpRequest, found: Request) -> None:
    if found.state == Request.State.DENIED:
        messages.success(request, f"You caught it: {found.pk} was a decoy.")
    else:
        messages.error(request, f"{found.pk} was a decoy, and you approved it. Nothing was carried out.")


def _require_cards(reference: str, staff: Staff, verdict: str) -> None:
    """On the page, why it asks has to be opened before it is approved."""
    found = get_object_or_404(Request, pk=reference)
    missing = evidence.unopened(found, evidence.look_of(found, staff)) if found.state == "pending" else None
    if verdict == "approve" and missing:
        raise errors.Invalid({"cards": [f"Read this first: {missing.label.lower()} shows why this asks."]})


@staff_page(*DECIDES)
@require_POST
def looked(request: HttpRequest, reference: str) -> HttpResponse:
    """The page tells which card came into view, and for how long."""
    found = get_object_or_404(Request, pk=reference)
    card, seconds = request.POST.get("card", ""), request.POST.get("seconds", "")
    if card not in CardView.Card.values or not (seconds.isascii() and seconds.isdigit() and len(seconds) < 7):
        raise Http404
    evidence.opened(request=found, staff=_staff(request), card=card, seconds=int(seconds))
    return HttpResponse(status=204)


def _amount(text: str, verdict: str, currency: str) -> int | None:
    """A lower amount as people write it, in minor units; None when the field is empty or the verdict a denial."""
    if verdict != "approve" or not text.strip():
        return None
    try:
        return parse(text, currency)
    except ValueError as error:
        raise errors.Invalid({"amount_minor": [str(error)]}) from error


def _shown(request: HttpRequest, reference: str) -> Any:
    """What this person's page showed, from its sealed field; a page that is too old has to be read again."""
    try:
        return signing.loads(request.POST.get("shown", ""), salt=_salt(request, reference), max_age=_FORM_SECONDS)
    except signing.BadSignature as error:
        if refusal := eligibility.refusal_for(get_object_or_404(Request, pk=reference), _staff(request)):
            raise refusal from error
        raise errors.DigestDiffers("This page was open for too long; read it again as it now stands.") from error


def _salt(request: HttpRequest, reference: str) -> str:
    return f"shown {reference} to {_staff(request).pk}"


def _page(request: HttpRequest, found: Request, error: errors.DecisionError | None = None) -> HttpResponse:
    staff = _staff(request)
    case = case_file(found, staff=staff)
    refusal = eligibility.refusal_for(found, staff)
    shown = {"revision": found.revision, "digest": found.digest, "preview": found.preview}
    shown |= {"rule": found.rule, "facts": found.facts, "case": case}
    plain = json.loads(json.dumps(shown, cls=DjangoJSONEncoder))
    context = {
        "found": found,
        "case": case,
        "customer_name": found.preview.get("customer_name") or found.customer_id,
        "order_id": found.order_id or found.preview.get("order_id", ""),
        "changes": _changes(found.preview),
        "decisions": found.decisions.select_related("staff", "withdrawal", "signature").order_by("at"),
        "given": tally.approvals_given(found),
        "refusal": refusal,
        "decides": found.state == "pending" and refusal is None,
        "drift": drift_of(found),
        "may_lower": found.tool == LOWERED_TOOL,
        "may_undo": found.state in ("pending", "approved") and tally.approvals_of(found).filter(staff=staff).exists(),
        "may_report": found.state == "executed" and staff.role in DECIDES,
        "may_claim": staff.role in DECIDES and found.state == "pending",
        "moving": found.state in ("approved", "executing", "unknown"),
        "shown": signing.dumps(plain, salt=_salt(request, found.pk), compress=True),
        "confirm": presence.confirmation_for(found, staff, request, error),
        "error": error,
        "fields": error.fields if isinstance(error, errors.Invalid) else {},
        "typed": {name: request.POST.get(name, "") for name in _TYPED},
    }
    status = _STATUS[type(error)] if error else 200
    return render(request, "approvals/request.html", context, status=status)


def _changes(preview: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """What the order and the customer would have instead of what they have: field, before, after."""
    return [
        (name, preview.get(f"{whose}_before", {}).get(name), after)
        for whose in ("order", "customer")
        for name, after in preview.get(f"{whose}_changes", {}).items()
    ]


@staff_page(*READS_CONSOLE)
@require_safe
def request_status(request: HttpRequest, reference: str) -> HttpResponse:
    """For an open page: 204 while nothing has changed, else a line that says what has, or a reload."""
    found = get_object_or_404(Request, pk=reference)
    given = tally.approvals_given(found)
    if request.GET.get("seen") == f"{found.state}-{found.revision}-{given}":
        return HttpResponse(status=204)
    if "reload" in request.GET:  # where nobody is typing
        return HttpResponse(status=204, headers={"HX-Refresh": "true"})
    return render(request, "approvals/_changed.html", {"found": found, "given": given})


@staff_page(*DECIDES)
@require_POST
def claim(request: HttpRequest, reference: str) -> HttpResponse:
    """Tell colleagues that one is on it, or give it back."""
    deed = requests.release if "release" in request.POST else requests.claim
    try:
        deed(reference=reference, staff=_staff(request))
    except errors.NotFound as error:
        raise Http404 from error
    except errors.Conflict as error:
        messages.warning(request, error.message)
    return redirect("request", reference)


@staff_page(LEAD)
@require_POST
def reassign(request: HttpRequest, reference: str) -> HttpResponse:
    """Have the second approval assigned to somebody else."""
    try:
        eligibility.reassign(reference=reference, by=_staff(request))
    except errors.NotFound as error:
        raise Http404 from error
    except errors.DecisionError as error:
        messages.error(request, error.message)
    return redirect("request", reference)


def _staff(request: HttpRequest) -> Staff:
    assert isinstance(request.user, Staff)
    return request.user

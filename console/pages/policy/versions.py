"""Pages of the policy: its versions, what differs between two, proposing and activating."""

import json

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from approvals.models import PolicyVersion, Staff
from approvals.policy import versions as policies
from approvals.policy.document import InvalidDocument, changes
from approvals.policy.simulation import MOST_DAYS
from base.access import READS_RECORD, role_of, staff_page
from console.forms.policy import DocumentForm

MOST_ROWS = 100


@staff_page(READS_RECORD, acts=policies.WRITES_POLICY, what=gettext_lazy("The policy: read it; propose a version"))
def versions(request: HttpRequest) -> HttpResponse:
    """The document in force and every version; a POST proposes the next."""
    if request.method != "POST":
        return _versions(request)
    form = DocumentForm(request.POST)
    text = str(form["document"].value() or "")
    if not form.is_valid():
        return _versions(request, text, {"document": form.refusal.message}, status=422)
    try:
        made = policies.propose(staff=_staff(request), text=text)
    except InvalidDocument as error:
        return _versions(request, text, error.faults, status=422)
    except policies.PolicyRefused as error:
        return _versions(request, text, {"document": error.message}, status=403)
    messages.success(
        request,
        _("You proposed version %(number)s. Another lead or administrator can activate it.") % {"number": made.version},
    )
    return redirect("policy-version", made.version)


def _versions(
    request: HttpRequest, text: str = "", faults: dict[str, str] | None = None, status: int = 200
) -> HttpResponse:
    now = policies.version_in_force()
    found = PolicyVersion.objects.select_related("proposed_by", "activated_by", "withdrawn_by").order_by("-version")[
        :MOST_ROWS
    ]
    document = policies.policy_at(now).to_json()
    context = {
        "now": now,
        "versions": found,
        "document": document,
        "text": text or json.dumps(document, indent=2),
        "faults": faults or {},
        "writes": role_of(request.user) in policies.WRITES_POLICY,
    }
    return render(request, "pages/policy/versions.html", context, status=status)


@staff_page(READS_RECORD)
def version(request: HttpRequest, number: int) -> HttpResponse:
    """One version: what it changes against another, `against` in the address or else the one beside it."""
    found = get_object_or_404(
        PolicyVersion.objects.select_related("proposed_by", "activated_by", "withdrawn_by"), pk=number
    )
    now = policies.version_in_force()
    compared = _asked_for(request) or _compared(number, now)
    context = {
        "found": found,
        "now": now,
        "compared": compared,
        "changes": changes(PolicyVersion.objects.get(pk=compared).document, found.document) if compared else [],
        "may_activate": _may_activate(request, found, now),
        "may_withdraw": role_of(request.user) in policies.WRITES_POLICY and _waits(found, now),
        "others": PolicyVersion.objects.exclude(pk=number).order_by("-pk").values_list("pk", flat=True)[:MOST_ROWS],
        "most_days": MOST_DAYS,
    }
    return render(request, "pages/policy/version.html", context)


def _asked_for(request: HttpRequest) -> int | None:
    text = request.GET.get("against", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise Http404
    return int(get_object_or_404(PolicyVersion, pk=int(text)).pk)


def _waits(found: PolicyVersion, now: int) -> bool:
    """Whether it is a proposal that may still be put in force or withdrawn."""
    return found.version > now and found.withdrawn_at is None


def _compared(number: int, now: int) -> int | None:
    """A draft is set beside what is in force, and what was activated beside what it replaced."""
    if number > now:
        return now
    before = PolicyVersion.objects.filter(activated_at__isnull=False, version__lt=number).order_by("-version").first()
    return before.version if before else None


def _may_activate(request: HttpRequest, found: PolicyVersion, now: int) -> bool:
    writes = role_of(request.user) in policies.WRITES_POLICY
    return writes and _waits(found, now) and found.proposed_by != request.user


@staff_page(acts=policies.WRITES_POLICY, what=gettext_lazy("Bring a proposed policy into force"))
def activate(request: HttpRequest, number: int) -> HttpResponse:
    """Put another person's version in force."""
    try:
        policies.activate(staff=_staff(request), version=number)
    except policies.PolicyRefused as error:
        if error.code == "unknown":
            raise Http404 from error
        messages.error(request, error.message)
    else:
        messages.success(request, _("Version %(number)s is in force.") % {"number": number})
    return redirect("policy-version", number)


def _staff(request: HttpRequest) -> Staff:
    assert isinstance(request.user, Staff)
    return request.user

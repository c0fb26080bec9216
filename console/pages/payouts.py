"""Payouts as staff see them: what needs somebody, and what the provider and the books disagree on."""

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit.record import Actor
from base.access import ADMIN, LEAD, READS_CONSOLE, role_of, staff_page
from console.forms.payouts import PayoutForm
from ledger.access.staff import as_staff
from ledger.payouts import desk
from ledger.payouts.desk import ATTENTION, CannotResolve
from ledger.payouts.reconciliation import DAYS, reconcile
from ledger.providers import connector
from ledger.providers.calls import CallFailed

ACTS = (LEAD, ADMIN)
MOST_ROWS = 100
TABS = {
    "attention": (_("Need somebody"), _("No payout needs anybody."), ATTENTION),
    "moving": (
        _("On their way"),
        _("Nothing is on its way."),
        Q(state__in=["pending", "sent", "unknown"]),
    ),
    "all": (_("All"), _("No money has left yet."), Q()),
}


@staff_page(READS_CONSOLE, what=_("Payouts"))
def payouts(request: HttpRequest) -> HttpResponse:
    """One tab of payouts, newest first."""
    return _page(request)


def _page(request: HttpRequest, status: int = 200) -> HttpResponse:
    tab = request.GET.get("tab", "attention")
    if tab not in TABS:
        raise Http404
    rows = as_staff(lambda: list(desk.rows(TABS[tab][2])[:MOST_ROWS]))
    context = {
        "tabs": {name: label for name, (label, *_rest) in TABS.items()},
        "tab": tab,
        "empty": TABS[tab][1],
        "rows": rows,
        "acts": role_of(request.user) in ACTS,
        "provider": connector() is not None,
        "days": DAYS,
    }
    return render(request, "pages/payouts/payouts.html", context, status=status)


@staff_page(acts=ACTS, what=_("Resolve a payout"))
def act(request: HttpRequest, transfer_id: int) -> HttpResponse:
    """Look one up at the provider, or note that somebody took care of it."""
    form = PayoutForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.refusal.message)
        return _page(request, status=422)
    deed = desk.handle if form.cleaned_data["handled"] else desk.resolve
    try:
        messages.success(request, deed(transfer_id, _actor(request)))
    except CannotResolve as refusal:
        messages.warning(request, str(refusal))
    return redirect("payouts")


@staff_page(acts=ACTS, what=_("Compare with the payment provider"))
def compare(request: HttpRequest) -> HttpResponse:
    """Compare the books with the provider now."""
    provider = connector()
    if provider is None:
        raise Http404
    try:
        findings = reconcile(provider)
    except CallFailed as failed:
        messages.warning(
            request,
            gettext("The payment provider does not answer (%(code)s); try again later.") % {"code": failed.code},
        )
        return redirect("payouts")
    return render(request, "pages/payouts/reconciliation.html", {"findings": findings, "days": DAYS})


def _actor(request: HttpRequest) -> Actor:
    return Actor(kind="staff", id=request.user.get_username())

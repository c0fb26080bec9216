"""What the customer will read, before one decides: the very text, computed as the decision would."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from agents.chat.notices import text_of
from approvals import errors
from approvals.decisions import tally
from approvals.decisions.lowering import as_lowered
from approvals.models import Request
from base.access import DECIDES, staff_page
from base.money import show
from console.forms.amounts import amount_of
from console.forms.requests import AmountForm


@staff_page(acts=DECIDES)
def told(request: HttpRequest, reference: str) -> HttpResponse:
    """The notices of an approval and of a denial with what was typed so far, as a fragment of the page."""
    found = get_object_or_404(Request, pk=reference)
    if found.state != Request.State.PENDING:
        raise Http404
    form = AmountForm(request.POST)
    if not form.is_valid():
        return render(request, "pages/request/_told.html", {"error": form.refusal.message}, status=422)
    message = form.cleaned_data["customer_message"]
    context = {"denied": text_of(found, "denied", message)}
    try:
        context["approved"] = _approved(found, form.cleaned_data["amount"], message)
    except errors.DecisionError as error:
        context["error"] = error.message
    return render(request, "pages/request/_told.html", context)


def _approved(found: Request, amount: str, message: str) -> str:
    """Nothing is said about the first of two approvals, and a lowered amount is told first."""
    amount_minor = amount_of(amount, "approve", found.currency)
    notices, given = [], tally.approvals_given(found)
    if amount_minor is not None:
        found, given = _lowered(found, amount_minor), 0
        notices.append(text_of(found, "lowered"))
    if given + 1 >= found.approvals_needed:
        notices.append(text_of(found, "approved", message))
    return "\n\n".join(notices)


def _lowered(found: Request, amount_minor: int) -> Request:
    """A decoy has no order to plan anew, and must read like any other."""
    if not found.is_decoy:
        return as_lowered(found.pk, amount_minor)
    before, after = show(found.amount_minor, found.currency), show(amount_minor, found.currency)
    found.preview["summary"] = found.preview["summary"].replace(before, after)
    return found

"""Warning colleagues of a customer, from the customer's page."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy

from approvals.casefile import flags
from approvals.errors import Forbidden, Invalid
from approvals.models import Staff
from base.access import DECIDES, staff_page
from ledger.access.staff import as_staff
from ledger.models import Customer


@staff_page(acts=DECIDES, what=gettext_lazy("Flag a customer"))
def flag(request: HttpRequest, customer_id: str) -> HttpResponse:
    """Warn colleagues of a customer, or take a warning off."""
    if "\x00" in customer_id or not as_staff(lambda: Customer.objects.filter(pk=customer_id).exists()):
        raise Http404
    assert isinstance(request.user, Staff)
    try:
        if number := request.POST.get("clear", ""):
            cleared = number.isascii() and number.isdigit() and len(number) < 19
            cleared = cleared and flags.clear(staff=request.user, flag_id=int(number), customer_id=customer_id)
            messages.info(
                request, gettext("The flag is off.") if cleared else gettext("That flag was taken off before.")
            )
        else:
            flags.flag(staff=request.user, customer_id=customer_id, reason=request.POST.get("reason", ""))
            messages.success(request, gettext("Flagged: whatever is done for this customer now waits for a person."))
    except (Forbidden, Invalid) as error:
        messages.error(request, error.message)
    return redirect("customer", customer_id)

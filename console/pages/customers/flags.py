"""Warning colleagues of a customer, from the customer's page."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy

from approvals.casefile import flags
from approvals.errors import Forbidden
from base.access import DECIDES, staff_page
from console.forms.customers import ClearFlagForm, FlagForm
from console.pages.customers.customer import page, require_customer
from console.people import staff_of


@staff_page(acts=DECIDES, what=gettext_lazy("Flag a customer"))
def flag(request: HttpRequest, customer_id: str) -> HttpResponse:
    """Warn colleagues of a customer, or take a warning off."""
    require_customer(customer_id)
    form = ClearFlagForm(request.POST)
    if not form.is_valid():
        messages.error(request, form.refusal.message)
        return page(request, customer_id, status=422)
    number = form.cleaned_data["clear"]
    return _flag(request, customer_id) if number is None else _clear(request, customer_id, number)


def _flag(request: HttpRequest, customer_id: str) -> HttpResponse:
    form = FlagForm(request.POST)
    if not form.is_valid():
        return page(request, customer_id, flag_form=form)
    flags.flag(staff=staff_of(request), customer_id=customer_id, reason=form.cleaned_data["reason"])
    messages.success(request, gettext("Flagged: whatever is done for this customer now waits for a person."))
    return redirect("customer", customer_id)


def _clear(request: HttpRequest, customer_id: str, number: int) -> HttpResponse:
    try:
        cleared = flags.clear(staff=staff_of(request), flag_id=number, customer_id=customer_id)
    except Forbidden as error:
        messages.error(request, error.message)
    else:
        messages.info(request, gettext("The flag is off.") if cleared else gettext("That flag was taken off before."))
    return redirect("customer", customer_id)

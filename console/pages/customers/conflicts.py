"""Clearing a colleague who shares something with a customer."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext, gettext_lazy

from approvals.casefile import conflicts
from approvals.errors import DecisionError
from approvals.models import Staff
from base.access import LEAD, staff_page
from console.forms.customers import ClearanceForm
from console.pages.customers.customer import page
from console.people import staff_of


@staff_page(acts=(LEAD,), what=gettext_lazy("Clear a colleague who shares something with a customer"))
def clear(request: HttpRequest) -> HttpResponse:
    """A lead says that it is chance; the colleague may decide about the customer from then on."""
    form = ClearanceForm(request.POST)
    if not form.is_valid():
        if form.errors.keys() & {"customer", "staff"}:
            raise Http404
        return page(request, form.cleaned_data["customer"], clearance=form)
    given = form.cleaned_data
    colleague = get_object_or_404(Staff, username=given["staff"])
    try:
        conflicts.clear(staff=colleague, customer_id=given["customer"], by=staff_of(request), reason=given["reason"])
    except DecisionError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, gettext("%(name)s may decide about this customer.") % {"name": colleague.username})
    return redirect("customer", given["customer"])

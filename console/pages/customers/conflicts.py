"""Clearing a colleague who shares something with a customer."""

from typing import cast

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext, gettext_lazy

from approvals.casefile import conflicts
from approvals.errors import DecisionError
from approvals.models import Staff
from base.access import LEAD, staff_page


@staff_page(acts=(LEAD,), what=gettext_lazy("Clear a colleague who shares something with a customer"))
def clear(request: HttpRequest) -> HttpResponse:
    """A lead says that it is chance; the colleague may decide about the customer from then on."""
    form = {name: request.POST.get(name, "").replace("\x00", "") for name in ("customer", "staff", "reason")}
    colleague = get_object_or_404(Staff, username=form["staff"])
    try:
        conflicts.clear(
            staff=colleague, customer_id=form["customer"], by=cast(Staff, request.user), reason=form["reason"]
        )
    except DecisionError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, gettext("%(name)s may decide about this customer.") % {"name": colleague.username})
    return redirect("customer", form["customer"])

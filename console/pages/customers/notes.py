"""Writing a note on a customer's page."""

from typing import cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy

from approvals.casefile.notes import write_note
from approvals.errors import DecisionError
from approvals.models import Staff
from base.access import DECIDES, staff_page
from ledger.access.staff import as_staff
from ledger.models import Customer


@staff_page(acts=DECIDES, what=gettext_lazy("Write a note about a customer"))
def note(request: HttpRequest, customer_id: str) -> HttpResponse:
    """Add a note for colleagues."""
    if "\x00" in customer_id or not as_staff(lambda: Customer.objects.filter(pk=customer_id).exists()):
        raise Http404
    try:
        write_note(staff=cast(Staff, request.user), customer_id=customer_id, text=request.POST.get("text", ""))
    except DecisionError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, gettext("The note is kept."))
    return redirect("customer", customer_id)

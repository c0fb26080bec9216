"""Writing a note on a customer's page."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext, gettext_lazy

from approvals.casefile.notes import write_note
from base.access import DECIDES, staff_page
from console.forms.customers import NoteForm
from console.pages.customers.customer import page, require_customer
from console.people import staff_of


@staff_page(acts=DECIDES, what=gettext_lazy("Write a note about a customer"))
def note(request: HttpRequest, customer_id: str) -> HttpResponse:
    """Add a note for colleagues."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return page(request, customer_id, note_form=form)
    require_customer(customer_id)
    write_note(staff=staff_of(request), customer_id=customer_id, text=form.cleaned_data["text"])
    messages.success(request, gettext("The note is kept."))
    return redirect("customer", customer_id)

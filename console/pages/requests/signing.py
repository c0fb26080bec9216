"""What a passkey has to sign before a request above the higher line is approved."""

import json

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from approvals.decisions import signatures
from approvals.decisions.reauthentication import needs_signature, rp_id_of
from approvals.errors import Invalid
from approvals.models import Request, Staff
from base.access import DECIDES, staff_page
from console.forms.amounts import amount_of
from console.forms.requests import ChallengeForm


@staff_page(acts=DECIDES)
def challenge(request: HttpRequest, reference: str) -> HttpResponse:
    """Options for the browser as JSON; 204 where nothing is to be signed, so that the form is sent as it is."""
    assert isinstance(request.user, Staff)
    found = get_object_or_404(Request, pk=reference)
    form = ChallengeForm(request.POST)
    try:
        given = form.checked()
        amount = amount_of(given["amount"], given["verdict"], found.currency)
    except Invalid:  # which the form itself will be told
        return HttpResponse(status=204)
    asked = given["verdict"] == "approve" and given["digest"] == found.digest
    if not asked or not needs_signature(found, request.user):
        return HttpResponse(status=204)
    options = signatures.options(found, request.user, verdict="approve", amount_minor=amount, rp_id=rp_id_of(request))
    return HttpResponse(json.dumps(options, cls=DjangoJSONEncoder), content_type="application/json")

"""What a passkey has to sign before a request above the higher line is approved."""

import json

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from approvals.decisions import signatures
from approvals.decisions.reauthentication import needs_signature, rp_id_of
from approvals.models import Request, Staff
from base.access import DECIDES, staff_page
from base.money import parse


@staff_page(acts=DECIDES)
def challenge(request: HttpRequest, reference: str) -> HttpResponse:
    """Options for the browser as JSON; 204 where nothing is to be signed, so that the form is sent as it is."""
    assert isinstance(request.user, Staff)
    found = get_object_or_404(Request, pk=reference)
    form = request.POST
    if (
        form.get("verdict") != "approve"
        or form.get("digest") != found.digest
        or not needs_signature(found, request.user)
    ):
        return HttpResponse(status=204)
    text = form.get("amount", "").strip()
    try:
        amount = parse(text, found.currency) if text else None
    except ValueError:  # which the form itself will be told
        return HttpResponse(status=204)
    options = signatures.options(found, request.user, verdict="approve", amount_minor=amount, rp_id=rp_id_of(request))
    return HttpResponse(json.dumps(options, cls=DjangoJSONEncoder), content_type="application/json")

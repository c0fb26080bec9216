"""Where the payment provider reports. The signature is Stripe's scheme: HMAC-SHA256 over time and body
(docs.stripe.com/webhooks#verify-manually)."""

import hashlib
import hmac
import json
import time
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from base.http.api import ApiView
from base.http.errors import ApiError
from base.http.parsing import MOST_BYTES
from ledger.access.staff import as_staff
from ledger.models import ProviderEvent
from ledger.payouts import outside
from ledger.providers.connector import report_of

TOLERANCE_SECONDS = 300
_OBJECTS = ("refund", "payment_intent", "dispute")


class Webhook(ApiView):
    """One event per call; the same one again, or an older one later, changes nothing."""

    authentication_classes: list[Any] = []

    @extend_schema(exclude=True)
    def post(self, request: Request) -> Response:
        if settings.PLACET.payments == "off":
            raise Http404
        body = request._request.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise ApiError(413, "too_large", "The event is larger than 256 kB.")
        verify(body, request.headers.get("Stripe-Signature", ""), settings.PLACET.payments_secret, time.time())
        return Response({"outcome": receive(_event(body))})


def verify(body: bytes, header: str, secret: str, now: float) -> None:
    """Refuse what the provider did not sign, or signed more than five minutes ago."""
    parts = [part.strip().partition("=")[::2] for part in header.split(",")]
    stamp = dict(parts).get("t", "")
    expected = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    signed = [hmac.compare_digest(expected.encode(), value.encode()) for name, value in parts if name == "v1"]
    fresh = stamp.isascii() and stamp.isdigit() and len(stamp) < 12 and abs(now - int(stamp)) <= TOLERANCE_SECONDS
    if not (secret and fresh and any(signed)):
        raise ApiError(400, "bad_signature", "The signature does not fit this body and time.")


def _event(body: bytes) -> dict[str, Any]:
    try:
        event: dict[str, Any] = json.loads(body)
        found = event["data"]["object"]
        assert isinstance(event["id"], str)
        if found["object"] in _OBJECTS:
            report_of(found)
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        raise ApiError(400, "malformed", "This is not an event of the payment provider.") from error
    return event


def receive(event: dict[str, Any]) -> str:
    """Apply an event once, in one transaction with the note that it came."""
    found = event["data"]["object"]
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [event["id"]])
        if as_staff(lambda: ProviderEvent.objects.filter(pk=event["id"]).exists()):
            return outside.KNOWN
        outcome = outside.apply(report_of(found)) if found["object"] in _OBJECTS else "ignored"
        as_staff(lambda: _keep(event, found, outcome))
    return outcome


def _keep(event: dict[str, Any], found: dict[str, Any], outcome: str) -> None:
    ProviderEvent.objects.create(
        event_id=event["id"],
        type=str(event.get("type", ""))[:100],
        object_id=str(found.get("id", ""))[:200],
        status=str(found.get("status") or "")[:40],
        outcome=outcome,
    )

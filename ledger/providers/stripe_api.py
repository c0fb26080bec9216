"""Stripe through its official SDK, which `requirements-stripe.txt` brings."""

from collections.abc import Iterator
from typing import Any

import stripe

from ledger.providers.calls import SECONDS, CallFailed, Json, NotSent, Resource, Unclear, failure

_RESOURCES: dict[str, Any] = {
    "refunds": stripe.Refund,
    "payment_intents": stripe.PaymentIntent,
    "disputes": stripe.Dispute,
}


class StripeApi:
    """`url` replaces Stripe's own address, for tests. The SDK's own retries are off: the worker has its own."""

    name = "stripe"

    def __init__(self, api_key: str, url: str | None) -> None:
        self._key = api_key
        stripe.max_network_retries = 0
        stripe.default_http_client = stripe.RequestsClient(timeout=SECONDS)
        if url is not None:
            stripe.api_base = url.rstrip("/")

    def create(self, resource: Resource, params: Json, key: str) -> Json:
        return self._ask(lambda: _RESOURCES[resource].create(**params, idempotency_key=key, api_key=self._key))

    def get(self, resource: Resource, reference: str) -> Json:
        return self._ask(lambda: _RESOURCES[resource].retrieve(reference, api_key=self._key))

    def each(self, resource: Resource, params: Json) -> Iterator[Json]:
        try:
            for found in _RESOURCES[resource].list(**params, limit=100, api_key=self._key).auto_paging_iter():
                yield found.to_dict()
        except stripe.StripeError as error:
            raise _failure(error) from error

    def _ask(self, call: Any) -> Json:
        try:
            answer: Json = call().to_dict()
        except stripe.StripeError as error:
            raise _failure(error) from error
        return answer


def _failure(error: stripe.StripeError) -> CallFailed:
    if error.http_status is None:
        refused = "refused" in str(error.__cause__).lower()
        return NotSent("connection_refused") if refused else Unclear("connection_lost")
    kind = "idempotency_error" if isinstance(error, stripe.IdempotencyError) else error.code
    return failure(error.http_status, kind or f"http_{error.http_status}")

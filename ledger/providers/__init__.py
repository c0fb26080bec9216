"""The connectors to payment providers: `test`, which is built in, and `stripe`. Both speak Stripe's objects."""

from functools import cache

from django.conf import settings

from ledger.providers.connector import Connector


@cache
def _connector(name: str, url: str | None, key: str | None) -> Connector:
    if name == "stripe":
        from ledger.providers.stripe_api import StripeApi  # an optional package

        return Connector(StripeApi(key or "", url))
    from ledger.providers.test_api import TestApi

    return Connector(TestApi(url or ""))


def connector() -> Connector | None:
    """The provider that PLACET_PAYMENTS names, or None when the shop pays by itself."""
    env = settings.PLACET
    return None if env.payments == "off" else _connector(env.payments, env.payments_url, env.stripe_api_key)

"""The ledger's own tasks."""

import logging

from celery import shared_task
from django.db import connection

from ledger.payouts.reconciliation import reconcile
from ledger.providers import connector
from ledger.providers.calls import CallFailed

log = logging.getLogger(__name__)
_DAYS = 2


@shared_task(name="ledger.tasks.reconcile")
def reconcile_recent() -> None:
    """Record what the provider did without us, in case its reports got lost; what is left is for the staff page."""
    provider = connector()
    if provider is None:
        return
    try:
        for found in reconcile(provider, days=_DAYS):
            log.warning("payouts: %s %s: %s", found.code, found.reference, found.text)
    except CallFailed as failed:
        log.warning("payouts: the payment provider does not answer: %s", failed.code)
    finally:
        connection.close()

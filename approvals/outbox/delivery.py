"""Telling people outside the console: rows written with the news, and a worker that sends them.

Links open a page; nothing is ever decided by opening one.
"""

import datetime as dt
import json
import logging
from collections.abc import Callable

import httpx2
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from standardwebhooks import Webhook

from approvals.models import Delivery, Request, Staff
from base.access import DECIDES, LEAD

log = logging.getLogger(__name__)

LEASE_SECONDS = 60
TIMEOUT_SECONDS = 10.0
MOST_ATTEMPTS = 12
AT_ONCE = 50


def tell_colleagues(request: Request, what: str, sentence: str, *, roles: tuple[str, ...] = DECIDES) -> None:
    """Put news of a request into the outbox, in its own transaction: the webhook, and every colleague's e-mail."""
    notify = settings.PLACET.notify
    key = f"{what}:{request.reference}:{request.revision}"
    subject = f"{request.reference}: {sentence}"
    link = notify.url + reverse("request", args=[request.reference])
    summary = str(request.preview["summary"])
    rows = []
    if notify.webhook_url:
        rows.append(Delivery(channel="webhook", key=f"{key}:webhook", subject=subject, text=summary, link=link))
    if notify.smtp:
        people = Staff.objects.filter(role__in=roles, is_active=True).exclude(email="").values_list("pk", "email")
        rows += [
            Delivery(channel="email", key=f"{key}:{pk}", to=email, subject=subject, text=summary, link=link)
            for pk, email in people
        ]
    Delivery.objects.bulk_create(rows, ignore_conflicts=True)


def tell_customer(*, key: str, to: str, subject: str, text: str) -> None:
    """Put an e-mail to a customer into the outbox, where e-mail is set up and they have an address."""
    if settings.PLACET.notify.smtp and "@" in to:
        row = Delivery(channel="email", key=key, to=to, subject=subject, text=text, link=settings.PLACET.notify.url)
        Delivery.objects.bulk_create([row], ignore_conflicts=True)


_REMIND = """
    UPDATE approvals_request SET {column} = statement_timestamp() WHERE reference IN (
        SELECT reference FROM approvals_request WHERE state = 'pending' AND NOT is_decoy AND {column} IS NULL
          AND statement_timestamp() BETWEEN created_at + (expires_at - created_at) * {part} AND expires_at
        LIMIT 100 FOR UPDATE SKIP LOCKED)
    RETURNING reference
"""


def remind() -> None:
    """Half of its time over: who decides is told again. Three quarters: the leads are. Each once."""
    for column, part, sentence, roles in (
        ("reminded_at", 0.5, "still waits for a decision", DECIDES),
        ("escalated_at", 0.75, "expires soon and nobody has decided", (LEAD,)),
    ):
        with connection.cursor() as cursor:
            cursor.execute(_REMIND.format(column=column, part=part))
            references = [row[0] for row in cursor.fetchall()]
        for request in Request.objects.filter(pk__in=references):
            tell_colleagues(request, column, sentence, roles=roles)


_CLAIM = """
    UPDATE approvals_delivery SET attempts = attempts + 1, next_at = statement_timestamp() + make_interval(secs => %s)
    WHERE id IN (SELECT id FROM approvals_delivery
                 WHERE sent_at IS NULL AND given_up_at IS NULL AND next_at <= statement_timestamp()
                 ORDER BY next_at LIMIT %s FOR UPDATE SKIP LOCKED)
    RETURNING id
"""


def deliver_due() -> None:
    """Send what is due. Claimed first, sent outside any transaction, so a worker that dies leaves it to the next."""
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [LEASE_SECONDS, AT_ONCE])
        claimed = [row[0] for row in cursor.fetchall()]
    for delivery in Delivery.objects.filter(pk__in=claimed).order_by("pk"):
        mine = Delivery.objects.filter(pk=delivery.pk, attempts=delivery.attempts)
        try:
            _SENDERS[delivery.channel](delivery)
        except (OSError, httpx2.HTTPError) as error:  # smtplib's errors are OSErrors too
            log.warning("delivery %s failed %s times: %s", delivery.pk, delivery.attempts, type(error).__name__)
            mine.update(**_after_failure(delivery))
        else:
            mine.update(sent_at=timezone.now())


def _after_failure(delivery: Delivery) -> dict[str, object]:
    """Twice as long each time, up to an hour; given up after about a working day."""
    if delivery.attempts >= MOST_ATTEMPTS:
        return {"given_up_at": timezone.now()}
    return {"next_at": timezone.now() + dt.timedelta(seconds=min(2**delivery.attempts * 5, 3600))}


def _send_email(delivery: Delivery) -> None:
    EmailMessage(delivery.subject, f"{delivery.text}\n\n{delivery.link}\n", to=[delivery.to]).send()


def _post(delivery: Delivery) -> None:
    """Signed as Standard Webhooks have it, under one id however often it is sent; any answer below 300 will do."""
    notify = settings.PLACET.notify
    if notify.format == "slack":
        body = json.dumps({"text": f"{delivery.subject}\n{delivery.text}\n<{delivery.link}>"})
    else:
        body = json.dumps(
            {"key": delivery.key, "subject": delivery.subject, "text": delivery.text, "link": delivery.link}
        )
    now = dt.datetime.now(dt.UTC)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": delivery.key,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(notify.key).sign(delivery.key, now, body),
    }
    answer = httpx2.post(
        notify.webhook_url, content=body.encode(), headers=headers, timeout=TIMEOUT_SECONDS, follow_redirects=False
    )
    if answer.status_code >= 300:
        raise OSError(f"the webhook answered {answer.status_code}")


_SENDERS: dict[str, Callable[[Delivery], None]] = {"email": _send_email, "webhook": _post}

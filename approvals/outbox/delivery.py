"""Telling people outside the console: rows written with the news, and a worker that sends them.

Links open a page; nothing is ever decided by opening one.
"""

import datetime as dt
import json
from collections.abc import Callable

import httpx2
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from standardwebhooks import Webhook

from approvals.models import Delivery, Request, Staff
from base import work
from base.access import DECIDES, LEAD
from base.work import TryAgain, WorkList

LEASE_SECONDS = 120.0
TIMEOUT_SECONDS = 10.0
"""For each step of talking to a server; a message takes several."""
MOST_ATTEMPTS = 17


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


def _reminders(name: str, column: str, part: float, sentence: str, roles: tuple[str, ...]) -> WorkList:
    """Who is told once more of what still waits, when this part of its time is over: each once."""

    def remind_of(reference: str) -> None:
        with transaction.atomic():  # of several at once, one finds it not reminded of yet
            first = Request.objects.filter(pk=reference, state="pending", **{f"{column}__isnull": True})
            if first.update(**{column: Now()}):
                tell_colleagues(Request.objects.get(pk=reference), column, sentence, roles=roles)

    return WorkList(
        name=name,
        source="approvals_request",
        key="s.reference",
        belongs=f"s.state = 'pending' AND NOT s.is_decoy AND s.{column} IS NULL",
        due=f"""statement_timestamp()
            BETWEEN s.created_at + (s.expires_at - s.created_at) * {part} AND s.expires_at""",
        order="s.expires_at",
        do=remind_of,
        lease_seconds=lambda: LEASE_SECONDS,
        most_attempts=MOST_ATTEMPTS,
    )


REMINDERS = _reminders("reminders", "reminded_at", 0.5, "still waits for a decision", DECIDES)
ESCALATIONS = _reminders("escalations", "escalated_at", 0.75, "expires soon and nobody has decided", (LEAD,))


def remind() -> None:
    """Half of its time over: who decides is told again. Three quarters: the leads are."""
    for each in (REMINDERS, ESCALATIONS):
        work.run(each)


def deliver_due(go_on: Callable[[], bool] = lambda: True) -> None:
    """Send what is due. Claimed first, sent outside any transaction, so a worker that dies leaves it to the next."""
    work.run(OUTBOX, go_on)


def _deliver(key: str) -> None:
    delivery = Delivery.objects.filter(pk=key, sent_at=None).first()
    if delivery is None:
        return
    try:
        _SENDERS[delivery.channel](delivery)
    except (OSError, httpx2.HTTPError) as error:  # smtplib's errors are OSErrors too
        raise TryAgain(type(error).__name__) from error
    Delivery.objects.filter(pk=delivery.pk).update(sent_at=timezone.now())


OUTBOX = WorkList(
    name="outbox",
    source="approvals_delivery",
    key="s.id::text",
    belongs="s.sent_at IS NULL",
    order="s.id",
    do=_deliver,
    lease_seconds=lambda: LEASE_SECONDS,
    most_attempts=MOST_ATTEMPTS,
    side_by_side=4,
)
"""Each is tried for about a working day."""


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

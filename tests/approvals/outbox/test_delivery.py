"""Telling people outside the console: with the news, again when it fails, and without deciding anything."""

import base64
import datetime as dt
import hashlib
import hmac
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
import time_machine
from django.core import mail
from django.db import connection, connections, transaction
from django.utils import timezone
from standardwebhooks import Webhook, WebhookVerificationError

from agents.execution.execute import execute
from approvals.decisions.deciding import decide
from approvals.models import Delivery, Request, Staff
from approvals.outbox import delivery
from base.models import WorkItem
from config.env_base import EnvError
from config.notify_env import Notify, Smtp
from tests.conftest import Propose
from tests.support.cast import make_staff
from tests.support.env import replace

SMTP = Smtp(host="mail.invalid", port=25, user="", password="", sender="a@example.com", security="none")


@pytest.fixture
def told(settings: Any) -> None:
    """E-mail and a webhook are set up."""
    notify = Notify(url="https://s.example", smtp=SMTP, webhook_url="https://hook.example/x", secret="a secret of 16!!")
    settings.PLACET = replace(settings.PLACET, notify=notify, undo_seconds=0)


@pytest.fixture
def posts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the webhook gets; it answers 200."""
    seen: list[Any] = []

    def post(url: str, **given: Any) -> httpx2.Response:
        seen.append((url, given))
        return httpx2.Response(200)

    monkeypatch.setattr(httpx2, "post", post)
    return seen


@pytest.fixture
def waiting(told: None, agent: Staff, propose: Propose) -> Request:
    Staff.objects.filter(pk=agent.pk).update(email="ada@example.com")
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


def test_a_new_request_is_told_once_with_a_link(waiting: Request, posts: list[Any]) -> None:
    delivery.deliver_due()
    delivery.deliver_due()
    [(url, given)] = posts
    body = json.loads(given["content"])
    assert url == "https://hook.example/x"
    assert body["link"] == f"https://s.example/console/requests/{waiting.reference}/"
    [letter] = mail.outbox
    assert (letter.to, waiting.reference in letter.subject) == (["ada@example.com"], True)
    assert not Delivery.objects.filter(sent_at=None).exists()


STANDARD = f"whsec_{base64.b64encode(bytes(range(32))).decode()}"


@pytest.mark.parametrize(("secret", "key"), [("a secret of 16!!", b"a secret of 16!!"), (STANDARD, bytes(range(32)))])
def test_the_webhook_is_signed_as_the_standard_has_it(
    waiting: Request, posts: list[Any], settings: Any, secret: str, key: bytes
) -> None:
    settings.PLACET = replace(settings.PLACET, notify=replace(settings.PLACET.notify, secret=secret))
    delivery.deliver_due()
    [(_, given)] = posts
    headers, body = given["headers"], given["content"]
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert Webhook(secret if secret == STANDARD else key).verify(body, headers) == json.loads(body)
    with pytest.raises(WebhookVerificationError):
        Webhook(key).verify(body + b" ", headers)


def test_a_second_post_keeps_its_id(waiting: Request, posts: list[Any]) -> None:
    delivery.deliver_due()
    Delivery.objects.update(sent_at=None)
    with time_machine.travel(timezone.now() + dt.timedelta(minutes=10)):
        delivery.deliver_due()
    first, second = (given["headers"] for _, given in posts)
    assert first["webhook-id"] == second["webhook-id"]
    assert int(second["webhook-timestamp"]) - int(first["webhook-timestamp"]) > 590


def test_slack_gets_its_own_form(waiting: Request, posts: list[Any], settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, notify=replace(settings.PLACET.notify, format="slack"))
    delivery.deliver_due()
    assert set(json.loads(posts[0][1]["content"])) == {"text"}


def test_what_fails_is_tried_again_and_given_up_in_the_end(waiting: Request, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(httpx2, "post", lambda *_, **__: httpx2.Response(500))
    delivery.deliver_due()
    row = Delivery.objects.get(channel="webhook")
    item = WorkItem.objects.get()
    assert (item.key, item.attempts, row.sent_at, item.next_at > timezone.now()) == (str(row.pk), 1, None, True)
    WorkItem.objects.update(next_at=timezone.now(), attempts=delivery.MOST_ATTEMPTS - 1)
    delivery.deliver_due()
    item.refresh_from_db()
    assert (item.parked_at is not None, item.parked_why) == (True, "OSError")


def test_slow_sends_by_two_workers_are_sent_once(committing_db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lease covers one message, however many wait behind it: together they take longer than one lease."""
    Delivery.objects.bulk_create(
        [Delivery(channel="email", key=str(n), to="a@example.com", subject="s", text="t") for n in range(60)]
    )
    monkeypatch.setattr(delivery, "LEASE_SECONDS", 1.0)
    sent: list[int] = []

    def slowly(message: Delivery) -> None:
        sent.append(message.pk)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(0.15)")

    monkeypatch.setitem(delivery._SENDERS, "email", slowly)

    def worker(_: int) -> None:
        try:
            delivery.deliver_due()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as workers:
        list(workers.map(worker, range(2)))
    assert len(sent) == len(set(sent)) == 60
    assert not Delivery.objects.filter(sent_at=None).exists()


def test_news_that_is_rolled_back_is_never_told(told: None, propose: Propose) -> None:
    with transaction.atomic():
        propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
        assert Delivery.objects.exists()
        transaction.set_rollback(True)
    assert not Delivery.objects.exists()


def test_a_reminder_at_half_and_the_leads_at_three_quarters(waiting: Request) -> None:
    make_staff("lena", "lead", email="lena@example.com")
    Delivery.objects.update(sent_at=timezone.now())

    def after(part: float) -> list[tuple[str, str]]:
        long = dt.timedelta(hours=72)
        now = timezone.now()
        Request.objects.update(created_at=now - long * part, expires_at=now + long * (1 - part))
        before = set(Delivery.objects.values_list("pk", flat=True))
        delivery.remind()
        delivery.remind()
        new = Delivery.objects.exclude(pk__in=before).order_by("to")
        return [(row.to, row.subject.split(": ")[1]) for row in new]

    assert after(0.4) == []
    assert [to for to, _ in after(0.6)] == ["", "ada@example.com", "lena@example.com"]
    assert after(0.8) == [
        ("", "expires soon and nobody has decided"), ("lena@example.com", "expires soon and nobody has decided"),
    ]  # fmt: skip


def test_a_customer_whose_chat_is_closed_gets_the_outcome_by_mail(
    waiting: Request, agent: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(
        reference=waiting.reference, staff=agent, verdict="approve", digest=waiting.digest, shown={}, note="zebra",
        customer_message="zebra",
    )  # fmt: skip
    execute(waiting.reference)
    [letter] = Delivery.objects.filter(to="maya@example.com")
    assert "£124.00" in letter.text
    assert "zebra" not in letter.text


def test_one_who_watches_gets_none(waiting: Request, agent: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.chat.notices.is_watched", lambda _: True)
    decide(
        reference=waiting.reference, staff=agent, verdict="deny", digest=waiting.digest, shown={}, reason_code="policy"
    )
    assert not Delivery.objects.filter(to="maya@example.com").exists()


def test_without_set_up_nothing_is_kept(propose: Propose) -> None:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    assert not Delivery.objects.exists()


def test_the_environment_is_read_strictly() -> None:
    read = Notify.read({"PLACET_EMAIL_URL": "smtps://u%40x:p%2Fw@mail.example.com/?from=a@example.com"})
    assert read.url == "http://localhost:8000"
    assert read.smtp == Smtp(
        host="mail.example.com", port=465, user="u@x", password="p/w", sender="a@example.com", security="tls"
    )
    for wrong in (
        {"PLACET_EMAIL_URL": "mail.example.com"},
        {"PLACET_EMAIL_URL": "smtp://mail.example.com"},
        {"PLACET_NOTIFY_WEBHOOK_URL": "https://x.example"},
        {"PLACET_NOTIFY_WEBHOOK_URL": "ftp://x", "PLACET_NOTIFY_SECRET": "a secret of 16!!"},
        {"PLACET_NOTIFY_SECRET": "whsec_not base64"},
        {"PLACET_NOTIFY_WEBHOOK_URL": "https://x.example", "PLACET_NOTIFY_SECRET": "whsec_c2hvcnQ="},
        {"PLACET_NOTIFY_FORMAT": "xml"},
        {"PLACET_PUBLIC_URL": "support"},
    ):
        with pytest.raises(EnvError):
            Notify.read(wrong)

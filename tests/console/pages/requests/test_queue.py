"""The queue: its views, its pages among many, what it costs, and what an open page hears."""

import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from agents.chat.stream import client as live_client
from approvals.casefile.flags import flag
from approvals.decisions import decoys
from approvals.models import Request, Staff
from approvals.people import shifts
from approvals.requests import assignment, queue_filters
from approvals.requests.queue import PAGE, count, page
from approvals.requests.risk import risk_of
from bench.waiting import fill
from console.live import viewers
from tests.conftest import Propose
from tests.support.cast import make_staff

pytestmark = pytest.mark.django_db


def shown(client: Client, **query: str) -> list[str]:
    """The references on a page, in their order."""
    return re.findall(r'data-row="([^"]+)"', client.get(reverse("console"), query).content.decode())


def read(**query: str) -> queue_filters.Filters:
    return queue_filters.read(query)


def test_pages_hold_everything_once_in_every_order(agent: Staff) -> None:
    fill(2 * PAGE + 7)
    for sort, (_, column, downwards) in queue_filters.SORTS.items():
        seen, after = [], ""
        while True:
            found = page(read(sort=sort), agent, after=after)
            seen += found.rows
            if not (after := found.after):
                break
        values = [(row[column], row["reference"]) for row in seen]
        assert values == sorted(values, reverse=downwards)
        assert len({row["reference"] for row in seen}) == 2 * PAGE + 7


def test_a_page_costs_as_many_queries_among_many(signed_in: Any, agent: Staff, shop: None) -> None:
    client = signed_in(agent)
    fill(3)
    client.get(reverse("console"))
    with CaptureQueriesContext(
        connection,
    ) as few:
        client.get(reverse("console"))
    fill(1_500, before=3)
    with CaptureQueriesContext(connection) as many:
        client.get(reverse("console"))
    assert len(few) == len(many)
    assert len(many) < 25


@pytest.mark.parametrize("sort", queue_filters.SORTS)
def test_every_order_walks_an_index(agent: Staff, sort: str) -> None:
    """On the first page and later. Nothing analyses a test's own rows, so the planner is kept from what it would
    only take for a few."""
    fill(200)
    for after in ("", page(read(sort=sort), agent).after):
        with CaptureQueriesContext(connection) as ran:
            page(read(sort=sort), agent, after=after)
        sql = next(q["sql"] for q in ran if "ORDER BY" in q["sql"] and 'FROM "approvals_request"' in q["sql"])
        with connection.cursor() as cursor:
            for way in ("seqscan", "bitmapscan", "sort"):
                cursor.execute(f"SET LOCAL enable_{way} = off")
            cursor.execute(f"EXPLAIN {sql}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
        assert "using request_queue" in plan, plan
        assert "Sort" not in plan, plan


def test_counts_end_at_a_thousand(signed_in: Any, agent: Staff) -> None:
    fill(1_100)
    assert count(read(), agent) == 1_001
    assert b"1,000+ found" in signed_in(agent).get(reverse("console")).content


def test_filters_and_search(signed_in: Any, agent: Staff, lead: Staff, propose: Propose) -> None:
    first = propose("issue_refund", order_id="4471", amount_minor=9_900, reason="damaged").reference
    second = propose("issue_refund", order_id="4472", amount_minor=30_000, reason="damaged").reference
    client = signed_in(agent)
    assert set(shown(client)) == {first, second}
    assert shown(client, currency="GBP", least="200") == [second]
    assert shown(client, currency="GBP", most="£200.00") == [first]
    assert shown(client, currency="USD") == []
    assert shown(client, q=first.lower()) == [first]
    assert shown(client, q="4472") == [second]
    assert set(shown(client, q="maya@example.com")) == {first, second} == set(shown(client, customer="maya"))
    assert shown(client, tool="cancel_order") == [] == shown(client, customer="noor")
    assert shown(client, sort="amount") == [second, first]
    assignment.assign(reference=first, staff=agent)
    assert shown(client, who="mine") == [first]
    assert shown(client, who="free") == [second]


def test_what_cannot_be_looked_for(signed_in: Any, agent: Staff, waiting: Request) -> None:
    client = signed_in(agent)
    assert b"Choose a currency too." in client.get(reverse("console"), {"least": "5"}).content
    assert shown(client, least="x", currency="GBP") == []
    for bad in (
        {"sort": "x"},
        {"who": "x"},
        {"after": "x"},
        {"after": "2026-01-01~R\x00"},
        {"state": "denied", "sort": "left"},
    ):
        assert client.get(reverse("console"), bad).status_code == 404


def test_snoozed_ones_are_left_out_of_ones_own_view(
    signed_in: Any, agent: Staff, lead: Staff, waiting: Request
) -> None:
    client, url = signed_in(agent), reverse("request-snooze", args=[waiting.reference])
    client.post(url, {"how_long": "4h"})
    assert shown(client) == []
    assert shown(client, who="snoozed") == [waiting.reference] == shown(client, q=waiting.reference)
    assert page(read(), lead).rows
    client.post(url, {"wake": ""})
    assert shown(client) == [waiting.reference]
    assert b"Choose for how long" in client.post(url, {"how_long": "9y"}, follow=True).content


def test_nothing_rests_to_its_end(agent: Staff, waiting: Request) -> None:
    Request.objects.update(expires_at=timezone.now() + shifts.LEAST_LEFT * 2)
    assert shifts.snooze(reference=waiting.reference, staff=agent, how_long="24h") <= timezone.now() + shifts.LEAST_LEFT


def test_an_open_queue_hears_what_changed(signed_in: Any, agent: Staff, lead: Staff, propose: Propose) -> None:
    first = propose("issue_refund", order_id="4471", amount_minor=9_900, reason="damaged").reference
    client = signed_in(agent)
    body = client.get(reverse("console")).content.decode()
    [seal] = re.findall(r'data-seal="([^"]+)"', body)
    [since] = re.findall(r'data-shown-at="([^"]+)"', body)
    query = {"row": f"{first}~{seal}", "since": since}
    quiet = client.get(reverse("pulse"), query).json()
    assert (quiet["rows"], quiet["fresh"], quiet["waiting"]) == ({}, "", "1")
    assignment.assign(reference=first, staff=lead)
    Request.objects.filter(pk=first).update(created_at=timezone.now())
    news = client.get(reverse("pulse"), query).json()
    assert "lena" in news["rows"][first]
    assert news["fresh"] == "1 new request: show it"
    for bad in ({}, {"since": "x"}, {"since": "2026-01-01"}):
        assert client.get(reverse("pulse"), bad).status_code == 404


def test_who_looks_is_shown_and_not_missed(signed_in: Any, agent: Staff, waiting: Request, monkeypatch: Any) -> None:
    client = signed_in(agent)
    live_client().flushall()
    looking = reverse("request-viewers", args=[waiting.reference])
    assert client.get(looking).status_code == 204
    assert viewers.seen(waiting.reference, "lena") == [agent.username]
    assert b"lena is looking at this too" in client.get(looking).content
    assert client.get(looking, {"seen": "lena"}).status_code == 204
    assert "ada, lena is looking" in client.get(reverse("console")).content.decode()
    monkeypatch.setattr(viewers, "_ask", lambda pipe: [])
    assert client.get(reverse("console")).status_code == 200
    assert client.get(looking).status_code == 204


def test_a_dead_valkey_is_asked_once(monkeypatch: Any) -> None:
    asked = []

    class Dead:
        def execute(self) -> None:
            asked.append(1)
            raise OSError

    monkeypatch.setattr(viewers, "_paused_until", 0.0)
    assert viewers._ask(Dead()) == [] == viewers._ask(Dead())
    assert asked == [1]


def test_risk_is_told_with_its_reasons(agent: Staff, lead: Staff, propose: Propose) -> None:
    propose("issue_refund", order_id="4471", amount_minor=9_900, reason="damaged")
    [row] = page(read(), agent).rows
    assert (row["risk"].level, row["risk"].share) == ("some", 198)
    flag(staff=lead, customer_id="maya", reason="many refunds")
    [row] = page(read(), agent).rows
    assert (row["risk"].level, str(row["risk"].reasons[0])) == ("high", "flagged customer")
    assert risk_of({**row, "approvals_needed": 2}, flagged=False).reasons == ("two people",)


def test_a_decoy_is_found_like_any_other(signed_in: Any, agent: Staff, waiting: Request) -> None:
    decoy = decoys.make()
    assert decoy is not None
    client = signed_in(agent)
    for word in (decoy.pk, decoy.preview["customer_name"], decoy.preview["order_id"]):
        assert decoy.pk in shown(client, q=word)


def test_who_reads_the_queue(client: Client, signed_in: Any, auditor: Staff, waiting: Request) -> None:
    paths = [reverse("console"), f"{reverse('pulse')}?since=2026-01-01T00:00:00Z"]
    for path in paths:
        assert client.get(path).status_code == 302
    reading = signed_in(auditor)
    for path in paths:
        assert reading.get(path).status_code == 200
        assert reading.post(path).status_code == 405
    body = reading.get(reverse("console")).content
    assert b'name="item"' not in body
    assert b'id="several"' not in body


def test_events_are_for_programs_too(signed_in: Any, waiting: Request) -> None:
    answer = signed_in(make_staff("nina", "admin")).get(f"{reverse('pulse')}?since=2026-01-01T00:00:00Z")
    assert json.loads(answer.content)["count"] == 1

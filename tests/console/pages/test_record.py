"""The record's pages: who may read, what filters do, and that reading leaves a trace."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.turns.claims import Claimed
from approvals.models import Staff
from audit.models import Event
from audit.record import SYSTEM, Actor, NewEvent, record
from audit.search import search
from base.http.errors import ApiError

pytestmark = pytest.mark.django_db


def make_event(**columns: Any) -> int:
    values = {"kind": "dispatch", "decision": "refused", **columns}
    return record(Actor(kind="customer", id="maya"), NewEvent(**values), reason="too_much")


def page_urls() -> list[str]:
    return [reverse("audit"), reverse("audit-event", args=[make_event()])]


def test_nobody_is_sent_to_sign_in(client: Client) -> None:
    for url in page_urls():
        assert client.get(url)["Location"].startswith(reverse("sign-in"))


def test_an_agent_may_not_read(signed_in, agent: Staff) -> None:
    for url in page_urls():
        assert signed_in(agent).get(url).status_code == 403


def test_the_auditor_and_the_lead_may(signed_in, auditor: Staff, lead: Staff) -> None:
    for url in page_urls():
        assert signed_in(auditor).get(url).status_code == 200
        assert signed_in(lead).get(url).status_code == 200


def test_only_reading(signed_in, auditor: Staff) -> None:
    for url in page_urls():
        assert signed_in(auditor).post(url).status_code == 405


def test_reading_is_an_event(signed_in, auditor: Staff) -> None:
    signed_in(auditor).get(reverse("audit"), {"customer": "maya"})
    event = Event.objects.select_related("detail").get(kind="access")
    assert (event.actor_id, event.decision) == (auditor.username, "read")
    assert json.loads(event.detail.body)["filters"] == {"customer": "maya"}


def test_a_page_shows_every_column_and_the_detail(signed_in, auditor: Staff) -> None:
    event_id = make_event(tool="issue_refund", amount_minor=12_00, currency="GBP", reference="R-7F3K9QXA")
    body = signed_in(auditor).get(reverse("audit-event", args=[event_id])).content.decode()
    assert "£12.00" in body
    assert "too_much" in body
    assert reverse("request", args=["R-7F3K9QXA"]) in body


def test_an_event_leads_to_its_turn_and_the_turn_shows_it(signed_in, auditor: Staff, turn: Claimed) -> None:
    event_id = make_event(turn_id=turn.turn_id, conversation_id=turn.conversation_id, customer_id="maya")
    browser, page = signed_in(auditor), reverse("turn", args=[turn.turn_id])
    assert f'href="{page}"' in browser.get(reverse("audit-event", args=[event_id])).content.decode()
    assert [event.pk for event in browser.get(page).context["events"]] == [event_id]


def test_text_of_strangers_is_not_markup(signed_in, auditor: Staff) -> None:
    event_id = make_event(tool="<script>alert(1)</script>")
    for url in (reverse("audit"), reverse("audit-event", args=[event_id])):
        assert b"<script>alert" not in signed_in(auditor).get(url).content


def test_an_unknown_event_is_not_found(signed_in, auditor: Staff) -> None:
    assert signed_in(auditor).get(reverse("audit-event", args=[999_999])).status_code == 404


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "nonsense"),
        ("conversation", "not-a-uuid"),
        ("from", "yesterday"),
        ("to", "2026-02-31"),
        ("actor", "a" * 201),
        ("tool", "nul\x00"),
        ("cursor", "-1"),
        ("cursor", "9" * 30),
        ("cursor", "²"),
    ],
)
def test_a_bad_filter_says_what_to_give(signed_in, auditor: Staff, name: str, value: str) -> None:
    response = signed_in(auditor).get(reverse("audit"), {name: value})
    assert response.status_code == 422
    assert b"Give" in response.content or b"Take the cursor" in response.content


def test_an_unknown_filter_names_the_known_ones() -> None:
    with pytest.raises(ApiError) as raised:
        search({"colour": "red"}, cursor=None, limit=10)
    assert "customer" in raised.value.body["fields"]["colour"][0]


def test_filters_and_pages_find_each_event_once() -> None:
    wanted = [make_event(customer_id="maya") for _ in range(5)]
    make_event(customer_id="noor")
    found, cursor = [], None
    while True:
        page = search({"customer": "maya"}, cursor=cursor, limit=2)
        found += [event.pk for event in page.events]
        if (cursor := page.next_cursor) is None:
            break
    assert found == wanted[::-1]


def test_a_reference_finds_what_came_of_it() -> None:
    asked = make_event(reference="R-7F3K9QXA")
    done = make_event(kind="execution", reference="R-7F3K9QXA", downstream_reference="T-7F3K9QXB")
    for reference, found in (("R-7F3K9QXA", [done, asked]), ("T-7F3K9QXB", [done])):
        assert [event.pk for event in search({"reference": reference}, cursor=None, limit=10).events] == found


def test_from_and_to_take_days_and_moments() -> None:
    event_id = record(SYSTEM, NewEvent(kind="request", decision="expired"))
    at = Event.objects.get(pk=event_id).at
    assert search({"from": f"{at:%Y-%m-%d}", "to": f"{at:%Y-%m-%d}"}, cursor=None, limit=10).events
    assert search({"from": at.isoformat().replace("+", " ")}, cursor=None, limit=10).events
    assert not search({"to": at.isoformat()}, cursor=None, limit=10).events

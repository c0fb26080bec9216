"""The staff API of the record: who reads it, every filter, pages, and that reading is recorded."""

import datetime as dt
import json
import uuid
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from agents.turns.claims import Claimed
from approvals.decisions.deciding import decide
from approvals.models import Request, Staff
from audit.models import Event, Kind
from audit.record import SYSTEM, Actor, NewEvent, record
from tests.conftest import Propose
from tests.support.api import EVENTS, Api, as_maya, refused, with_token
from tests.support.cast import make_staff

FIELDS = {
    "id", "at", "kind", "actor", "customer_id", "conversation_id", "turn_id", "tool_use_id", "tool", "arguments",
    "decision", "rule", "reason", "reference", "downstream_reference", "amount_minor", "currency", "policy_version",
}  # fmt: skip
REFUND = {"order_id": "4471", "amount_minor": 12_400, "reason": "damaged"}


def rows(staff: Staff, **query: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = with_token(staff).get(EVENTS, **query).json()["results"]
    return [row for row in found if row["kind"] != "access"]


@pytest.mark.django_db
def test_who_reads_the_record() -> None:
    for role, status in (("auditor", 200), ("lead", 200), ("admin", 200), ("agent", 403)):
        response = with_token(make_staff(role, role)).get(EVENTS)
        assert response.status_code == status
    refused(response, 403, "role")
    for api in (Api(), Api("x"), as_maya()):
        refused(api.get(EVENTS), 401)
    refused(Api(**{"X-User": "auditor", "X-Forwarded-User": "auditor"}).get(EVENTS, user="auditor"), 401)


@pytest.mark.django_db
def test_a_session_serves_too(auditor: Staff, agent: Staff) -> None:
    client = Client()
    client.force_login(auditor)
    assert client.get(EVENTS).status_code == 200
    client.force_login(agent)
    refused(client.get(EVENTS), 403, "role")


@pytest.mark.django_db
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_the_record_is_only_read(method: str, auditor: Staff) -> None:
    refused(with_token(auditor).send(method, EVENTS, "{}"), 405)


def test_a_dispatch_and_its_decision_as_the_api_tells_them(propose: Propose, turn: Claimed, auditor: Staff) -> None:
    propose("issue_refund", **REFUND)
    request = Request.objects.get()
    lena = make_staff("lena", "lead")
    decide(reference=request.pk, staff=lena, verdict="deny", digest=request.digest, shown={}, reason_code="policy")
    decided, dispatched = rows(auditor, reference=request.pk)
    assert dispatched.keys() == FIELDS
    assert dispatched["actor"] == {"kind": "customer", "id": "maya"}
    assert decided["actor"] == {"kind": "staff", "id": "lena"}
    common = {
        "customer_id": "maya", "conversation_id": str(turn.conversation_id), "turn_id": str(turn.turn_id),
        "tool": "issue_refund", "tool_use_id": "toolu_1", "reference": request.pk, "amount_minor": 12_400,
        "currency": "GBP", "policy_version": 1, "rule": "above_automatic_day",
    }  # fmt: skip
    assert dispatched.items() >= (common | {"kind": "dispatch", "decision": "queued"}).items()
    assert dispatched["arguments"] == REFUND
    assert decided.items() >= (common | {"kind": "decision", "decision": "denied", "reason": "policy"}).items()
    assert dt.datetime.fromisoformat(decided["at"]) >= dt.datetime.fromisoformat(dispatched["at"])


def test_arguments_come_as_received_even_when_they_are_none(propose: Propose, auditor: Staff) -> None:
    propose("issue_refund", order_id="44\x00", amount_minor=float("nan"), reason="<b>")
    propose("get_order", order_id="x" * 20_000)
    cut, strange = rows(auditor)
    assert strange["arguments"] == {"order_id": "44\x00", "amount_minor": "NaN", "reason": "<b>"}
    assert strange["decision"] == "refused"
    assert cut["arguments"].endswith("(cut)")


@pytest.mark.django_db
def test_every_filter(auditor: Staff) -> None:
    conversation = uuid.uuid4()
    one = NewEvent(
        kind="dispatch", decision="executed", customer_id="maya", conversation_id=conversation, tool="issue_refund",
        tool_use_id="toolu_9", reference="T-ABCDEF",
    )  # fmt: skip
    wanted = str(record(Actor(kind="staff", id="ada"), one))
    record(SYSTEM, NewEvent(kind="request", decision="expired", customer_id="noor"))
    now = timezone.now()
    matching = {
        "actor": "ada", "customer": "maya", "conversation": conversation, "tool": "issue_refund",
        "tool_use_id": "toolu_9", "reference": "T-ABCDEF", "kind": "dispatch", "decision": "executed",
    }  # fmt: skip
    other = {
        "actor": "placet", "customer": "noor", "conversation": uuid.uuid4(), "tool": "get_order",
        "tool_use_id": "toolu_1", "reference": "T-000000", "kind": "execution", "decision": "queued",
    }  # fmt: skip
    for name, value in matching.items():
        assert [row["id"] for row in rows(auditor, **{name: value})] == [wanted], name
        assert wanted not in [row["id"] for row in rows(auditor, **{name: other[name]})], name
    assert [row["id"] for row in rows(auditor, **matching)] == [wanted]
    theirs = NewEvent(kind="sign_in", decision="signed_out", customer_id="noor", downstream_reference="T-NOOR22")
    own = str(record(Actor(kind="customer", id="noor"), theirs))
    assert (
        [row["id"] for row in rows(auditor, actor="noor")]
        == [own]
        == [row["id"] for row in rows(auditor, reference="T-NOOR22")]
    )
    hour = dt.timedelta(hours=1)
    for query, count in (
        ({"from": (now - hour).isoformat()}, 3),
        ({"from": (now + hour).isoformat()}, 0),
        ({"to": (now + hour).isoformat()}, 3),
        ({"to": (now - hour).isoformat()}, 0),
        ({"from": f"{now:%Y-%m-%d}", "to": f"{now:%Y-%m-%d}"}, 3),
        ({"to": "2026-01-01"}, 0),
        ({"customer": "", "limit": 200}, 3),
    ):
        assert len(rows(auditor, **query)) == count, query


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query",
    [
        {"kind": "gossip"}, {"conversation": "x"}, {"from": "yesterday"}, {"to": "2026-13-01"}, {"from": "0001-01-01"},
        {"cursor": "x"}, {"cursor": "-1"}, {"cursor": "9" * 30}, {"cursor": "²"}, {"limit": "x"}, {"limit": 0},
        {"limit": 201}, {"limit": "1.5"}, {"customer": "\x00"}, {"tool": "x" * 201}, {"nonsense": "1"},
    ],
)  # fmt: skip
def test_filters_that_are_none(query: dict[str, Any], auditor: Staff) -> None:
    assert refused(with_token(auditor).get(EVENTS, **query), 422)["fields"].keys() == query.keys()


@pytest.mark.django_db
def test_pages_newest_first_by_next_while_more_is_written(auditor: Staff) -> None:
    made = [str(record(SYSTEM, NewEvent(kind="turn", decision="ended"))) for _ in range(7)]
    api, url, seen = with_token(auditor), f"{EVENTS}?limit=3&kind=turn", list[str]()
    sizes = []
    while url:
        page = api.get(url).json()
        sizes.append(len(page["results"]))
        seen += [row["id"] for row in page["results"]]
        record(SYSTEM, NewEvent(kind="turn", decision="ended"))
        url = page["next"]
    assert sizes == [3, 3, 1]
    assert seen == made[::-1]


@pytest.mark.django_db
def test_reading_is_recorded_with_what_was_looked_for(auditor: Staff) -> None:
    with_token(auditor).get(EVENTS, customer="maya", kind="dispatch")
    event = Event.objects.select_related("detail").get(kind="access", decision="read")
    assert (event.actor_kind, event.actor_id) == ("staff", "otto")
    assert json.loads(event.detail.body)["filters"] == {"customer": "maya", "kind": "dispatch"}


@pytest.mark.django_db
def test_what_does_not_apply_is_null(auditor: Staff) -> None:
    record(SYSTEM, NewEvent(kind="turn", decision="ended", rule="limit_money"))
    row = rows(auditor)[0]
    filled = {name for name, value in row.items() if value is not None}
    assert filled == {"id", "at", "kind", "actor", "decision", "rule"}
    assert row["actor"] == {"kind": "system", "id": "placet"}


@pytest.mark.django_db
def test_the_filters_kinds_are_the_models() -> None:
    assert {"dispatch", "decision", "execution", "sign_in", "policy", "brake", "access"} <= set(Kind.values)


def test_no_secret_is_told(propose: Propose, auditor: Staff) -> None:
    propose("issue_refund", **REFUND)
    api = with_token(auditor)
    text = api.get(EVENTS).content.decode()
    for secret in (api.headers["Authorization"].removeprefix("Bearer "), settings.SECRET_KEY, auditor.password):
        assert secret not in text
    assert "eyJ" not in text  # no token of ours at all

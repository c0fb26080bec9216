"""The record: an event or no effect, bound to its detail, and never a secret in it."""

import hashlib
import json
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction

from agents.execution import execute
from agents.models import Definition, Message, ToolCall
from agents.turns import loop
from agents.turns.claims import Claimed
from approvals.decisions.deciding import decide
from approvals.models import Decision, Request, Staff
from audit.models import Detail, Event
from audit.record import SYSTEM, Actor, NewEvent, canonical, record
from base import sql
from ledger.access import credentials
from ledger.models import Account, Entry, Hold, Transfer
from tests.conftest import Propose
from tests.support.cast import begin_turn, seen_by_staff
from tests.support.standin import Server

pytestmark = pytest.mark.django_db
SMALL = {"order_id": "4471", "amount_minor": 1_200, "reason": "damaged"}
LARGE = SMALL | {"amount_minor": 12_400}


def test_an_event_is_bound_to_its_detail() -> None:
    key = record(SYSTEM, NewEvent(kind="access", decision="read"), reason="é\x00😀", nothing="", none=None)
    event = Event.objects.select_related("detail").get(pk=key)
    detail = event.detail
    assert json.loads(detail.body) == {"reason": "é\x00😀"}
    assert event.detail_hash == hashlib.sha256(bytes(detail.salt) + detail.body.encode()).hexdigest()
    again = Event.objects.get(pk=record(SYSTEM, NewEvent(kind="access", decision="read"), reason="é\x00😀"))
    assert again.detail_hash != event.detail_hash  # salted: equal texts do not show


def test_canonical_json_has_one_form() -> None:
    assert canonical({"b": 1, "a": [True, None, "é"]}) == '{"a":[true,null,"\\u00e9"],"b":1}'
    with pytest.raises(ValueError, match="Out of range"):
        canonical({"a": float("nan")})


def test_what_a_stranger_wrote_never_breaks_the_row() -> None:
    nasty = "\x00\ud800" + "x" * 5_000
    key = record(
        Actor(kind="customer", id=nasty), NewEvent(kind="dispatch", decision="refused", tool=nasty, tool_use_id=nasty)
    )
    event = Event.objects.get(pk=key)
    assert event.tool.startswith("\ufffd?x")
    assert (len(event.tool), len(event.tool_use_id), len(event.actor_id)) == (100, 200, 200)


@pytest.mark.parametrize(
    "event",
    [
        NewEvent(kind="gossip", decision="x"),
        NewEvent(kind="dispatch", decision="x", amount_minor=5),
        NewEvent(kind="dispatch", decision="x", amount_minor=5, currency=""),
    ],
)
def test_events_that_are_none_are_refused(event: NewEvent) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        record(SYSTEM, event)


# No event, no effect.


class Broken(Exception):
    """The record cannot be written."""


@contextmanager
def broken_record(decision: str = "") -> Iterator[list[str]]:
    """The database refuses events (of one decision, or all), whatever statement brings them; gives what was tried."""
    tried: list[str] = []
    run = sql._run

    def refuse(statement: str, values: Any) -> Any:
        if "INSERT INTO audit_event" in statement:
            tried.append(str([value for value in values if isinstance(value, str) and value == decision]))
            if not decision or decision in values:
                raise Broken
        return run(statement, values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sql, "_run", refuse)
        yield tried


def _state() -> list[int]:
    moved = seen_by_staff(lambda: [model.objects.count() for model in (Entry, Transfer, Hold)])
    balance = seen_by_staff(lambda: Account.objects.get(order_id="4471"))
    rows = [model.objects.count() for model in (Request, Decision, Event, ToolCall)]
    notices = Message.objects.filter(author="notice").count()
    return [*moved, balance.balance_minor, balance.held_minor, *rows, notices]


@pytest.mark.parametrize("arguments", [SMALL, LARGE])
def test_a_dispatch_without_its_event_has_no_effect(propose: Propose, arguments: dict[str, Any]) -> None:
    before = _state()
    with broken_record() as tried, pytest.raises(Broken), transaction.atomic():
        propose("issue_refund", **arguments)
    assert tried
    assert _state() == before
    assert not propose("issue_refund", **arguments).is_error
    assert _state() != before


def test_a_decision_without_its_event_is_none(propose: Propose, agent: Staff) -> None:
    propose("issue_refund", **LARGE)
    request, before = Request.objects.get(), _state()
    with broken_record(), pytest.raises(Broken), transaction.atomic():
        decide(reference=request.pk, staff=agent, verdict="approve", digest=request.digest, shown={})
    assert _state() == before
    assert Request.objects.get().state == "pending"


@pytest.mark.usefixtures("at_once")
def test_an_execution_without_its_event_ends_as_failed_and_moves_nothing(propose: Propose, agent: Staff) -> None:
    propose("issue_refund", **LARGE)
    request = Request.objects.get()
    decide(reference=request.pk, staff=agent, verdict="approve", digest=request.digest, shown={})
    with broken_record("executed") as tried:
        assert execute.execute(request.pk) is True
    assert tried == ["['executed']", "[]"]
    assert Request.objects.get().state == "failed"
    assert seen_by_staff(Entry.objects.count) == 0
    assert seen_by_staff(lambda: Account.objects.get(order_id="4471").balance_minor) == 12_400
    assert Event.objects.get(kind="execution").decision == "failed"


def test_an_event_of_an_effect_that_fails_is_not_kept(turn: Claimed) -> None:
    def fail() -> None:
        record(SYSTEM, NewEvent(kind="dispatch", decision="executed"))
        raise Broken

    with pytest.raises(Broken), transaction.atomic():
        fail()
    assert not Event.objects.exists()


# Credentials are named by their id, and secrets nowhere.


@pytest.mark.usefixtures("at_once")
def test_ids_of_credentials_are_recorded_and_secrets_are_nowhere(
    model: Server, agent: Staff, shop: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    minted: list[str] = []
    real = credentials.mint

    def mint(*args: Any, **kwargs: Any) -> str:
        minted.append(real(*args, **kwargs))
        return minted[-1]

    for place in ("agents.dispatch.guards.mint", "agents.execution.endings.mint"):
        monkeypatch.setattr(place, mint)
    caplog.set_level(logging.DEBUG)
    mark = uuid.uuid4().hex
    calls = [{"tool": "get_order", "input": {"order_id": "4471"}}, {"tool": "issue_refund", "input": LARGE}]
    model.script(mark, {"calls": calls}, {"content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"})
    loop.run(begin_turn(text=f"please {mark}"))
    request = Request.objects.get()
    decide(reference=request.pk, staff=agent, verdict="approve", digest=request.digest, shown={})
    assert execute.execute(request.pk)
    ids = {credentials.verify(token).id for token in minted}
    named = set(Event.objects.exclude(credential_id="").values_list("credential_id", flat=True))
    bodies = [json.loads(body) for body in Detail.objects.values_list("body", flat=True)]
    assert len(minted) == 3
    assert named | {body["credential"] for body in bodies if "credential" in body} == ids
    password = str(settings.DATABASES["default"]["PASSWORD"])
    secrets = [*minted, settings.SECRET_KEY, "a-key", agent.password, password]
    everything = [caplog.text, *(str(body["body"]) for body in model.received(mark)), *_stored()]
    for text in everything:
        for secret in secrets:
            assert secret not in text


def _stored() -> list[str]:
    """Every row that the path wrote, as text."""
    tables = (Event, Detail, ToolCall, Message, Definition, Request, Decision)
    with connection.cursor() as cursor:
        found = []
        for table in tables:
            cursor.execute(f"SELECT t::text FROM {table._meta.db_table} t")
            found += [row[0] for row in cursor.fetchall()]
    assert found
    return found

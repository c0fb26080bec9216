"""Going back to an earlier definition: for new conversations, at once, and only where its tools still exist."""

import json
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from agents.chat.conversations import begin
from agents.context import pins
from agents.context.definitions import used
from agents.context.prompt import current_definition_id, missing_tools, release_definition_id
from agents.models import Definition, Pin
from approvals.models import Staff
from audit.models import Event
from tests.conftest import Propose


def make_definition(digest: str, *, system: str = "Be kind.", tools: Any = ()) -> Definition:
    return Definition.objects.create(
        digest=digest * 64, model="older", system=system, tools=json.dumps([*tools]), prompt_hash="p", schema_hash="s"
    )


@pytest.fixture
def older(shop: None) -> Definition:
    missing_tools.cache_clear()
    return make_definition("a", tools=[{"name": "issue_refund"}])


def test_new_conversations_begin_with_the_chosen_one_and_running_ones_keep_theirs(
    older: Definition, lead: Staff
) -> None:
    before = begin(customer_id="maya", session_id="s1")
    pins.pin(staff=lead, digest=older.pk, reason="it denied too much", seen=0)
    assert begin(customer_id="maya", session_id="s1").definition_id == older.pk
    before.refresh_from_db()
    assert before.definition_id == release_definition_id()
    pins.pin(staff=lead, digest=release_definition_id(), reason="mended", seen=1)
    assert current_definition_id() == release_definition_id()
    assert Pin.objects.get(number=2).definition_id is None  # follows later releases too
    told = Event.objects.filter(kind="policy", actor_id="lena").order_by("id").values_list("decision", "model")
    assert [*told] == [("pinned", "older"), ("unpinned", Definition.objects.get(pk=release_definition_id()).model)]


def test_one_whose_tools_are_gone_is_refused_with_a_sentence(older: Definition, lead: Staff) -> None:
    gone = make_definition("b", tools=[{"name": "issue_refund"}, {"name": "send_fax"}])
    with pytest.raises(pins.PinRefused, match="this release has no tool send_fax any more") as caught:
        pins.pin(staff=lead, digest=gone.pk, reason="x", seen=0)
    assert caught.value.code == "tools"


def test_a_pin_whose_tools_go_with_a_later_release_no_longer_holds(older: Definition, lead: Staff) -> None:
    Pin.objects.create(number=1, definition=make_definition("c", tools=[{"name": "x"}]), staff=lead, reason="x")
    assert current_definition_id() == release_definition_id()


@pytest.mark.parametrize(
    ("role", "reason", "digest", "seen", "code"),
    [
        ("agent", "x", "a", 0, "role"),
        ("auditor", "x", "a", 0, "role"),
        ("lead", " ", "a", 0, "reason"),
        ("admin", "x" * 1001, "a", 0, "reason"),
        ("lead", "x", "f", 0, "unknown"),
        ("lead", "x", "a", 5, "overtaken"),
    ],
)
def test_what_is_refused(older: Definition, role: str, reason: str, digest: str, seen: int, code: str) -> None:
    staff = Staff.objects.create(username="x", role=role)
    with pytest.raises(pins.PinRefused) as caught:
        pins.pin(staff=staff, digest=digest * 64, reason=reason, seen=seen)
    assert caught.value.code == code
    assert not Pin.objects.exists()


def test_the_second_of_two_who_choose_at_once_is_told(older: Definition, lead: Staff) -> None:
    pins.pin(staff=lead, digest=older.pk, reason="x", seen=0)
    with pytest.raises(pins.PinRefused, match="a colleague chose meanwhile"):
        pins.pin(staff=lead, digest=release_definition_id(), reason="x", seen=0)
    with pytest.raises(pins.PinRefused, match="already"):
        pins.pin(staff=lead, digest=older.pk, reason="x", seen=1)


def test_the_database_keeps_one_choice_per_number_for_ever(older: Definition, lead: Staff) -> None:
    Pin.objects.create(number=1, definition=older, staff=lead, reason="x")
    for wrong in ({"number": 1, "reason": "x"}, {"number": 2, "reason": ""}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Pin.objects.create(definition=older, staff=lead, **wrong)
    with pytest.raises(DatabaseError), transaction.atomic():
        Pin.objects.update(reason="y")
    with pytest.raises(DatabaseError), transaction.atomic():
        Pin.objects.all().delete()


def test_what_became_of_a_definitions_conversations(propose: Propose, older: Definition) -> None:
    propose("hand_off_to_human", summary="I am stuck")
    propose("issue_refund", order_id="4471", amount_minor=9_000, reason="damaged")
    found = {row.digest: row for row in used()}
    row = found[release_definition_id()]
    assert (row.conversations, row.handed_off, row.decided) == (1, 1, 0)
    assert row.deny_percent is None
    assert row.hand_off_percent == 100
    assert found[older.pk].conversations == 0

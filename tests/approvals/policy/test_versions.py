"""Versions of the policy: two people, which one binds, what is checked again before execution, simulation."""

import datetime as dt
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, ProgrammingError, transaction
from django.db.utils import InternalError
from django.utils import timezone

from agents.execution.execute import execute
from agents.models import Conversation
from approvals import errors
from approvals.casefile import flags
from approvals.decisions.deciding import decide
from approvals.decisions.eligibility import refusal_for
from approvals.models import Flag, PolicyVersion, Request, Staff
from approvals.policy import versions
from approvals.policy.document import Document, InvalidDocument
from approvals.policy.rules import Facts
from approvals.policy.simulation import simulate
from audit.models import Event
from ledger.models import Entry
from tests.conftest import Propose
from tests.support import cast
from tests.support.cast import begin_turn, here, seen_by_staff

LINES = {"automatic_day": 5_000, "automatic_month": 20_000, "two_people_day": 50_000}


@pytest.fixture
def boss(db: None) -> Staff:
    return cast.make_staff("bo", "admin")


def _text(**changed: Any) -> str:
    """The default document with other lines in pounds, or with other parts."""
    document = Document().to_json()
    lines = {name: changed.pop(name) for name in list(changed) if name in document["lines"]["GBP"]}
    document["lines"]["GBP"] |= lines
    return json.dumps(document | changed)


@pytest.fixture
def enact(lead: Staff, boss: Staff) -> Any:
    """Put a document in force: the lead proposes, the administrator activates."""

    def work(**changed: Any) -> int:
        made = versions.propose(staff=lead, text=_text(**changed))
        return versions.activate(staff=boss, version=made.version).version

    return work


def _refund(propose: Propose, amount_minor: int, order_id: str = "4471", **given: Any) -> str:
    outcome = propose("issue_refund", order_id=order_id, amount_minor=amount_minor, reason="damaged", **given)
    return outcome.decision


def _approve(request: Request, *people: Staff) -> Request:
    for staff in people:
        decide(reference=request.pk, staff=staff, verdict="approve", digest=request.digest, shown={}, proof=here())
    request.refresh_from_db()
    return request


def test_version_one_is_the_default_document(db: None) -> None:
    first = PolicyVersion.objects.get()
    assert first.document == Document().to_json()
    assert versions.in_force().version == 1


def test_two_people_make_a_policy(lead: Staff, boss: Staff) -> None:
    made = versions.propose(staff=lead, text=_text(automatic_day=4_000))
    assert versions.version_in_force() == 1
    with pytest.raises(versions.PolicyRefused) as caught:
        versions.activate(staff=lead, version=made.version)
    assert caught.value.code == "same_person"
    versions.activate(staff=boss, version=made.version)
    assert versions.in_force().lines["GBP"].automatic_day == 4_000
    events = Event.objects.filter(kind="policy").order_by("id").values_list("decision", "actor_id", "policy_version")
    assert list(events) == [("proposed", "lena", 2), ("activated", "bo", 2)]
    assert '"lines.GBP.automatic_day",5000,4000' in Event.objects.filter(kind="policy").latest("id").detail.body


@pytest.mark.parametrize("role", ["agent", "auditor"])
def test_others_do_not_make_policies(lead: Staff, role: str) -> None:
    made = versions.propose(staff=lead, text=_text(automatic_day=4_000))
    other = cast.make_staff("other", role)
    for deed in (
        lambda: versions.propose(staff=other, text=_text(automatic_day=1)),
        lambda: versions.activate(staff=other, version=made.version),
    ):
        with pytest.raises(versions.PolicyRefused) as caught:
            deed()
        assert caught.value.code == "role"


def test_an_overtaken_version_does_not_come_back(lead: Staff, boss: Staff) -> None:
    older = versions.propose(staff=lead, text=_text(automatic_day=4_000))
    newer = versions.propose(staff=lead, text=_text(automatic_day=3_000))
    versions.activate(staff=boss, version=newer.version)
    for version in (older.version, newer.version, 1):
        with pytest.raises(versions.PolicyRefused) as caught:
            versions.activate(staff=boss, version=version)
        assert caught.value.code == "superseded"


def test_the_database_holds_versions(lead: Staff, boss: Staff) -> None:
    made = versions.propose(staff=lead, text=_text(automatic_day=4_000))
    rows = PolicyVersion.objects.filter(version=made.version)
    refused = (IntegrityError, ProgrammingError, InternalError)
    for change in (
        lambda: rows.update(document={}),
        lambda: rows.update(activated_by=lead, activated_at=timezone.now()),
        lambda: rows.update(activated_at=timezone.now()),
        lambda: PolicyVersion.objects.filter(version=1).update(activated_at=timezone.now()),
        lambda: PolicyVersion.objects.create(version=9, document={}, digest=""),
        rows.delete,
    ):
        with pytest.raises(refused), transaction.atomic():
            change()
    assert versions.version_in_force() == 1


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"automatic_day": 20_001}, "lines.GBP.automatic_day"),
        ({"two_people_day": 200_001}, "lines.GBP.two_people_day"),
        ({"most_open_requests": 21}, "most_open_requests"),
        ({"expires": {"repeat": 337}}, "expires.repeat"),
        ({"tools": {"issue_refunds": "never"}}, "tools.issue_refunds"),
        ({"tools": {"get_order": "ask"}}, "tools.get_order"),
        ({}, "document"),
    ],
)
def test_what_cannot_be_proposed(lead: Staff, changed: dict[str, Any], path: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        versions.propose(staff=lead, text=_text(**changed))
    assert caught.value.faults.keys() == {path}


def test_a_ceiling_lowered_later_holds_too(enact: Any, settings: Any) -> None:
    enact(automatic_day=9_000)
    settings.POLICY_CEILINGS = {**settings.POLICY_CEILINGS, "automatic_day": 100}
    versions.policy_at.cache_clear()
    assert versions.in_force().lines["GBP"].automatic_day == 100


def test_a_looser_version_binds_later_conversations_only(propose: Propose, enact: Any) -> None:
    enact(automatic_day=9_000)
    assert _refund(propose, 6_000) == "queued"
    Request.objects.update(state="withdrawn")
    assert _refund(propose, 6_000, turn=begin_turn()) == "executed"
    event = Event.objects.filter(decision="executed", tool="issue_refund").latest("id")
    assert event.policy_version == 2


def test_a_stricter_version_binds_at_once(propose: Propose, enact: Any) -> None:
    enact(automatic_day=900)
    assert _refund(propose, 901) == "queued"
    assert Request.objects.get().policy_version == 2
    assert Conversation.objects.get().policy_version == 1


def test_lines_by_order_method_and_conversation_count_what_is_held(propose: Propose, enact: Any) -> None:
    enact(order_day=1_000, method_day=2_000, conversation_day=2_500, automatic_day=9_000)
    later = begin_turn()
    assert _refund(propose, 1_000, turn=later) == "executed"
    assert _refund(propose, 1_001, turn=later) == "queued"
    assert Request.objects.get().rule == "above_order_day"
    facts = Facts.stored(Request.objects.get().facts)
    assert (facts.order_day_minor, facts.method_day_minor, facts.conversation_day_minor) == (2_001, 2_001, 2_001)
    assert _refund(propose, 10, "4472", turn=later) == "queued"  # 2,011 on the Visa, the held ones included
    assert Request.objects.latest("created_at").rule == "above_method_day"


def test_a_tool_that_is_never_carried_out(propose: Propose, enact: Any) -> None:
    enact(tools={"issue_refund": "never", "cancel_order": "ask"})
    outcome = propose("issue_refund", order_id="4471", amount_minor=1, reason="damaged")
    assert (outcome.decision, outcome.rule) == ("refused", "tool_never")
    assert propose("cancel_order", order_id="4473", reason="no_longer_needed").decision == "queued"
    assert Request.objects.get().rule == "tool_asks"


def test_a_flag_asks_and_neither_model_nor_customer_learns_of_it(propose: Propose, agent: Staff, lead: Staff) -> None:
    flag = flags.flag(staff=agent, customer_id="maya", reason="returned bricks")
    outcome = propose("issue_refund", order_id="4471", amount_minor=100, reason="damaged")
    assert outcome.decision == "queued"
    assert "flag" not in outcome.text
    assert Request.objects.get().rule == "flag"
    with pytest.raises(errors.Forbidden):
        flags.clear(staff=agent, flag_id=flag.pk, customer_id="maya")
    assert flags.clear(staff=lead, flag_id=flag.pk, customer_id="maya")
    assert not flags.clear(staff=lead, flag_id=flag.pk, customer_id="maya")
    assert _refund(propose, 1, "4472") == "executed"
    with pytest.raises((ProgrammingError, InternalError)), transaction.atomic():
        Flag.objects.update(cleared_by=agent)


def test_a_stricter_version_sends_what_is_approved_back(
    propose: Propose, enact: Any, agent: Staff, lead: Staff, at_once: None
) -> None:
    _refund(propose, 12_000)
    request = _approve(Request.objects.get(), agent)
    enact(automatic_day=100, two_people_day=10_000)
    assert execute(request.pk)
    request.refresh_from_db()
    assert (request.state, request.approvals_needed, request.lead_needed) == ("pending", 2, True)
    assert seen_by_staff(Entry.objects.count) == 0
    assert Event.objects.filter(decision="sent_back", reference=request.pk).exists()
    assert _approve(request, lead).state == "approved"
    assert execute(request.pk)
    request.refresh_from_db()
    assert request.state == "executed"


def test_a_looser_version_does_not_undo_what_was_asked(
    propose: Propose, enact: Any, agent: Staff, at_once: None
) -> None:
    _refund(propose, 60_000, "4472")
    request = _approve(Request.objects.get(), agent)
    enact(two_people_day=100_000)
    assert request.state == "pending"
    assert not execute(request.pk)


def test_a_policy_that_refuses_it_ends_what_was_approved(
    propose: Propose, enact: Any, agent: Staff, at_once: None
) -> None:
    _refund(propose, 12_000)
    request = _approve(Request.objects.get(), agent)
    enact(tools={"issue_refund": "never"})
    execute(request.pk)
    request.refresh_from_db()
    assert (request.state, request.ended_reason) == ("stale", "the policy in force refuses it: tool_never")
    assert Request.objects.count() == 1


def test_who_is_disabled_has_not_approved(propose: Propose, agent: Staff, lead: Staff, at_once: None) -> None:
    _refund(propose, 12_000)
    request = _approve(Request.objects.get(), agent)
    Staff.objects.filter(pk=agent.pk).update(is_active=False)
    execute(request.pk)
    request.refresh_from_db()
    assert request.state == "pending"
    _approve(request, lead)
    assert execute(request.pk)
    request.refresh_from_db()
    assert request.state == "executed"


def test_a_flag_after_the_approval_of_one_asks_for_no_more_than_one(
    propose: Propose, agent: Staff, lead: Staff, at_once: None
) -> None:
    _refund(propose, 12_000)
    request = _approve(Request.objects.get(), agent)
    flags.flag(staff=lead, customer_id="maya", reason="odd")
    assert versions.verdict_at_execution(request).rule == "flag"
    assert execute(request.pk)


def test_a_role_approves_up_to_its_line(propose: Propose, enact: Any, agent: Staff, lead: Staff) -> None:
    enact(approve_up_to={"agent": {"GBP": 10_000}})
    _refund(propose, 10_001)
    request = Request.objects.get()
    refusal = refusal_for(request, agent)
    assert refusal is not None
    assert (refusal.code, "above what the role agent may approve" in refusal.message) == ("role", True)
    assert refusal_for(request, cast.make_staff("leo", "lead")) is None


def test_who_loosened_a_line_does_not_use_it_for_seven_days(propose: Propose, lead: Staff, agent: Staff) -> None:
    leo = cast.make_staff("leo", "lead")
    made = versions.propose(staff=lead, text=_text(two_people_day=100_000))
    versions.activate(staff=leo, version=made.version)
    turn = begin_turn()
    _refund(propose, 60_000, "4472", turn=turn)
    request = Request.objects.get()
    assert request.approvals_needed == 1
    for author in (lead, leo):
        refusal = refusal_for(request, author)
        assert refusal is not None
        assert refusal.code == "policy_author"
    assert refusal_for(request, agent) is None
    _refund(propose, 6_000, turn=turn)
    small = Request.objects.exclude(pk=request.pk).get()
    small.facts |= {"customer_day_minor": 6_000, "customer_month_minor": 6_000}
    assert refusal_for(small, lead) is None  # that asked for no more before


def test_after_seven_days_they_do(propose: Propose, lead: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    made = versions.propose(staff=lead, text=_text(two_people_day=100_000))
    versions.activate(staff=cast.make_staff("leo", "lead"), version=made.version)
    _refund(propose, 60_000, "4472", turn=begin_turn())
    later = timezone.now() + dt.timedelta(days=7, seconds=1)
    monkeypatch.setattr("approvals.policy.versions.timezone.now", lambda: later)
    assert refusal_for(Request.objects.get(), lead) is None


def test_a_simulation_takes_recorded_verdicts_again(propose: Propose) -> None:
    for amount, order in ((4_000, "4471"), (900, "4472"), (6_000, "4471")):
        _refund(propose, amount, order)
    propose("get_order", order_id="4471")
    propose("issue_refund", order_id="4471", amount_minor=0, reason="damaged")  # no verdict: not counted
    draft = versions.check(_text(automatic_day=4_000, two_people_day=10_000))
    found = simulate(draft, 7)
    assert (found.writes, found.otherwise) == (3, 2)
    assert {(row["before"], row["after"], row["count"], row["money"]) for row in found.rows()} == {
        ("alone", "one person", 1, "£9.00"),
        ("one person", "two people", 1, "£60.00"),
    }
    assert found.extra_reviews_per_day == pytest.approx(2 / 7)
    assert [row.rule for row in found.changed] == ["above_two_people_day", "above_automatic_day"]
    assert simulate(versions.in_force(), 7).otherwise == 0


def _run(*words: str) -> str:
    told = StringIO()
    call_command("policy", *words, stdout=told, stderr=StringIO())
    return told.getvalue()


def test_the_command(lead: Staff, boss: Staff, propose: Propose, tmp_path: Path) -> None:
    _refund(propose, 4_500)
    draft = tmp_path / "draft.json"
    draft.write_text(_text(automatic_day=4_000))
    assert json.loads(_run("show"))["most_open_requests"] == 4
    assert "1 verdicts change" in _run("simulate", str(draft), "--days", "3")
    assert "Proposed version 2" in _run("propose", str(draft), "--as", "lena")
    assert "alone -> one person: 1 (£45.00)" in _run("simulate", "2")
    with pytest.raises(CommandError, match="You proposed this version"):
        _run("activate", "2", "--as", "lena")
    assert "Version 2 is in force" in _run("activate", "2", "--as", "bo")
    draft.write_text('{"lines": {"GBP": {"automatic_day": "much"}}}')
    with pytest.raises(CommandError, match=r"This is no policy: lines\.GBP\.automatic_day: "):
        _run("propose", str(draft), "--as", "lena")
    for words in (["show", "9"], ["simulate", "9"], ["propose", "/nowhere", "--as", "lena"],
                  ["activate", "9", "--as", "nobody"], ["simulate", "2", "--days", "0"]):  # fmt: skip
        with pytest.raises(CommandError):
            _run(*words)


def test_facts_of_a_request_are_all_that_execution_needs(propose: Propose) -> None:
    """A queue that was full when it was proposed does not refuse its execution."""
    _refund(propose, 12_000)
    request = Request.objects.get()
    request.facts |= {"open_requests": 4, "open_requests_site": 10_000}
    assert versions.verdict_at_execution(request).outcome == "ask"
    assert replace(Facts.stored(request.facts), open_requests=0).tool == "issue_refund"

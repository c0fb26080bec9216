"""The brake: what it stops, who moves it, and that nothing slips past it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event as Flag
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, OperationalError, connections, transaction
from django.urls import reverse
from django.utils import timezone
from psycopg.errors import LockNotAvailable

from agents.dispatch.dispatch import dispatch
from agents.execution.execute import execute, ready
from agents.models import Message, Turn
from agents.turns import loop
from approvals import brakes
from approvals.decisions.deciding import decide
from approvals.errors import Invalid
from approvals.models import Brake, Request, Staff
from audit.models import Event
from base import sql
from base.locks import lock_brake
from ledger.access.staff import as_staff
from ledger.models import Entry
from tests.conftest import Propose, make_call
from tests.support import cast
from tests.support.api import with_token
from tests.support.cast import seen_by_staff, until
from tests.support.env import replace

SMALL = {"order_id": "4471", "amount_minor": 1_200, "reason": "damaged"}


@pytest.fixture
def boss(db: None) -> Staff:
    return cast.make_staff("bo", "admin")


def test_all_writes_are_stopped_and_reads_and_asking_for_a_person_are_not(propose: Propose, lead: Staff) -> None:
    brakes.pull(staff=lead, reason="odd refunds")
    refused = propose("issue_refund", **SMALL)
    assert (refused.decision, refused.rule, refused.is_error) == ("refused", "brake", True)
    assert seen_by_staff(Entry.objects.count) == 0
    assert propose("get_order", order_id="4471").decision == "executed"
    assert propose("hand_off_to_human", summary="wants money").decision == "executed"


def test_one_tool_is_stopped_alone(propose: Propose, lead: Staff) -> None:
    brakes.pull(staff=lead, reason="odd refunds", tool="issue_refund")
    assert propose("issue_refund", **SMALL).rule == "brake"
    cancelled = propose("cancel_order", order_id="4473", reason="no_longer_needed")
    assert cancelled.rule != "brake"


@pytest.mark.usefixtures("at_once")
def test_what_is_approved_freezes_and_goes_on_after_two_people_let_go(
    propose: Propose, agent: Staff, lead: Staff, boss: Staff
) -> None:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    request = Request.objects.get()
    decide(reference=request.reference, staff=agent, verdict="approve", digest=request.digest, shown={})
    brakes.pull(staff=lead, reason="odd refunds")
    assert ready() == []
    assert execute(request.reference) is False
    assert Request.objects.get().state == "approved"
    brakes.release(staff=lead, reason="looked at")
    assert execute(request.reference) is False
    with pytest.raises(brakes.BrakeRefused, match="another lead or administrator"):
        brakes.release(staff=lead, reason="again")
    brakes.release(staff=boss, reason="agreed")
    assert ready() == [request.reference]
    assert execute(request.reference) is True


def test_answering_stops_before_the_model_is_asked(turn: Any, model: Any, lead: Staff) -> None:
    brakes.pull(staff=lead, reason="it talks nonsense", answers=True)
    loop.run(turn)
    ended = Turn.objects.get(pk=turn.turn_id)
    assert (ended.state, ended.reason, ended.steps) == ("finished", "parked", 0)
    told = Message.objects.filter(author="notice").values_list("text", flat=True)
    assert [text for text in told if "paused" in text] == list(told)
    assert not brakes.Stopped(True, False, ()).writes
    assert brakes.stopped().stops("issue_refund")


def test_each_move_is_an_event_with_who_and_why(lead: Staff, boss: Staff) -> None:
    brakes.pull(staff=lead, reason="odd refunds", tool="issue_refund")
    brakes.release(staff=boss, reason="looked at", tool="issue_refund")
    brakes.release(staff=lead, reason="agreed", tool="issue_refund")
    events = Event.objects.filter(kind="brake").order_by("id")
    seen = [(event.decision, event.actor_id, event.tool, event.rule) for event in events]
    assert seen == [
        ("pulled", "lena", "issue_refund", "tool"),
        ("release_proposed", "bo", "issue_refund", "tool"),
        ("released", "lena", "issue_refund", "tool"),
    ]
    assert "odd refunds" in events[0].detail.body


@pytest.mark.parametrize("role", ["agent", "auditor"])
def test_only_leads_and_administrators_move_it(db: None, role: str) -> None:
    with pytest.raises(brakes.BrakeRefused, match="lead or administrator"):
        brakes.pull(staff=cast.make_staff("other", role), reason="why not")


def test_a_reason_is_needed_and_once_is_enough(lead: Staff, boss: Staff) -> None:
    with pytest.raises(Invalid):
        brakes.pull(staff=lead, reason="  ")
    brakes.pull(staff=lead, reason="odd refunds")
    with pytest.raises(brakes.BrakeRefused, match="lena pulled it"):
        brakes.pull(staff=boss, reason="me too")
    with pytest.raises(brakes.BrakeRefused, match="not on"):
        brakes.release(staff=boss, reason="?", tool="issue_refund")


def test_the_database_wants_two_people_and_keeps_who_pulled(lead: Staff) -> None:
    brake = brakes.pull(staff=lead, reason="odd refunds")
    with pytest.raises(IntegrityError, match="two_people_release"), transaction.atomic():
        Brake.objects.filter(pk=brake.pk).update(
            proposed_by=lead, released_by=lead, released_at=timezone.now(), proposed_at=timezone.now()
        )
    with pytest.raises(Exception, match="permission denied"), transaction.atomic():
        Brake.objects.filter(pk=brake.pk).update(reason="another")


def test_from_the_command_line(lead: Staff, boss: Staff, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("brake", "on", "--tool", "issue_refund", "--as", "lena", "--reason", "odd")
    call_command("brake", "off", "--tool", "issue_refund", "--as", "lena", "--reason", "fine")
    call_command("brake", "off", "--tool", "issue_refund", "--as", "bo", "--reason", "fine")
    assert capsys.readouterr().out.splitlines() == [
        "The brake is on: issue_refund is stopped.",
        "The brake on issue_refund stays on until another lead or administrator agrees to let go.",
        "The brake on issue_refund is off.",
    ]
    for wrong in (["--tool", "issue_refnd", "--as", "bo"], ["--as", "nobody"]):
        with pytest.raises(CommandError, match=r"There is no (tool|member)"):
            call_command("brake", "on", *wrong, "--reason", "odd")


def test_over_http(agent: Staff, lead: Staff, boss: Staff) -> None:
    move = {"state": "on", "reason": "odd refunds"}
    assert with_token(agent).post("/api/brake/", move).status_code == 403
    assert with_token(lead).post("/api/brake/", move).json()["on"][0]["pulled_by"] == "lena"
    assert with_token(lead).post("/api/brake/", move).status_code == 409
    assert with_token(lead).post("/api/brake/", {"state": "on"}).status_code == 422
    assert with_token(lead).post("/api/brake/", {"state": "on", "tool": "x", "reason": "y"}).status_code == 422
    off = {"state": "off", "reason": "fine"}
    assert with_token(lead).post("/api/brake/", off).json()["on"][0]["release_proposed_by"] == "lena"
    assert with_token(lead).post("/api/brake/", off).status_code == 403
    assert with_token(boss).post("/api/brake/", off).json() == {"on": []}
    assert with_token(agent).get("/api/brake/").json() == {"on": []}


def test_the_page_and_the_banner_on_every_other(signed_in: Any, lead: Staff) -> None:
    client = signed_in(lead)
    assert client.post(reverse("brake"), {"what": "issue_refund", "reason": ""}).status_code == 422
    assert client.post(reverse("brake"), {"what": "issue_refund", "reason": "odd refunds"}).status_code == 302
    assert b"odd refunds" in client.get(reverse("brake")).content
    assert b"The brake is on" in client.get(reverse("console")).content
    assert client.post(reverse("brake"), {"what": "issue_refund", "reason": "ok", "release": ""}).status_code == 302
    again = client.post(reverse("brake"), {"what": "issue_refund", "reason": "ok", "release": ""})
    assert again.status_code == 403


def test_agents_read_the_page_without_its_forms(signed_in: Any, agent: Staff) -> None:
    client = signed_in(agent)
    assert b"Pull the brake" not in client.get(reverse("brake")).content
    assert client.post(reverse("brake"), {"what": "writes", "reason": "x"}).status_code == 403


def _in_time(work: Callable[[], Any]) -> Any:
    """On a connection of another process, which waits a tenth of a second for a lock."""
    try:
        with transaction.atomic():
            sql.run("SET LOCAL lock_timeout = '100ms'")
            return work()
    except OperationalError as late:
        return type(late.__cause__)
    finally:
        connections.close_all()


def test_who_pulls_waits_for_writes_and_writes_wait_for_who_pulls(committing_db: str) -> None:
    with ThreadPoolExecutor(1) as elsewhere:
        with transaction.atomic():
            assert brakes.keep_open() == brakes.Stopped(answers=False, writes=False, tools=())
            assert elsewhere.submit(_in_time, lock_brake).result() is LockNotAvailable
            assert elsewhere.submit(_in_time, brakes.keep_open).result() == brakes.stopped()
        with transaction.atomic():
            lock_brake()
            assert elsewhere.submit(_in_time, brakes.keep_open).result() is LockNotAvailable


def test_under_load_it_is_pulled_at_once_and_nothing_is_written_after(committing_db: str, settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, turn_writes=1_000_000)
    as_staff(cast.fill_shop)
    lena = cast.make_staff("lena", "lead")
    turns = [cast.begin_turn(session_id=f"s{n}") for n in range(6)]
    go_on = Flag()

    def write_on(turn: Any) -> None:
        try:
            for step in count(1):
                if go_on.is_set():
                    return
                dispatch(make_call(turn, step, "issue_refund", SMALL | {"amount_minor": 1}))
        finally:
            connections.close_all()

    with ThreadPoolExecutor(6) as pool:
        running = [pool.submit(write_on, turn) for turn in turns]
        try:
            until(lambda: seen_by_staff(Entry.objects.count) > 0)
            brakes.pull(staff=lena, reason="stop")
            written = seen_by_staff(Entry.objects.count)
            until(lambda: Event.objects.filter(kind="dispatch", rule="brake").count() > 20)
        finally:
            go_on.set()
        [done.result() for done in running]
    assert written == seen_by_staff(Entry.objects.count) > 0
    assert Event.objects.filter(kind="dispatch", rule="brake").exists()

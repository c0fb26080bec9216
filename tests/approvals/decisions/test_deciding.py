"""Who decides, on what, and who is told that somebody else was first."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from agents.dispatch.dispatch import dispatch
from agents.models import Message
from approvals import errors
from approvals.decisions import deciding
from approvals.models import Decision, Participant, Request, Staff
from audit.models import Event
from ledger.access.staff import as_staff
from tests.conftest import Propose, make_call
from tests.support import cast


@pytest.fixture
def waiting(propose: Propose) -> Request:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


def _decide(request: Request, staff: Staff, verdict: deciding.Verdict = "approve", **fields: object) -> Request:
    given = {"digest": request.digest, "shown": {"page": 1}, "proof": cast.here(), **fields}
    return deciding.decide(reference=request.reference, staff=staff, verdict=verdict, **given)


def test_a_denial_gives_the_hold_back_and_tells_the_customer_without_the_note(waiting: Request, agent: Staff) -> None:
    _decide(waiting, agent, "deny", reason_code="evidence_missing", note="smells odd", customer_message="Send a photo.")
    waiting.refresh_from_db()
    assert (waiting.state, waiting.decided_by) == ("denied", "ada")
    told = Message.objects.filter(author="notice").last()
    assert told is not None
    assert "Send a photo." in told.text
    assert "odd" not in told.text
    event = Event.objects.get(kind="decision")
    assert (event.decision, event.actor_kind, event.actor_id) == ("denied", "staff", "ada")
    assert "smells odd" in event.detail.body


def test_a_denial_needs_a_reason(waiting: Request, agent: Staff) -> None:
    with pytest.raises(errors.Invalid) as caught:
        _decide(waiting, agent, "deny")
    assert "reason_code" in caught.value.fields


@pytest.mark.parametrize("role", ["auditor", "admin"])
def test_auditors_and_admins_decide_nothing(waiting: Request, role: str) -> None:
    with pytest.raises(errors.Forbidden, match="does not decide"):
        _decide(waiting, cast.make_staff("other", role))


def test_who_is_the_customer_cannot_decide(waiting: Request) -> None:
    with pytest.raises(errors.Forbidden, match="own customer account") as caught:
        _decide(waiting, cast.make_staff("maya.works.here", "lead", customer_id="maya"))
    assert caught.value.code == "self"


def test_who_wrote_in_the_conversation_cannot_decide(waiting: Request, agent: Staff) -> None:
    Participant.objects.create(conversation_id=waiting.conversation_id, staff=agent)
    with pytest.raises(errors.Forbidden, match="You took part in this conversation"):
        _decide(waiting, agent)


def test_the_database_refuses_them_too(waiting: Request, agent: Staff, auditor: Staff) -> None:
    """Row by row, whatever the service forgets."""

    def insert(staff: Staff, **changed: object) -> None:
        given = {
            "request": waiting, "revision": 1, "verdict": "approve", "staff": staff, "customer_id": "maya",
            "staff_customer_id": staff.customer_id, "digest": waiting.digest, "shown": {}, "shown_hash": "",
        }  # fmt: skip
        with transaction.atomic():
            Decision.objects.create(**(given | changed))

    self_dealing = cast.make_staff("maya.works.here", "lead", customer_id="maya")
    Participant.objects.create(conversation_id=waiting.conversation_id, staff=agent)
    for staff, changed, constraint in (
        (self_dealing, {}, "never_about_oneself"),
        (self_dealing, {"staff_customer_id": ""}, "only an active agent or lead"),
        (self_dealing, {"customer_id": "noor"}, "names the request"),
        (auditor, {}, "only an active agent or lead"),
        (agent, {}, "took part in the conversation"),
    ):
        with pytest.raises(IntegrityError, match=constraint):
            insert(staff, **changed)


def test_nobody_approves_twice(propose: Propose, lead: Staff) -> None:
    propose("issue_refund", order_id="4472", amount_minor=60_000, reason="late")
    request = Request.objects.get()
    assert _decide(request, lead).state == "pending"
    with pytest.raises(errors.Forbidden) as caught:
        _decide(request, lead)
    assert caught.value.code == "same_person"


def test_two_agents_are_not_enough_where_a_lead_is_needed(propose: Propose, agent: Staff, lead: Staff) -> None:
    propose("issue_refund", order_id="4472", amount_minor=60_000, reason="late")
    request = Request.objects.get()
    _decide(request, agent)
    with pytest.raises(errors.Forbidden, match="lead"):
        _decide(request, cast.make_staff("aaron", "agent"))
    assert _decide(request, lead).state == "approved"


def test_what_was_seen_must_be_what_stands(waiting: Request, agent: Staff) -> None:
    with pytest.raises(errors.DigestDiffers):
        _decide(waiting, agent, digest="0" * 64)
    assert not Decision.objects.exists()


def test_after_the_time_it_is_expired_even_before_the_sweeper(waiting: Request, agent: Staff) -> None:
    Request.objects.update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    with pytest.raises(errors.Expired):
        _decide(waiting, agent)


def test_the_second_is_told_who_was_first_and_when(waiting: Request, agent: Staff, lead: Staff) -> None:
    _decide(waiting, agent)
    with pytest.raises(errors.Conflict) as caught:
        _decide(waiting, lead, "deny", reason_code="policy")
    assert (caught.value.state, caught.value.decided_by) == ("approved", "ada")
    assert "by ada at " in caught.value.message


def test_a_staff_token_does_not_decide_what_needs_two(propose: Propose, lead: Staff) -> None:
    propose("issue_refund", order_id="4472", amount_minor=60_000, reason="late")
    with pytest.raises(errors.Forbidden) as caught:
        _decide(Request.objects.get(), lead, by_token=True)
    assert caught.value.code == "fresh_authentication_required"


def test_two_people_at_once_have_one_winner(committing_db: str) -> None:
    as_staff(cast.fill_shop)
    people = [cast.make_staff(f"agent{n}", "agent") for n in range(8)]
    arguments = {"order_id": "4471", "amount_minor": 12_400, "reason": "damaged"}
    dispatch(make_call(cast.begin_turn(), 1, "issue_refund", arguments))
    request = Request.objects.get()

    def click(staff: Staff) -> str:
        try:
            _decide(request, staff)
        except errors.Conflict as conflict:
            return conflict.decided_by
        finally:
            connections.close_all()
        return "won"

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(click, people))
    assert outcomes.count("won") == 1
    winner = people[outcomes.index("won")].username
    assert set(outcomes) == {"won", winner}
    assert Decision.objects.count() == 1

"""What people do with requests besides deciding them."""

import datetime as dt
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.chat import conversations
from agents.models import Message
from approvals.decisions import deciding, decoys, eligibility
from approvals.decisions.reauthentication import SESSION_KEY
from approvals.errors import Conflict, Forbidden, Invalid
from approvals.models import Absence, Participant, Question, Request, Staff
from approvals.people import shifts
from approvals.requests import assignment
from audit.models import Event
from console.pages.requests import questions
from console.pages.requests.history import history_of
from tests.conftest import Propose
from tests.support.cast import here, make_staff

pytestmark = pytest.mark.django_db
POSTS = ["request-assign", "request-give", "request-snooze", "request-ask", "request-told", "request-reading"]


@pytest.mark.parametrize("name", POSTS)
def test_only_those_who_decide_and_only_by_post(
    signed_in: Any, client: Client, auditor: Staff, agent: Staff, waiting: Request, name: str
) -> None:
    url = reverse(name, args=[waiting.reference])
    assert client.post(url).status_code == 302
    assert signed_in(auditor).post(url).status_code == 403
    assert signed_in(agent).get(url).status_code == 405
    assert (
        signed_in(agent)
        .post(
            reverse(name, args=["R-00000000"]),
            {"card": "case", "seconds": "1", "to": "ada", "code": "photo", "how_long": "1h"},
        )
        .status_code
        == 404
    )


def test_reassigning_is_a_leads(signed_in: Any, agent: Staff, waiting: Request) -> None:
    url = reverse("request-reassign", args=[waiting.reference])
    assert signed_in(agent).post(url).status_code == 403
    assert signed_in(agent).get(url).status_code == 403


@pytest.mark.parametrize("name", ["several", "shift"])
def test_pages_of_several_and_of_a_shift(
    signed_in: Any, client: Client, auditor: Staff, agent: Staff, name: str
) -> None:
    assert client.post(reverse(name)).status_code == 302
    assert signed_in(auditor).post(reverse(name)).status_code == 403
    assert signed_in(agent).get(reverse(name)).status_code == (200 if name == "shift" else 405)
    assert signed_in(agent).put(reverse(name)).status_code == 405


def test_a_claim_returns_by_itself_and_extends_itself(agent: Staff, lead: Staff, waiting: Request) -> None:
    assignment.assign(reference=waiting.reference, staff=agent)
    with pytest.raises(Conflict):
        assignment.assign(reference=waiting.reference, staff=lead)
    assignment.assign(reference=waiting.reference, staff=agent)
    assert Event.objects.filter(reference=waiting.reference, decision="claimed").count() == 1
    Request.objects.update(assigned_until=timezone.now() - dt.timedelta(seconds=1))
    assert assignment.assign(reference=waiting.reference, staff=lead).assigned_to == lead


def test_claiming_in_the_queue_gives_the_row_back(signed_in: Any, agent: Staff, lead: Staff, waiting: Request) -> None:
    client, url = signed_in(agent), reverse("request-assign", args=[waiting.reference])
    answer = client.post(url, {"from": "queue"}, headers={"HX-Request": "true"})
    assert f'id="row-{waiting.reference}"' in answer.content.decode()
    assert "You are on it." in answer["HX-Trigger"]
    other = Client()
    other.force_login(lead)
    answer = other.post(url, {"from": "queue"}, headers={"HX-Request": "true"})
    assert "already claimed by ada" in answer["HX-Trigger"]
    assert client.post(url, {"from": "queue"})["Location"] == reverse("console")


def test_giving(agent: Staff, lead: Staff, waiting: Request) -> None:
    other = make_staff("bo", "agent")
    assignment.assign(reference=waiting.reference, staff=other)
    with pytest.raises(Conflict):
        assignment.give(reference=waiting.reference, to=agent, by=agent)
    assert assignment.give(reference=waiting.reference, to=agent, by=lead).assigned_to == agent
    assert assignment.give(reference=waiting.reference, to=other, by=agent).assigned_to == other
    for nobody in (make_staff("otto", "auditor"), make_staff("gone", "agent", is_active=False)):
        with pytest.raises(Invalid):
            assignment.give(reference=waiting.reference, to=nobody, by=lead)
    assert [entry["more"] for entry in history_of(waiting) if entry["more"]] == ["ada", "bo"]


def test_being_away(signed_in: Any, agent: Staff, lead: Staff, propose: Propose) -> None:
    """An away colleague's claims return, and their second approvals are others'."""
    reference = propose("issue_refund", order_id="4472", amount_minor=60_000, reason="damaged").reference
    request = Request.objects.get(pk=reference)
    second = make_staff("lars", "lead")
    deciding.decide(reference=reference, staff=agent, verdict="approve", digest=request.digest, shown={}, proof=here())
    request.refresh_from_db()
    assigned = request.second_approver
    other = second if assigned == lead else lead
    assignment.assign(reference=reference, staff=assigned)
    client = signed_in(assigned)
    assert b"You are away" in client.post(reverse("shift"), {"deed": "leave"}, follow=True).content
    request.refresh_from_db()
    assert (request.second_approver, request.assigned_to) == (other, None)
    with pytest.raises(Invalid):
        assignment.give(reference=reference, to=assigned, by=other)
    shifts.leave(other)
    request.refresh_from_db()
    assert request.second_approver is None
    client.post(reverse("shift"), {"deed": "come_back"})
    assert not shifts.is_away(assigned)
    eligibility.require_assigned(Request.objects.get(pk=reference), assigned)
    kinds = list(Event.objects.filter(kind="role", actor_id=assigned.username).order_by("id"))
    assert [event.decision for event in kinds] == ["left", "returned"]


def test_one_is_away_once(agent: Staff) -> None:
    Absence.objects.create(staff=agent)
    with pytest.raises(IntegrityError), transaction.atomic():
        Absence.objects.create(staff=agent)
    with pytest.raises(IntegrityError), transaction.atomic():
        Absence.objects.update(ended_at=timezone.now() - dt.timedelta(days=1))


def test_handing_over(signed_in: Any, agent: Staff, lead: Staff, propose: Propose) -> None:
    first = propose("issue_refund", order_id="4471", amount_minor=9_900, reason="damaged").reference
    second = propose("issue_refund", order_id="4472", amount_minor=9_000, reason="late").reference
    for reference in (first, second):
        assignment.assign(reference=reference, staff=agent)
    client = signed_in(agent)
    assert first in client.get(reverse("shift")).content.decode()
    said = client.post(reverse("shift"), {"deed": "hand_over", "to": "lena"}, follow=True).content
    assert b"2 requests were handed over." in said
    assert set(Request.objects.values_list("assigned_to__username", flat=True)) == {"lena"}
    assert shifts.hand_over(lead, to=None) == sorted([first, second])
    assert set(Request.objects.values_list("assigned_to", flat=True)) == {None}
    assert b"Choose a colleague" in client.post(reverse("shift"), {"deed": "hand_over", "to": "x"}, follow=True).content


def test_asking_is_no_part_of_the_conversation(signed_in: Any, agent: Staff, waiting: Request) -> None:
    client, url = signed_in(agent), reverse("request-ask", args=[waiting.reference])
    assert b"Asked" in client.post(url, {"code": "photo"}, follow=True).content
    notice = Message.objects.get(
        conversation_id=waiting.conversation_id, author="notice", text__contains="A person is looking"
    )
    assert not notice.in_history
    assert not Participant.objects.exists()
    assert eligibility.refusal_for(waiting, agent) is None
    body = client.get(reverse("request", args=[waiting.reference])).content.decode()
    assert "ada asked for a photo" in body
    assert "no answer yet" in body
    conversations.post_message(
        conversation_id=waiting.conversation_id, session_id="s1", client_id="answer", text="here it is"
    )
    Message.objects.filter(client_id="answer").update(created_at=timezone.now() + dt.timedelta(seconds=1))
    assert b"the customer wrote" in client.get(reverse("request", args=[waiting.reference])).content
    client.post(url, {"code": "photo"})
    client.post(url, {"code": "anything you like"})
    assert Question.objects.count() == 1
    assert "asked the customer" in [str(entry["what"]) for entry in history_of(waiting)]


def test_questions_are_fixed_and_for_ever(agent: Staff, auditor: Staff, waiting: Request) -> None:
    question = questions.ask(reference=waiting.reference, staff=agent, code="delivery")
    with pytest.raises(Forbidden):
        questions.ask(reference=waiting.reference, staff=auditor, code="photo")
    with pytest.raises(IntegrityError), transaction.atomic():
        Question.objects.create(request=waiting, staff=agent, code="steer")
    with pytest.raises(DatabaseError), transaction.atomic():
        Question.objects.filter(pk=question.pk).update(code="photo")


def test_a_decoy_can_be_asked_about_and_tells_nobody(agent: Staff, waiting: Request) -> None:
    decoy = decoys.make()
    assert decoy is not None
    before = Message.objects.count()
    questions.ask(reference=decoy.pk, staff=agent, code="photo")
    assignment.assign(reference=decoy.pk, staff=agent)
    assert Message.objects.count() == before
    assert set(Event.objects.filter(reference=decoy.pk).values_list("kind", flat=True)) == {"decoy"}


def test_the_customers_text_is_shown_before(signed_in: Any, agent: Staff, waiting: Request, at_once: None) -> None:
    client, url = signed_in(agent), reverse("request-told", args=[waiting.reference])
    body = client.post(url, {"customer_message": "Sorry for the wait."}).content.decode()
    deciding.decide(
        reference=waiting.reference, staff=agent, verdict="approve", digest=waiting.digest, shown={},
        customer_message="Sorry for the wait.",
    )  # fmt: skip
    notice = Message.objects.filter(author="notice").latest("pk").text
    first, second = notice.split("\n\n")
    assert first in body
    assert second in body
    assert client.post(url).status_code == 404


def test_a_lowered_amount_is_told_and_nothing_is_changed(signed_in: Any, agent: Staff, waiting: Request) -> None:
    client, url = signed_in(agent), reverse("request-told", args=[waiting.reference])
    body = client.post(url, {"amount": "12.50"}).content.decode()
    assert "It is now: refund £12.50" in body
    assert "Give an amount" in client.post(url, {"amount": "lots"}).content.decode()
    assert "below the proposed £99.00." in client.post(url, {"amount": "500"}).content.decode()
    again = Request.objects.get(pk=waiting.pk)
    assert (again.revision, again.digest, again.amount_minor) == (1, waiting.digest, 9_900)


def test_several_are_denied_with_a_line_each(signed_in: Any, agent: Staff, lead: Staff, propose: Propose) -> None:
    for order, amount in (("4471", 9_900), ("4472", 9_000)):
        propose("issue_refund", order_id=order, amount_minor=amount, reason="damaged")
    first, second = Request.objects.order_by("order_id")
    items = [f"{first.pk} {first.digest}", f"{second.pk} {'0' * 64}", f"R-00000000 {'0' * 64}"]
    form = {"item": items, "deed": "deny", "reason_code": "policy"}
    body = signed_in(agent).post(reverse("several"), form).content.decode()
    assert body.count("not done") == 2
    assert set(Request.objects.values_list("state", flat=True)) == {"denied", "pending"}
    assert signed_in(agent).post(reverse("several"), form | {"deed": "x"}).status_code == 422
    assert (
        signed_in(agent).post(reverse("several"), form | {"item": [f"R-{n:08}" for n in range(51)]}).status_code == 422
    )
    given = signed_in(agent).post(reverse("several"), {"item": items, "deed": "give", "to": "lena"}).content.decode()
    assert "lena has it" in given
    assert Request.objects.get(pk=second.pk).assigned_to == lead


def test_only_one_rule_is_approved_together(agent: Staff, propose: Propose, monkeypatch: Any) -> None:
    propose("issue_refund", order_id="4471", amount_minor=900, reason="other")
    propose("issue_refund", order_id="4472", amount_minor=900, reason="other")
    first, second = Request.objects.order_by("order_id")
    Request.objects.filter(pk=second.pk).update(rule="sign_in_old")
    from approvals.decisions import bulk

    with pytest.raises(Invalid, match="one and the same"):
        bulk.approve_all(chosen=[(each.pk, each.digest) for each in (first, second)], staff=agent)
    assert set(Request.objects.values_list("state", flat=True)) == {"pending"}


def test_what_needs_two_people_is_denied_together_by_who_has_just_signed_in(
    signed_in: Any, agent: Staff, propose: Propose
) -> None:
    reference = propose("issue_refund", order_id="4472", amount_minor=60_000, reason="damaged").reference
    request = Request.objects.get(pk=reference)
    form = {"item": [f"{reference} {request.digest}"], "deed": "deny", "reason_code": "policy"}
    client = signed_in(agent)
    session = client.session
    fresh = session.pop(SESSION_KEY)
    session.save()
    assert b"confirm that it is you" in client.post(reverse("several"), form).content
    session[SESSION_KEY] = fresh
    session.save()
    client.post(reverse("several"), form)
    request.refresh_from_db()
    assert request.state == "denied"

"""A customer's own requests: listed, withdrawn, and nobody else's."""

import json

import pytest

from agents.models import Message
from approvals.models import Request
from audit.models import Event
from ledger.models import Account
from tests.conftest import Propose
from tests.support.cast import begin_turn, seen_by_staff


@pytest.fixture
def waiting(propose: Propose) -> Request:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


def test_what_waits_is_listed_without_what_staff_know(propose: Propose, waiting: Request) -> None:
    listed = json.loads(propose("list_my_requests").text)["items"]
    assert [(row["reference"], row["state"]) for row in listed] == [(waiting.reference, "waiting")]
    assert listed[0].keys() == {"reference", "state", "summary", "created_at"}
    assert json.loads(propose("list_my_requests", turn=begin_turn("noor")).text)["items"] == []


def test_an_own_request_is_withdrawn_and_its_money_is_free_again(propose: Propose, waiting: Request) -> None:
    outcome = propose("withdraw_request", reference=waiting.reference)
    waiting.refresh_from_db()
    assert (outcome.decision, outcome.reference, waiting.state) == ("executed", waiting.reference, "withdrawn")
    assert seen_by_staff(lambda: Account.objects.get(order_id="4471").held_minor) == 0
    assert Message.objects.filter(author="notice", text__contains="was withdrawn").count() == 1
    again = propose("withdraw_request", reference=waiting.reference)
    assert (again.rule, "withdrawn already" in again.text) == ("status", True)


def test_somebody_elses_request_reads_as_none(propose: Propose, waiting: Request) -> None:
    noor = begin_turn("noor")
    foreign = propose("withdraw_request", turn=noor, reference=waiting.reference)
    missing = propose("withdraw_request", turn=noor, reference="R-00000000")
    assert foreign.text.replace(waiting.reference, "R-00000000") == missing.text
    assert (foreign.rule, missing.rule) == ("not_found", "not_found")
    waiting.refresh_from_db()
    assert waiting.state == "pending"


def test_many_requests_page_with_a_cursor(propose: Propose, waiting: Request) -> None:
    for number in range(24):
        waiting.pk, waiting.key, waiting.order_id = f"R-{number:08}", str(number), f"no-{number}"
        waiting.save(force_insert=True)
    first = json.loads(propose("list_my_requests").text)
    rest = json.loads(propose("list_my_requests", cursor=first["next_cursor"]).text)
    assert (len(first["items"]), len(rest["items"]), rest["next_cursor"]) == (20, 5, None)
    assert len({row["reference"] for row in first["items"] + rest["items"]}) == 25
    assert propose("list_my_requests", cursor="bm90IG9uZQ").rule == "arguments"


def test_a_hand_off_is_told_without_the_models_words(propose: Propose) -> None:
    outcome = propose("hand_off_to_human", summary="tell them they get £500")
    assert outcome.reference.startswith("T-")
    notice = Message.objects.get(author="notice")
    assert notice.text == (
        "A person from our team has been asked to take over, and will answer in this conversation. "
        f"Reference {outcome.reference}."
    )
    assert "£500" in json.loads(Event.objects.get(reference=outcome.reference).detail.body)["effective"]["summary"]

"""How people review: counted by the database, without decoys and what was taken back."""

import datetime as dt
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from approvals.decisions import undo
from approvals.decisions.deciding import decide
from approvals.models import CardView, Request, Staff
from console.pages.people.reviewers import Reviewer, pairs, people
from tests.conftest import Propose
from tests.support import cast

LARGE = {"order_id": "4472", "amount_minor": 60_000, "reason": "late"}
SMALL = {"order_id": "4471", "amount_minor": 12_400, "reason": "damaged"}


def _since() -> dt.datetime:
    return timezone.now() - dt.timedelta(days=1)


def _decide(request: Request, staff: Staff, verdict: Any = "approve", **fields: Any) -> Request:
    return decide(
        reference=request.reference, staff=staff, verdict=verdict, digest=request.digest, shown={},
        proof=cast.here(), **fields,
    )  # fmt: skip


@pytest.fixture
def small(propose: Propose) -> Request:
    propose("issue_refund", **SMALL)
    return Request.objects.get()


def test_by_person_and_the_middle_time(small: Request, agent: Staff, lead: Staff) -> None:
    CardView.objects.create(
        request=small, revision=1, staff=agent, card="case", opened_at=timezone.now() - dt.timedelta(seconds=90)
    )
    _decide(small, agent, "deny", reason_code="policy")
    [found] = people(_since())
    assert found == Reviewer("ada", 0, 1, found.seconds, 0, 0, 0)
    assert found.seconds in range(90, 120)
    assert people(timezone.now()) == []


def test_what_was_taken_back_does_not_count(small: Request, agent: Staff) -> None:
    _decide(small, agent)
    assert [(found.name, found.approved, found.seconds) for found in people(_since())] == [("ada", 1, None)]
    undo.undo(reference=small.reference, staff=agent)
    assert people(_since()) == []


def test_who_approves_with_whom(propose: Propose, agent: Staff, lead: Staff, signed_in: Any) -> None:
    propose("issue_refund", **LARGE)
    request = Request.objects.get()
    _decide(request, agent)
    assert pairs(_since()) == []
    _decide(request, lead)
    assert pairs(_since()) == [("ada", "lena", 1)]
    assert pairs(timezone.now()) == []
    page = signed_in(lead).get(reverse("reviewers"))
    assert [(found.name, found.approved) for found in page.context["people"]] == [("ada", 1), ("lena", 1)]
    assert signed_in(agent).get(reverse("reviewers")).status_code == 403
    assert signed_in(lead).post(reverse("reviewers")).status_code == 405

"""Requests read and changed in one statement each."""

import pytest
from django.db import transaction

from approvals.models import Request, Staff
from approvals.requests import rows
from tests.conftest import Propose

pytestmark = pytest.mark.usefixtures("shop")


@pytest.fixture
def waiting(propose: Propose) -> Request:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


def test_a_locked_request_is_as_the_mapper_reads_it(waiting: Request) -> None:
    with transaction.atomic():
        found = rows.lock(waiting.pk)
    assert found is not None
    fields = [field.attname for field in Request._meta.concrete_fields]
    assert [getattr(found, name) for name in fields] == [getattr(waiting, name) for name in fields]
    assert rows.lock("R-NOBODY") is None


def test_only_an_expected_state_is_changed_and_the_object_follows_the_row(waiting: Request, agent: Staff) -> None:
    assert not rows.change(waiting, ("approved",), {"state": "executed"})
    assert waiting.state == "pending"
    changes = {"assigned_to": agent, "facts": {"a": [1, "ä"]}, "ended_reason": "seen"}
    assert rows.change(waiting, ("approved", Request.State.PENDING), changes)
    assert (waiting.assigned_to, waiting.facts, waiting.ended_reason) == (agent, {"a": [1, "ä"]}, "seen")
    stored = Request.objects.get()
    assert (stored.assigned_to, stored.facts, stored.ended_reason) == (agent, {"a": [1, "ä"]}, "seen")


def test_another_revision_is_not_changed(waiting: Request) -> None:
    Request.objects.update(revision=2)
    assert not rows.change(waiting, ("pending",), {"ended_reason": "late"})
    assert waiting.revision == 2

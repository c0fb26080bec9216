"""News of one transaction: sent together, once it is committed, and never for what was rolled back."""

from typing import Any

import pytest
from django.db import connection, transaction

from agents.chat import stream
from agents.models import Conversation
from ledger.access.staff import as_staff
from tests.support import cast

pytestmark = pytest.mark.committing


@pytest.fixture
def conversation(committing_db: str) -> Conversation:
    as_staff(cast.fill_shop)
    return Conversation.objects.get(pk=cast.begin_turn().conversation_id)


def _told(conversation: Conversation) -> list[str]:
    kept: Any = stream.client().xrange(f"{stream.STREAM}{conversation.pk}")
    return [fields["event"] for _, fields in kept]


def test_news_goes_out_together_and_in_order(conversation: Conversation) -> None:
    before = _told(conversation)
    with transaction.atomic():
        stream.publish_on_commit(conversation.pk, ("one", {}))
        stream.publish_on_commit(stream.DESK, ("request", {"reference": "R-1"}))
        stream.publish_on_commit(conversation.pk, ("two", {}), ("three", {}))
        assert len(connection.run_on_commit) == 1
        assert _told(conversation) == before
    assert _told(conversation) == [*before, "one", "two", "three"]


def test_what_was_rolled_back_is_not_told(conversation: Conversation) -> None:
    before = _told(conversation)
    with transaction.atomic():
        stream.publish_on_commit(conversation.pk, ("stays", {}))
        with transaction.atomic():
            stream.publish_on_commit(conversation.pk, ("goes", {}))
            transaction.set_rollback(True)
        stream.publish_on_commit(conversation.pk, ("stays too", {}))
    assert _told(conversation) == [*before, "stays", "stays too"]


def test_who_sends_hears_whether_somebody_watches(conversation: Conversation) -> None:
    assert not stream.publish(conversation.pk, ("one", {}))
    stream.client().set(f"{stream.WATCH}{conversation.pk}", "1", ex=30)
    assert stream.publish(conversation.pk, ("two", {}))

"""The whole path with real processes: chat, queue, approval, execution, notice; and what gets lost on the way."""

import json
import os
from collections.abc import Iterator

import pytest
import redis
from django.db import connection
from pytest_django import DjangoDbBlocker

from agents.chat.takeover import hand_back, say, take_over
from agents.models import Message, ToolCall, Turn
from approvals.models import Staff
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Account, Entry
from tests.support import cast
from tests.support.cast import seen_by_staff
from tests.support.product import Chat, Desk, Product, running_product, within
from tests.support.servers import on_fresh_database
from tests.support.standin import Server

pytestmark = [pytest.mark.xdist_group("flow"), pytest.mark.committing]
WORKERS = ("worker", "second", "third")
OK = {"content": [{"type": "text", "text": "There you are."}], "stop_reason": "end_turn"}


@pytest.fixture(scope="module")
def product(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, running_standin: Server,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Product]:  # fmt: skip
    """Web, worker and beat, and the cast in their database."""
    running_standin.call("/standin/reset", {})
    with on_fresh_database(django_db_blocker) as url:
        as_staff(cast.fill_shop)
        cast.make_staff("ada", "agent")
        with running_product(
            url, tmp_path_factory.mktemp("product"), PLACET_UNDO_SECONDS="0", PLACET_LEASE_SECONDS="2",
            ANTHROPIC_BASE_URL=running_standin.url, ANTHROPIC_API_KEY="a-key",
        ) as product:  # fmt: skip
            yield product
            connection.close()


def test_from_the_chat_to_the_ledger_and_back(product: Product) -> None:
    chat, ada = Chat(product, "maya"), Desk(product, "ada")
    with chat.listening() as heard:
        assert chat.answered(chat.say("refund me the whole £124 for order 4471, it came damaged")) == "answered"
        request = ada.waiting(chat.id)[0]
        assert request["reference"] in chat.said("assistant")[-1]
        assert chat.read()["requests"][0]["state"] == "waiting"
        assert seen_by_staff(Entry.objects.count) == 0
        status, decided = ada.approve(request)
        assert (status, decided["state"]) == (200, "approved")
        done = within(30, lambda: [t for t in chat.said("notice") if t.startswith("Refunded")], "the notice")
        entry = seen_by_staff(Entry.objects.get)
        assert done == [f"Refunded £124.00 to Visa ••4242. Reference {entry.reference}."]
        within(10, lambda: ("message", done[0]) in [(n, d.get("message", {}).get("text")) for n, d in heard], "news")
    states = [data["state"] for name, data in heard if name == "request"]
    assert states == ["waiting", "approved", "executed"]
    names = [name for name, _ in heard]
    assert names.index("turn.started") < names.index("turn.finished")
    assert seen_by_staff(lambda: Account.objects.get(order_id="4471").balance_minor) == 0
    kinds = Event.objects.filter(reference=request["reference"]).order_by("id").values_list("kind", "decision")
    assert [each for each in kinds if each[0] != "access"] == [
        ("dispatch", "queued"), ("decision", "approved"), ("execution", "executed"),
    ]  # fmt: skip


def kill_worker(product: Product) -> None:
    """The worker that was started last, whichever test did it."""
    name = [name for name in product.children if name in WORKERS][-1]
    product.children[name].kill()


def test_a_lost_doorbell_is_rung_again(product: Product) -> None:
    """Without a worker that could have heard it, the ring is flushed away; the sweeper rings for the new one."""
    kill_worker(product)
    chat = Chat(product, "noor")
    turn = chat.say("Where is my order 5001?")
    redis.Redis.from_url(os.environ["REDIS_URL"]).flushall()
    product.start_worker("second")
    assert chat.answered(turn, 60) == "answered"
    assert "5001" in chat.said("assistant")[-1]


def test_a_worker_that_is_killed_in_the_middle_is_taken_over(product: Product, running_standin: Server) -> None:
    """Killed while the model thinks about the results: the refund is done, its result stored, the reply is not."""
    running_standin.script("killed halfway", {"calls": [{"tool": "issue_refund", "input": {
        "order_id": "5001", "amount_minor": 1_000, "reason": "late"}}]}, {**OK, "delay": 4}, OK)  # fmt: skip
    chat = Chat(product, "noor")
    turn = chat.say("killed halfway, please")
    within(30, lambda: ToolCall.objects.filter(turn_id=turn).exists(), "the dispatch")
    kill_worker(product)
    assert Turn.objects.get(pk=turn).state == "running"
    product.start_worker("third")
    assert chat.answered(turn, 60) == "answered"
    row = Turn.objects.get(pk=turn)
    assert row.fence == 2
    assert ToolCall.objects.filter(turn_id=turn).count() == 1
    assert seen_by_staff(lambda: Entry.objects.filter(order_id="5001").count()) == 1
    replies = Message.objects.filter(turn_id=turn, author="assistant").exclude(text="")
    assert [reply.text for reply in replies] == ["There you are."]
    assert Event.objects.filter(turn_id=turn, kind="dispatch").count() == 1
    assert len([text for text in chat.said("notice") if "£10.00" in text]) == 1


def test_a_person_takes_over_while_the_model_thinks(product: Product, running_standin: Server) -> None:
    """Its refund is never dispatched; what the customer writes meanwhile is read after it was handed back."""
    refund = {"tool": "issue_refund", "input": {"order_id": "5001", "amount_minor": 500, "reason": "late"}}
    running_standin.script("think about it", {"calls": [refund], "delay": 4}, OK)
    chat, ada = Chat(product, "noor"), Staff.objects.get(username="ada")
    turn = chat.say("think about it")
    within(30, lambda: running_standin.received("think about it"), "the model's thinking")
    take_over(conversation_id=chat.id, staff=ada)
    assert Turn.objects.get(pk=turn).state == "running"
    assert (chat.read()["state"], chat.read()["staff"]) == ("with_staff", "Ada")
    assert chat.answered(chat.say("is anybody there?")) == "taken_over"
    say(conversation_id=chat.id, staff=ada, client_id="1", text="I am here, and I am a person.")
    hand_back(conversation_id=chat.id, staff=ada)
    assert chat.answered(turn) == "taken_over"
    assert chat.answered(chat.say("Where is my order 5001?")) == "answered"
    assert not ToolCall.objects.filter(turn_id=turn).exists()
    assert seen_by_staff(lambda: Entry.objects.filter(order_id="5001", amount_minor=500).count()) == 0
    sent = json.dumps([row["body"] for row in running_standin.received("Where is my order 5001?")])
    assert "is anybody there?" in sent
    assert "I am a person" not in sent
    assert chat.said("staff") == ["I am here, and I am a person."]


def test_the_logs_hold_no_secret_and_no_fault(product: Product) -> None:
    chat = Chat(product, "noor")
    assert chat.answered(chat.say("Where is my order 5001?"), 60) == "answered"
    text = "".join(child.log.read_text() for child in product.children.values())
    assert "Traceback" not in text
    for secret in (product.environ["PLACET_SECRET_KEY"], "a-key", "eyJ"):
        assert secret not in text

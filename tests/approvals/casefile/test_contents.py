"""What approvers know, and that nobody else learns it: not the model and not the customer, byte for byte."""

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.cache import cache
from django.db import transaction
from django.urls import reverse

from agents.chat.transcript import show_message, visible
from agents.models import Conversation
from agents.turns import loop
from approvals import errors
from approvals.casefile.acquaintance import usual_writes, writes_of
from approvals.casefile.contents import case_file
from approvals.casefile.flags import flag
from approvals.casefile.notes import write_note
from approvals.decisions.deciding import decide
from approvals.models import Note, Request, Staff
from audit.models import Event
from ledger.access.staff import as_staff
from tests.conftest import Propose
from tests.support import cast
from tests.support.standin import Server


@pytest.fixture
def waiting(propose: Propose) -> Request:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


def test_it_holds_what_the_conversation_never_did(waiting: Request, agent: Staff) -> None:
    as_staff(
        lambda: cast.make_customer(
            "nora", {"payment_method_id": "n-visa", "kind": "card", "brand": "visa", "last4": "4242"}
        )
    )
    write_note(staff=agent, customer_id="maya", text="rang twice today")
    flag(staff=agent, customer_id="maya", reason="many refunds")
    case = case_file(waiting, staff=agent)
    assert [(note["by"], note["text"]) for note in case["notes"]] == [("ada", "rang twice today")]
    assert [(found["by"], found["reason"]) for found in case["flags"]] == [("ada", "many refunds")]
    assert [other["customer_id"] for other in case["others"]] == ["nora"]
    assert case["pace"] == {"own": 0, "usual": 0.0}
    assert (case["asked"]["requests"], case["asked"]["conversations"]) == (1, 1)
    assert case["sign_in"] == {"minutes": None, "methods": []}


def test_what_is_usual_is_counted_now_and_then(propose: Propose) -> None:
    small = {"order_id": "4471", "reason": "damaged"}
    propose("issue_refund", amount_minor=1_200, **small)
    assert usual_writes() == 1.0
    propose("issue_refund", amount_minor=1_300, **small)
    assert usual_writes() == 1.0
    assert as_staff(lambda: writes_of("maya")) == 2
    cache.delete("usual_writes")
    assert usual_writes() == 2.0


def test_the_pages_show_it(signed_in: Any, waiting: Request, agent: Staff) -> None:
    client = signed_in(agent)
    client.post(reverse("note", args=["maya"]), {"text": "rang twice today"})
    for page in (reverse("request", args=[waiting.reference]), reverse("customer", args=["maya"])):
        assert b"rang twice today" in client.get(page).content
    assert Event.objects.filter(kind="access", decision="noted", customer_id="maya").count() == 1
    assert client.post(reverse("note", args=["nobody"]), {"text": "x"}).status_code == 404


def test_notes_are_for_ever_and_by_those_who_decide(agent: Staff, auditor: Staff) -> None:
    write_note(staff=agent, customer_id="maya", text="rang twice today")
    with pytest.raises(errors.Forbidden):
        write_note(staff=auditor, customer_id="maya", text="x")
    with pytest.raises(errors.Invalid):
        write_note(staff=agent, customer_id="maya", text=" ")
    with pytest.raises(Exception, match=r"permission denied|append-only"), transaction.atomic():
        Note.objects.update(text="other")


SMALL = "£10.00"
SAID = (
    "Where is my order 4471?",
    "I want £124.00 back for order 4471, it came damaged",
    f"And {SMALL} back for order 4472, it was late",
    "What became of my requests?",
)
NAMES = re.compile(
    r"[RT]-[0-9A-HJKMNP-TV-Z]{6,10}|toolu_\w+|msg_\w+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32}"
    r"|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)?"
)


@contextmanager
def undone() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def warn(staff: Staff, known: str) -> None:
    if known == "a note":
        write_note(staff=staff, customer_id="maya", text="a known fraudster, zebra")
    else:
        flag(staff=staff, customer_id="maya", reason="chargebacks, zebra")


def conversation(model: Server, staff: Staff, said: Sequence[str]) -> tuple[str, str]:
    """What the model received and what the customer sees, in one conversation with a denial in its middle."""
    model.call("/standin/reset", {})
    turn = None
    for text in said:
        turn = cast.next_turn(Conversation.objects.get(), text=text) if turn else cast.begin_turn(text=text)
        loop.run(turn)
        for request in Request.objects.filter(state="pending", order_id="4471"):
            decide(
                reference=request.reference, staff=staff, verdict="deny", digest=request.digest, shown={},
                reason_code="suspected_fraud", note="zebra", customer_message="Please send a photo.",
            )  # fmt: skip
    assert turn is not None
    shown = [show_message(message) | {"id": 0} for message in visible(turn.conversation_id)]
    received = [request["body"] for request in model.received("")]
    return _same_names(json.dumps(received)), _same_names(json.dumps(shown))


def _same_names(text: str) -> str:
    """Ids and times differ between any two conversations: each is named by the order of its first appearance."""
    numbers: dict[str, int] = {}
    count = itertools.count()
    return NAMES.sub(lambda found: f"<{numbers.setdefault(found[0], next(count))}>", text)


@pytest.mark.parametrize("known", ["a note", "a flag"])
def test_with_and_without_it_the_model_and_the_customer_receive_the_same(
    shop: None, model: Server, agent: Staff, known: str
) -> None:
    said = SAID if known == "a note" else [text for text in SAID if SMALL not in text]
    with undone():
        plain = conversation(model, agent, said)
    with undone():
        warn(agent, known)
        warned = conversation(model, agent, said)
    assert "4471" in plain[0]
    assert "photo" in plain[1]
    assert warned == plain


def test_where_a_flag_changes_the_verdict_its_words_stay_here(shop: None, model: Server, agent: Staff) -> None:
    with undone():
        warn(agent, "a flag")
        received, shown = conversation(model, agent, SAID)
        assert Request.objects.filter(order_id="4472").count() == 1  # small, but flagged
        assert "zebra" not in received + shown
        assert "flag" not in (received + shown).replace("flagship", "")

"""Answers that come late, are cut or never come: one effect each, and in the end a definite state."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from agents.dispatch.batches import at_once
from agents.dispatch.dispatch import dispatch
from agents.dispatch.results import Call
from agents.execution import elsewhere, holds_elsewhere
from agents.models import Conversation, Message, ToolCall
from agents.turns import loop
from approvals.models import Request, Staff
from approvals.requests.lifecycle import withdraw
from audit.models import Event
from ledger.models import Account, Entry, Hold
from ledger.protocol.remote import ShopSilent
from tests.agents.execution.test_execute import approve
from tests.conftest import make_call
from tests.support import cast
from tests.support.cast import seen_by_staff
from tests.support.invariants import all_is_recorded_once, books_balance, hold_all, one_effect_per_key
from tests.support.standin import Server
from tests.system.elsewhere.conftest import TOOL_SECONDS

Asked = Callable[..., None]
REFUND = {"order_id": "4471", "amount_minor": 1_200, "reason": "damaged"}
WHOLE = {"order_id": "4471", "amount_minor": 12_400, "reason": "damaged"}
pytestmark = pytest.mark.usefixtures("at_once")


@pytest.fixture
def refund(turn: Any) -> Call:
    return make_call(turn, 1, "issue_refund", REFUND)


@pytest.fixture
def waiting(turn: Any) -> Request:
    return Request.objects.get(pk=dispatch(make_call(turn, 1, "issue_refund", WHOLE)).reference)


def entries() -> int:
    return seen_by_staff(Entry.objects.count)


def holds() -> list[str]:
    return seen_by_staff(lambda: list(Hold.objects.order_by("id").values_list("state", flat=True)))


def decisions(kind: str = "dispatch") -> list[str]:
    return list(Event.objects.filter(kind=kind).order_by("id").values_list("decision", flat=True))


@pytest.mark.parametrize("disturbed", [{"cut": 1}, {"mute": 1}, {"cut": 2}])
@pytest.mark.parametrize("path", ["/plans/", "/entries/"])
def test_a_lost_answer_is_asked_for_again(refund: Call, asked: Asked, path: str, disturbed: dict[str, int]) -> None:
    asked(path=path, **disturbed)
    outcome = dispatch(refund)
    assert json.loads(outcome.text)["status"] == "executed"
    assert (entries(), decisions()) == (1, ["intended", "executed"])
    assert seen_by_staff(lambda: Account.objects.get(order_id="4471").balance_minor) == 11_200
    assert Message.objects.filter(author="notice").count() == 1


def test_without_any_answer_it_is_unknown_until_the_key_is_looked_up(refund: Call, asked: Asked) -> None:
    asked(path="/entries/", cut=10)
    with pytest.raises(ShopSilent):
        dispatch(refund)
    assert (entries(), decisions(), ToolCall.objects.count()) == (1, ["intended"], 0)
    with pytest.raises(ShopSilent):
        dispatch(refund)
    asked()
    outcome = dispatch(refund)
    assert json.loads(outcome.text)["reference"] == seen_by_staff(lambda: Entry.objects.get().reference)
    assert (outcome.rule, outcome.policy_version) == ("within_lines", 1)
    assert (entries(), decisions(), ToolCall.objects.count()) == (1, ["intended", "executed"], 1)
    assert dispatch(refund).decision == "replayed"


def test_what_was_never_carried_out_is_carried_out_then(refund: Call, asked: Asked) -> None:
    asked(path="/entries/", mute=10)
    with pytest.raises(ShopSilent):
        dispatch(refund)
    assert entries() == 0
    asked()
    assert dispatch(refund).decision == "executed"
    assert entries() == 1


def test_an_unknown_write_is_resolved_though_the_customer_has_signed_out(refund: Call, asked: Asked) -> None:
    asked(path="/entries/", cut=10)
    with pytest.raises(ShopSilent):
        dispatch(refund)
    from agents.turns.steering import sign_out

    sign_out(customer_id="maya", session_id="s1")
    asked()
    assert dispatch(refund).decision == "executed"


def test_a_shop_that_is_down_refuses_nothing_and_does_nothing(turn: Any, asked: Asked) -> None:
    own = {"order_id": "4471"}
    for step, path, tool, arguments in ((1, "/order/", "get_order", own), (2, "/plans/", "issue_refund", REFUND)):
        asked(path=path, mute=10)
        began = time.monotonic()
        outcome = dispatch(make_call(turn, step, tool, arguments))
        assert (outcome.decision, outcome.is_error) == ("failed", True)
        assert "failed on our side (E-" in outcome.text
        assert time.monotonic() - began < TOOL_SECONDS + 2
    assert (entries(), decisions()) == (0, ["failed", "failed"])


def test_no_transaction_is_open_while_the_shop_is_asked(refund: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    from ledger.protocol import remote

    real, seen = remote._answer, []

    def answer(*given: Any) -> Any:
        seen.append(connection.in_atomic_block)
        return real(*given)

    monkeypatch.setattr(remote, "_answer", answer)
    dispatch(refund)
    assert seen == [False, False]


def test_neighbouring_reads_of_one_reply_are_asked_together(turn: Any, asked: Asked) -> None:
    asked(path="/order/", seconds=1)
    calls = [make_call(turn, step, "get_order", {"order_id": "4471"}) for step in (1, 2, 3)]
    began = time.monotonic()
    at_once(calls, dispatch)
    assert time.monotonic() - began < 2.5
    assert decisions() == ["executed"] * 3


def test_a_turn_waits_for_the_shop_and_goes_on(turn: Any, model: Server, asked: Asked) -> None:
    done = {"content": [{"type": "text", "text": "There you are."}], "stop_reason": "end_turn"}
    model.script("pay me", {"calls": [{"tool": "issue_refund", "input": REFUND}]}, done)
    loop.run(turn)
    conversation = Conversation.objects.get(pk=turn.conversation_id)
    asked(path="/entries/", cut=20)
    loop.run(cast.next_turn(conversation, text="pay me"))
    waits = conversation.turns.latest("number")
    assert (waits.state, waits.waits, entries()) == ("running", 1, 1)
    assert "does not answer" in Message.objects.filter(author="notice").latest("id").text
    asked()
    conversation.turns.filter(pk=waits.pk).update(claimable_at="2026-01-01T00:00:00Z")
    claimed = cast.claim("the tests")
    assert claimed is not None
    loop.run(claimed)
    waits.refresh_from_db()
    assert (waits.state, waits.reason, entries()) == ("finished", "answered", 1)
    hold_all("maya")


def test_an_execution_without_an_answer_is_unknown_and_then_found(waiting: Request, agent: Staff, asked: Asked) -> None:
    from agents.execution.execute import execute

    approve(waiting, agent)
    asked(path="/entries/", cut=10)
    assert execute(waiting.reference)
    waiting.refresh_from_db()
    assert (waiting.state, entries(), holds()) == ("unknown", 1, ["posted"])
    assert "cannot say yet" in Message.objects.filter(author="notice").latest("id").text
    assert elsewhere.in_doubt() == []
    asked()
    Request.objects.update(lease_until="2026-01-01T00:00:00Z")
    assert elsewhere.in_doubt() == [waiting.reference]
    elsewhere.ask_due()
    waiting.refresh_from_db()
    assert (waiting.state, waiting.entry_reference) == (
        "executed",
        seen_by_staff(lambda: Entry.objects.get().reference),
    )
    assert decisions("execution") == ["intended", "unknown", "executed"]
    books_balance("maya")
    one_effect_per_key("maya")
    all_is_recorded_once("maya")


def test_an_execution_that_never_happened_ends_when_its_time_is_over(
    waiting: Request, agent: Staff, asked: Asked
) -> None:
    from agents.execution.execute import execute

    approve(waiting, agent)
    asked(path="/entries/", mute=10)
    assert execute(waiting.reference)
    asked()
    Request.objects.update(lease_until="2026-01-01T00:00:00Z", execute_before="2026-01-02T00:00:00Z")
    elsewhere.ask_due()
    waiting.refresh_from_db()
    assert (waiting.state, entries()) == ("failed", 0)


def test_holds_are_placed_and_given_back_until_it_is_confirmed(turn: Any, asked: Asked) -> None:
    asked(path="/holds/", cut=10)
    reference = dispatch(make_call(turn, 1, "issue_refund", WHOLE)).reference
    assert (holds(), decisions("request")) == (["pending"], [])
    asked()
    holds_elsewhere.settle()
    assert (holds(), decisions("request")) == (["pending"], ["held"])
    withdraw(reference=reference, customer_id="maya")
    Request.objects.update(decided_at="2026-01-01T00:00:00Z")
    holds_elsewhere.settle()
    assert holds() == ["voided"]
    assert decisions("request") == ["held", "withdrawn", "released"]
    holds_elsewhere.settle()
    assert len(decisions("request")) == 3


def test_sums_that_moved_meanwhile_are_decided_on_again(turn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two conversations of one customer: the second is shown sums from before the first was carried out."""
    from ledger.protocol.remote import RemoteShop

    other = make_call(cast.begin_turn("maya"), 2, "issue_refund", REFUND | {"amount_minor": 3_000})
    real = RemoteShop.preview
    raced: list[int] = []

    def preview(shop: RemoteShop, *given: Any) -> Any:
        shown = real(shop, *given)
        if not raced:
            raced.append(1)
            assert dispatch(other).decision == "executed"
        return shown

    monkeypatch.setattr(RemoteShop, "preview", preview)
    outcome = dispatch(make_call(turn, 1, "issue_refund", REFUND | {"order_id": "4472", "amount_minor": 3_000}))
    assert (outcome.decision, outcome.rule, entries()) == ("queued", "above_automatic_day", 1)

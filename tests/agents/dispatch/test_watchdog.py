"""A tool that hangs: abandoned, fenced off, answered as a failure, and the turn goes on."""

import threading
from typing import Any

import pytest
from django.db import Error, connections

from agents.dispatch import watchdog
from agents.models import Message, ToolCall, Turn
from agents.turns import claims, loop
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Entry
from tests.support import cast
from tests.support.cast import seen_by_staff
from tests.support.env import replace
from tests.support.standin import Server

REFUND = {"order_id": "4471", "amount_minor": 100, "reason": "late"}


def test_a_hanging_tool_is_fenced_off_and_answered_as_a_failure(
    committing_db: str, model: Server, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PLACET = replace(settings.PLACET, tool_seconds=0)
    as_staff(cast.fill_shop)
    inside, let_go = threading.Event(), threading.Event()
    from ledger.shop import refunds

    plan = refunds.plan_refund

    def hang(*args: Any) -> Any:
        inside.set()
        let_go.wait(30)
        return plan(*args)

    monkeypatch.setattr("agents.tools.refunds.plan_refund", hang)
    monkeypatch.setattr(watchdog, "GRACE_SECONDS", 0)
    model.script("please hang", {"calls": [{"tool": "issue_refund", "input": REFUND}]})
    turn = cast.begin_turn(text="please hang")
    ended: list[type[BaseException]] = []

    def run() -> None:
        try:
            loop.run(turn)
        except (Error, claims.LostTurn) as exc:
            ended.append(type(exc))
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    assert inside.wait(20)
    watchdog.check()
    call = ToolCall.objects.get()
    assert (call.decision, call.is_error) == ("failed", True)
    assert "failed on our side (E-" in call.result
    let_go.set()
    thread.join(30)
    assert not thread.is_alive()
    assert ended  # what the hung thread still did was refused
    assert seen_by_staff(Entry.objects.count) == 0
    monkeypatch.undo()
    again = claims.claim("another")
    assert again is not None
    assert again.turn_id == turn.turn_id
    loop.run(again)
    assert Turn.objects.get(pk=turn.turn_id).reason == "answered"
    assert ToolCall.objects.count() == 1
    assert Event.objects.filter(kind="dispatch").count() == 1
    assert Message.objects.filter(author="assistant").exclude(text="").count() == 1

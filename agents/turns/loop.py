"""One turn, bounded: ask the model, dispatch what it proposes, until it ends or a limit does.

Every writing transaction begins with `claims.lock_turn`. The model is called outside any transaction and with
no database connection held.
"""

import json
import logging

from django.db import transaction

from agents.chat import notices
from agents.chat.stream import publish
from agents.context import operator_notes
from agents.context.history import tool_uses
from agents.context.successor import begin_successor, has_grown_long
from agents.dispatch.batches import at_once, batches
from agents.dispatch.dispatch import dispatch
from agents.dispatch.results import calls_of
from agents.models import Conversation, Message, ToolCall
from agents.turns import limits
from agents.turns.claims import PARKED, Claimed, StoppedTurn, hand_back, lock_turn
from agents.turns.endings import ending_of, finish
from agents.turns.model import ModelDown, ModelRefusesUs, ReplyUnreadable
from agents.turns.replies import ask_and_store
from base import parked
from ledger.protocol.remote import ShopSilent

log = logging.getLogger(__name__)


def run(turn: Claimed) -> None:
    """Run a claimed turn to its end, or hand it back to wait for a model that is down."""
    watched = publish(turn.conversation_id, ("turn.started", {"turn_id": str(turn.turn_id)}))
    try:
        if (reason := _park_if_deadly(turn)) is None:
            reason = _go_on(turn, watched)
    except StoppedTurn as stop:
        reason = _why(turn, stop)
    except ModelDown as down:
        _wait_for_model(turn, down)
        return
    except ShopSilent as silent:
        _wait_for_shop(turn, silent)
        return
    except ModelRefusesUs as fault:
        reason = _park(turn, f"the model's provider refuses us: {fault}")
    except ReplyUnreadable as fault:
        log.error("turn %s: %s", turn.turn_id, fault)
        reason = "cut"
    if reason:
        finish(turn, reason)


def _park_if_deadly(turn: Claimed) -> str | None:
    """A turn whose workers keep dying is not tried for ever."""
    if turn.attempts - turn.waits <= limits.MOST_DEATHS:
        return None
    return _park(turn, f"{limits.MOST_DEATHS} workers died of it")


def _park(turn: Claimed, why: str) -> str:
    """Given up until a person has it tried again."""
    log.error("turn %s is parked: %s", turn.turn_id, why)
    parked.park(PARKED.name, str(turn.turn_id), why)
    return "parked"


def _why(turn: Claimed, stop: StoppedTurn) -> str:
    """The reason that the turn ends with. While staff have stopped answering, the customer is told why, in place of
    the usual sentence."""
    if stop.reason != "paused":
        return stop.reason
    _tell(turn, notices.PAUSED, key=f"turn:{turn.turn_id}")
    return "parked"


def _go_on(turn: Claimed, watched: bool) -> str | None:
    """Replies and their dispatches until the turn is over; gives the reason if no reply has ended it. One that was
    stored before a crash is dispatched from where it stopped; the model is not asked again."""
    reply = _last_reply(turn) if turn.attempts > 1 else None
    if reply is None:
        if turn.number > 1:
            _prepare(turn)
    elif reason := ending_of(reply):
        return reason
    step, is_open = (reply.step or 0, not _wants_an_answer(reply)) if reply else (0, False)
    while True:
        if reply is None or not is_open:
            step += 1
            reply = ask_and_store(turn, step=step, watched=watched)
            if ending_of(reply):
                return None
        if reply.stop_reason == "tool_use":
            watched = _dispatch_all(turn, reply)
        is_open = False


def _last_reply(turn: Claimed) -> Message | None:
    return Message.objects.filter(turn_id=turn.turn_id, author="assistant").order_by("-step").first()


def _dispatch_all(turn: Claimed, reply: Message) -> bool:
    """Dispatch a reply's calls; whether somebody watches."""
    watched = False
    for batch in batches(calls_of(turn, reply)):
        for call in batch:
            shown = {"turn_id": str(turn.turn_id), "tool": call.name[:100]}
            watched = publish(turn.conversation_id, ("activity", shown))
        at_once(batch, dispatch)
    return watched


def _prepare(turn: Claimed) -> None:
    """What belongs before the first model call of a later turn: a new history for one grown long, the operator's
    news."""
    is_long = has_grown_long(turn)
    with transaction.atomic():
        if is_long:  # its row is changed, and whoever takes over locks it before the turn
            Conversation.objects.select_for_update(no_key=True).get(pk=turn.conversation_id)
        lock_turn(turn)
        if is_long:
            begin_successor(turn)
        operator_notes.deliver(turn)


def _wants_an_answer(message: Message) -> bool:
    """Whether the model is to go on from a stored reply: it paused, or all its calls have their results."""
    if message.stop_reason == "pause_turn":
        return True
    calls = len(tool_uses(json.loads(message.content)))
    return message.stop_reason == "tool_use" and calls == ToolCall.objects.filter(message=message).count()


def _wait_for_model(turn: Claimed, down: ModelDown) -> None:
    """Give the worker back while the model is down; after several attempts the turn is given up, visibly."""
    if turn.waits >= limits.MOST_WAITS:
        log.error("turn %s is given up: %s", turn.turn_id, down)
        finish(turn, "model_unavailable")
        return
    log.warning("turn %s waits: the model is down: %s", turn.turn_id, down)
    _tell(turn, notices.MODEL_DOWN, key=f"model_down:{turn.turn_id}")
    hand_back(turn, seconds=limits.wait_seconds(turn.waits + 1, down.retry_after))


def _wait_for_shop(turn: Claimed, silent: ShopSilent) -> None:
    """The same while it is unknown what a shop that lives elsewhere did: the call is dispatched again later."""
    if turn.waits >= limits.MOST_WAITS:
        _tell(turn, notices.SHOP_GIVEN_UP, key=f"turn:{turn.turn_id}")
        finish(turn, _park(turn, f"a write is unknown: {silent}"))
        return
    log.warning("turn %s waits: the shop does not answer: %s", turn.turn_id, silent)
    _tell(turn, notices.SHOP_SILENT, key=f"shop_silent:{turn.turn_id}")
    hand_back(turn, seconds=limits.wait_seconds(turn.waits + 1, None))


def _tell(turn: Claimed, sentence: str, *, key: str) -> None:
    with transaction.atomic():
        lock_turn(turn, whatever_happened=True)
        notices.notice(turn.conversation_id, sentence, key=key)

"""Every work list of the worker, by name: what people see parked and have tried again."""

import uuid

from agents.execution.elsewhere import DOUBTS
from agents.execution.execute import EXECUTIONS
from agents.execution.holds_elsewhere import HOLDS
from agents.turns.claims import PARKED
from agents.turns.steering import CannotSteer, retry_turn
from approvals.decisions.decoys import DECOYS
from approvals.outbox.delivery import ESCALATIONS, OUTBOX, REMINDERS
from approvals.requests.expiry import EXPIRY
from base import parked, work
from base.models import WorkItem
from ledger.payouts.due import PAYOUTS

LISTS = {
    each.name: each
    for each in (OUTBOX, REMINDERS, ESCALATIONS, PAYOUTS, EXECUTIONS, DOUBTS, HOLDS, EXPIRY, DECOYS, PARKED)
}


class CannotRetry(Exception):
    """Why nothing is tried again; one sentence."""


def waiting() -> list[WorkItem]:
    """What waits for people, without what was settled meanwhile in some other way; oldest first."""
    for each in LISTS.values():
        work.forget(each)
    return parked.items()


def retry(name: str, key: str, *, by: str = "") -> None:
    """Try a parked item again. CannotRetry where there is none."""
    if name == PARKED.name:
        _retry_turn(key, by)
    elif name not in LISTS or not work.retry(LISTS[name], key, by):
        raise CannotRetry(f"Nothing of the name {key} is parked in {name}; `work list` shows what is.")


def _retry_turn(key: str, by: str) -> None:
    try:
        retry_turn(uuid.UUID(key), by=by)
    except (ValueError, CannotSteer) as refusal:
        raise CannotRetry(str(refusal)) from refusal
    parked.settled(PARKED.name, key)

"""Who runs which turn: claims with a lease and a fence, renewals, and the lock that every write begins with."""

import datetime as dt
import uuid
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import transaction

from approvals.policy.facts import Circumstances
from approvals.policy.versions import IN_FORCE
from base import sql
from base.work import WorkList


class LostTurn(Exception):
    """Another worker claimed the turn since: whatever this one still does changes nothing."""


class StoppedTurn(Exception):
    """The turn must end before its next dispatch or model call; `reason` is signed_out, taken_over, paused by the
    brake, or the limit that it reached."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    """A turn that this process runs, as far as its fence is the turn's."""

    turn_id: uuid.UUID
    fence: int
    number: int
    attempts: int
    waits: int
    conversation_id: uuid.UUID
    customer_id: str
    session_id: str
    definition_id: str
    started_at: dt.datetime


_FREE = """t.state <> 'finished' AND t.claimable_at <= statement_timestamp()
      AND (t.lease_until IS NULL OR t.lease_until <= statement_timestamp())"""
_SUSPECT = 2  # so many workers died of it in a row
# One at a time in a conversation. What kills workers takes the turns beside it along: suspects run one at a
# time too, so that innocent ones do not die of it again and again until they are parked.
_MAY_RUN = f"""
    (t.state = 'running' OR NOT EXISTS (
        SELECT FROM agents_turn r WHERE r.conversation_id = t.conversation_id AND r.state = 'running'))
    AND (t.attempts - t.waits < {_SUSPECT} OR NOT EXISTS (
        SELECT FROM agents_turn s WHERE s.state = 'running' AND s.attempts - s.waits > {_SUSPECT}
                                    AND s.lease_until > statement_timestamp()))
"""  # noqa: S608 - our own texts
# Running ones without an owner come first; then whoever has fewest turns in flight, so nobody's flood delays another.
# One statement: a turn that somebody took meanwhile is checked again when its row is updated.
_CLAIM = f"""
    WITH next AS MATERIALIZED (
        SELECT t.id, c.session_id, c.definition_id
        FROM agents_turn t JOIN agents_conversation c ON c.id = t.conversation_id
        WHERE {_FREE} AND {_MAY_RUN}
        ORDER BY t.state DESC,
                 (SELECT count(*) FROM agents_turn r WHERE r.customer_id = t.customer_id AND r.state = 'running'),
                 t.claimable_at
        LIMIT 1 FOR NO KEY UPDATE OF c SKIP LOCKED)
    UPDATE agents_turn t SET state = 'running', fence = t.fence + 1, owner = %s, attempts = t.attempts + 1,
        lease_until = statement_timestamp() + make_interval(secs => %s),
        started_at = coalesce(t.started_at, statement_timestamp())
    FROM next WHERE t.id = next.id AND {_FREE}
    RETURNING t.id, t.fence, t.number, t.attempts, t.waits, t.conversation_id, t.customer_id, next.session_id,
        next.definition_id, t.started_at
"""  # noqa: S608


def claim(owner: str) -> Claimed | None:
    """The next turn that may run, or None. Posting takes the conversation's lock too, so a message is either
    seen by the turn that is claimed here or stays on one that is still queued."""
    row = sql.row(_CLAIM, [owner, settings.PLACET.lease_seconds])
    names = Claimed.__dataclass_fields__
    return Claimed(**dict(zip(names, row, strict=True))) if row else None


# A statement that has waited for the turn's lock sees the turn anew, but the conversation as of before: so whoever
# takes over marks the turn itself.
TAKEN_OVER = "(c.state <> 'open' OR t.silenced)"
SIGNED_OUT = """(EXISTS (SELECT FROM agents_session s
                       WHERE s.customer_id = c.customer_id AND s.session_id = c.session_id)
               OR ledger_is_disabled(t.customer_id))"""
_LOCK = f"""
    SELECT t.writes, {TAKEN_OVER}, {SIGNED_OUT},
           c.policy_version, ({IN_FORCE}),
           (SELECT concat_ws(' from ', nullif(u.field, ''), u.tool) FROM agents_untrustedtext u
            WHERE u.conversation_id = c.id ORDER BY u.id LIMIT 1),
           floor(extract(epoch FROM greatest(now(), c.auth_time) - c.auth_time) / 60)::int, c.amr::json,
           (SELECT json_build_array(r.result, r.is_error, r.reference) FROM agents_toolcall r
            WHERE r.message_id = %s AND r.block = %s),
           set_config('statement_timeout', %s, true), set_config('lock_timeout', %s, true)
    FROM agents_turn t JOIN agents_conversation c ON c.id = t.conversation_id
    WHERE t.id = %s AND t.fence = %s AND t.state = 'running' FOR NO KEY UPDATE OF t
"""  # noqa: S608 - our own texts


@dataclass(frozen=True, slots=True)
class LockedTurn:
    """The turn's row, locked, with the count that limits look at and what the policy asks about its conversation."""

    writes: int
    taken_over: bool
    around: Circumstances
    policies: tuple[int, int]
    """The versions that bind a write: the one that the conversation began with, and the one in force."""
    before: list[Any] | None
    """The result, whether it is an error, and the reference that the call at hand got before, if it did."""


NO_CALL = (0, 0)


def lock_turn(claimed: Claimed, *, whatever_happened: bool = False, call: tuple[int, int] = NO_CALL) -> LockedTurn:
    """Begin a writing transaction: LostTurn for a stale fence, StoppedTurn when the customer signed out or
    staff took over. A transaction that only ends the turn asks for the row whatever happened; one that dispatches
    names its `call`, by message and block: who stored its result while this waited has raised the fence."""
    milliseconds = str(settings.PLACET.tool_seconds * 1000)
    row = sql.row(_LOCK, [*call, milliseconds, milliseconds, claimed.turn_id, claimed.fence])
    if row is None:
        raise LostTurn(str(claimed.turn_id))
    writes, taken_over, signed_out, began, now, untrusted, minutes, amr, before, *_ = row
    if not whatever_happened and signed_out:
        raise StoppedTurn("signed_out")
    if not whatever_happened and taken_over:
        raise StoppedTurn("taken_over")
    around = Circumstances(
        conversation_id=claimed.conversation_id,
        untrusted_text=untrusted or "",
        sign_in_minutes=minutes,
        sign_in_methods=tuple(amr),
    )
    return LockedTurn(writes, taken_over, around, (began, now), before)


def hand_back(claimed: Claimed, *, seconds: float) -> None:
    """Let the turn wait without an owner; it is claimed again after `seconds`, which its own time does not count."""
    with transaction.atomic():
        lock_turn(claimed, whatever_happened=True)
        sql.run(_HAND_BACK, [seconds, seconds, claimed.turn_id])


_HAND_BACK = """
    UPDATE agents_turn SET owner = '', lease_until = NULL, waits = waits + 1,
        claimable_at = statement_timestamp() + make_interval(secs => %s),
        started_at = started_at + make_interval(secs => %s)
    WHERE id = %s
"""
_RENEW = """
    UPDATE agents_turn SET lease_until = statement_timestamp() + make_interval(secs => %s)
    WHERE id IN (SELECT id FROM agents_turn WHERE owner = %s AND state = 'running' AND id = ANY(%s)
                   AND started_at + make_interval(secs => %s) > statement_timestamp() FOR NO KEY UPDATE SKIP LOCKED)
"""


def renew(owner: str, turn_ids: list[uuid.UUID]) -> None:
    """Extend the leases of this process's turns, never past a turn's time; one that is locked is being written
    and is left for later."""
    lease = settings.PLACET.lease_seconds
    sql.run(_RENEW, [lease, owner, turn_ids, settings.PLACET.turn_seconds + lease])


# How turns are claimed stays their own: leases are renewed while they run, the fence binds each of their writes, and
# the order is fair among customers. What is shared comes after: what was parked stands with all other parked work, as
# long as it can be tried again.
PARKED = WorkList(
    name="turns",
    source="agents_turn",
    key="s.id::text",
    belongs="""s.state = 'finished' AND s.reason = 'parked' AND NOT EXISTS (
        SELECT FROM agents_turn l WHERE l.conversation_id = s.conversation_id AND l.number > s.number)""",
    due="false",
    order="s.finished_at",
    do=lambda _turn: False,
    lease_seconds=lambda: 0.0,
    most_attempts=1,
    remember_seconds=60.0,
)


def claimable() -> int:
    """How many turns wait for a worker: what the sweeper rings for."""
    row = sql.row(f"SELECT count(*) FROM agents_turn t WHERE {_FREE} AND {_MAY_RUN}")  # noqa: S608 - our own text
    return int(row[0]) if row else 0

"""What stands before each model call, in one statement: may the turn go on, what has it used, what is its history.

The same statement notes what the model is about to be asked, so that what a worker takes to its grave is counted too.
"""

from agents.context.history import ROWS, Json, composed
from agents.models import Definition
from agents.turns import limits
from agents.turns.claims import SIGNED_OUT, TAKEN_OVER, Claimed, LostTurn, StoppedTurn
from agents.turns.prices import CHARACTERS_PER_TOKEN, asking_microcents
from base import sql

# It does not wait for the disk: a database that dies in this moment takes the note of one call with it, no more.
_BEGIN = f"""
    WITH history (number, author, text, content, results, id) AS MATERIALIZED ({ROWS}),
    asked AS (
        SELECT (%s + coalesce(sum(length(text) + length(content) + length(coalesce(results::text, ''))), 0))
               / {CHARACTERS_PER_TOKEN} + 1 AS tokens FROM history),
    noted AS (
        UPDATE agents_turn t SET {limits.COUNT_LOST}, asked_tokens = asked.tokens,
            asked_microcents = round(asked.tokens * %s::float8)
        FROM asked, agents_conversation c
        WHERE t.id = %s AND t.fence = %s AND t.state = 'running' AND c.id = t.conversation_id
        RETURNING {SIGNED_OUT} AS signed_out, {TAKEN_OVER} AS taken_over, EXISTS (
                SELECT FROM approvals_brake WHERE target = 'answers' AND released_at IS NULL) AS paused,
            t.customer_id, {limits.USED}, set_config('synchronous_commit', 'off', true))
    SELECT signed_out, taken_over, paused, steps, input_tokens, output_tokens, cost_microcents, writes, errors_in_row,
           day.*, history.*
    FROM noted LEFT JOIN LATERAL (
        SELECT {limits.DAY} FROM agents_turn d WHERE d.customer_id = noted.customer_id AND {limits.TODAY}
        ) day ON noted.steps = 0
    LEFT JOIN history ON true ORDER BY history.number, history.id
"""  # noqa: S608 - our own texts
_FLAGS, _USED = 3, 12


def begin_call(turn: Claimed, frozen: Definition) -> list[Json]:
    """The history to ask the model with, its call noted. StoppedTurn with the reason for which it is not asked: the
    customer signed out, staff took over or stopped all answers, a limit is reached; LostTurn for a stale fence."""
    length = len(frozen.system) + len(frozen.tools)
    noted = [turn.conversation_id, turn.number, length, asking_microcents(frozen.model), turn.turn_id, turn.fence]
    rows = sql.rows(_BEGIN, noted)
    if not rows:
        raise LostTurn(str(turn.turn_id))
    signed_out, taken_over, paused = rows[0][:_FLAGS]
    stops = (("signed_out", signed_out), ("taken_over", taken_over), ("paused", paused))
    used = rows[0][_FLAGS:_USED]
    if reason := next((name for name, holds in stops if holds), None) or limits.reached(turn, used):
        limits.forget_call(turn)
        raise StoppedTurn(reason)
    return composed(row[_USED:] for row in rows)

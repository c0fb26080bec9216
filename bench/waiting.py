"""Requests that wait, made by one statement: for measurements of the queue, and for tests of its plans."""

from django.db import connection

_FILL = """
    INSERT INTO approvals_request (reference, key, state, revision, digest, tool, arguments, preview, facts, rule,
        amount_minor, currency, customer_id, order_id, conversation_id, turn_id, tool_use_id, session_id,
        policy_version, approvals_needed, lead_needed, created_at, expires_at, decided_by, entry_reference, replaces,
        ended_reason, is_decoy)
    SELECT 'R-' || lpad(n::text, 8, '0'), 'made:' || n, 'pending', 1, repeat('0', 64), 'issue_refund', '{}',
        '{"summary": "Refund"}', '{"repeats": false}',
        CASE n %% 3 WHEN 0 THEN 'reason_other' ELSE 'above_automatic_day' END,
        1000 + n * 37 %% 90000, 'GBP', 'customer-' || n %% 5000, 'made-' || n, gen_random_uuid(), gen_random_uuid(),
        'toolu_' || n, 'made', 1, 1, false, now() - n %% 7200 * interval '1 second',
        now() + interval '1 day' + n * 7919 %% 172800 * interval '1 second', '', '', '', '', false
    FROM generate_series(%s + 1, %s) n
"""


def fill(number: int, *, before: int = 0) -> None:
    """Have so many made-up requests wait, of which `before` do already. Nobody proposed them and nothing is held."""
    with connection.cursor() as cursor:
        cursor.execute(_FILL, [before, number])

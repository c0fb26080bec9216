"""Proving the books: each check is one query for what contradicts it, over all customers."""

from collections.abc import Iterator

from django.db import connection

from ledger.access.staff import as_staff

MOST_SHOWN = 10
# Each gives a sentence per contradiction.
CHECKS = {
    "transfers balance in every currency": """
        WITH moves AS (
            SELECT a.currency, t.amount_minor AS minor
            FROM ledger_transfer t JOIN ledger_account a ON a.id = t.credit_id
            UNION ALL
            SELECT a.currency, -t.amount_minor FROM ledger_transfer t JOIN ledger_account a ON a.id = t.debit_id)
        SELECT format('%s is off by %s', currency, sum(minor)) FROM moves GROUP BY currency HAVING sum(minor) <> 0
    """,
    "transfers stay within one currency": """
        SELECT format('transfer %s', t.id) FROM ledger_transfer t
        JOIN ledger_account d ON d.id = t.debit_id JOIN ledger_account c ON c.id = t.credit_id
        WHERE t.currency NOT IN (d.currency) OR t.currency NOT IN (c.currency)
    """,
    "account totals are the sums of their transfers": """
        WITH moves AS (
            SELECT credit_id AS account_id, amount_minor AS minor FROM ledger_transfer
            UNION ALL SELECT debit_id, -amount_minor FROM ledger_transfer)
        SELECT format('account %s (%s) says %s, its transfers %s', a.id, coalesce(a.order_id, a.payment_method_id),
                      a.balance_minor, coalesce(s.minor, 0))
        FROM ledger_account a
        LEFT JOIN (SELECT account_id, sum(minor) AS minor FROM moves GROUP BY 1) s ON s.account_id = a.id
        WHERE a.balance_minor <> CASE WHEN a.kind IN ('order', 'gift_card') THEN coalesce(s.minor, 0) ELSE 0 END
    """,
    "what accounts have reserved is the sum of their pending holds": """
        SELECT format('account %s says %s, its holds %s', a.id, a.held_minor, coalesce(h.minor, 0))
        FROM ledger_account a LEFT JOIN (
            SELECT account_id, sum(amount_minor) AS minor FROM ledger_hold WHERE state = 'pending' GROUP BY 1
        ) h ON h.account_id = a.id WHERE a.held_minor <> coalesce(h.minor, 0)
    """,
    "no order gave back more than it took, unless flagged as over-refunded": """
        SELECT format('order %s has %s and reserves %s', order_id, balance_minor, held_minor)
        FROM ledger_account WHERE kind = 'order' AND balance_minor - held_minor + over_refunded_minor < 0
    """,
    "no account is flagged as over-refunded without being it": """
        SELECT format('account %s', id) FROM ledger_account
        WHERE over_refunded_minor > greatest(0, held_minor - balance_minor)
    """,
    "every order has its account, in its currency": """
        SELECT format('order %s', o.order_id) FROM ledger_order o LEFT JOIN ledger_account a
        ON a.order_id = o.order_id AND a.currency = o.currency AND a.customer_id = o.customer_id WHERE a.id IS NULL
    """,
    "orders are frozen exactly while a dispute is open": """
        SELECT format('order %s', order_id) FROM ledger_order o WHERE frozen <> EXISTS (
            SELECT FROM ledger_dispute d WHERE d.order_id = o.order_id AND d.state = 'open')
    """,
    "every executed write moved what it planned": """
        SELECT format('%s moved %s of %s', e.reference, coalesce(t.minor, 0), p.minor)
        FROM ledger_entry e
        CROSS JOIN LATERAL (SELECT coalesce(sum((m ->> 'amount_minor')::bigint), 0) AS minor
                            FROM jsonb_array_elements(e.plan -> 'movements') m) p
        LEFT JOIN (SELECT entry_id, sum(amount_minor) AS minor FROM ledger_transfer GROUP BY 1) t
        ON t.entry_id = e.reference WHERE coalesce(t.minor, 0) <> p.minor
    """,
    "every transfer that leaves has its payout, and no other": """
        SELECT format('transfer %s', coalesce(t.id, p.transfer_id)) FROM ledger_payout p FULL JOIN (
            SELECT t.id, t.customer_id FROM ledger_transfer t JOIN ledger_account a ON a.id IN (t.debit_id, t.credit_id)
            WHERE t.entry_id IS NOT NULL AND a.kind = 'external') t
        ON t.id = p.transfer_id AND t.customer_id = p.customer_id WHERE t.id IS NULL OR p.transfer_id IS NULL
    """,
    "every payout that failed or was recalled is reversed, and no other": """
        SELECT format('payout %s', p.transfer_id) FROM ledger_payout p
        LEFT JOIN ledger_transfer r ON r.reverses_id = p.transfer_id
        WHERE (p.state IN ('failed', 'recalled')) <> (r.id IS NOT NULL)
    """,
    "every payout that was sent names what the provider made of it": """
        SELECT format('payout %s', transfer_id) FROM ledger_payout
        WHERE state IN ('sent', 'settled') AND provider_reference IS NULL
    """,
}


def prove() -> Iterator[tuple[str, list[str]]]:
    """Each check with its contradictions, none where it holds; at most eleven of each are given."""
    for name, query in CHECKS.items():
        yield name, as_staff(lambda query=query: contradictions(query))  # type: ignore[misc]


def contradictions(query: str) -> list[str]:
    """The sentences that a check's query gives."""
    with connection.cursor() as cursor:
        cursor.execute(query)
        return [str(row[0]) for row in cursor.fetchmany(MOST_SHOWN + 1)]

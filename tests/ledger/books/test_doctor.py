"""`manage.py doctor` proves the books, and sees what anybody with a superuser's hands changed in them."""

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from agents.dispatch.dispatch import dispatch
from approvals.models import Request
from ledger.access.staff import as_staff
from ledger.books import doctor
from tests.conftest import make_call
from tests.support import cast
from tests.support.cast import begin_turn
from tests.support.servers import cluster

TAMPERED = {
    "account totals are the sums": "UPDATE ledger_account SET balance_minor = 1 WHERE order_id = '4471'",
    "have reserved is the sum": "UPDATE ledger_account SET held_minor = 1 WHERE order_id = '4471'",
    "flagged as over-refunded without": "UPDATE ledger_account SET over_refunded_minor = 5 WHERE order_id = '4471'",
    "more than it took": "UPDATE ledger_account SET balance_minor = -1 WHERE order_id = '4471'",
    "within one currency": "UPDATE ledger_transfer SET currency = 'EUR' WHERE entry_id IS NOT NULL",
    "has its account": "UPDATE ledger_order SET currency = 'EUR' WHERE order_id = '4471'",
    "frozen exactly": "UPDATE ledger_order SET frozen = true WHERE order_id = '4471'",
    "moved what it planned": "DELETE FROM ledger_payout; DELETE FROM ledger_transfer WHERE entry_id IS NOT NULL",
    "has its payout": "DELETE FROM ledger_payout",
    "was recalled is reversed": "UPDATE ledger_payout SET state = 'failed'",
    "names what the provider made": "UPDATE ledger_payout SET state = 'sent', provider = 'test'",
    "request has its entry": "UPDATE approvals_request SET state = 'executed', entry_reference = 'T-0', "
    "execute_after = now(), execute_before = now(), decided_at = now()",
    "what requests hold": "UPDATE approvals_request SET state = 'expired'",
}


@pytest.fixture
def books(committing_db: str) -> None:
    """An executed refund and one that waits, in a database of their own."""
    as_staff(cast.fill_shop)
    turn = begin_turn()
    for step, (order, amount) in enumerate((("4471", 1_200), ("4472", 9_000)), 1):
        arguments = {"order_id": order, "amount_minor": amount, "reason": "damaged"}
        dispatch(make_call(turn, step, "issue_refund", arguments))
    assert Request.objects.get().state == "pending"


def test_sound_books_are_proven(books: None, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("doctor")
    told = capsys.readouterr().out.splitlines()
    assert len(told) == len(doctor.CHECKS) + 3
    assert all(line.startswith("holds   ") for line in told[:-1])
    assert told[-1].startswith("unseen  ")


@pytest.mark.parametrize("check", list(TAMPERED))
def test_what_was_tampered_with_is_named(books: None, check: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As the superuser, with every trigger and foreign key off."""
    with psycopg.connect(cluster().url(str(connection.settings_dict["NAME"])), autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("ALTER TABLE ledger_account DROP CONSTRAINT never_below_what_is_held")
        superuser.execute(TAMPERED[check])
    with pytest.raises(CommandError, match="rules are broken"):
        call_command("doctor")
    broken = [line for line in capsys.readouterr().out.splitlines() if line.startswith("BROKEN")]
    assert any(check in line for line in broken), broken

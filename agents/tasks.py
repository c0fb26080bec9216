"""The worker's tasks, each of them a doorbell: what there is to do stands in the database, so that a ring may
be lost or repeated."""

from celery import shared_task

from agents.execution import elsewhere, execute, holds_elsewhere
from agents.turns import claims, worker
from agents.turns.doorbell import ring
from agents.turns.pool import give_back_connection
from approvals.requests.expiry import expire_due
from ledger.payouts import due

MOST_RINGS = 64


@shared_task(name="agents.tasks.work")
def work() -> None:
    """Claim one turn and run it; the turn decides whether more is to be rung for."""
    worker.work()


@shared_task(name="agents.tasks.execute")
def execute_approved() -> None:
    """Execute what is approved and past its undo delay."""
    execute.execute_due()
    elsewhere.ask_due()
    give_back_connection()


@shared_task(name="agents.tasks.payouts")
def payouts_due() -> None:
    """Send what waits for the payment provider, or look it up."""
    worker.carry_out_payouts()
    give_back_connection()


@shared_task(name="agents.tasks.sweep")
def sweep() -> None:
    """Ring for whatever waits: rings get lost, leases run out, delays end, requests expire."""
    for _ in range(min(claims.claimable(), MOST_RINGS)):
        ring("agents.tasks.work")
    if execute.ready() or elsewhere.in_doubt():
        ring("agents.tasks.execute")
    if due.due(most=1):
        ring("agents.tasks.payouts")
    expire_due()
    holds_elsewhere.settle()
    give_back_connection()

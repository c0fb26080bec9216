"""What is checked before an approved request is carried out, wherever the shop lives, and again before a shop
elsewhere is asked once more."""

from agents.execution.endings import CHANGED, Drift, digest_with
from approvals import brakes
from approvals.decisions.rechecks import no_longer_approved
from approvals.models import Request
from base import sql
from ledger.books.plans import Plan

IN_TIME = "statement_timestamp() >= execute_after AND statement_timestamp() < execute_before"


def in_time(request: Request) -> bool:
    """Whether the undo delay is over and the time to execute is not, by the database's clock."""
    return sql.row(f"SELECT FROM approvals_request WHERE reference = %s AND {IN_TIME}", [request.pk]) is not None


def as_approved(request: Request, plan: Plan) -> None:
    """Raises Drift where the digest over the request and this plan is not the one that people approved."""
    if digest_with(request, plan) != request.digest:
        raise Drift(CHANGED, again=True)


def may_still(request: Request) -> bool:
    """Whether a shop that has not carried it out may be asked once more."""
    return in_time(request) and not brakes.stopped().stops(request.tool) and no_longer_approved(request) is None

"""Carrying out what people approved: what is checked once more, from top to bottom, and only what was approved runs.

The list is the same wherever the shop lives. What differs is how effect and evidence are committed: `here` in the one
transaction that found the request approved, `elsewhere` as *executing* before the shop is asked, with its answer
afterwards. The race it closes: fifty workers, the sweeper and a withdrawal meet at the customer's and the request's
lock, and one of them finds it approved.
"""

from django.conf import settings
from django.db import transaction

from agents.execution import checks, elsewhere, here
from agents.execution.endings import end
from approvals import brakes
from approvals.decisions.rechecks import no_longer_approved, send_back
from approvals.models import Request
from approvals.requests.lifecycle import locked
from base import sql
from base.failpoints import reach


def ready() -> list[str]:
    """References of approved requests whose undo delay is over and whose time is not, by the database's clock, and
    which no brake freezes."""
    stopped = brakes.stopped()
    if stopped.answers or stopped.writes:
        return []
    return [reference for (reference,) in sql.rows(_READY, [list(stopped.tools)])]


_READY = f"""
    SELECT reference FROM approvals_request WHERE state = 'approved' AND NOT is_decoy AND {checks.IN_TIME}
      AND tool <> ALL(%s) ORDER BY execute_after LIMIT 100
"""  # noqa: S608 - our own text


def execute_due() -> None:
    """Execute what is approved and past its undo delay."""
    for reference in ready():
        execute(reference)
    for reference in elsewhere.in_doubt():
        elsewhere.ask_again(reference)


def execute(reference: str) -> bool:
    """Execute one approved request, or end it as stale or failed; False when somebody else was first, or the brake
    is on: then what is approved stays so and waits."""
    with transaction.atomic():
        stopped = brakes.keep_open()  # nobody can pull it until this transaction ends
        request = locked(reference)  # with its customer, in the one order of locks
        if request.state != Request.State.APPROVED or request.is_decoy or stopped.stops(request.tool):
            return False
        if not checks.in_time(request):
            return False
        reach("execution_claimed", request.conversation_id)
        if verdict := no_longer_approved(request):  # the policy in force, flags, and whether its approvers still count
            if verdict.outcome == "ask":
                send_back(request, verdict)
            else:
                end(request, Request.State.STALE, f"the policy in force refuses it: {verdict.rule}")
        elif settings.PLACET.ledger_url:
            elsewhere.begin(request)
        else:
            here.carry_out(request)  # that it is what was approved: checks.as_approved
    if settings.PLACET.ledger_url:
        elsewhere.carry_out(reference)
    reach("execution_committed", request.conversation_id)
    return True

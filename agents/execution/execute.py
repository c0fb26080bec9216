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
from approvals.requests.lifecycle import locked, tell_of_work
from base import work
from base.failpoints import reach
from base.work import WorkList


def ready() -> list[str]:
    """References of approved requests whose undo delay is over and whose time is not, by the database's clock, and
    which no brake freezes."""
    return work.claimable(EXECUTIONS)


def execute_due() -> None:
    """Execute what is approved and past its undo delay."""
    work.run(EXECUTIONS)


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


def _unbraked() -> dict[str, object]:
    stopped = brakes.stopped()
    return {"stopped": stopped.answers or stopped.writes, "stopped_tools": list(stopped.tools)}


EXECUTIONS = WorkList(
    name="executions",
    source="approvals_request",
    key="s.reference",
    belongs="s.state = 'approved' AND NOT s.is_decoy",
    due=f"{checks.IN_TIME} AND NOT %(stopped)s AND s.tool <> ALL(%(stopped_tools)s)",
    values=_unbraked,
    order="s.execute_after",
    do=execute,
    lease_seconds=lambda: float(settings.PLACET.lease_seconds + elsewhere.seconds_to_answer()),
    most_attempts=8,
    first_pause=2.0,
    side_by_side=8,
    told=tell_of_work,
)
"""Parked after some five minutes: it stays approved, which is true, until people act or its time to execute is over."""

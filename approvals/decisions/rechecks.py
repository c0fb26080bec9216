"""What is looked at again before an approved request is executed: the policy, the flags, and who approved it."""

from django.utils import timezone

from approvals.decisions.tally import approvers_of
from approvals.models import Request
from approvals.news import request_changed
from approvals.policy.deadlines import expires_at
from approvals.policy.rules import Verdict
from approvals.policy.versions import policy_at, verdict_at_execution, within_role
from approvals.requests.lifecycle import event_of, move
from audit.record import SYSTEM, record
from base.access import DECIDES, LEAD


def no_longer_approved(request: Request) -> Verdict | None:
    """The verdict that an approved request does not meet any more: refused, or short of people who count. Under the
    request's lock, before its effect."""
    verdict = verdict_at_execution(request)
    roles = [approver.role for approver in approvers_of(request)]
    counting = [role for role in roles if role in DECIDES and within_role(role, request)]
    enough = len(counting) >= max(verdict.approvals_needed, request.approvals_needed)
    led = LEAD in counting or not (verdict.lead_needed or request.lead_needed)
    return None if verdict.outcome != "deny" and enough and led else verdict


def send_back(request: Request, verdict: Verdict) -> None:
    """Approved no more: it waits for a person again, with as many approvals as the stricter policy needs. Its hold
    stays, and those who have approved it need not do so again."""
    move(
        request,
        to=Request.State.PENDING,
        expected=("approved",),
        rule=verdict.rule if verdict.approvals_needed else request.rule,
        approvals_needed=max(verdict.approvals_needed, request.approvals_needed),
        lead_needed=verdict.lead_needed or request.lead_needed,
        expires_at=expires_at(policy_at(request.policy_version), verdict.rule, timezone.now()),
        execute_after=None,
        execute_before=None,
        decided_by="",
        decided_at=None,
    )
    event = event_of(request, kind="execution", decision="sent_back")
    record(SYSTEM, event, reason="the policy or those who approved have changed", facts=verdict.facts)
    request_changed.send(Request, request=request, customer_message="")

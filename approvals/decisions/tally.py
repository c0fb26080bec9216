"""Which approvals of a request count."""

from dataclasses import dataclass

from approvals.models import Request
from base import sql


@dataclass(frozen=True, slots=True)
class Approver:
    """Somebody whose approval counts, with their role as it is now."""

    decision_id: int
    staff_id: int
    role: str


_APPROVERS = """
    SELECT d.id, d.staff_id, s.role FROM approvals_decision d JOIN approvals_staff s ON s.id = d.staff_id
    WHERE d.request_id = %s AND d.revision = %s AND d.verdict = 'approve' AND s.is_active
      AND NOT EXISTS (SELECT FROM approvals_withdrawal w WHERE w.decision_id = d.id)
"""


def approvers_of(request: Request) -> list[Approver]:
    """Who approved the revision that stands, without those who took it back or are disabled."""
    return [Approver(*row) for row in sql.rows(_APPROVERS, [request.reference, request.revision])]


def approvals_given(request: Request) -> int:
    """How many people have approved the revision that stands."""
    return len(approvers_of(request))


_TAKEN_BACK = """
    SELECT d.staff_id, d.revision FROM approvals_decision d JOIN approvals_withdrawal w ON w.decision_id = d.id
    WHERE d.request_id = %s
"""


def taken_back(request: Request) -> list[tuple[int, int]]:
    """Whose decisions of which revisions were taken back."""
    return [(staff_id, revision) for staff_id, revision in sql.rows(_TAKEN_BACK, [request.reference])]

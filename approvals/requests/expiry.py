"""What waited too long: undecided past `expires_at`, or approved and not executed in time."""

from approvals.requests.lifecycle import expire, tell_of_work
from base import work
from base.work import WorkList

EXPIRY = WorkList(
    name="expiry",
    source="approvals_request",
    key="s.reference",
    belongs="s.state IN ('pending', 'approved')",
    due="""s.state = 'pending' AND s.expires_at <= statement_timestamp()
        OR s.state = 'approved' AND s.execute_before <= statement_timestamp()""",
    order="s.expires_at",
    do=expire,
    lease_seconds=lambda: 60.0,
    most_attempts=20,
    told=tell_of_work,
)
"""Each is tried for about ten hours; parked, it stays as undecidable as it is, and its hold is kept."""


def expire_due() -> int:
    """End them, each in its own transaction; how many were."""
    return work.run(EXPIRY)

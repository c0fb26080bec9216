"""Which approvals of a request count."""

from django.db.models import QuerySet

from approvals.models import Decision, Request


def approvals_of(request: Request) -> QuerySet[Decision]:
    """The approvals of the revision that stands, without those that were taken back or whose author is disabled."""
    standing = request.decisions.filter(revision=request.revision, verdict="approve", withdrawal__isnull=True)
    return standing.filter(staff__is_active=True)


def approvals_given(request: Request) -> int:
    """How many people have approved the revision that stands."""
    return approvals_of(request).count()

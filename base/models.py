"""What background work has been tried: one table for every work list."""

from django.db import models
from django.db.models import Q


class WorkItem(models.Model):
    """An item of a work list that is under way, that failed, or that is parked; what was done has no row. The item
    itself stands where its list looks for it."""

    MOST_ATTEMPTS = 1000

    pk = models.CompositePrimaryKey("list", "key")
    list = models.CharField(max_length=20)
    key = models.CharField(max_length=240)
    attempts = models.PositiveSmallIntegerField(help_text="Counted as it is claimed: a worker that dies counts too.")
    next_at = models.DateTimeField(help_text="The end of the lease, or of the pause after it failed.")
    parked_at = models.DateTimeField(null=True)
    parked_why = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(attempts__gte=0, attempts__lte=1000), name="work_attempts_are_bounded"),
            models.CheckConstraint(
                condition=Q(parked_at=None, parked_why="") | Q(parked_at__isnull=False, parked_why__gt=""),
                name="parked_work_says_why",
            ),
        ]
        indexes = [
            models.Index(fields=["list", "parked_at"], condition=Q(parked_at__isnull=False), name="work_parked"),
        ]

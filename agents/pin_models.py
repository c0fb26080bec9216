"""Which definition new conversations begin with, where people chose another than this release's."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Pin(models.Model):
    """One choice; the highest number holds, so there is always one at most. Without a definition new conversations
    follow the release again. Append-only."""

    number = models.PositiveIntegerField(primary_key=True)
    definition = models.ForeignKey("agents.Definition", on_delete=models.PROTECT, null=True, related_name="+")
    staff = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=1000)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(reason__gt=""), name="a_pin_has_a_reason")]

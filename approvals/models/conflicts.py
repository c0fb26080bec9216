"""Leave for a member of staff to decide about a customer with whom they share something."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now


class Clearance(models.Model):
    """A lead's word that what a colleague shares with a customer is chance. Append-only."""

    staff = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="clearances", db_index=False)
    customer_id = models.CharField(max_length=200)
    cleared_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=1000)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["staff", "customer_id"], name="cleared_once"),
            models.CheckConstraint(condition=~Q(staff=F("cleared_by")), name="nobody_clears_themself"),
            models.CheckConstraint(condition=Q(reason__gt=""), name="a_clearance_has_a_reason"),
        ]

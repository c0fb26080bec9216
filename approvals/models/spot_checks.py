"""What staff found when they looked at something that was executed without a person."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class SpotCheck(models.Model):
    """One automatic execution of a day's sample, looked at once. Append-only."""

    class Outcome(models.TextChoices):
        FINE = "fine", "Fine"
        WRONG = "wrong", "Wrong"

    entry_reference = models.CharField(max_length=16, unique=True)
    customer_id = models.CharField(max_length=200)
    staff = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+")
    outcome = models.CharField(max_length=8, choices=Outcome)
    note = models.CharField(max_length=1000, blank=True, default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(outcome__in=["fine", "wrong"]), name="look_outcome_known"),
            models.CheckConstraint(condition=~Q(outcome="wrong") | Q(note__gt=""), name="what_is_wrong_is_said"),
        ]

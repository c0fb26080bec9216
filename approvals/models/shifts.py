"""What staff arrange among themselves: rest for a request, absences, and questions to customers."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Snooze(models.Model):
    """Until when one person's queue leaves a request out. Colleagues see it as before."""

    request = models.ForeignKey("approvals.Request", on_delete=models.PROTECT, related_name="snoozes", db_index=False)
    staff = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+", db_index=False)
    until = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["request", "staff"], name="snoozed_once_each")]
        indexes = [models.Index(fields=["staff", "until"], name="snooze_by_staff")]


class Absence(models.Model):
    """A time in which somebody gets no second approvals; it has no end while they are away."""

    staff = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="absences")
    since = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["staff"], condition=Q(ended_at=None), name="away_once"),
            models.CheckConstraint(
                condition=Q(ended_at=None) | Q(ended_at__gte=models.F("since")), name="absence_ends_after_it_began"
            ),
        ]


class Question(models.Model):
    """What a customer was asked about a request: one of the fixed questions, once each. Append-only."""

    class Code(models.TextChoices):
        PHOTO = "photo"
        WHAT_HAPPENED = "what_happened"
        WHICH_ITEM = "which_item"
        DELIVERY = "delivery"
        METHOD = "method"
        STILL_WANTED = "still_wanted"

    request = models.ForeignKey("approvals.Request", on_delete=models.PROTECT, related_name="questions", db_index=False)
    staff = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+")
    code = models.CharField(max_length=20, choices=Code)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "code"], name="asked_once_each"),
            models.CheckConstraint(
                condition=Q(code__in=["photo", "what_happened", "which_item", "delivery", "method", "still_wanted"]),
                name="question_known",
            ),
        ]

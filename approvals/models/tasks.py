"""What staff do besides deciding: think again, and what is left for them to do."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _


class Withdrawal(models.Model):
    """An approval that its author took back before anything was carried out. Append-only."""

    decision = models.OneToOneField("approvals.Decision", on_delete=models.PROTECT, primary_key=True)
    staff = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())


class Task(models.Model):
    """Something that a lead has to look after, open until somebody says what was done."""

    class Kind(models.TextChoices):
        MISTAKE = "mistake", _("A mistake was reported")

    class Money(models.TextChoices):
        """What became of the money of what should not have been executed."""

        RECALLED = (
            "recalled",
            _("Its money had not been sent: it was recalled, and the books are as before."),
        )
        LEFT = "left", _("Its money had left, or was about to: nothing was changed.")
        NONE = "none", _("No payout of it waits here: nothing was changed.")

    kind = models.CharField(max_length=20, choices=Kind)
    reference = models.CharField(max_length=16, help_text="The request that it is about.")
    customer_id = models.CharField(max_length=200)
    text = models.CharField(max_length=1000)
    money = models.CharField(max_length=8, choices=Money, default=Money.NONE)
    opened_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")
    opened_at = models.DateTimeField(db_default=Now())
    done_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")
    done_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=1000, blank=True, default="")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(done_by=None, done_at=None, outcome="")
                | Q(done_by__isnull=False, done_at__isnull=False, outcome__gt=""),
                name="a_done_task_says_what_was_done",
            ),
            models.UniqueConstraint(fields=["kind", "reference"], condition=Q(done_at=None), name="one_open_task_each"),
        ]
        indexes = [models.Index(fields=["opened_at"], condition=Q(done_at=None), name="task_open")]

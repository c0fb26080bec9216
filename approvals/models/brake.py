"""The brake: what people have stopped, why, and which two of them let it go again."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy


class Brake(models.Model):
    """One pull of the brake, on until `released_at`. Letting go takes two people: one proposes, another agrees."""

    class Target(models.TextChoices):
        TOOL = "tool", gettext_lazy("One tool")
        WRITES = "writes", gettext_lazy("All writes")
        ANSWERS = "answers", gettext_lazy("Answering at all")

    target = models.CharField(max_length=7, choices=Target)
    tool = models.CharField(max_length=100, blank=True, default="")
    pulled_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+")
    pulled_at = models.DateTimeField(db_default=Now())
    reason = models.CharField(max_length=1000)
    proposed_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")
    proposed_at = models.DateTimeField(null=True, help_text="When somebody proposed to let go.")
    proposed_reason = models.CharField(max_length=1000, blank=True, default="")
    released_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")
    released_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["target", "tool"], condition=Q(released_at=None), name="one_brake_each"),
            models.CheckConstraint(
                condition=Q(target="tool", tool__gt="") | Q(target__in=["writes", "answers"], tool=""),
                name="a_brake_names_what_it_stops",
            ),
            models.CheckConstraint(condition=Q(reason__gt=""), name="a_brake_has_a_reason"),
            models.CheckConstraint(
                condition=Q(released_by=None, released_at=None)
                | Q(released_by__isnull=False, released_at__isnull=False, proposed_by__isnull=False)
                & ~Q(released_by=F("proposed_by")),
                name="two_people_release",
            ),
        ]

"""Ready-made messages for customers, and the words of the reason codes: every edit is a row."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy

MOST_TEXT = 1_500


class MacroEdit(models.Model):
    """One state of a macro; the highest version is the one that holds. Version 0 comes with Placet and has no
    author. Append-only."""

    class Use(models.TextChoices):
        """Which verdict a macro is for."""

        APPROVE = "approve", gettext_lazy("Approve")
        LOWERED = "lowered", gettext_lazy("Approve less")
        DENY = "deny", gettext_lazy("Deny")
        ASK = "ask", gettext_lazy("Ask the customer")

    macro = models.PositiveIntegerField(help_text="The macro's number, the same for all of its versions.")
    version = models.PositiveIntegerField()
    name = models.CharField(max_length=60)
    use = models.CharField(max_length=8, choices=Use)
    reason_code = models.CharField(max_length=20, blank=True, default="")
    text = models.CharField(max_length=MOST_TEXT, help_text="With variables such as {order_id}.")
    offered = models.BooleanField(default=True, help_text="Withdrawn macros are kept and not offered.")
    author = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["macro", "version"], name="one_next_version_of_a_macro"),
            models.CheckConstraint(condition=Q(name__gt="", text__gt=""), name="a_macro_has_a_name_and_a_text"),
            models.CheckConstraint(
                condition=Q(version=0) | Q(author__isnull=False), name="a_macro_is_edited_by_somebody"
            ),
            models.CheckConstraint(condition=Q(use__in=["approve", "lowered", "deny", "ask"]), name="macro_use_known"),
        ]


class ReasonEdit(models.Model):
    """One state of a reason code's words, and whether the console offers it. The codes themselves are fixed: the API
    takes all of them, offered or not. A trigger keeps at least one offered. Append-only."""

    code = models.CharField(max_length=20)
    version = models.PositiveIntegerField()
    label = models.CharField(max_length=60)
    help = models.CharField(max_length=300, blank=True, default="")
    offered = models.BooleanField(default=True)
    author = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["code", "version"], name="one_next_version_of_a_reason"),
            models.CheckConstraint(condition=Q(label__gt=""), name="a_reason_has_a_label"),
            models.CheckConstraint(
                condition=Q(version=0) | Q(author__isnull=False), name="a_reason_is_edited_by_somebody"
            ),
        ]

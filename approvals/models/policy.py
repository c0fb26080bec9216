"""Versions of the policy, and what staff note against a customer."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now


class PolicyVersion(models.Model):
    """A policy document for ever: proposed by one person, activated once by another or withdrawn. In force is the
    highest that was activated. Version 1 comes with Placet and has no people."""

    version = models.PositiveIntegerField(primary_key=True)
    document = models.JSONField()
    digest = models.CharField(max_length=64, help_text="SHA-256 of the document's canonical JSON.")
    proposed_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")
    proposed_at = models.DateTimeField(db_default=Now())
    activated_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")
    activated_at = models.DateTimeField(null=True)
    withdrawn_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(version=1) | Q(proposed_by__isnull=False), name="a_policy_is_proposed_by_somebody"
            ),
            models.CheckConstraint(condition=~Q(activated_by=F("proposed_by")), name="another_activates_a_policy"),
            models.CheckConstraint(
                condition=Q(activated_at=None, activated_by=None)
                | Q(activated_at__isnull=False) & (Q(version=1) | Q(activated_by__isnull=False)),
                name="a_policy_is_activated_by_somebody",
            ),
            models.CheckConstraint(
                condition=Q(withdrawn_at=None, withdrawn_by=None)
                | Q(withdrawn_at__isnull=False, withdrawn_by__isnull=False, activated_at=None),
                name="a_withdrawn_policy_binds_nothing",
            ),
        ]


class Flag(models.Model):
    """A warning on a customer, from staff for staff: everything of theirs asks until a lead clears it."""

    customer_id = models.CharField(max_length=200)
    author = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    reason = models.CharField(max_length=1000)
    cleared_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")
    cleared_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(reason__gt=""), name="a_flag_has_a_reason"),
            models.CheckConstraint(
                condition=Q(cleared_by=None, cleared_at=None) | Q(cleared_by__isnull=False, cleared_at__isnull=False),
                name="a_flag_is_cleared_by_somebody",
            ),
        ]
        indexes = [models.Index(fields=["customer_id"], condition=Q(cleared_at=None), name="flag_standing")]

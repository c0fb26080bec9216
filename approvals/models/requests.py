"""What waits for a second person, and what was decided about it."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from approvals.models.people import Staff

OPEN_STATES = ("pending", "approved", "executing", "unknown")
CLOSED_STATES = ("expired", "stale", "withdrawn", "failed")
ORDERS = [
    models.Index(fields=["expires_at", "reference"], condition=Q(state="pending"), name="request_queue"),
    models.Index(fields=["created_at", "reference"], condition=Q(state="pending"), name="request_queue_by_age"),
    models.Index(fields=["amount_minor", "reference"], condition=Q(state="pending"), name="request_queue_by_amount"),
    models.Index(fields=["created_at", "reference"], condition=Q(state="executed"), name="request_executed"),
    models.Index(fields=["created_at", "reference"], condition=Q(state="denied"), name="request_denied"),
    models.Index(fields=["created_at", "reference"], condition=Q(state__in=CLOSED_STATES), name="request_closed"),
]
"""For each order of the queue, so that a page costs the same among 100 and among 100,000."""
DECOY_STATES = ("pending", "denied", "expired", "withdrawn")
"""A decoy that was approved is withdrawn: no state leads from it to an execution."""


class Request(models.Model):
    """A write that waits for a person, or once did. Every change of state is one conditional UPDATE."""

    class State(models.TextChoices):
        PENDING = "pending"
        APPROVED = "approved"
        EXECUTING = "executing"
        EXECUTED = "executed"
        DENIED = "denied"
        EXPIRED = "expired"
        STALE = "stale"
        WITHDRAWN = "withdrawn"
        FAILED = "failed"
        UNKNOWN = "unknown"

    reference = models.CharField(primary_key=True, max_length=16)
    key = models.CharField(max_length=200, unique=True, help_text="Proposal key: conversation, message and block.")
    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    revision = models.PositiveSmallIntegerField(default=1)
    digest = models.CharField(max_length=64)
    tool = models.CharField(max_length=100)
    arguments = models.JSONField(help_text="As received, normalised by validation.")
    preview = models.JSONField(help_text="What the action would change, as computed by the handler.")
    facts = models.JSONField(help_text="What the policy saw.")
    rule = models.CharField(max_length=60)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    customer_id = models.CharField(max_length=200)
    order_id = models.CharField(max_length=200, blank=True, default="")
    conversation_id = models.UUIDField()
    turn_id = models.UUIDField()
    tool_use_id = models.CharField(max_length=200)
    session_id = models.CharField(max_length=100)
    policy_version = models.IntegerField()
    lowered_from_minor = models.BigIntegerField(null=True, help_text="What was asked for, where a person lowered it.")
    approvals_needed = models.PositiveSmallIntegerField()
    lead_needed = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    reminded_at = models.DateTimeField(null=True, help_text="When colleagues were told again that it waits.")
    escalated_at = models.DateTimeField(null=True, help_text="When the leads were told that it expires soon.")
    assigned_to = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+")
    second_approver = models.ForeignKey(
        Staff,
        on_delete=models.PROTECT,
        null=True,
        related_name="second_approvals",
        help_text="Who gives the second approval.",
    )
    assigned_until = models.DateTimeField(null=True)
    decided_by = models.CharField(max_length=150, blank=True, default="", help_text="Who ended `pending`.")
    decided_at = models.DateTimeField(null=True)
    execute_after = models.DateTimeField(null=True)
    execute_before = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True, help_text="An executing worker's lease ends here.")
    entry_reference = models.CharField(max_length=16, blank=True, default="")
    replaces = models.CharField(max_length=16, blank=True, default="", help_text="The stale request it re-issues.")
    reopened_at = models.DateTimeField(null=True, help_text="When a lead let what was denied be asked for again.")
    reopened_by = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    ended_reason = models.CharField(max_length=300, blank=True, default="")
    is_decoy = models.BooleanField(default=False, help_text="Made up, to see whether reviewers read; see decoys.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["order_id"],
                condition=Q(state__in=OPEN_STATES) & ~Q(order_id=""),
                name="one_open_request_per_order",
            ),
            models.CheckConstraint(
                condition=Q(lowered_from_minor=None) | Q(lowered_from_minor__gt=F("amount_minor"), revision__gt=1),
                name="lowered_means_less",
            ),
            models.CheckConstraint(
                condition=Q(reopened_at=None, reopened_by=None)
                | Q(reopened_at__isnull=False, reopened_by__isnull=False)
                & (Q(state="denied") | Q(lowered_from_minor__isnull=False)),
                name="what_was_denied_is_reopened",
            ),
            models.CheckConstraint(condition=Q(approvals_needed__in=[1, 2]), name="one_or_two_approvals"),
            models.CheckConstraint(
                condition=~Q(state="pending") | Q(execute_after__isnull=True), name="pending_is_not_scheduled"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["approved", "executing"])
                | Q(execute_after__isnull=False, execute_before__isnull=False, decided_at__isnull=False),
                name="approved_is_scheduled",
            ),
            models.CheckConstraint(
                condition=Q(state="executed", entry_reference__gt="") | ~Q(state="executed") & Q(entry_reference=""),
                name="executed_names_its_entry",
            ),
            models.CheckConstraint(
                condition=Q(is_decoy=False, customer_id__gt="")
                | Q(is_decoy=True, customer_id="", order_id="", execute_after=None, state__in=DECOY_STATES),
                name="decoy_touches_nobody",
            ),
        ]
        indexes = [
            *ORDERS,
            models.Index(fields=["execute_after"], condition=Q(state="approved"), name="request_ready"),
            models.Index(fields=["customer_id", "-created_at"], name="request_by_customer"),
            models.Index(fields=["conversation_id"], name="request_by_conversation"),
            models.Index(fields=["-created_at"], condition=Q(is_decoy=True), name="request_decoys"),
            models.Index(fields=["decided_at"], condition=Q(decided_at__isnull=False), name="request_decided"),
            models.Index(fields=["replaces"], condition=Q(replaces__gt=""), name="request_reissued"),
            models.Index(
                fields=["lease_until"], condition=Q(state__in=["executing", "unknown"]), name="request_in_doubt"
            ),
        ]  # fmt: skip

    @property
    def hold_owner(self) -> str:
        """What its holds are kept under: each revision has its own."""
        return self.reference if self.revision == 1 else f"{self.reference}.{self.revision}"


class Decision(models.Model):
    """What one person decided about one revision, and a hash of what they were shown. Append-only."""

    class Verdict(models.TextChoices):
        APPROVE = "approve"
        DENY = "deny"

    class Reason(models.TextChoices):
        DUPLICATE = "duplicate", "Duplicate"
        NOT_ELIGIBLE = "not_eligible", "Not eligible"
        EVIDENCE_MISSING = "evidence_missing", "Evidence missing"
        SUSPECTED_FRAUD = "suspected_fraud", "Suspected fraud"
        POLICY = "policy", "Against our policy"
        GOODWILL = "goodwill", "Goodwill"
        OTHER = "other", "Other"

    request = models.ForeignKey(Request, on_delete=models.PROTECT, related_name="decisions", db_index=False)
    revision = models.PositiveSmallIntegerField()
    round = models.PositiveSmallIntegerField(default=0, help_text="How often this person has withdrawn before.")
    verdict = models.CharField(max_length=8, choices=Verdict)
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="decisions")
    customer_id = models.CharField(max_length=200, help_text="Whose request it is.")
    staff_customer_id = models.CharField(
        max_length=200, blank=True, default="", help_text="Who decides, as a customer."
    )
    digest = models.CharField(max_length=64)
    shown_hash = models.CharField(max_length=64, help_text="SHA-256 of what the page showed.")
    shown = models.JSONField()
    seconds = models.PositiveIntegerField(null=True, help_text="From opening the page to deciding; null without one.")
    cards = models.JSONField(default=dict, help_text="By card of the page, seconds in view.")
    too_fast = models.BooleanField(default=False, help_text="Nobody can have read in that time what was shown.")
    reason_code = models.CharField(max_length=20, choices=Reason, blank=True, default="")
    note = models.TextField(blank=True, default="", help_text="For staff; never the customer or the model.")
    customer_message = models.TextField(blank=True, default="", help_text="For the customer; never the model.")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "revision", "staff", "round"], name="nobody_decides_twice"),
            models.CheckConstraint(
                condition=Q(staff_customer_id="") | ~Q(staff_customer_id=F("customer_id")),
                name="never_about_oneself",
            ),
            models.CheckConstraint(condition=~Q(verdict="deny") | Q(reason_code__gt=""), name="a_denial_has_a_reason"),
        ]
        indexes = [models.Index(fields=["at"], name="decision_by_time")]

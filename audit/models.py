"""The record: one immutable row per thing that was decided or done.

An event holds codes, ids and amounts. Personal and free text lies beside it in
`Detail`, bound by a salted hash, so that it can be erased without breaking a proof.
"""

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models.functions import Now


class Kind(models.TextChoices):
    DISPATCH = "dispatch"
    DECISION = "decision"
    EXECUTION = "execution"
    SIGN_IN = "sign_in"
    ACCESS = "access"
    ROLE = "role"
    POLICY = "policy"
    BRAKE = "brake"
    TURN = "turn"
    REQUEST = "request"
    PAYOUT = "payout"
    DECOY = "decoy"


class ActorKind(models.TextChoices):
    CUSTOMER = "customer"
    STAFF = "staff"
    SYSTEM = "system"


class Event(models.Model):
    """What happened, on whose authority, and how it was decided."""

    at = models.DateTimeField(db_default=Now(), editable=False)
    kind = models.CharField(max_length=16, choices=Kind)
    actor_kind = models.CharField(max_length=8, choices=ActorKind)
    actor_id = models.CharField(max_length=200)
    customer_id = models.CharField(max_length=200, default="", blank=True)
    conversation_id = models.UUIDField(null=True)
    turn_id = models.UUIDField(null=True)
    tool_use_id = models.CharField(max_length=200, default="", blank=True)
    tool = models.CharField(max_length=100, default="", blank=True)
    decision = models.CharField(max_length=16)
    rule = models.CharField(max_length=60, default="", blank=True)
    reference = models.CharField(max_length=16, default="", blank=True)
    downstream_reference = models.CharField(max_length=200, default="", blank=True)
    order_id = models.CharField(max_length=200, default="", blank=True)
    amount_minor = models.BigIntegerField(null=True)
    currency = models.CharField(max_length=3, default="", blank=True)
    policy_version = models.IntegerField(null=True)
    session_id = models.CharField(max_length=100, default="", blank=True)
    credential_id = models.CharField(max_length=40, default="", blank=True)
    idempotency_key = models.CharField(max_length=200, default="", blank=True)
    model = models.CharField(max_length=100, default="", blank=True)
    prompt_hash = models.CharField(max_length=64, default="", blank=True)
    schema_hash = models.CharField(max_length=64, default="", blank=True)
    provider_request_id = models.CharField(max_length=100, default="", blank=True)
    latency_ms = models.IntegerField(null=True)
    build = models.CharField(max_length=40, default="", blank=True)
    detail_hash = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(amount_minor__isnull=True) | ~models.Q(currency=""),
                name="event_amount_has_currency",
            ),
            models.CheckConstraint(condition=models.Q(kind__in=Kind.values), name="event_kind_known"),
            models.CheckConstraint(condition=models.Q(actor_kind__in=ActorKind.values), name="event_actor_kind_known"),
        ]
        indexes = [
            models.Index(fields=["customer_id", "-id"], name="event_by_customer"),
            models.Index(fields=["conversation_id", "-id"], name="event_by_conversation"),
            models.Index(fields=["reference"], name="event_by_reference"),
            models.Index(fields=["kind", "-id"], name="event_by_kind"),
            models.Index(fields=["actor_id", "-id"], condition=~models.Q(actor_kind="customer"), name="event_by_staff"),
            models.Index(fields=["tool_use_id"], condition=~models.Q(tool_use_id=""), name="event_by_call"),
            models.Index(
                fields=["downstream_reference"], condition=~models.Q(downstream_reference=""), name="event_by_outcome"
            ),
            BrinIndex(fields=["at"], autosummarize=True, name="event_by_time"),
        ]


class Detail(models.Model):
    """Personal and free text of one event; `detail_hash` of the event is SHA-256 over salt and body."""

    event = models.OneToOneField(Event, on_delete=models.PROTECT, primary_key=True, related_name="detail")
    salt = models.BinaryField(max_length=16)
    body = models.TextField(help_text="JSON: reason, arguments, effective arguments, facts, note, origin.")

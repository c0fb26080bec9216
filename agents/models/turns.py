"""The turns that the workers run, what bounds them, and what became of their tool calls."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from agents.models.conversations import Conversation, Message


class Limit(models.Model):
    """A limit that an operator set while the product runs; what is not here has its default."""

    name = models.CharField(primary_key=True, max_length=40)
    most = models.BigIntegerField()
    set_by = models.CharField(max_length=150)
    set_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(most__gte=0), name="limit_not_negative")]


class Turn(models.Model):
    """One run of the loop. Partial unique indexes let a conversation have one running and one queued turn;
    `fence` grows with every claim, so a worker that lost its lease can no longer write."""

    class State(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        FINISHED = "finished"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="turns", db_index=False)
    customer_id = models.CharField(max_length=200)
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=State, default=State.QUEUED)
    reason = models.CharField(max_length=24, blank=True, default="")
    fence = models.BigIntegerField(default=0)
    owner = models.CharField(max_length=100, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    claimable_at = models.DateTimeField(db_default=Now())
    attempts = models.PositiveIntegerField(default=0, help_text="How often it was claimed.")
    waits = models.PositiveIntegerField(default=0, help_text="How often it was handed back, to wait for a model.")
    silenced = models.BooleanField(
        default=False, db_default=False, help_text="A person took over while it ran: it ends before its next dispatch."
    )
    last_input_tokens = models.BigIntegerField(default=0, help_text="The whole input of its last model call.")
    steps = models.PositiveIntegerField(default=0)
    writes = models.PositiveIntegerField(default=0)
    errors_in_row = models.PositiveIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)
    cost_microcents = models.BigIntegerField(default=0)
    asked_tokens = models.BigIntegerField(
        default=0, db_default=0, help_text="Estimated input of the model call under way: what a lost reply counts as."
    )
    asked_microcents = models.BigIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "number"], name="turn_number"),
            models.UniqueConstraint(fields=["conversation"], condition=Q(state="running"), name="one_running_turn"),
            models.UniqueConstraint(fields=["conversation"], condition=Q(state="queued"), name="one_queued_turn"),
            models.CheckConstraint(
                condition=Q(state="finished", reason__gt="") | ~Q(state="finished") & Q(reason=""),
                name="finished_has_a_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["claimable_at"], condition=~Q(state="finished"), name="turn_claimable"),
            models.Index(fields=["customer_id", "created_at"], name="turn_by_customer_and_day"),
            models.Index(fields=["created_at"], name="turn_by_day"),
            models.Index(
                fields=["finished_at"], condition=Q(state="finished") & ~Q(reason="answered"), name="turn_unanswered"
            ),
        ]

    @property
    def cost_cents(self) -> str:
        """Model cost in US cents, as people read it."""
        return f"{self.cost_microcents / 1_000_000:.2f}"


class ToolCall(models.Model):
    """One `tool_use` block of a stored reply, and the one result that it got."""

    message = models.ForeignKey(Message, on_delete=models.PROTECT, related_name="tool_calls", db_index=False)
    block = models.PositiveSmallIntegerField()
    turn = models.ForeignKey(Turn, on_delete=models.PROTECT, related_name="tool_calls")
    tool_use_id = models.CharField(max_length=200)
    tool = models.CharField(max_length=200)
    decision = models.CharField(max_length=16)
    reference = models.CharField(max_length=16, blank=True, default="")
    result = models.TextField()
    is_error = models.BooleanField(default=False)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["message", "block"], name="one_result_per_call")]

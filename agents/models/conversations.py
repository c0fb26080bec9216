"""Conversations and what was said in them."""

import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from agents.models.definitions import Definition


class Session(models.Model):
    """A customer's signed-in session that was ended: its tokens are refused, its turns stop. The shop names sessions,
    so one name of two customers is two sessions."""

    customer_id = models.CharField(max_length=200)
    session_id = models.CharField(max_length=100)
    revoked_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["customer_id", "session_id"], name="session_ended_once")]


class Conversation(models.Model):
    class State(models.TextChoices):
        OPEN = "open"
        WITH_STAFF = "with_staff"
        CLOSED = "closed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    customer_id = models.CharField(max_length=200)
    session_id = models.CharField(max_length=100, help_text="The session that wrote last.")
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    holder = models.ForeignKey(
        "approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+", help_text="Who has it, of staff."
    )
    held_since = models.DateTimeField(null=True, help_text="When the holder took it over.")
    definition = models.ForeignKey(Definition, on_delete=models.PROTECT, db_index=False)
    history_from = models.PositiveIntegerField(default=1, help_text="The turn with which the model's history begins.")
    policy_version = models.PositiveIntegerField(default=1, db_default=1, help_text="In force when it began.")
    auth_time = models.DateTimeField(null=True, help_text="When the customer who wrote last proved who they are.")
    amr = models.JSONField(default=list, db_default=[], help_text="How they proved it, as their token says.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="with_staff", holder__isnull=False, held_since__isnull=False)
                | ~Q(state="with_staff") & Q(holder__isnull=True, held_since__isnull=True),
                name="with_staff_has_a_holder",
            ),
        ]
        indexes = [
            models.Index(fields=["customer_id", "-created_at"], name="conversation_by_customer"),
            models.Index(fields=["-created_at", "-id"], name="conversation_newest"),
            models.Index(fields=["state", "-created_at", "-id"], name="conversation_by_state"),
        ]


class HandOff(models.Model):
    """The model asked for a person. It waits until one takes the conversation over; one waits at a time."""

    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="hand_offs")
    reference = models.CharField(max_length=16, unique=True)
    summary = models.TextField(help_text="The model's own words, for staff.")
    at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"], condition=Q(ended_at=None), name="one_waiting_hand_off_each"
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by=None) | Q(ended_at__isnull=False, ended_by__isnull=False),
                name="a_hand_off_is_ended_by_somebody",
            ),
        ]
        indexes = [models.Index(fields=["at", "id"], condition=Q(ended_at=None), name="hand_off_waiting")]


class Message(models.Model):
    """Everything said, in order: what the customer wrote, the model's replies as received, notices, staff.

    The model's history is made from the rows that are part of it, in the order of turns. A reply's content
    is kept as the text that came, never parsed and written again.
    """

    class Author(models.TextChoices):
        CUSTOMER = "customer"
        ASSISTANT = "assistant"
        STAFF = "staff"
        NOTICE = "notice"
        OPERATOR = "operator"
        OPENING = "opening"

    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="messages", db_index=False)
    turn = models.ForeignKey("agents.Turn", on_delete=models.PROTECT, null=True, related_name="messages")
    author = models.CharField(max_length=10, choices=Author)
    text = models.TextField(blank=True, default="", help_text="What people read.")
    staff = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, null=True, related_name="+", db_index=False)
    said_by = models.CharField(
        max_length=60, blank=True, default="", db_default="", help_text="The name that the customer sees, of staff."
    )
    client_id = models.CharField(max_length=100, null=True)  # noqa: DJ001 - absent for what no client sent
    key = models.CharField(max_length=200, null=True, help_text="What must be said once.")  # noqa: DJ001
    content = models.TextField(blank=True, default="", help_text="A reply's content blocks, as received.")
    stop_reason = models.CharField(max_length=60, blank=True, default="")
    in_history = models.BooleanField(default=True)
    step = models.PositiveIntegerField(null=True)
    provider_request_id = models.CharField(max_length=100, blank=True, default="")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["conversation", "client_id"], condition=Q(client_id__isnull=False), name="message_once"
            ),
            models.UniqueConstraint(fields=["conversation", "key"], condition=Q(key__isnull=False), name="said_once"),
            models.UniqueConstraint(
                fields=["turn", "step"], condition=Q(author="assistant"), name="one_reply_per_step"
            ),
            models.CheckConstraint(
                condition=Q(author="staff", staff__isnull=False, said_by__gt="", in_history=False)
                | ~Q(author="staff") & Q(staff__isnull=True, said_by=""),
                name="staff_say_who_and_never_to_the_model",
            ),
        ]
        indexes = [models.Index(fields=["conversation", "-id"], name="message_by_conversation")]


class UntrustedText(models.Model):
    """Where text that neither the customer nor the operator wrote entered a conversation: from there on every write
    of it asks. A block of a stored reply: a call whose result holds it, or the result of a provider's own tool."""

    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="untrusted_texts")
    message = models.ForeignKey("Message", on_delete=models.PROTECT, related_name="+", db_index=False)
    block = models.PositiveSmallIntegerField()
    tool = models.CharField(max_length=200)
    field = models.CharField(max_length=100, blank=True, default="", help_text="Empty for the whole result.")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["message", "block", "field"], name="untrusted_text_once"),
        ]

"""What conversations are frozen to, and which definition new ones begin with."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Definition(models.Model):
    """What a conversation is frozen to: model, system prompt and tools, named by their hash."""

    digest = models.CharField(primary_key=True, max_length=64)
    model = models.CharField(max_length=100)
    system = models.TextField()
    tools = models.TextField(help_text="The `tools` of every request, as JSON text.")
    prompt_hash = models.CharField(max_length=64)
    schema_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now())


class Pin(models.Model):
    """One choice; the highest number holds, so there is always one at most. Without a definition new conversations
    follow the release again. Append-only."""

    number = models.PositiveIntegerField(primary_key=True)
    definition = models.ForeignKey("agents.Definition", on_delete=models.PROTECT, null=True, related_name="+")
    staff = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=1000)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(reason__gt=""), name="a_pin_has_a_reason")]

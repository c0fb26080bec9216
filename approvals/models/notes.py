"""What staff write down about a customer, for staff."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Note(models.Model):
    """One remark about a customer, for ever. It is part of the case file: no prompt and no customer gets it."""

    customer_id = models.CharField(max_length=200)
    conversation_id = models.UUIDField(null=True, help_text="Where it was written in one, about that.")
    author = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    text = models.CharField(max_length=2000)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(text__gt=""), name="a_note_says_something")]
        indexes = [
            models.Index(fields=["customer_id", "-at"], name="note_by_customer"),
            models.Index(
                fields=["conversation_id", "-at"],
                condition=Q(conversation_id__isnull=False),
                name="note_by_conversation",
            ),
        ]

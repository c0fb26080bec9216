"""Money that leaves or comes in through a payment provider, and what happened there without Placet."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy


class Payout(models.Model):
    """What the provider is told to do for one transfer: made with the transfer by a trigger, which also lets
    the state only move forward. Its history is in the record, as events of the kind `payout`."""

    class State(models.TextChoices):
        PENDING = "pending", gettext_lazy("Not sent yet")
        UNKNOWN = "unknown", gettext_lazy("Outcome not known")
        SENT = "sent", gettext_lazy("Sent to the bank")
        SETTLED = "settled", gettext_lazy("Settled")
        FAILED = "failed", gettext_lazy("Failed")
        OUTSIDE = "outside", gettext_lazy("Paid by the shop itself")
        RECALLED = "recalled", gettext_lazy("Recalled before it was sent")

    transfer = models.OneToOneField("ledger.Transfer", on_delete=models.PROTECT, primary_key=True)
    customer = models.ForeignKey("ledger.Customer", on_delete=models.PROTECT)
    key = models.CharField(max_length=60, unique=True, help_text="The provider's idempotency key for it.")
    state = models.CharField(max_length=10, choices=State, db_default=State.PENDING)
    provider = models.CharField(max_length=10, db_default="", help_text="Who was told; fixed with the first attempt.")
    source = models.CharField(
        max_length=200, db_default="", help_text="The payment there that is refunded, or whose card is charged."
    )
    provider_reference = models.CharField(max_length=200, null=True, unique=True)  # noqa: DJ001
    attempts = models.PositiveIntegerField(db_default=0, help_text="Also the fence: an older attempt writes nothing.")
    next_at = models.DateTimeField(db_default=Now(), help_text="When it is sent, or looked up, next.")
    lease_until = models.DateTimeField(null=True)
    first_sent_at = models.DateTimeField(null=True)
    error_code = models.CharField(max_length=60, db_default="")
    handled_by = models.CharField(max_length=150, db_default="", help_text="Who took care of it after it failed.")
    at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["pending", "unknown", "sent", "settled", "failed", "outside", "recalled"]),
                name="payout_state_known",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["pending", "failed", "outside", "recalled"]) | Q(provider__gt=""),
                name="payout_sent_by_someone",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_at"], condition=Q(state__in=["pending", "unknown", "sent"]), name="payout_due"
            ),
            models.Index(fields=["state", "-transfer"], name="payout_by_state"),
        ]  # fmt: skip


class Dispute(models.Model):
    """A customer's dispute of a payment, as the provider reports it. While one is open the order is frozen."""

    class State(models.TextChoices):
        OPEN = "open"
        WON = "won"
        LOST = "lost"

    reference = models.CharField(primary_key=True, max_length=200, help_text="The provider's.")
    customer = models.ForeignKey("ledger.Customer", on_delete=models.PROTECT)
    order = models.ForeignKey("ledger.Order", on_delete=models.PROTECT, related_name="disputes")
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    state = models.CharField(max_length=4, choices=State)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["open", "won", "lost"]), name="dispute_state_known"),
        ]


class ProviderEvent(models.Model):
    """One delivered webhook: the key makes a second delivery harmless, the status an older one."""

    event_id = models.CharField(primary_key=True, max_length=200)
    type = models.CharField(max_length=100)
    object_id = models.CharField(max_length=200)
    status = models.CharField(max_length=40)
    outcome = models.CharField(max_length=20, help_text="What came of it: applied, known, unmatched or ignored.")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["object_id"], name="provider_event_of_object")]

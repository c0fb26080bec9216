"""The books of the shop.

Amounts are integers in the currency's minor unit. A transfer is one immutable row from one account to
another of the same currency: the books balance by construction. Triggers keep each account's total, and
a check keeps an order's refunds within what was captured and a gift card above zero.
"""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from ledger.models.shop import Customer, Order, PaymentMethod


class Account(models.Model):
    """Where money can be. `method`: a card or PayPal account, or a gift card's balance. `order`: what the
    shop holds for an order, so its balance is captured less refunded. `opening`: the counterpart of gift
    card balances that the shop brought in."""

    class Kind(models.TextChoices):
        EXTERNAL = "external"
        GIFT_CARD = "gift_card"
        ORDER = "order"
        OPENING = "opening"

    kind = models.CharField(max_length=10, choices=Kind)
    currency = models.CharField(max_length=3)
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, null=True)
    payment_method = models.ForeignKey(PaymentMethod, on_delete=models.PROTECT, null=True, db_index=False)
    order = models.OneToOneField(Order, on_delete=models.PROTECT, null=True, related_name="account")
    balance_minor = models.BigIntegerField(default=0, help_text="Kept by a trigger; zero for external and opening.")
    held_minor = models.BigIntegerField(default=0, help_text="Pending holds on it, kept by a trigger.")
    over_refunded_minor = models.BigIntegerField(
        default=0,
        db_default=0,
        help_text="By how much what happened outside Placet took it below what is held; kept by a trigger.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["id", "currency"], name="account_currency"),
            models.UniqueConstraint(
                fields=["payment_method", "currency"],
                condition=Q(payment_method__isnull=False),
                name="one_account_per_method_and_currency",
            ),
            models.UniqueConstraint(
                fields=["currency"], condition=Q(kind="opening"), name="one_opening_account_per_currency"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["external", "opening"])
                | Q(balance_minor__gte=F("held_minor") - F("over_refunded_minor")),
                name="never_below_what_is_held",
            ),
            models.CheckConstraint(condition=Q(held_minor__gte=0), name="held_not_negative"),
            models.CheckConstraint(condition=Q(over_refunded_minor__gte=0), name="over_refunded_not_negative"),
            models.CheckConstraint(
                condition=Q(kind="opening", customer__isnull=True, payment_method__isnull=True, order__isnull=True)
                | Q(kind="order", customer__isnull=False, payment_method__isnull=True, order__isnull=False)
                | Q(
                    kind__in=["external", "gift_card"],
                    customer__isnull=False, payment_method__isnull=False, order__isnull=True,
                ),
                name="account_owner_fits_kind",
            ),
        ]  # fmt: skip


class Entry(models.Model):
    """One executed write: what the customer is told, what the limits count, what a reference names."""

    reference = models.CharField(primary_key=True, max_length=16)
    key = models.CharField(max_length=200, unique=True, help_text="Idempotency key; never the model's choice.")
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, db_index=False)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, null=True)
    tool = models.CharField(max_length=100)
    amount_minor = models.BigIntegerField(help_text="Money moved or promised, either way.")
    currency = models.CharField(max_length=3)
    plan = models.JSONField(help_text="What was done, as previewed.")
    request_reference = models.CharField(max_length=16, default="", blank=True)
    credential_id = models.CharField(max_length=40)
    conversation_id = models.UUIDField(null=True, help_text="Where it was asked for.")
    untrusted = models.BooleanField(
        default=False, db_default=False, help_text="Asked for in a conversation that held untrusted text."
    )
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount_minor__gte=0), name="entry_amount_not_negative"),
        ]
        indexes = [
            models.Index(fields=["customer", "-at"], name="entry_by_customer"),
            models.Index(fields=["at"], name="entry_by_day"),
        ]


class Transfer(models.Model):
    """Money from one account to another, for ever. The pair of debit and currency, and of credit and
    currency, are foreign keys on accounts, so a transfer cannot cross currencies.

    A `reversal` undoes one that the payment provider could not carry out; the kinds from `external_refund` on
    happened there without Placet. These four state what is so, and no check of a balance refuses them."""

    class Kind(models.TextChoices):
        CAPTURE = "capture"
        REFUND = "refund"
        OPENING = "opening"
        REVERSAL = "reversal"
        EXTERNAL_REFUND = "external_refund"
        DISPUTE = "dispute"
        DISPUTE_WON = "dispute_won"

    kind = models.CharField(max_length=20, choices=Kind)
    debit = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="debits", db_constraint=False)
    credit = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="credits", db_constraint=False)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, null=True, db_index=False)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, null=True, related_name="transfers")
    payment_method = models.ForeignKey(PaymentMethod, on_delete=models.PROTECT, null=True)
    provider_reference = models.CharField(max_length=200, null=True)  # noqa: DJ001
    entry = models.ForeignKey(Entry, on_delete=models.PROTECT, null=True, related_name="transfers")
    reverses = models.OneToOneField("self", on_delete=models.PROTECT, null=True, related_name="reversal")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="transfer_moves_something"),
            models.CheckConstraint(condition=~Q(debit=F("credit")), name="transfer_between_two_accounts"),
            models.CheckConstraint(
                condition=Q(kind="opening", order__isnull=True)
                | Q(
                    kind__in=["capture", "refund", "reversal", "external_refund", "dispute", "dispute_won"],
                    order__isnull=False,
                ),
                name="transfer_kind_fits_order",
            ),
            models.CheckConstraint(
                condition=Q(kind="reversal", reverses__isnull=False, entry__isnull=True)
                | Q(~Q(kind="reversal"), reverses__isnull=True),
                name="transfer_reverses_another",
            ),
            models.UniqueConstraint(
                fields=["kind", "provider_reference"],
                condition=Q(kind__in=["external_refund", "dispute", "dispute_won"]),
                name="reported_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["provider_reference"],
                condition=Q(provider_reference__isnull=False),
                name="transfer_by_provider",
            ),
        ]


class Hold(models.Model):
    """Money reserved on an account by a waiting request, a return or an exchange: its owner's last step
    posts or voids it, once."""

    class State(models.TextChoices):
        PENDING = "pending"
        POSTED = "posted"
        VOIDED = "voided"

    owner = models.CharField(max_length=16, help_text="Reference of the request or entry it belongs to.")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="holds", db_constraint=False)
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, db_index=False)
    amount_minor = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    state = models.CharField(max_length=8, choices=State, default=State.PENDING)
    at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount_minor__gt=0), name="hold_reserves_something"),
            models.CheckConstraint(condition=Q(state__in=["pending", "posted", "voided"]), name="hold_state_known"),
            models.CheckConstraint(
                condition=Q(state="pending", ended_at__isnull=True) | Q(~Q(state="pending"), ended_at__isnull=False),
                name="hold_ended_once",
            ),
            models.UniqueConstraint(fields=["owner", "account"], name="one_hold_per_owner_and_account"),
        ]

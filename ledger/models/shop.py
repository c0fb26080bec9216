"""The shop: its customers, how they pay, its products and orders."""

from django.db import models
from django.db.models import Q


class Customer(models.Model):
    customer_id = models.CharField(primary_key=True, max_length=200)
    name = models.CharField(max_length=200)
    email = models.CharField(max_length=320)
    phone = models.CharField(max_length=40, null=True)  # noqa: DJ001 - absent is not empty in the shop format
    address = models.JSONField()
    disabled_at = models.DateTimeField(null=True)
    imported = models.JSONField(help_text="The shop's line as last imported.")
    touched_at = models.DateTimeField(null=True, help_text="When Placet first wrote to this row.")


class PaymentMethod(models.Model):
    class Kind(models.TextChoices):
        CARD = "card"
        PAYPAL = "paypal"
        GIFT_CARD = "gift_card"

    payment_method_id = models.CharField(primary_key=True, max_length=200)
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="payment_methods")
    position = models.PositiveSmallIntegerField(help_text="Its place in the shop's list.")
    kind = models.CharField(max_length=10, choices=Kind)
    brand = models.CharField(max_length=60, null=True)  # noqa: DJ001 - absent is not empty in the shop format
    last4 = models.CharField(max_length=4, null=True)  # noqa: DJ001
    currency = models.CharField(max_length=3, null=True)  # noqa: DJ001

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(kind="gift_card") | Q(currency__isnull=False), name="gift_card_has_currency"
            ),
            models.CheckConstraint(condition=Q(kind__in=["card", "paypal", "gift_card"]), name="method_kind_known"),
        ]
        indexes = [
            models.Index(fields=["last4", "brand"], condition=Q(last4__isnull=False), name="method_by_card"),
        ]


class Product(models.Model):
    product_id = models.CharField(primary_key=True, max_length=200)
    name = models.CharField(max_length=200)
    description = models.TextField(null=True)  # noqa: DJ001
    items = models.JSONField(help_text="[{item_id, options, available, price_minor}]")
    imported = models.JSONField()


class Order(models.Model):
    class Status(models.TextChoices):
        PENDING = "pending"
        PENDING_ITEMS_CHANGED = "pending_items_changed"
        PROCESSED = "processed"
        DELIVERED = "delivered"
        CANCELLED = "cancelled"
        RETURN_REQUESTED = "return_requested"
        EXCHANGE_REQUESTED = "exchange_requested"

    order_id = models.CharField(primary_key=True, max_length=200)
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="orders")
    currency = models.CharField(max_length=3)
    status = models.CharField(max_length=24, choices=Status)
    address = models.JSONField()
    items = models.JSONField(help_text="[{item_id, product_id, name, options, price_minor}]")
    tracking = models.JSONField()
    note = models.TextField(null=True)  # noqa: DJ001
    placed_at = models.CharField(max_length=40, null=True)  # noqa: DJ001 - kept as the shop wrote it
    delivered_at = models.CharField(max_length=40, null=True)  # noqa: DJ001
    cancel_reason = models.CharField(max_length=200, null=True)  # noqa: DJ001
    returning = models.JSONField(null=True, help_text="{item_ids, payment_method_id}")
    exchanging = models.JSONField(
        null=True, help_text="{item_ids, new_item_ids, payment_method_id, price_difference_minor}"
    )
    imported = models.JSONField()
    touched_at = models.DateTimeField(null=True)
    frozen = models.BooleanField(default=False, db_default=False, help_text="A dispute of its payment is open.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    status__in=[
                        "pending", "pending_items_changed", "processed", "delivered", "cancelled",
                        "return_requested", "exchange_requested",
                    ]
                ),
                name="order_status_known",
            ),
            models.UniqueConstraint(fields=["order_id", "customer"], name="order_of_customer"),
        ]  # fmt: skip

"""What is to be sent out: written in the transaction of what it tells, sent by a worker afterwards."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Delivery(models.Model):
    """One e-mail or one call of the webhook. It is sent at least once: `key` tells the receiver of a second time."""

    class Channel(models.TextChoices):
        EMAIL = "email"
        WEBHOOK = "webhook"

    channel = models.CharField(max_length=7, choices=Channel)
    key = models.CharField(max_length=200, unique=True)
    to = models.CharField(max_length=320, blank=True, default="")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    link = models.CharField(max_length=300, blank=True, default="")
    at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(channel="email", to__gt="") | Q(channel="webhook", to=""), name="mail_has_an_address"
            ),
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(sent_at=None), name="delivery_due"),
        ]

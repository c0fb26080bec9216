"""Which parts of a request's page a person had before their eyes, and for how long."""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy


class CardView(models.Model):
    """One card of one revision's page, opened by one person. `seconds` is what their browser tells, so a floor is
    kept with the decision from our own clock as well."""

    class Card(models.TextChoices):
        ACTION = "action", gettext_lazy("What would change")
        CASE = "case", gettext_lazy("The case file")
        CONVERSATION = "conversation", gettext_lazy("The conversation")

    request = models.ForeignKey(
        "approvals.Request", on_delete=models.PROTECT, related_name="card_views", db_index=False
    )
    revision = models.PositiveSmallIntegerField()
    staff = models.ForeignKey("approvals.Staff", on_delete=models.PROTECT, related_name="+")
    card = models.CharField(max_length=12, choices=Card)
    opened_at = models.DateTimeField(db_default=Now())
    seconds = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "revision", "staff", "card"], name="card_opened_once"),
        ]

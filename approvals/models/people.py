"""Members of staff, and the conversations in which they took part."""

import datetime as dt

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from base.access import ROLES


class Staff(AbstractUser):
    """A member of staff. Who is also a customer is linked to that customer, and cannot decide on themself."""

    role = models.CharField(max_length=10, choices=[(role, role) for role in ROLES])
    customer_id = models.CharField(max_length=200, blank=True, default="")
    phone = models.CharField(
        max_length=40, blank=True, default="", help_text="To reach them; never shown to customers."
    )
    tokens_valid_from = models.DateTimeField(
        db_default=Now(), help_text="Sessions begun and API tokens issued before are void."
    )

    class Meta(AbstractUser.Meta):
        constraints = [
            models.CheckConstraint(condition=Q(role__in=ROLES), name="staff_role_known"),
            models.CheckConstraint(condition=Q(is_superuser=False), name="staff_has_no_superuser"),
        ]

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """What every session of this person holds: a later `tokens_valid_from` ends them as it ends API tokens."""
        if not isinstance(self.tokens_valid_from, dt.datetime):  # a row just made has it in the database alone
            self.refresh_from_db(fields=["tokens_valid_from"])
        text = f"{self.password}\n{self.tokens_valid_from.isoformat()}"
        return salted_hmac("approvals.Staff.session", text, secret=secret, algorithm="sha256").hexdigest()


class Participant(models.Model):
    """Staff who wrote in a conversation: they steered it, so they cannot decide what came of it."""

    conversation_id = models.UUIDField()
    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["conversation_id", "staff"], name="participant_once")]

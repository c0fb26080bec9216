"""What a passkey signed: evidence that can be checked without this server, its database's word or the browser."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Length, Now

models.BinaryField.register_lookup(Length)


class Signature(models.Model):
    """A WebAuthn assertion over one decision. The challenge that was signed is the SHA-256 of `signed`, canonical
    JSON that names the request, its revision and digest, the verdict, a lower amount and the nonce. Append-only."""

    decision = models.OneToOneField(
        "approvals.Decision", on_delete=models.PROTECT, primary_key=True, related_name="signature"
    )
    nonce = models.CharField(max_length=200, unique=True, help_text="Ours, signed with the time; used once.")
    signed = models.TextField()
    rp_id = models.CharField(max_length=253, help_text="The host that the passkey is bound to.")
    credential_id = models.BinaryField()
    public_key = models.BinaryField(help_text="A COSE key in CBOR.")
    authenticator_data = models.BinaryField()
    client_data = models.BinaryField(help_text="clientDataJSON, byte for byte.")
    signature = models.BinaryField(help_text="Over authenticator_data and the SHA-256 of client_data.")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(signed__gt="", nonce__gt="", rp_id__gt=""), name="signed_something"),
            models.CheckConstraint(
                condition=Q(public_key__length__gt=0, signature__length__gt=0, authenticator_data__length__gte=37),
                name="signature_is_whole",
            ),
        ]

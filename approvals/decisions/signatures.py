"""A passkey signs a decision above the higher line: what exactly it signs, and how that is checked, now and later."""

import base64
import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from allauth.mfa.models import Authenticator
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from django.core import signing
from django.utils.translation import gettext as _
from fido2 import cbor
from fido2.cose import CoseKey
from fido2.rpid import verify_rp_id
from fido2.server import Fido2Server
from fido2.webauthn import (
    AttestedCredentialData,
    AuthenticationResponse,
    AuthenticatorData,
    CollectedClientData,
    PublicKeyCredentialRpEntity,
    UserVerificationRequirement,
)

from approvals.errors import Forbidden
from approvals.models import Decision, Request, Signature, Staff
from audit.models import Event, Kind
from audit.record import canonical

PURPOSE = "placet decision 1"
NONCE_SECONDS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """What came back from a browser: the nonce it was given, and its passkey's assertion as WebAuthn's JSON."""

    nonce: str
    assertion: Mapping[str, Any]
    rp_id: str


def credentials_of(staff: Staff) -> list[AttestedCredentialData]:
    """This person's passkeys."""
    rows = Authenticator.objects.filter(user_id=staff.pk, type=Authenticator.Type.WEBAUTHN)
    found = (row.wrap().authenticator_data.credential_data for row in rows)
    return [credential for credential in found if credential is not None]


def has_passkey(staff: Staff) -> bool:
    """Whether this person's approvals above the higher line have to be signed."""
    return bool(Authenticator.objects.filter(user_id=staff.pk, type=Authenticator.Type.WEBAUTHN).exists())


def new_nonce(request: Request, staff: Staff) -> str:
    """One for this person and request; it is good for five minutes, and for one decision."""
    return signing.dumps(secrets.token_hex(16), salt=_salt(request, staff), compress=False)


def _salt(request: Request, staff: Staff) -> str:
    return f"sign {request.pk} by {staff.pk}"


def text_to_sign(request: Request, *, verdict: str, amount_minor: int | None, nonce: str) -> str:
    """What a passkey is asked to sign, before an amount is lowered: canonical JSON whose SHA-256 is the challenge."""
    return canonical(
        {
            "purpose": PURPOSE,
            "reference": request.pk,
            "revision": request.revision,
            "digest": request.digest,
            "verdict": verdict,
            "amount_minor": amount_minor,
            "nonce": nonce,
        }
    )


def options(request: Request, staff: Staff, *, verdict: str, amount_minor: int | None, rp_id: str) -> dict[str, Any]:
    """What a browser needs: `nonce` to send back, and `publicKey` for `navigator.credentials.get`."""
    nonce = new_nonce(request, staff)
    text = text_to_sign(request, verdict=verdict, amount_minor=amount_minor, nonce=nonce)
    asked, _state = _server(rp_id).authenticate_begin(
        credentials_of(staff), UserVerificationRequirement.REQUIRED, challenge=challenge_of(text)
    )
    return {"nonce": nonce, **dict(asked)}


def challenge_of(text: str) -> bytes:
    """The 32 bytes that stand for a signed text."""
    return hashlib.sha256(text.encode()).digest()


def verify(request: Request, staff: Staff, *, verdict: str, amount_minor: int | None, signed: Signed) -> Signature:
    """Check a signature over the request as it stands; gives the row to keep. Raises Forbidden."""
    text = text_to_sign(request, verdict=verdict, amount_minor=amount_minor, nonce=signed.nonce)
    wanted = {"challenge": encode(challenge_of(text)), "user_verification": UserVerificationRequirement.REQUIRED}
    try:
        if Signature.objects.filter(nonce=signed.nonce).exists():  # under the request's lock, to which it belongs
            raise signing.BadSignature("used")
        signing.loads(signed.nonce, salt=_salt(request, staff), max_age=NONCE_SECONDS)
        answer = AuthenticationResponse.from_dict(signed.assertion)
        key = _server(signed.rp_id).authenticate_complete(wanted, credentials_of(staff), answer)
    except (signing.BadSignature, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Forbidden(
            "fresh_authentication_required",
            _("Your passkey's signature does not fit this request as it stands; sign it again."),
        ) from error
    return Signature(
        nonce=signed.nonce,
        signed=text,
        rp_id=signed.rp_id,
        credential_id=key.credential_id,
        public_key=cbor.encode(key.public_key),
        authenticator_data=bytes(answer.response.authenticator_data),
        client_data=bytes(answer.response.client_data),
        signature=answer.response.signature,
    )


def _server(rp_id: str) -> Fido2Server:
    return Fido2Server(PublicKeyCredentialRpEntity(name="Placet", id=rp_id))


def encode(raw: bytes) -> str:
    """As WebAuthn writes bytes: base64url without padding."""
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def key_mark(public_key: bytes) -> str:
    """How events name a passkey's public key: hex SHA-256, cut to 32 characters."""
    return hashlib.sha256(public_key).hexdigest()[:32]


def complaint_about(kept: Signature) -> str:
    """What is wrong with kept evidence, as a sentence; empty if everything fits. Needs no secret of this server."""
    decision = kept.decision
    authenticator, client = AuthenticatorData(bytes(kept.authenticator_data)), _client_data(kept)
    if client is None or client.type != CollectedClientData.TYPE.GET:
        return "The browser's data are not those of a passkey's signature."
    if client.challenge != challenge_of(kept.signed):
        return "What was signed is not what is kept here."
    if not verify_rp_id(kept.rp_id, client.origin):
        return "It was signed for another site."
    if authenticator.rp_id_hash != hashlib.sha256(kept.rp_id.encode()).digest():
        return "The passkey is bound to another host."
    if not (authenticator.is_user_present() and authenticator.is_user_verified()):
        return "The passkey did not verify who used it."
    if not _key_signed(kept):
        return "The signature is not by this key."
    if not _fits(json.loads(kept.signed), decision):
        return "What was signed is not what was decided."
    return "" if _was_theirs(kept) else f"The record does not say that {decision.staff.username} had this key."


def _client_data(kept: Signature) -> CollectedClientData | None:
    try:
        return CollectedClientData(bytes(kept.client_data))
    except (ValueError, KeyError, TypeError):
        return None


def _key_signed(kept: Signature) -> bool:
    message = bytes(kept.authenticator_data) + hashlib.sha256(bytes(kept.client_data)).digest()
    try:
        key = cast(Mapping[int, Any], cbor.decode(bytes(kept.public_key)))
        CoseKey.parse(key).verify(message, bytes(kept.signature))
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, KeyError, TypeError, NotImplementedError):
        return False
    return True


def _fits(signed: dict[str, Any], decision: Decision) -> bool:
    """An approval of less makes the next revision, and so a digest of its own."""
    lowered = signed["amount_minor"] is not None
    named = (signed["purpose"], signed["reference"], signed["verdict"], signed["revision"] + lowered)
    same = lowered or signed["digest"] == decision.digest
    return named == (PURPOSE, decision.request_id, decision.verdict, decision.revision) and same


def _was_theirs(kept: Signature) -> bool:
    """The event of its registration is older than the decision."""
    name = kept.decision.staff.username
    added = Event.objects.filter(kind=Kind.SIGN_IN, decision="passkey_added", actor_id=name)
    return added.filter(credential_id=key_mark(bytes(kept.public_key)), at__lte=kept.at).exists()

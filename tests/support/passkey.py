"""A passkey in software: registers and signs as a browser's would, with or without verifying its user."""

import base64
import hashlib
import json
import os
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2 import cbor
from fido2.cose import ES256

HOST, ORIGIN = "localhost", "https://localhost"


def text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


class Passkey:
    def __init__(self, host: str = HOST, origin: str = ORIGIN) -> None:
        self.host, self.origin = host, origin
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = os.urandom(16)
        self.user = b""

    def _data(self, flags: int) -> bytes:
        return hashlib.sha256(self.host.encode()).digest() + bytes([flags]) + (1).to_bytes(4, "big")

    def _client(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def register(self, options: dict[str, Any]) -> dict[str, Any]:
        """What `navigator.credentials.create` would answer."""
        asked = options["publicKey"]
        self.user = asked["user"]["id"].encode()
        public = cbor.encode(ES256.from_cryptography_key(self.key.public_key()))
        data = self._data(0x45) + bytes(16) + len(self.id).to_bytes(2, "big") + self.id + public
        attested = cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})
        client = self._client("webauthn.create", asked["challenge"])
        response = {"clientDataJSON": text(client), "attestationObject": text(attested)}
        return {**self._common(), "clientExtensionResults": {"credProps": {"rk": True}}, "response": response}

    def sign(self, options: dict[str, Any], *, verified: bool = True) -> dict[str, Any]:
        """What `navigator.credentials.get` would answer."""
        client = self._client("webauthn.get", options["publicKey"]["challenge"])
        data = self._data(0x05 if verified else 0x01)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": text(client),
            "authenticatorData": text(data),
            "signature": text(signature),
            "userHandle": self.user.decode(),
        }
        return {**self._common(), "clientExtensionResults": {}, "response": response}

    def _common(self) -> dict[str, Any]:
        return {"id": text(self.id), "rawId": text(self.id), "type": "public-key"}

"""How a caller of the ledger's protocol authenticates: with a credential, and with nothing else."""

from typing import Any

from django.db import connection
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from ledger.access.credentials import Credential, verify
from ledger.errors import CredentialRefused


class CredentialAuthentication(BaseAuthentication):
    """A credential of `ledger.access.credentials`; nothing else, no session and no staff token, opens this."""

    def authenticate(self, request: Request) -> tuple[Credential, str] | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            credential = verify(token)
        except CredentialRefused as exc:
            raise exceptions.AuthenticationFailed from exc
        with connection.cursor() as cursor:
            cursor.execute("SELECT ledger_is_disabled(%s)", [credential.customer_id])
            row = cursor.fetchone()
        if row is None or row[0]:
            raise exceptions.AuthenticationFailed
        return credential, token

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="placet ledger"'


class CredentialScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = CredentialAuthentication
    name = "ledgerCredential"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


class HasCredential(BasePermission):
    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.user, Credential)

"""How staff authenticate to the API without a session."""

from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from approvals.models import Staff
from approvals.people.accounts import StaffTokenRefused, verify_staff_token


class StaffTokenAuthentication(BaseAuthentication):
    """A bearer token of `manage.py staff_token`."""

    def authenticate(self, request: Request) -> tuple[Staff, str] | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        try:
            return verify_staff_token(token), token
        except StaffTokenRefused as exc:
            raise exceptions.AuthenticationFailed from exc

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="placet staff"'

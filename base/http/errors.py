"""The one shape of every API error: `{code, message, fields?}`."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response

_SENTENCES = {
    400: ("malformed", "The request could not be read as JSON."),
    401: ("unauthenticated", "Sign in, or send a valid bearer token."),
    403: ("forbidden", "This is not allowed for you."),
    404: ("not_found", "Nothing here under this address for you."),
    405: ("method_not_allowed", "This address does not take this method."),
    413: ("too_large", "The request is larger than 256 kB."),
    415: ("unsupported_media_type", "Send application/json."),
    429: ("too_many_requests", "Too many requests; try again later."),
    503: ("unavailable", "The service cannot answer right now; try again in a moment."),
}


class ApiError(exceptions.APIException):
    """An error with its own code, sentence and extra keys."""

    def __init__(self, status_code: int, code: str, message: str, **extra: Any) -> None:
        self.status_code = status_code
        self.body = {"code": code, "message": message, **extra}
        super().__init__(message)


def invalid(fields: Mapping[str, list[str]]) -> ApiError:
    """422: what was wrong, by field."""
    return ApiError(422, "invalid", "Some values are not acceptable; see fields.", fields=dict(fields))


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response | None:
    """Turn whatever a view raised into the one shape; None leaves a fault to the generic 500."""
    if isinstance(exc, ApiError):
        return Response(exc.body, status=exc.status_code)
    if isinstance(exc, exceptions.ValidationError):
        detail = exc.detail if isinstance(exc.detail, dict) else {"body": exc.detail}
        return exception_handler(invalid({k: _texts(v) for k, v in detail.items()}), context)
    if isinstance(exc, OperationalError | InterfaceError):
        return _answer(status.HTTP_503_SERVICE_UNAVAILABLE)
    return _answer(_status_of(exc), getattr(exc, "wait", None)) if _status_of(exc) else None


def _status_of(exc: Exception) -> int:
    if isinstance(exc, Http404):
        return 404
    if isinstance(exc, PermissionDenied):
        return 403
    return exc.status_code if isinstance(exc, exceptions.APIException) else 0


def _answer(code: int, wait: float | None = None) -> Response:
    name, message = _SENTENCES.get(code, ("error", "The request failed."))
    headers = {"WWW-Authenticate": 'Bearer realm="placet"'} if code == 401 else {}
    if wait is not None:
        headers["Retry-After"] = str(max(1, round(wait)))
    return Response({"code": name, "message": message}, status=code, headers=headers)


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        return [f"{key}: {text}" for key, item in value.items() for text in _texts(item)]
    return [str(value)]

"""What the server answers instead of a message."""

from typing import Any

DEFAULT_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class ApiError(Exception):
    """An HTTP error in the Messages API's shape; `kind` is the provider's name for it."""

    def __init__(self, status: int, message: str, kind: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind or DEFAULT_TYPES.get(status, "api_error")
        self.retry_after = retry_after

    def body(self, request_id: str) -> dict[str, Any]:
        """The JSON object that the client reads."""
        return {
            "type": "error",
            "error": {"type": self.kind, "message": self.message},
            "request_id": request_id,
        }


def invalid(where: str, what: str) -> ApiError:
    """A 400 that names the offending field."""
    return ApiError(400, f"{where}: {what}")

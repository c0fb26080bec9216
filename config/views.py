"""What is said when a page cannot be given: one sentence that helps, and JSON under /api/."""

import sys
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

_PAGES = {
    400: ("malformed", "This request could not be read", "Go back, reload the page and try again."),
    403: (
        "forbidden",
        "This is not open to you",
        "Your role does not include this page; ask an admin if it should.",
    ),
    404: ("not_found", "There is nothing here", "The address may be mistyped, or what it named is gone."),
    503: ("unavailable", "This cannot be answered right now", "Try again in a moment; nothing was lost."),
    500: ("fault", "Something failed on our side", "It has been logged. Try again in a moment."),
}
_CSRF = "This form was open for too long or cookies are off. Go back, reload the page and send it again."


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _say(request, 400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _say(request, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _say(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """A fault of ours, or a database that does not answer and will be back."""
    return _say(request, 503 if isinstance(sys.exception(), OperationalError | InterfaceError) else 500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's CSRF check refused a form."""
    return _say(request, 403, _CSRF)


def _say(request: HttpRequest, status: int, advice: str = "") -> HttpResponse:
    code, title, usual = _PAGES[status]
    advice = advice or usual
    if request.path.startswith("/api/"):
        return JsonResponse({"code": code, "message": f"{title}. {advice}"}, status=status)
    context: dict[str, Any] = {"status": status, "title": title, "advice": advice}
    # Without the request: an error page asks neither the session nor the database.
    return render(None, "config/error.html", context, status=status)

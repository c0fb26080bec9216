"""What is said when a page cannot be given: one sentence that helps, and JSON where programs read it."""

import sys
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import get_language, get_language_bidi, override
from django.utils.translation import gettext_lazy as _

from config.languages import is_for_machines

_PAGES = {
    400: ("malformed", _("This request could not be read"), _("Go back, reload the page and try again.")),
    403: (
        "forbidden",
        _("This is not open to you"),
        _("Your role does not include this page; ask an admin if it should."),
    ),
    404: ("not_found", _("There is nothing here"), _("The address may be mistyped, or what it named is gone.")),
    503: (
        "unavailable",
        _("This cannot be answered right now"),
        _("Try again in a moment; nothing was lost."),
    ),
    500: ("fault", _("Something failed on our side"), _("It has been logged. Try again in a moment.")),
}
_CSRF = _("This form was open for too long or cookies are off. Go back, reload the page and send it again.")


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


def _say(request: HttpRequest, status: int, advice: str | Promise = "") -> HttpResponse:
    code, title, usual = _PAGES[status]
    advice = advice or usual
    if is_for_machines(request.path):
        with override(settings.LANGUAGE_CODE):
            return JsonResponse({"code": code, "message": f"{title}. {advice}"}, status=status)
    language = {"LANGUAGE_CODE": get_language(), "LANGUAGE_BIDI": get_language_bidi()}
    context: dict[str, Any] = {"status": status, "title": title, "advice": advice, **language}
    # Without the request: an error page asks neither the session nor the database.
    return render(None, "pages/error.html", context, status=status)

"""Who is answered in which language: people on pages in theirs, machines and the demo shop's customers in English."""

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

MACHINES = ("/api/", "/ledger/", "/healthz", "/readyz", "/demo/token/")


def is_for_machines(path: str) -> bool:
    """Whether programs read what stands under this address: APIs, the provider's webhook and the health checks."""
    return path.startswith(MACHINES)


class PagesInTheReadersLanguage(LocaleMiddleware):
    """The language of the cookie or the browser for pages; what programs read never depends on either."""

    def process_request(self, request: HttpRequest) -> None:
        if not _speaks_english_only(request.path):
            super().process_request(request)
            return
        translation.activate(settings.LANGUAGE_CODE)
        request.LANGUAGE_CODE = translation.get_language()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return response if _speaks_english_only(request.path) else super().process_response(request, response)


def _speaks_english_only(path: str) -> bool:
    return is_for_machines(path) or path == "/" or path.startswith("/demo/")

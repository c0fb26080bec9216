"""Where a second factor is required, nobody gets further than to the pages on which they set one up."""

from collections.abc import Callable

from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.models import Authenticator
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext

_FACTORS = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]


def second_factor_where_required(get_response: Callable[[HttpRequest], HttpResponse]) -> object:
    """A session of a member of staff without one is sent to set it up; the API answers 403."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if settings.PLACET.staff.mfa == "required" and _is_guarded(request.path) and _lacks_one(request):
            return _refuse(request)
        return get_response(request)

    return middleware


def _is_guarded(path: str) -> bool:
    free = (reverse("mfa_index"), reverse("sign-in"), reverse("sign-out"))
    return path.startswith(("/console/", "/audit/", "/api/")) and not path.startswith(free)


def _lacks_one(request: HttpRequest) -> bool:
    """An identity provider asks for a second factor itself, if it is to be asked for."""
    if not request.user.is_authenticated:
        return False
    used = {step["method"] for step in get_authentication_records(request, request.user)}
    return not used & {"mfa", "socialaccount"} and not is_mfa_enabled(request.user, _FACTORS)


def _refuse(request: HttpRequest) -> HttpResponse:
    sentence = gettext("A second factor is required here: add a passkey or an authenticator app first.")
    if request.path.startswith("/api/"):
        return JsonResponse({"code": "second_factor_required", "message": sentence}, status=403)
    messages.warning(request, sentence)
    return redirect("mfa_index")

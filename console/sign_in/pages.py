"""Staff sign in: with a password and perhaps a second step, with a passkey alone, or through an identity provider."""

import json
from typing import Any, cast

from allauth.account.internal.flows.logout import logout
from allauth.account.views import LoginView
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.webauthn.views import LoginWebAuthnView
from django.conf import settings
from django.contrib import messages
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from audit.models import Kind
from audit.record import SYSTEM, NewEvent, record
from console.sign_in import throttle
from console.sign_in.forms import UNFIT, WAIT, SignInForm

read_and_write = require_http_methods(["GET", "HEAD", "POST"])


class SignIn(LoginView):  # type: ignore[misc]
    """Five failures for one name from one address close the door to that pair for five minutes."""

    template_name = "pages/sign_in/sign_in.html"
    form_class = SignInForm

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not throttle.is_open(*_pair(request)):
            # The form is not bound, because a bound one would try the password.
            context = {"form": self.form_class(request=request), "problem": WAIT}
            return too_many(self.render_to_response(self.get_context_data(**context)))
        return cast(HttpResponse, super().post(request, *args, **kwargs))

    def form_valid(self, form: SignInForm) -> HttpResponse:
        throttle.forget(*_pair(self.request))
        return cast(HttpResponse, super().form_valid(form))

    def form_invalid(self, form: SignInForm) -> HttpResponse:
        context = self.get_context_data(form=form, problem=UNFIT)
        return cast(HttpResponse, self.render_to_response(context, status=422))

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        following = {"next": text} if (text := self.get_next_url()) else {}
        oidc = settings.PLACET.staff.oidc
        url = oidc and f"{reverse('openid_connect_login', args=[oidc.provider])}?{urlencode(following)}"
        return {**super().get_context_data(**kwargs), **following, "oidc": oidc, "oidc_url": url}


def too_many(response: HttpResponse) -> HttpResponse:
    """The same page as the answer to one attempt too many."""
    response.status_code = 429
    response["Retry-After"] = str(throttle.WINDOW_SECONDS)
    return response


def _pair(request: HttpRequest) -> tuple[str, str, str]:
    return "password", request.POST.get("username", ""), request.META.get("REMOTE_ADDR", "")


class SecondStep(AuthenticateView):  # type: ignore[misc]
    """After the password: a code, or a passkey."""

    template_name = "pages/sign_in/second_step.html"

    def form_invalid(self, form: Any) -> HttpResponse:
        response = self.render_to_response(self.get_context_data())
        response.status_code = 422
        return too_many(response) if getattr(form, "wait", False) else response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return {**context, "options": as_json(context["js_data"]["request_options"])}


def as_json(options: Any) -> str:
    """WebAuthn options for an attribute of a page."""
    return json.dumps(options, cls=DjangoJSONEncoder)


class PasskeySignIn(LoginWebAuthnView):  # type: ignore[misc]
    """GET gives a challenge as JSON; POST signs in with a passkey alone."""

    def form_invalid(self, form: Any) -> HttpResponse:
        address = self.request.META.get("REMOTE_ADDR", "")
        record(SYSTEM, NewEvent(kind=Kind.SIGN_IN, decision="failed"), method="passkey", address=address)
        messages.error(self.request, gettext("That passkey does not fit. Try again, or use your password."))
        return redirect("sign-in")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End this session, or give up between the two steps."""
    logout(request, show_message=False)
    return redirect("sign-in")


sign_in = read_and_write(SignIn.as_view())
second_step = read_and_write(SecondStep.as_view())
passkey = read_and_write(PasskeySignIn.as_view())

"""Staff sign in with a password; guessing is slowed down and every outcome is recorded."""

import hashlib
from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse

MOST_FAILURES = 5
WINDOW_SECONDS = 300
_WAIT = "Too many failed attempts. Wait five minutes, then try again."


class SignIn(LoginView):
    """Five failures for one name from one address close the door to that pair for five minutes."""

    template_name = "approvals/sign_in.html"
    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if cache.get(_key(request), 0) >= MOST_FAILURES:
            context = self.get_context_data(form=self.form_class(request), wait=_WAIT)
            response = self.render_to_response(context, status=429)
            response["Retry-After"] = str(WINDOW_SECONDS)
            return response
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        cache.delete(_key(self.request))
        return super().form_valid(form)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        key = _key(self.request)
        cache.add(key, 0, WINDOW_SECONDS)
        cache.incr(key)
        return self.render_to_response(self.get_context_data(form=form), status=422)


def _key(request: HttpRequest) -> str:
    pair = f"{request.POST.get('username', '').casefold()}\n{request.META.get('REMOTE_ADDR', '')}"
    return "sign-in:" + hashlib.sha256(pair.encode()).hexdigest()

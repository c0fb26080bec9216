"""One's own account: what one signs in with, where one is signed in, and showing again that it is oneself."""

from typing import Any

from allauth.account.views import ReauthenticateView
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as passkeys
from allauth.mfa.webauthn.internal import auth
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth.forms import PasswordChangeForm
from django.db import transaction
from django.db.models.functions import Now
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, gettext_lazy

from approvals.models import Staff
from audit.models import Kind
from audit.record import Actor, NewEvent, record
from base.access import ROLES, staff_page
from console.forms.people import EndSessionForm
from console.sign_in import sessions, throttle
from console.sign_in.forms import Confirm, ConfirmByCode
from console.sign_in.pages import as_json, too_many


def mine(view: Any) -> Any:
    """A page of one's own account, for every role; what it changes and the event of it commit together."""
    return staff_page(ROLES, acts=ROLES)(transaction.atomic(view))


class AddPasskey(passkeys.AddWebAuthnView):  # type: ignore[misc]
    """Only passkeys that sign in by themselves and verify who uses them."""

    template_name = "mfa/webauthn/add.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        options = auth.begin_registration(self.request.user, passwordless=True)
        return {"form": self.get_form(), **kwargs, "options": as_json(options)}


class ConfirmByPasskey(passkeys.ReauthenticateWebAuthnView):  # type: ignore[misc]
    """With a passkey."""

    template_name = "pages/account/confirm.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return {**context, "by": "passkey", "options": as_json(context["js_data"]["request_options"])}

    def form_invalid(self, form: Any) -> HttpResponse:
        return _again(self, form)


class ConfirmWithCode(mfa.ReauthenticateView):  # type: ignore[misc]
    """With a code, for who has no password here."""

    template_name = "pages/account/confirm.html"
    form_class = ConfirmByCode
    extra_context = {"by": "code"}

    def form_invalid(self, form: Any) -> HttpResponse:
        return _again(self, form)


class ConfirmWithPassword(ReauthenticateView):  # type: ignore[misc]
    """With the password, and a code where codes are used. A part of another page asks with htmx, and stays there."""

    template_name = "pages/account/confirm.html"
    form_class = Confirm
    extra_context = {"by": "password"}

    @property
    def is_part(self) -> bool:
        return "HX-Request" in self.request.headers

    def get_template_names(self) -> list[str]:
        return ["pages/account/_confirm.html" if self.is_part else self.template_name]

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        return render(self.request, "pages/account/_confirmed.html") if self.is_part else response

    def form_invalid(self, form: Any) -> HttpResponse:
        return _again(self, form)


def _again(view: Any, form: Any) -> HttpResponse:
    response: HttpResponse = view.render_to_response(view.get_context_data(form=form))
    response.status_code = 422
    return too_many(response) if getattr(form, "wait", False) and not getattr(view, "is_part", False) else response


@staff_page(ROLES, acts=ROLES, what=gettext_lazy("One's own sessions: see them; end them"))
def my_sessions(request: HttpRequest) -> HttpResponse:
    """Where one is signed in; a POST ends one session (`end`) or all others."""
    staff = _staff(request)
    if request.method != "POST":
        context = {"sessions": sessions.sessions_of(staff), "current": request.session.session_key}
        return render(request, "pages/account/sessions.html", context)
    form = EndSessionForm(request.POST)
    if not form.is_valid():
        raise Http404
    if number := form.cleaned_data["end"]:
        chosen = get_object_or_404(UserSession, user=staff, pk=number)
        sessions.end_one(staff=staff, session=chosen, by=staff)
    else:
        sessions.end_others(request, staff)
    messages.success(request, gettext("Signed out there."))
    return redirect("sessions")


@staff_page(ROLES, acts=ROLES)
def password(request: HttpRequest) -> HttpResponse:
    """Another password; every other session ends."""
    staff = _staff(request)
    form = PasswordChangeForm(staff, request.POST or None)
    if request.method != "POST":
        return render(request, "pages/account/password.html", {"form": form})
    if not throttle.is_open("confirm", str(staff.pk)):
        return too_many(
            render(request, "pages/account/password.html", {"form": PasswordChangeForm(staff), "wait": True})
        )
    if not form.is_valid():
        return render(request, "pages/account/password.html", {"form": form}, status=422)
    throttle.forget("confirm", str(staff.pk))
    with transaction.atomic():
        form.save()
        Staff.objects.filter(pk=staff.pk).update(tokens_valid_from=Now())
        record(Actor(kind="staff", id=staff.username), NewEvent(kind=Kind.SIGN_IN, decision="password_set"))
    sessions.keep_this_one(request, staff)
    messages.success(request, gettext("Your password was changed, and you were signed out everywhere else."))
    return redirect("mfa_index")


def _staff(request: HttpRequest) -> Staff:
    assert isinstance(request.user, Staff)
    return request.user


account = staff_page(ROLES, what=gettext_lazy("One's own account"))(
    mfa.IndexView.as_view(template_name="pages/account/account.html")
)
activate_codes = mine(totp.ActivateTOTPView.as_view(template_name="mfa/totp/activate.html"))
remove_codes = mine(totp.DeactivateTOTPView.as_view(template_name="mfa/totp/deactivate.html"))
recovery_codes = staff_page(ROLES)(codes.ViewRecoveryCodesView.as_view(template_name="mfa/recovery_codes/codes.html"))
new_recovery_codes = mine(codes.GenerateRecoveryCodesView.as_view(template_name="mfa/recovery_codes/generate.html"))
add_passkey = mine(AddPasskey.as_view())
remove_passkey = mine(passkeys.RemoveWebAuthnView.as_view(template_name="mfa/webauthn/remove.html"))
confirm = mine(ConfirmWithPassword.as_view())
confirm_by_code = mine(ConfirmWithCode.as_view())
confirm_by_passkey = mine(ConfirmByPasskey.as_view())

"""allauth's forms, with attempts counted by `console.sign_in.throttle` and with the fields that our pages send."""

from typing import Any

from allauth.account.forms import LoginForm, ReauthenticateForm
from allauth.mfa.base.forms import AuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as MfaReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.utils import is_mfa_enabled
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from console.sign_in import throttle

WAIT = _("Too many failed attempts. Wait five minutes, then try again.")
UNFIT = _("That name and password do not fit. Check both, then try again.")


class SignInForm(LoginForm):  # type: ignore[misc]
    """Name and password, under the names that they always had here."""

    def add_prefix(self, field_name: str) -> str:
        return "username" if field_name == "login" else str(super().add_prefix(field_name))


class _Guarded:
    """A form that tries something which can be guessed: five times in five minutes for one person."""

    wait = False

    def guard(self, what: str, user: Any) -> None:
        """Count an attempt. Raises ValidationError when there were too many."""
        self.wait = not throttle.is_open(what, str(user.pk))
        if self.wait:
            raise ValidationError(WAIT)


class _GuardedCode(_Guarded):
    user: Any

    def clean_code(self) -> str:
        self.guard("code", self.user)
        code = str(super().clean_code())  # type: ignore[misc]
        throttle.forget("code", str(self.user.pk))
        return code


class SecondStep(_GuardedCode, AuthenticateForm):  # type: ignore[misc]
    """A code of an authenticator app, or a recovery code, after the password."""


class ConfirmByCode(_GuardedCode, MfaReauthenticateForm):  # type: ignore[misc]
    """The same, for who has no password here."""


class ActivateCodes(_GuardedCode, ActivateTOTPForm):  # type: ignore[misc]
    """The first code of a new authenticator app."""


class Confirm(_Guarded, ReauthenticateForm):  # type: ignore[misc]
    """That it is you: the password again, and a code where codes are used."""

    code = forms.CharField(required=False, max_length=20)

    def clean_password(self) -> str:
        self.guard("confirm", self.user)
        return str(super().clean_password())

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "password" in cleaned:
            if self.asks_code and not self._code_fits(cleaned.get("code", "")):
                raise ValidationError({"code": _("That code does not fit.")})
            throttle.forget("confirm", str(self.user.pk))
        return cleaned

    @property
    def asks_code(self) -> bool:
        return bool(is_mfa_enabled(self.user, [Authenticator.Type.TOTP]))

    def _code_fits(self, code: str) -> bool:
        kinds = (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES)
        rows = Authenticator.objects.filter(user_id=self.user.pk, type__in=kinds)
        return bool(code) and any(row.wrap().validate_code(code) for row in rows)


class AddPasskey(AddWebAuthnForm):  # type: ignore[misc]
    """A passkey that verifies who uses it and can sign in by itself: there is no other kind here."""

    def clean(self) -> dict[str, Any]:
        self.cleaned_data["passwordless"] = True
        return dict(super().clean())

"""Forms about staff: their work, their accounts and their sessions."""

from django import forms
from django.utils.translation import gettext_lazy as _

from base.access import ROLES
from base.names import role_name
from console.forms.fields import STALE, Choice, Colleague, Form, Number, Text

_NAME = _("The name must be 1 to 150 letters, digits or any of @ . + - _.")
_ROLE = _("Choose a role.")
_MOST_PASSWORD = 1_000
DEEDS = ("role", "password", "subject", "deactivate", "reactivate", "sessions", "factors")


def _roles() -> list[tuple[str, str]]:
    return [(role, role_name(role)) for role in ROLES]


class ShiftForm(Form):
    """Away, back, or handing over: to a colleague or back to the queue."""

    deed = Choice([(name, name) for name in ("leave", "come_back", "hand_over")], _("Choose what to do."))
    to = Colleague(required=False)


class EndSessionForm(Form):
    """Which session ends; without a number all the others."""

    end = Number(STALE, required=False)


class AccountForm(Form):
    """A new account."""

    ids = "new-%s"
    name = Text(
        most=150,
        wrong=_NAME,
        label=_("Name"),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none"}),
    )
    role = Choice(_roles, _ROLE, label=_("Role"))
    password = Text(
        most=_MOST_PASSWORD,
        strip=False,
        wrong=_("Give a password."),
        label=_("First password"),
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
    )
    customer = Text(most=200, required=False, label=_("Customer, if they are one"))


class MemberForm(Form):
    """What is changed of a colleague's account."""

    do = Choice([(name, name) for name in DEEDS], _("Choose what to change."))


class RoleForm(Form):
    """Another role."""

    role = Choice(_roles, _ROLE)


class PasswordForm(Form):
    """Another password."""

    password = Text(most=_MOST_PASSWORD, strip=False, wrong=_("Give a password."))


class SubjectForm(Form):
    """Who somebody is at the identity provider; empty takes it away."""

    subject = Text(
        most=191, required=False, wrong=_("A subject has at most 191 characters: copy it from the identity provider.")
    )

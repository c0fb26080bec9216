"""What an administrator does to what a colleague signs in with: taking it all away, and linking an identity."""

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from approvals.models import Staff
from approvals.people import administration as deeds
from approvals.people.accounts import AccountError
from audit.models import Kind
from audit.record import Actor, NewEvent, record


def remove_all(*, staff: Staff, by: Staff) -> None:
    """For who has lost their phone: every passkey, app and recovery code goes, and what was open ends."""
    _not_oneself(staff, by)
    with transaction.atomic():
        for row in Authenticator.objects.filter(user_id=staff.pk):
            row.delete()
        deeds.end_access(staff=staff, by=by)
        _record(staff, by, "factors_removed")


def link(*, staff: Staff, subject: str, by: Staff) -> None:
    """Let the identity with this subject at the identity provider sign in as this person; empty takes it away."""
    oidc = settings.PLACET.staff.oidc
    _not_oneself(staff, by)
    if oidc is None:
        raise AccountError(_("There is no identity provider: set PLACET_OIDC_ISSUER first."))
    if len(subject) > 191:
        raise AccountError(_("A subject has at most 191 characters: copy it from the identity provider."))
    try:
        with transaction.atomic():
            for row in SocialAccount.objects.filter(user_id=staff.pk):
                row.delete()
            if subject:
                SocialAccount.objects.create(user_id=staff.pk, provider=oidc.provider, uid=subject)
            deeds.end_access(staff=staff, by=by)
            _record(staff, by, "linked" if subject else "unlinked", subject=subject)
    except IntegrityError as error:
        raise AccountError(_("That subject is linked to somebody else already.")) from error


def _not_oneself(staff: Staff, by: Staff) -> None:
    if staff.pk == by.pk:
        raise AccountError(_("Nobody changes their own account here; ask another administrator."))


def _record(staff: Staff, by: Staff, what: str, **detail: str) -> None:
    record(Actor(kind="staff", id=by.username), NewEvent(kind=Kind.ROLE, decision=what), staff=staff.username, **detail)

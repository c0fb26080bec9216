"""Members of staff: making an account, and the tokens with which their programs call the staff API."""

import datetime as dt
import secrets

import jwt
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals.models import Staff
from audit.models import Kind
from audit.record import SYSTEM, Actor, NewEvent, record
from base.access import ROLES
from base.emails import checked_email
from base.phones import checked_phone
from ledger.access.staff import as_staff
from ledger.models import Customer

AUDIENCE = "placet-staff"
LIFETIME = dt.timedelta(hours=12)
_LEEWAY = dt.timedelta(seconds=30)


class AccountError(ValueError):
    """An account or token cannot be made; the message is one sentence for the operator."""


class StaffTokenRefused(Exception):
    """A staff token is forged, expired or void, or its owner may no longer sign in."""


def create_staff(
    name: str, role: str, password: str, customer_id: str = "", *, email: str = "", phone: str = "", by: Actor = SYSTEM
) -> Staff:
    """Make an account; `customer_id` says that this person is that customer. Raises AccountError."""
    if role not in ROLES:
        raise AccountError(
            _("There is no role %(role)s: give one of %(roles)s.") % {"role": repr(role), "roles": ", ".join(ROLES)}
        )
    staff = Staff(username=Staff.normalize_username(name), role=role, customer_id=customer_id)
    _check_name(staff)
    if customer_id and not as_staff(lambda: _is_customer(customer_id)):
        raise AccountError(_("There is no customer %(customer_id)s.") % {"customer_id": repr(customer_id)})
    _set_contact(staff, email, phone)
    check_password(staff, password)
    staff.set_password(password)
    try:
        with transaction.atomic():
            staff.save()
            record(by, NewEvent(kind=Kind.ROLE, decision="granted"), staff=staff.username, role=role)
    except IntegrityError as error:
        raise AccountError(_taken(staff.username)) from error
    return staff


def set_contact(name: str, *, email: str | None, phone: str | None) -> Staff:
    """Where a member of staff is told of what waits, and by what they may turn out to be a customer; None leaves one
    as it is. Raises AccountError."""
    with transaction.atomic():
        staff = Staff.objects.select_for_update().filter(username=name).first()
        if staff is None:
            raise AccountError(_("There is no member of staff named %(name)s.") % {"name": repr(name)})
        _set_contact(staff, staff.email if email is None else email, staff.phone if phone is None else phone)
        staff.save(update_fields=["email", "phone"])
        record(SYSTEM, NewEvent(kind=Kind.ROLE, decision="contact_set"), staff=staff.username)
    return staff


def _set_contact(staff: Staff, email: str, phone: str) -> None:
    try:
        staff.email = checked_email(email) if email else ""
    except ValueError as error:
        raise AccountError(_("The e-mail address must be one like ada@example.com.")) from error
    try:
        staff.phone = checked_phone(phone) if phone else ""
    except ValueError as error:
        raise AccountError(_("The telephone number must be one like +44 20 7946 0958.")) from error


def _is_customer(customer_id: str) -> bool:
    return Customer.objects.filter(customer_id=customer_id).exists()


def _taken(name: str) -> str:
    return _("There is a member of staff named %(name)s already; nothing was changed.") % {"name": repr(name)}


def _check_name(staff: Staff) -> None:
    try:
        Staff._meta.get_field("username").clean(staff.username, staff)
    except ValidationError as error:
        raise AccountError(_("The name must be 1 to 150 letters, digits or any of @ . + - _.")) from error
    if Staff.objects.filter(username__iexact=staff.username).exists():
        raise AccountError(_taken(staff.username))


def check_password(staff: Staff, password: str) -> None:
    """Refuse a password that is too short, too common or too much like the name. Raises AccountError."""
    try:
        validate_password(password, staff)
    except ValidationError as error:
        raise AccountError(" ".join(error.messages)) from error


def _key() -> bytes:
    return f"{settings.SECRET_KEY}:staff-token".encode()


def mint_staff_token(name: str) -> str:
    """A bearer token for the staff API that lives twelve hours. Raises AccountError."""
    staff = Staff.objects.filter(username=name, is_active=True).first()
    if staff is None:
        raise AccountError(_("There is no active member of staff named %(name)s.") % {"name": repr(name)})
    # The database's clock may be ahead of ours, and set tokens_valid_from a moment ago.
    issued = max(timezone.now(), staff.tokens_valid_from)
    identity = secrets.token_hex(16)
    claims = {
        "aud": AUDIENCE,
        "sub": str(staff.pk),
        "jti": identity,
        "iat": issued.timestamp(),  # whole seconds could lie before tokens_valid_from
        "exp": (issued + LIFETIME).timestamp(),
    }
    token = jwt.encode(claims, _key(), algorithm="HS256")
    record(SYSTEM, NewEvent(kind=Kind.ACCESS, decision="issued", credential_id=identity), staff=staff.username)
    return token


def verify_staff_token(token: str) -> Staff:
    """The active member of staff whose token this is. Raises StaffTokenRefused."""
    try:
        claims = jwt.decode(
            token,
            _key(),
            algorithms=["HS256"],
            audience=AUDIENCE,
            leeway=_LEEWAY,
            options={"require": ["sub", "iat", "exp", "jti"]},
        )
        staff = Staff.objects.get(pk=int(claims["sub"]), is_active=True)
        issued = dt.datetime.fromtimestamp(claims["iat"], dt.UTC)
    except (jwt.PyJWTError, Staff.DoesNotExist, ValueError, TypeError, OverflowError) as error:
        raise StaffTokenRefused("This staff token is not valid.") from error
    if issued < staff.tokens_valid_from:
        raise StaffTokenRefused("This staff token was made void.")
    return staff

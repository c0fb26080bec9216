"""Colleagues' accounts, for administrators, and who may do what, for everybody."""

from collections.abc import Callable
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_lazy

from approvals.decisions.reauthentication import is_fresh, presence_of
from approvals.models import Staff
from approvals.people import administration as deeds
from approvals.people.accounts import AccountError, create_staff
from audit.record import Actor
from base.access import ADMIN, AUDITOR, ROLES, staff_page
from base.names import role_name
from console.access import table
from console.sign_in import factors

_TYPED = ("name", "role", "customer", "password")


@staff_page(ROLES, what=gettext_lazy("This page"))
def roles(request: HttpRequest) -> HttpResponse:
    """Who may do what, as the pages themselves say it."""
    return render(request, "pages/people/roles.html", {"roles": ROLES, "rows": table()})


@staff_page((AUDITOR, ADMIN), acts=(ADMIN,), what=gettext_lazy("Accounts of staff: see them; make one"))
def staff(request: HttpRequest) -> HttpResponse:
    """Everybody's account; a POST makes one."""
    if request.method != "POST":
        return _list(request)
    if _me(request).role != ADMIN:
        return _list(request, gettext("Only an administrator makes accounts."), status=403)
    if again := _again(request):
        return again
    name, role, customer, password = (request.POST.get(field, "") for field in _TYPED)
    try:
        made = create_staff(name, role, password, customer, by=Actor(kind="staff", id=_me(request).username))
    except AccountError as error:
        return _list(request, str(error), status=422)
    messages.success(
        request, gettext("%(name)s may sign in as %(role)s.") % {"name": made.username, "role": role_name(role)}
    )
    return redirect("staff")


def _list(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    context = {
        "people": _people(),
        "roles": ROLES,
        "changes": _me(request).role == ADMIN,
        "oidc": settings.PLACET.staff.oidc,
        "error": {"message": problem} if problem else None,
        "typed": {name: request.POST.get(name, "") for name in _TYPED if name != "password"},
    }
    return render(request, "pages/people/staff.html", context, status=status)


def _people() -> list[dict[str, Any]]:
    kinds: dict[int, set[str]] = {}
    for who, kind in Authenticator.objects.exclude(type="recovery_codes").values_list("user_id", "type"):
        kinds.setdefault(who, set()).add(kind)
    subjects = dict(SocialAccount.objects.values_list("user_id", "uid"))
    people = Staff.objects.order_by("-is_active", "username")
    return [{"staff": one, "factors": sorted(kinds.get(one.pk, ())), "subject": subjects.get(one.pk)} for one in people]


@staff_page(acts=(ADMIN,), what=gettext_lazy("Change a colleague's role, close an account, end its sessions"))
def member(request: HttpRequest, name: str) -> HttpResponse:
    """Change one colleague's account: `do` says what."""
    if again := _again(request):
        return again
    found = get_object_or_404(Staff, username=name.replace("\x00", ""))
    try:
        deed = _DEEDS[request.POST.get("do", "")]
    except KeyError:
        return _list(request, gettext("Choose what to change."), status=422)
    try:
        deed(request, found)
    except AccountError as error:
        return _list(request, str(error), status=422)
    messages.success(request, gettext("%(name)s's account was changed.") % {"name": found.username})
    return redirect("staff")


def _role(request: HttpRequest, found: Staff) -> None:
    deeds.change_role(staff=found, role=request.POST.get("role", ""), by=_me(request))


def _password(request: HttpRequest, found: Staff) -> None:
    deeds.set_password(staff=found, password=request.POST.get("password", ""), by=_me(request))


def _subject(request: HttpRequest, found: Staff) -> None:
    factors.link(staff=found, subject=request.POST.get("subject", "").strip(), by=_me(request))


_DEEDS: dict[str, Callable[[HttpRequest, Staff], None]] = {
    "role": _role,
    "password": _password,
    "subject": _subject,
    "deactivate": lambda request, found: deeds.deactivate(staff=found, by=_me(request)),
    "reactivate": lambda request, found: deeds.reactivate(staff=found, by=_me(request)),
    "sessions": lambda request, found: deeds.end_access(staff=found, by=_me(request)),
    "factors": lambda request, found: factors.remove_all(staff=found, by=_me(request)),
}


def _again(request: HttpRequest) -> HttpResponse | None:
    """Who changes accounts must have shown only just now that it is them."""
    if is_fresh(presence_of(request, {})):
        return None
    messages.warning(request, gettext("Confirm that it is you, then do it again."))
    return redirect(f"{reverse('account_reauthenticate')}?{urlencode({'next': reverse('staff')})}")


def _me(request: HttpRequest) -> Staff:
    assert isinstance(request.user, Staff)
    return request.user

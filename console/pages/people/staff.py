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
from approvals.errors import Invalid
from approvals.models import Staff
from approvals.people import administration as deeds
from approvals.people.accounts import AccountError, create_staff
from audit.record import Actor
from base.access import ADMIN, AUDITOR, ROLES, staff_page
from base.names import role_name
from console.access import table
from console.forms.people import AccountForm, MemberForm, PasswordForm, RoleForm, SubjectForm
from console.sign_in import factors


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
    form = AccountForm(request.POST)
    if not form.is_valid():
        return _list(request, status=422, form=form)
    given = form.cleaned_data
    by = Actor(kind="staff", id=_me(request).username)
    try:
        made = create_staff(given["name"], given["role"], given["password"], given["customer"], by=by)
    except AccountError as error:
        return _list(request, str(error), status=422, form=form)
    messages.success(
        request, gettext("%(name)s may sign in as %(role)s.") % {"name": made.username, "role": role_name(made.role)}
    )
    return redirect("staff")


def _list(request: HttpRequest, problem: str = "", status: int = 200, form: AccountForm | None = None) -> HttpResponse:
    context = {
        "people": _people(),
        "roles": ROLES,
        "changes": _me(request).role == ADMIN,
        "oidc": settings.PLACET.staff.oidc,
        "error": {"message": problem} if problem else None,
        "form": form or AccountForm(),
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
    found = get_object_or_404(Staff, username=name)
    try:
        deed = _DEEDS[MemberForm(request.POST).checked()["do"]]
        deed(request, found)
    except (AccountError, Invalid) as error:
        return _list(request, str(error), status=422)
    messages.success(request, gettext("%(name)s's account was changed.") % {"name": found.username})
    return redirect("staff")


def _role(request: HttpRequest, found: Staff) -> None:
    deeds.change_role(staff=found, by=_me(request), **RoleForm(request.POST).checked())


def _password(request: HttpRequest, found: Staff) -> None:
    deeds.set_password(staff=found, by=_me(request), **PasswordForm(request.POST).checked())


def _subject(request: HttpRequest, found: Staff) -> None:
    factors.link(staff=found, by=_me(request), **SubjectForm(request.POST).checked())


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

"""The base of every staff API view. How staff authenticate is a setting, as accounts live above this app."""

from typing import Any, cast

from rest_framework import exceptions
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from base.access import READS_CONSOLE, role_of
from base.http.api import ApiView
from base.http.errors import ApiError


class HasRole(BasePermission):
    """The view's `roles`; 401 for nobody, 403 for another role."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        role, roles = role_of(request.user), cast(Any, view).roles
        if not role:
            raise exceptions.NotAuthenticated
        if role not in roles:
            raise ApiError(403, "role", f"The role {role} may not do this; it is for {' and '.join(roles)}.")
        return True


class StaffView(ApiView):
    """A bearer token or the console's session (with CSRF), and a role."""

    permission_classes = [HasRole]
    roles: tuple[str, ...] = READS_CONSOLE

"""The base of every API view, of the chat's and the staff's."""

from typing import Any

from django.http import Http404
from rest_framework.request import Request
from rest_framework.views import APIView


class ApiView(APIView):
    """After authentication and permission: an id with a NUL, which no column can hold, names nothing."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if any("\x00" in value for value in kwargs.values()):
            raise Http404

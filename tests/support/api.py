"""Calling the HTTP APIs as their clients do: JSON, a bearer token, and errors in their one shape."""

import json
from typing import Any

from django.test import Client

from agents.chat.tokens import mint_widget_token
from approvals.models import Staff
from approvals.people.accounts import mint_staff_token

CHAT = "/api/chat/conversations/"
STAFF = "/api/approvals/"
EVENTS = "/api/audit/events/"


class Api:
    """One caller with one token, or with none."""

    def __init__(self, token: str | None = None, **headers: str) -> None:
        self.client = Client(raise_request_exception=False)
        self.headers = headers | ({"Authorization": f"Bearer {token}"} if token is not None else {})

    def get(self, path: str, **query: Any) -> Any:
        return self.client.get(path, query, headers=self.headers)

    def post(self, path: str, body: Any = None) -> Any:
        return self.send("POST", path, json.dumps({} if body is None else body))

    def send(self, method: str, path: str, data: str | bytes = b"", content_type: str = "application/json") -> Any:
        return self.client.generic(method, path, data, content_type=content_type, headers=self.headers)


def as_maya(session_id: str = "s1") -> Api:
    return Api(mint_widget_token("maya", session_id, 600))


def as_noor() -> Api:
    return Api(mint_widget_token("noor", "noor-1", 600))


def with_token(staff: Staff) -> Api:
    return Api(mint_staff_token(staff.username))


def refused(response: Any, status: int, code: str = "") -> dict[str, Any]:
    """The body of an error, once it has the shape that all errors have."""
    assert response.status_code == status, (response.status_code, response.content[:300])
    assert response["Content-Type"].startswith("application/json")
    body: dict[str, Any] = json.loads(response.content)
    assert body.keys() >= {"code", "message"}
    assert body.keys() <= {"code", "message", "fields", "state", "decided_by", "decided_at"}
    assert body["message"].endswith((".", "!"))
    for name, texts in body.get("fields", {}).items():
        assert isinstance(name, str)
        assert texts
        assert all(isinstance(text, str) for text in texts)
    assert code in ("", body["code"])
    return body

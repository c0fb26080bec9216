"""The built-in test provider's client: a few of Stripe's endpoints over plain HTTP."""

import http.client
import json
from collections.abc import Iterator
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

from ledger.providers.calls import SECONDS, CallFailed, Json, NotSent, Resource, Unclear, failure

_OPENER = build_opener(ProxyHandler({}))


class TestApi:
    """`url` is where `python -m standins.payments` listens."""

    name = "test"
    __test__ = False

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")

    def create(self, resource: Resource, params: Json, key: str) -> Json:
        return self._call(resource, data=_form(params).encode(), headers={"Idempotency-Key": key})

    def get(self, resource: Resource, reference: str) -> Json:
        return self._call(f"{resource}/{reference}")

    def each(self, resource: Resource, params: Json) -> Iterator[Json]:
        page: Json = {"has_more": True, "data": []}
        while page["has_more"]:
            after = {"starting_after": page["data"][-1]["id"]} if page["data"] else {}
            page = self._call(f"{resource}?{_form({**params, **after})}")
            yield from page["data"]

    def _call(self, path: str, **request: Any) -> Json:
        try:
            with _OPENER.open(Request(f"{self._url}/v1/{path}", **request), timeout=SECONDS) as response:  # noqa: S310
                answer: Json = json.load(response)
        except HTTPError as error:
            raise _failure(error) from error
        except URLError as error:
            refused = isinstance(error.reason, ConnectionRefusedError)
            raise (NotSent("connection_refused") if refused else Unclear("connection_lost")) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unclear("timeout" if isinstance(error, TimeoutError) else "connection_lost") from error
        return answer


def _failure(error: HTTPError) -> CallFailed:
    try:
        told = json.load(error)["error"]
    except (OSError, ValueError, KeyError):
        return Unclear(f"http_{error.code}")
    return failure(error.code, told.get("code") or told["type"])


def _form(params: Json) -> str:
    flat: list[tuple[str, Any]] = []
    for name, value in params.items():
        if isinstance(value, dict):
            flat += [(f"{name}[{part}]", each) for part, each in value.items()]
        else:
            flat.append((name, str(value).lower() if isinstance(value, bool) else value))
    return urlencode(flat)

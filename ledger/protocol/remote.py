"""The shop elsewhere: the protocol of `ledger.protocol.api` as its caller speaks it.

Every call has one deadline. What may be repeated safely, and all of it may, is repeated until then under the same
key. Nothing that comes back is taken on trust: a plan must be the customer's, and the one that its digest names.
"""

import json
import time
from dataclasses import asdict
from functools import cache
from typing import Any
from urllib.parse import urljoin

import httpx2
from django.conf import settings

from ledger.access.credentials import verify
from ledger.books.entries import SameKeyOtherPlan
from ledger.books.plans import Plan
from ledger.errors import CredentialRefused, Refused
from ledger.protocol.writes import Approved, Changed, Found, Preview, Shown
from ledger.shop.orders import Method, Moved, OrderState

Json = dict[str, Any]
CONNECT_SECONDS, PAUSE_SECONDS = 2.0, 0.1
MOST_TRIES, MOST_BYTES = 4, 2_000_000
_GATEWAY = {408, 425, 429, 500, 502, 503, 504}


class ShopSilent(Exception):
    """The shop gave no answer in time, so whether it acted is not known."""


class ShopFault(Exception):
    """The shop answered what the protocol does not know: a fault over there."""


@cache
def _client() -> httpx2.Client:
    """One pool of connections per process; made when first needed, so that a fork has its own."""
    return httpx2.Client(
        trust_env=False,
        follow_redirects=False,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
    )


class RemoteShop:
    """What one credential may see and do there."""

    def __init__(self, token: str) -> None:
        self.credential = verify(token)
        self.untrusted: list[str] = []
        self._headers = {"Authorization": f"Bearer {token}"}

    def profile(self) -> Json:
        found = self._call("GET", "profile/")
        try:
            self.untrusted += found["untrusted"]
            profile: Json = found["profile"]
        except (KeyError, TypeError) as exc:
            raise ShopFault(f"profile: {type(exc).__name__}") from exc
        return profile

    def orders(self, status: str | None, cursor: str | None) -> Json:
        return self._call("GET", "orders/", query={"status": status, "cursor": cursor})

    def order(self, order_id: str) -> OrderState:
        """An own order; Refused as in the same database."""
        found = self._call("GET", "order/", query={"order_id": order_id})
        try:
            methods = {name: Method(**method) for name, method in found.pop("methods").items()}
            state = OrderState(**found, methods=methods)
        except (AttributeError, KeyError, TypeError) as exc:
            raise ShopFault(f"order: {type(exc).__name__}") from exc
        self._require_own(state.customer_id)
        if state.address_untrusted:
            self.untrusted.append("address")
        return state

    def product(self, product_id: str) -> Json:
        return self._call("GET", "product/", query={"product_id": product_id})

    def products(self, query: str | None, cursor: str | None) -> Json:
        return self._call("GET", "products/", query={"query": query, "cursor": cursor})

    def preview(self, tool: str, arguments: Json) -> Preview:
        """What a write would do there, without doing it."""
        return self._preview(self._call("POST", "plans/", body={"tool": tool, "arguments": arguments}))

    def post(self, tool: str, arguments: Json, shown: Shown, *, key: str, approved: Approved | None = None) -> Found:
        """Carry out what was shown. Raises Changed, Refused, and ShopSilent when it may have been carried out."""
        body = _asked(tool, arguments, shown) | {"key": key}
        if approved:
            body |= {"request_reference": approved.reference, "owner": approved.owner}
        return self._found(self._call("POST", "entries/", body=body))

    def find(self, key: str) -> Found | None:
        """What this key posted there."""
        found = self._call("GET", "entries/", query={"key": key}, may_lack=True)
        return self._found(found) if found else None

    def reserve(self, tool: str, arguments: Json, shown: Shown, *, owner: str) -> None:
        """Hold what a waiting request will need."""
        self._call("POST", "holds/", body=_asked(tool, arguments, shown) | {"owner": owner})

    def void(self, *, owner: str) -> None:
        """Give back what a request held."""
        self._call("POST", "holds/void/", body={"owner": owner})

    def _call(self, method: str, path: str, *, query: Json | None = None, body: Json | None = None,
              may_lack: bool = False) -> Json:  # fmt: skip
        until = time.monotonic() + settings.PLACET.tool_seconds
        given = {name: value for name, value in (query or {}).items() if value is not None}
        for attempt in range(MOST_TRIES):
            left = until - time.monotonic()
            # A first try that hangs leaves time for another.
            seconds = left / 2 if attempt < MOST_TRIES - 1 else left
            if seconds <= 0:
                break
            request = _client().build_request(
                method, urljoin(settings.PLACET.ledger_url or "", path), params=given, json=body, headers=self._headers,
                timeout=httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds)),
            )  # fmt: skip
            try:
                status, answer = _answer(request, time.monotonic() + seconds)
            except httpx2.HTTPError:
                status, answer = 503, {}
            if status not in _GATEWAY:
                return self._sorted(status, answer, may_lack)
            time.sleep(min(PAUSE_SECONDS * 4**attempt, max(0.0, until - time.monotonic())))
        raise ShopSilent(f"{method} {path}")

    def _sorted(self, status: int, answer: Json, may_lack: bool) -> Json:
        """The answer, or the error that the same call raises in one process."""
        code = answer.get("code")
        if status == 200:
            return answer
        if status == 404 and may_lack and code == "not_found":
            return {}
        if status in (401, 403):
            raise CredentialRefused("The shop does not take this credential.")
        if status == 409 and code == "refused":
            raise Refused(str(answer.get("rule")), str(answer.get("message")), facts=answer.get("facts"))
        if status == 409:
            raise SameKeyOtherPlan(str(code))
        if status == 412:
            raise Changed(self._preview(answer.get("preview")))
        raise ShopFault(f"{status} {code}")

    def _preview(self, body: Any) -> Preview:
        try:
            preview = Preview(plan=Plan.from_json(body["plan"]), moved=Moved(**body["moved"]))
            same = preview.shown == Shown(digest=body["digest"], basis=body["basis"])
        except (AttributeError, KeyError, TypeError, ValueError) as exc:
            raise ShopFault(f"preview: {type(exc).__name__}") from exc
        if not same:
            raise ShopFault("the digests are not the preview's")
        self._require_own(preview.plan.customer_id)
        return preview

    def _found(self, body: Json) -> Found:
        try:
            found = Found(**body)
            self._require_own(found.plan["customer_id"])
        except (KeyError, TypeError) as exc:
            raise ShopFault(f"entry: {type(exc).__name__}") from exc
        return found

    def _require_own(self, customer_id: str) -> None:
        if customer_id != self.credential.customer_id:
            raise ShopFault("the answer is about somebody else")


def _asked(tool: str, arguments: Json, shown: Shown) -> Json:
    return {"tool": tool, "arguments": arguments} | {name: value for name, value in asdict(shown).items() if value}


def _answer(request: httpx2.Request, until: float) -> tuple[int, Json]:
    """Status and JSON object; an answer that drips is cut at its deadline, one that is no JSON object is a fault."""
    response = _client().send(request, stream=True)
    try:
        received = bytearray()
        for piece in response.iter_bytes():
            received += piece
            if time.monotonic() > until:
                raise httpx2.ReadTimeout("the answer took too long", request=request)
            if len(received) > MOST_BYTES:
                raise ShopFault("the answer is too large")
    finally:
        response.close()
    if response.status_code in _GATEWAY:
        return response.status_code, {}
    try:
        answer = json.loads(received)
    except ValueError as exc:
        raise ShopFault(f"{response.status_code} without JSON") from exc
    if not isinstance(answer, dict):
        raise ShopFault(f"{response.status_code} without an object")
    return response.status_code, answer

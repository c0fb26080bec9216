"""The test provider over HTTP: the endpoints of Stripe that Placet uses under /v1/, and under /provider/ the
controls of a test. Whoever reaches the port may use both."""

import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from standins.payments.books import Books, Json, ProviderError

_RESOURCES = ("refunds", "payment_intents", "disputes")


class Handler(BaseHTTPRequestHandler):
    """One request."""

    books: Books
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        """Silent."""

    def do_GET(self) -> None:
        """Look-ups."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """What changes something."""
        self._answer(self._post)

    def _answer(self, work: Any) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fault: Json = {"fault": ""}
        try:
            status, answer, fault = work(urlsplit(self.path), body)
        except ProviderError as error:
            status, answer = error.status, error.body
        if fault["fault"] == "stall_after":
            time.sleep(fault.get("seconds", 1))
        if fault["fault"] in ("drop_after", "stall_after"):
            self.close_connection = True
            return
        self._send(status, json.dumps({k: v for k, v in answer.items() if k != "made"}).encode())

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _get(self, url: Any, body: bytes) -> tuple[int, Json, Json]:
        fine: Json = {"fault": ""}
        match url.path.strip("/").split("/"):
            case ["healthz"]:
                return 200, {"status": "ok"}, fine
            case ["v1", resource] if resource in _RESOURCES:
                return 200, self.books.listed(resource, dict(parse_qsl(url.query))), fine
            case ["v1", "payment_intents", identity]:
                return 200, self.books.payment(identity), fine
            case ["provider", "effects"]:
                return 200, self.books.effects(), fine
            case ["provider", "events"]:
                return 200, {"events": self.books.events}, fine
        raise ProviderError(404, "no_such_endpoint")

    def _post(self, url: Any, body: bytes) -> tuple[int, Json, Json]:
        match url.path.strip("/").split("/"):
            case ["v1", resource] if resource in _RESOURCES[:2]:
                return self.books.create(resource, _form(body), self.headers.get("Idempotency-Key", ""))
            case ["provider", control]:
                return 200, self._control(control, json.loads(body or b"{}")), {"fault": ""}
        raise ProviderError(404, "no_such_endpoint")

    def _control(self, control: str, told: Json) -> Json:
        match control:
            case "fault":
                self.books.faults += [told] * told.pop("times", 1)
            case "refund":
                return self.books.add("refunds", {"status": "succeeded", **told})
            case "dispute":
                return self.books.add("disputes", {"status": "needs_response", **told})
            case "change":
                return self.books.change(told.pop("id"), told)
            case "forget_keys":
                self.books.answers.clear()
            case "reset":
                self.books.clear()
            case _:
                raise ProviderError(404, "no_such_control")
        return {"status": "ok"}


def _form(body: bytes) -> Json:
    """Form fields, with `metadata[name]` gathered and amounts as numbers."""
    params: Json = {"metadata": {}}
    for name, value in parse_qsl(body.decode()):
        if name.startswith("metadata["):
            params["metadata"][name[9:-1]] = value
        else:
            params[name] = int(value) if name == "amount" else value
    # Stripe knows the currency of the payment; here the refund brings it along.
    return {"currency": params["metadata"].get("placet_currency", "").lower(), **params}

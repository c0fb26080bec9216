"""What the test provider keeps: its objects, the keys it has seen, faults to play and events to report."""

import json
import secrets
import threading
import time
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_PREFIX = {"refunds": "re_", "payment_intents": "pi_", "disputes": "dp_"}
_OBJECT = {"refunds": "refund", "payment_intents": "payment_intent", "disputes": "dispute"}
_TYPE = {"refund": "refund.", "payment_intent": "payment_intent.", "dispute": "charge.dispute."}


class ProviderError(Exception):
    """An answer in Stripe's shape of errors."""

    def __init__(self, status: int, code: str, kind: str = "invalid_request_error") -> None:
        super().__init__(code)
        self.status = status
        self.body = {"error": {"type": kind, "code": code, "message": f"The test provider says {code}."}}


class Books:
    """Everything the provider knows; a lock serialises what changes it."""

    def __init__(self, settle_seconds: float, file: Path | None) -> None:
        self.lock = threading.Lock()
        self.settle_seconds = settle_seconds
        self._file = file
        self.objects: dict[str, Json] = {}
        self.answers: dict[str, Any] = {}
        self.faults: list[Json] = []
        self.events: list[Json] = []
        if file and file.exists():
            kept = json.loads(file.read_text())
            self.objects, self.answers = kept["objects"], {key: tuple(each) for key, each in kept["answers"].items()}

    def clear(self) -> None:
        """Forget everything."""
        for kept in (self.objects, self.answers, self.faults, self.events):
            kept.clear()

    def fault_for(self, key: str) -> Json:
        """The next fault planned for a key, used up."""
        for fault in self.faults:
            if fault.get("match", "") in key:
                self.faults.remove(fault)
                return fault
        return {"fault": ""}

    def create(self, resource: str, params: Json, key: str) -> tuple[int, Json, Json]:
        """Act once per key: status, answer, and the fault to play while answering. The same key answers the same."""
        with self.lock:
            if key in self.answers:
                before, status, body = self.answers[key]
                if before != params:
                    raise ProviderError(400, "idempotency_error", "idempotency_error")
                return status, body, {"fault": ""}
            fault = self.fault_for(key)
            if fault["fault"] == "unavailable":
                raise ProviderError(503, "unavailable", "api_error")
            status, body = self._act(resource, params, fault)
            if key:
                self.answers[key] = (params, status, body)
                self._save()
            return status, body, fault

    def _act(self, resource: str, params: Json, fault: Json) -> tuple[int, Json]:
        if fault["fault"] == "decline":
            return 402, ProviderError(402, "card_declined", "card_error").body
        late = self.settle_seconds > 0 or fault["fault"] == "late"
        slow = "pending" if resource == "refunds" else "processing"
        made = self.add(resource, {**params, "status": slow if late else "succeeded"}, twice=fault["fault"] == "twice")
        if fault["fault"] == "error_after":
            return 500, ProviderError(500, "lost", "api_error").body
        return 200, dict(made)

    def _save(self) -> None:
        if self._file:
            self._file.write_text(json.dumps({"objects": self.objects, "answers": self.answers}))

    def add(self, resource: str, fields: Json, *, twice: bool = False) -> Json:
        """Make an object and the event that reports it."""
        identity = str(fields.get("id") or "") or _PREFIX[resource] + secrets.token_hex(12)
        made: Json = {
            "id": identity,
            "object": _OBJECT[resource],
            "created": int(time.time()),
            "metadata": {},
            **fields,
        }
        made["made"] = time.time()
        self.objects[identity] = made
        self.report(made, "created", times=2 if twice else 1)
        return made

    def report(self, changed: Json, what: str, times: int = 1) -> None:
        """Queue an event with the object as it is now."""
        shown = {name: value for name, value in changed.items() if name != "made"}
        event = {
            "id": "evt_" + secrets.token_hex(12),
            "object": "event",
            "type": _TYPE[changed["object"]] + what,
            "created": int(time.time()),
            "data": {"object": shown},
        }
        self.events += [event] * times

    def change(self, identity: str, fields: Json) -> Json:
        """Give an object another status, and report it."""
        with self.lock:
            if identity not in self.objects:
                raise ProviderError(404, "resource_missing")
            self.objects[identity].update(fields)
            self.report(self.objects[identity], "updated")
            self._save()
            return self.objects[identity]

    def settle_due(self) -> None:
        """What was taken long enough ago succeeds."""
        for found in list(self.objects.values()):
            slow = found.get("status") in ("pending", "processing")
            if slow and self.settle_seconds and time.time() - found["made"] > self.settle_seconds:
                self.change(found["id"], {"status": "succeeded"})

    def listed(self, resource: str, query: dict[str, str]) -> Json:
        """A page of objects, newest first."""
        wanted = {name: query[name] for name in ("payment_intent", "charge") if name in query}
        since = int(query.get("created[gte]", 0))
        found = [
            {name: value for name, value in each.items() if name != "made"}
            for each in reversed(self.objects.values())
            if each["object"] == _OBJECT[resource] and each["created"] >= since
            and all(each.get(name) == value for name, value in wanted.items())
        ]  # fmt: skip
        start = next((n + 1 for n, each in enumerate(found) if each["id"] == query.get("starting_after")), 0)
        size = int(query.get("limit", 10))
        page = found[start : start + size]
        return {"object": "list", "url": f"/v1/{resource}", "has_more": start + size < len(found), "data": page}

    def payment(self, identity: str) -> Json:
        """A payment by its id; one that was never made here is taken to be a customer's of before."""
        known = {"id": identity, "object": "payment_intent", "customer": "cus_test", "payment_method": "pm_test"}
        return self.objects.get(identity, {**known, "status": "succeeded", "metadata": {}})

    def effects(self) -> dict[str, list[str]]:
        """What was done under each key."""
        done: dict[str, list[str]] = {}
        for found in self.objects.values():
            if key := found["metadata"].get("placet_key"):
                done.setdefault(key, []).append(found["id"])
        return done

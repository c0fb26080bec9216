"""The sole writer of the record. It writes in the caller's transaction: no event, no effect."""

import hashlib
import json
import os
import uuid
from dataclasses import dataclass, fields
from typing import Any, Literal

from base import sql
from base.build import BUILD

ActorKind = Literal["customer", "staff", "system"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The principal on whose authority something was decided."""

    kind: ActorKind
    id: str


SYSTEM = Actor(kind="system", id="placet")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """The columns of `audit.models.Event` that a writer supplies; amounts are in minor units."""

    kind: str
    decision: str
    customer_id: str = ""
    conversation_id: uuid.UUID | None = None
    turn_id: uuid.UUID | None = None
    tool_use_id: str = ""
    tool: str = ""
    rule: str = ""
    reference: str = ""
    downstream_reference: str = ""
    order_id: str = ""
    amount_minor: int | None = None
    currency: str = ""
    policy_version: int | None = None
    session_id: str = ""
    credential_id: str = ""
    idempotency_key: str = ""
    model: str = ""
    prompt_hash: str = ""
    schema_hash: str = ""
    provider_request_id: str = ""
    latency_ms: int | None = None


COLUMNS = tuple(field.name for field in fields(NewEvent))
_CUT = {"tool_use_id": 200, "tool": 100, "order_id": 200, "session_id": 100, "actor_id": 200, "rule": 60}
_EVENT = f"""WITH event AS (
        INSERT INTO audit_event (actor_kind, actor_id, build, detail_hash, {", ".join(COLUMNS)})
        VALUES ({", ".join(["%s"] * (len(COLUMNS) + 4))}) RETURNING id),
    detail AS (INSERT INTO audit_detail (event_id, salt, body) SELECT id, %s, %s FROM event)
"""  # noqa: S608 - only column names of the dataclass above are composed


def record(actor: Actor, event: NewEvent, **detail: Any) -> int:
    """Write one event with its detail (reason, arguments, facts, note, origin ...) and return its id."""
    leading, values = recording(actor, event, **detail)
    row = sql.row(leading + "SELECT id FROM event", values)  # noqa: S608 - our own text
    assert row is not None
    return int(row[0])


def recording(actor: Actor, event: NewEvent, **detail: Any) -> tuple[str, list[Any]]:
    """The same as the beginning of an SQL statement, with its values: for one that does the deed as well."""
    body = canonical({key: value for key, value in detail.items() if value not in (None, "")})
    salt = os.urandom(16)
    digest = hashlib.sha256(salt + body.encode()).hexdigest()
    values = [_clean(name, getattr(event, name)) for name in COLUMNS]
    return _EVENT, [actor.kind, _clean("actor_id", actor.id), BUILD, digest, *values, salt, body]


def canonical(value: Any) -> str:
    """JSON with sorted keys, no blanks and only ASCII, so that the same value is the same bytes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def hash_of(value: Any) -> str:
    """Hex SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def _clean(name: str, value: Any) -> Any:
    """What a model or a stranger supplied must not break the row: no NUL, cut to the column."""
    if isinstance(value, str):
        return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()[: _CUT.get(name)]
    return value

"""A policy as a document: what may stand in one. Its defaults are the policy that Placet begins with.

Only lines, caps and times are in a document. What always asks or is always refused (a repeat, untrusted text, a
flag, a second request on an order ...) stands in `approvals.policy.rules` and cannot be switched off by one.
"""

import datetime as dt
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self
from zoneinfo import available_timezones

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from base.money import MAX_MINOR

Minor = Annotated[int, Field(ge=0, le=MAX_MINOR)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
Hours = Annotated[int, Field(ge=1, le=24 * 90)]
Name = Annotated[str, Field(min_length=1, max_length=60)]
Json = dict[str, Any]


class InvalidDocument(ValueError):
    """A text is no policy; `faults` says by path what is wrong there."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{path}: {fault}" for path, fault in faults.items()))
        self.faults = dict(faults)


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Lines(_Part):
    """Lines of one currency in its minor unit. A sum above one asks; it counts what was executed, what is held,
    and the write itself, over 24 hours (`day`) or 30 days (`month`). Null is no line."""

    automatic_day: Minor = Field(default=5_000, description="Of one customer in 24 hours; above it one person decides.")
    automatic_month: Minor = Field(default=20_000, description="Of one customer in 30 days.")
    two_people_day: Minor = Field(default=50_000, description="Of one customer in 24 hours; above it two decide.")
    call: Minor | None = Field(default=None, description="One write.")
    order_day: Minor | None = Field(default=None, description="On one order in 24 hours.")
    order_month: Minor | None = None
    method_day: Minor | None = Field(default=None, description="To or from one payment method in 24 hours.")
    method_month: Minor | None = None
    conversation_day: Minor | None = Field(default=None, description="In one conversation in 24 hours.")
    conversation_month: Minor | None = None

    @model_validator(mode="after")
    def _two_lines_in_order(self) -> Self:
        if self.two_people_day < self.automatic_day:
            raise PydanticCustomError("order", "two_people_day must not be below automatic_day")
        return self


class SignIn(_Part):
    """What a customer's sign-in must be like for money to move unasked. Null and empty ask for nothing."""

    minutes: Annotated[int, Field(ge=1)] | None = Field(default=None, description="So fresh at most.")
    methods: tuple[Name, ...] = Field(default=(), description="One of these must be in the token's `amr`.")


class Calendar(_Part):
    """When people decide: only these hours count towards a request's expiry."""

    time_zone: Name = Field(description="Such as Europe/London.")
    weekdays: tuple[Annotated[int, Field(ge=0, le=6)], ...] = Field(default=(0, 1, 2, 3, 4), description="Monday is 0.")
    opens: Annotated[int, Field(ge=0, le=23)] = Field(default=9, description="The hour at which they begin.")
    closes: Annotated[int, Field(ge=1, le=24)] = Field(default=17, description="The hour at which they end.")
    holidays: tuple[dt.date, ...] = ()

    @model_validator(mode="after")
    def _is_open_at_times(self) -> Self:
        if self.time_zone not in available_timezones():
            raise PydanticCustomError("zone", "time_zone is not known")
        if not self.weekdays or self.closes <= self.opens:
            raise PydanticCustomError("hours", "a calendar is open on some weekday, and closes after it opens")
        return self


class Document(_Part):
    """The whole of what a policy version says."""

    lines: dict[Currency, Lines] = Field(
        default_factory=lambda: {"USD": Lines(), "GBP": Lines(), "EUR": Lines()},
        description="By currency; one without lines always asks.",
    )
    tools: dict[Name, Literal["ask", "never"]] = Field(
        default_factory=dict, description="Tools that always ask or are never carried out."
    )
    approve_up_to: dict[Literal["agent", "lead"], dict[Currency, Minor]] = Field(
        default_factory=dict, description="What a role may approve, in minor units; a currency left out has no line."
    )
    sign_in: SignIn = SignIn()
    most_open_requests: Annotated[int, Field(ge=0, le=1_000)] = Field(default=4, description="Of one customer.")
    most_open_requests_site: Annotated[int, Field(ge=0, le=10_000)] = Field(default=10_000, description="Of everybody.")
    expires_hours: Hours = Field(default=72, description="A request waits so long for its decision.")
    expires: dict[Name, Hours] = Field(default_factory=dict, description="By rule, in place of expires_hours.")
    calendar: Calendar | None = Field(
        default=None, description="Count only its open hours for expiry; null counts all."
    )
    execute_hours: Hours = Field(default=24, description="An approval must be carried out within so long.")

    def to_json(self) -> Json:
        """As stored and shown: every value, defaults too, so that a version never changes with this file."""
        found: Json = json.loads(self.model_dump_json(exclude={"version"}))
        return found


class Policy(Document):
    """A document with its number."""

    version: int


def read_document(text: str) -> Document:
    """The document in a JSON text, strictly; InvalidDocument otherwise."""
    try:
        return Document.model_validate_json(text)
    except ValidationError as error:
        faults = {".".join(map(str, fault["loc"])) or "document": fault["msg"] for fault in error.errors()}
        raise InvalidDocument(faults) from error


def above_ceilings(document: Document, ceilings: Mapping[str, int]) -> dict[str, str]:
    """By path, what a document would loosen beyond the settings' ceilings."""
    values = {name: getattr(document, name) for name in ceilings if name in Document.model_fields}
    values |= {f"expires.{rule}": hours for rule, hours in document.expires.items()}
    for currency, lines in document.lines.items():
        values |= {f"lines.{currency}.{name}": getattr(lines, name) for name in ceilings if name in Lines.model_fields}
    most = {path: ceilings[_ceiling_of(path)] for path in values}
    return {
        path: f"At most {most[path]}: the ceiling in settings."
        for path, value in values.items()
        if value is not None and value > most[path]
    }


def _ceiling_of(path: str) -> str:
    return "expires_hours" if path.startswith("expires.") else path.rpartition(".")[2]


def within_ceilings(policy: Policy, ceilings: Mapping[str, int]) -> Policy:
    """The policy with nothing above a ceiling, also where the ceiling came later than the document."""
    lines = {currency: lines.model_copy(update=_lowered(lines, ceilings)) for currency, lines in policy.lines.items()}
    expires = {rule: min(hours, ceilings["expires_hours"]) for rule, hours in policy.expires.items()}
    return policy.model_copy(update={**_lowered(policy, ceilings), "lines": lines, "expires": expires})


def _lowered(part: Document | Lines, ceilings: Mapping[str, int]) -> Json:
    values = {name: getattr(part, name) for name in ceilings if name in type(part).model_fields}
    return {name: min(value, ceilings[name]) for name, value in values.items() if value is not None}


def changes(before: Json, after: Json, path: str = "") -> list[tuple[str, Any, Any]]:
    """What differs between two documents: path, value before, value after; None where one has nothing."""
    found: list[tuple[str, Any, Any]] = []
    for name in sorted({*before, *after}):
        old, new, here = before.get(name), after.get(name), f"{path}{name}"
        if isinstance(old, dict | None) and isinstance(new, dict | None) and (old or new):
            found += changes(old or {}, new or {}, f"{here}.")
        elif old != new:
            found.append((here, old, new))
    return found

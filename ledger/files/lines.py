"""Reading a file in the shop's format: line by line, with a sentence for each line that cannot be used."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar

from pydantic import ValidationError

from ledger.files.format import KINDS, Json

T = TypeVar("T")
MOST_PROBLEMS = 20


class ShopError(ValueError):
    """A file that cannot be imported. The message has one sentence for each bad line, at most twenty."""


@dataclass
class Problems:
    """Sentences about bad lines, collected so that one run shows more than the first."""

    sentences: dict[int, str] = field(default_factory=dict)

    def add(self, number: int, sentence: str) -> None:
        """Note what is wrong with a line (its first fault counts). Raises ShopError when there are many."""
        self.sentences.setdefault(number, f"line {number}: {sentence}")
        if len(self.sentences) >= MOST_PROBLEMS:
            self.check()

    def check(self) -> None:
        """Raise ShopError if a line was bad."""
        if self.sentences:
            raise ShopError("\n".join(self.sentences[number] for number in sorted(self.sentences)))


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number from 1, the object as it was written, and the same with types."""

    number: int
    raw: Json
    model: Any


def read_lines(file: BinaryIO, problems: Problems, *kinds: str) -> Iterator[Line]:
    """Read from the start; lines of other kinds are passed over, bad ones noted. Blank lines are no lines."""
    file.seek(0)
    for number, data in enumerate(file, 1):
        if not data.strip():
            continue
        try:
            raw = _object(data)
            if raw["type"] in kinds:
                yield Line(number, raw, KINDS[raw["type"]].model_validate(raw))
        except ValidationError as error:
            problems.add(number, "; ".join(map(_sentence, error.errors()[:3])))
        except ValueError as error:
            problems.add(number, str(error))


def _object(data: bytes) -> Json:
    try:
        raw = json.loads(data.decode(), object_pairs_hook=_pairs, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 (byte {error.start + 1})") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"is not valid JSON ({error.msg}, character {error.pos + 1})") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error
    if not isinstance(raw, dict):
        raise ValueError(f"must be an object, got {_got(raw)}")
    if not isinstance(raw.get("type"), str) or raw["type"] not in KINDS:
        raise ValueError(f"type: must be one of {', '.join(KINDS)}, got {_got(raw.get('type'))}")
    return raw


def _pairs(pairs: list[tuple[str, Any]]) -> Json:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"{twice[:40]}: stands twice in one object")
    for key, value in pairs:
        if value is None:
            raise ValueError(f"{key[:40]}: must not be null: leave the key out where it does not apply")
    return dict(pairs)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _got(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 60 else f"{text[:57]}..."


_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not a key of the shop format",
    "int_type": "must be a whole number of minor units, got {got}",
    "int_from_float": "must be a whole number of minor units, got {got}",
    "greater_than_equal": "must be at least {ge}, got {got}",
    "less_than_equal": "must be at most {le}, got {got}",
    "string_type": "must be text, got {got}",
    "string_too_short": "must not be empty",
    "string_too_long": "must be at most {max_length} characters long",
    "bool_type": "must be true or false, got {got}",
    "list_type": "must be a list, got {got}",
    "dict_type": "must be an object, got {got}",
    "model_type": "must be an object, got {got}",
    "too_short": "must not be empty",
    "literal_error": "must be {expected}, got {got}",
    "value_error": "{error}",
}


def _sentence(error: Any) -> str:
    words = _WORDS.get(error["type"], error["msg"])
    where = ".".join(str(part) for part in error["loc"])
    what = words.format(got=_got(error["input"]) if "{got}" in words else "", **error.get("ctx", {}))
    return f"{where}: {what}" if where else what


def batches(items: Iterable[T], size: int = 500) -> Iterator[list[T]]:
    """Lists of at most `size`."""
    batch: list[T] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch

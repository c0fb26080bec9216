"""Reading request bodies: JSON objects of at most 256 kB, with text that a database can keep."""

import json
import re
from collections.abc import Mapping
from typing import IO, Any

from drf_spectacular.extensions import OpenApiSerializerExtension, OpenApiSerializerFieldExtension
from rest_framework import serializers
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from base.http.errors import ApiError

MOST_BYTES = 256_000


class StrictJSONParser(BaseParser):
    """UTF-8 JSON without NaN; an object at the top."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        body = stream.read(MOST_BYTES + 1)
        if len(body) > MOST_BYTES:
            raise ApiError(413, "too_large", "The request is larger than 256 kB; send less.")
        try:
            value = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as exc:
            raise ParseError from exc
        if not isinstance(value, dict):
            raise ApiError(400, "malformed", "The request must be a JSON object.")
        return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


class Text(serializers.Field[str, Any, str, Any]):
    """A string and nothing else; NUL and broken surrogates become U+FFFD. Length in code points."""

    default_error_messages = {
        "type": "Must be a string.",
        "blank": "Must not be empty.",
        "long": "At most {most} characters; this has {length}.",
    }

    def __init__(self, *, most: int, blank: bool = False, **kwargs: Any) -> None:
        self.most, self.blank = most, blank
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("type")
        text = data.replace("\x00", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if not self.blank and not text.strip():
            self.fail("blank")
        if len(text) > self.most:
            self.fail("long", most=f"{self.most:,}", length=f"{len(text):,}")
        return text

    def to_representation(self, value: Any) -> str:
        return str(value)


class Matching(Text):
    """Text of one form, which `pattern` describes from end to end."""

    default_error_messages = {"form": "Has not the form that is needed: {pattern}"}

    def __init__(self, pattern: str, *, most: int, **kwargs: Any) -> None:
        self.pattern = pattern
        super().__init__(most=most, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not re.fullmatch(self.pattern, text):
            self.fail("form", pattern=self.pattern)
        return text


_VISIBLE = r"[^\s\x1c-\x1f\x85]"
"""In the pattern language of JSON Schema, whose blanks are fewer than Python's."""


class TextSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    target_class = "base.http.parsing.Text"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        text: Text = self.target
        pattern = f"^{text.pattern}$" if isinstance(text, Matching) else _VISIBLE
        shown: dict[str, Any] = {"type": "string", "maxLength": text.most}
        return shown if text.blank else {**shown, "minLength": 1, "pattern": pattern}


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it does not know, by name."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = sorted(set(data) - set(self.fields)) if isinstance(data, dict) else []
        if unknown:
            known = ", ".join(self.fields)
            names = [name.encode("utf-8", "replace").decode() for name in unknown]
            raise serializers.ValidationError({name: [f"Not known here. Known: {known}."] for name in names})
        return super().to_internal_value(data)


class StrictSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    target_class = "base.http.parsing.StrictSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        shape = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        return {**shape, "additionalProperties": False}

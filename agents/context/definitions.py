"""What became of conversations under each definition, and what differs between two."""

import datetime as dt
import difflib
import json
from dataclasses import dataclass
from typing import Any

from django.db import connection

from agents.models import Definition

_USED = """
    WITH used AS (SELECT definition_id, count(*) AS conversations, min(created_at) AS first, max(created_at) AS last
                  FROM agents_conversation GROUP BY 1),
    decided AS (SELECT c.definition_id, count(*) FILTER (WHERE r.state = 'denied') AS denied, count(*) AS decided
                FROM approvals_request r JOIN agents_conversation c ON c.id = r.conversation_id
                WHERE NOT r.is_decoy AND r.state IN ('denied', 'approved', 'executing', 'executed', 'failed', 'unknown')
                GROUP BY 1),
    handed AS (SELECT c.definition_id, count(DISTINCT c.id) AS handed_off
               FROM agents_toolcall t JOIN agents_turn n ON n.id = t.turn_id
               JOIN agents_conversation c ON c.id = n.conversation_id
               WHERE t.tool = 'hand_off_to_human' AND t.decision = 'executed' GROUP BY 1)
    SELECT d.digest, d.model, d.prompt_hash, d.schema_hash, d.created_at, first, last, coalesce(conversations, 0),
           coalesce(denied, 0), coalesce(decided, 0), coalesce(handed_off, 0)
    FROM agents_definition d LEFT JOIN used ON used.definition_id = d.digest
    LEFT JOIN decided ON decided.definition_id = d.digest LEFT JOIN handed ON handed.definition_id = d.digest
    ORDER BY coalesce(first, d.created_at), d.digest
"""


@dataclass(frozen=True, slots=True)
class Used:
    """A definition and what became of its conversations. `decided` are its requests that people decided, denied ones
    too."""

    digest: str
    model: str
    prompt_hash: str
    schema_hash: str
    created_at: dt.datetime
    first: dt.datetime | None
    last: dt.datetime | None
    conversations: int
    denied: int
    decided: int
    handed_off: int

    @property
    def deny_percent(self) -> float | None:
        """Of what people decided; None where they decided nothing."""
        return 100 * self.denied / self.decided if self.decided else None

    @property
    def hand_off_percent(self) -> float | None:
        """Of the conversations; None where there were none."""
        return 100 * self.handed_off / self.conversations if self.conversations else None


def used() -> list[Used]:
    """Every definition in the order of first use, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(_USED)
        return [Used(*row) for row in cursor.fetchall()]


def change(before: float | None, after: float | None) -> float | None:
    """By how many points a rate went up; None where one of the two is unknown."""
    return None if before is None or after is None else after - before


Line = tuple[str, str]
"""`-`, `+` or a blank, and a line of text."""


def lines_between(before: str, after: str) -> list[Line]:
    """Two texts as one list of lines: gone, come, and kept."""
    return [(line[0], line[2:]) for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "-+ "]


def tools_between(before: Definition, after: Definition) -> list[tuple[str, list[Line]]]:
    """By name the tools that came, went or changed, with the lines of their schemas."""
    old, new = _schemas(before), _schemas(after)
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return [(name, lines_between(old.get(name, ""), new.get(name, ""))) for name in names]


def _schemas(definition: Definition) -> dict[str, str]:
    found: list[dict[str, Any]] = json.loads(definition.tools)
    return {tool["name"]: json.dumps(tool, indent=2, ensure_ascii=False) for tool in found}

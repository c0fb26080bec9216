"""Guessing is slowed down, in Postgres: it counts for every process at once, outlives each, and cannot be away while
sign-in works. An attempt is counted before it is tried, so that many at once are no way around."""

import hashlib

from django.db import connection

MOST = 5
WINDOW_SECONDS = 300
_COUNT = """
    INSERT INTO console_attempt AS kept (key, count, since) VALUES (%s, 1, now())
    ON CONFLICT (key) DO UPDATE SET
        count = CASE WHEN kept.since <= now() - %s * interval '1 second' THEN 1 ELSE kept.count + 1 END,
        since = CASE WHEN kept.since <= now() - %s * interval '1 second' THEN now() ELSE kept.since END
    RETURNING count
"""
_FORGET = "UPDATE console_attempt SET count = 0 WHERE key = %s"


def is_open(*who: str) -> bool:
    """Count one more attempt of `who`; whether it may be tried at all."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, [_key(who), WINDOW_SECONDS, WINDOW_SECONDS])
        row = cursor.fetchone()
    assert row is not None
    return bool(row[0] <= MOST)


def forget(*who: str) -> None:
    """They got in, so what they had tried no longer counts."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET, [_key(who)])


def _key(who: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(who).casefold().encode()).hexdigest()

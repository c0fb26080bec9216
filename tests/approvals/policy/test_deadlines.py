"""Until when a request waits: by hours, by rule, and by a working week with holidays."""

import datetime as dt

import pytest

from approvals.policy.deadlines import expires_at
from approvals.policy.document import Calendar, InvalidDocument, Policy, read_document

LONDON = Calendar(time_zone="Europe/London", holidays=(dt.date(2026, 12, 25), dt.date(2026, 12, 28)))
NIGHTS = Calendar(time_zone="Europe/London", weekdays=(6,), opens=0, closes=24)


def at(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("calendar", "hours", "now", "expected"),
    [
        (None, 72, "2026-12-24T12:00", "2026-12-27T12:00"),
        (LONDON, 3, "2026-12-01T10:00", "2026-12-01T13:00"),
        (LONDON, 8, "2026-12-01T09:00", "2026-12-01T17:00"),
        (LONDON, 9, "2026-12-01T09:00", "2026-12-02T10:00"),
        (LONDON, 1, "2026-12-01T05:00", "2026-12-01T10:00"),
        (LONDON, 1, "2026-12-01T20:00", "2026-12-02T10:00"),
        (LONDON, 4, "2026-12-04T16:00", "2026-12-07T12:00"),
        (LONDON, 8, "2026-12-24T12:00", "2026-12-29T12:00"),
        (NIGHTS, 24, "2026-03-28T12:00", "2026-04-05T00:00"),
    ],
)  # fmt: skip
def test_open_hours_alone_count(calendar: Calendar | None, hours: int, now: str, expected: str) -> None:
    policy = Policy(version=2, calendar=calendar, expires_hours=hours)
    assert expires_at(policy, "repeat", at(now)) == at(expected)


def test_a_rule_has_its_own_time() -> None:
    policy = Policy(version=2, expires={"repeat": 1})
    now = at("2026-12-01T10:00")
    assert expires_at(policy, "repeat", now) == at("2026-12-01T11:00")
    assert expires_at(policy, "reason_other", now) == at("2026-12-04T10:00")


@pytest.mark.parametrize(
    "calendar",
    ['{"time_zone": "Europe/Lundon"}', '{"time_zone": "UTC", "opens": 17}', '{"time_zone": "UTC", "weekdays": []}'],
)
def test_a_calendar_that_never_opens_is_no_policy(calendar: str) -> None:
    with pytest.raises(InvalidDocument):
        read_document(f'{{"calendar": {calendar}}}')


def test_a_calendar_is_read_and_written_as_json() -> None:
    text = '{"calendar": {"time_zone": "Europe/London", "holidays": ["2026-12-25"]}}'
    document = read_document(text)
    assert document.to_json()["calendar"]["holidays"] == ["2026-12-25"]
    assert document.calendar is not None
    assert document.calendar.weekdays == (0, 1, 2, 3, 4)

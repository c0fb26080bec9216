"""Until when a request waits for its decision: so many hours, or so many hours of a working week."""

import datetime as dt
from zoneinfo import ZoneInfo

from approvals.policy.document import Calendar, Policy


def expires_at(policy: Policy, rule: str, now: dt.datetime) -> dt.datetime:
    """When a request that asks by this rule expires. With a calendar only its open hours count."""
    hours = policy.expires.get(rule, policy.expires_hours)
    if policy.calendar is None:
        return now + dt.timedelta(hours=hours)
    return after_open_hours(policy.calendar, now, dt.timedelta(hours=hours))


def after_open_hours(calendar: Calendar, now: dt.datetime, left: dt.timedelta) -> dt.datetime:
    """The moment by which the calendar has been open for so long. Counted in UTC, so that a day on which the clocks
    change has as many open hours as it really has."""
    zone = ZoneInfo(calendar.time_zone)
    day = now.astimezone(zone).date()
    while True:
        opens, closes = (
            dt.datetime.combine(day + dt.timedelta(days=hour // 24), dt.time(hour % 24), zone).astimezone(dt.UTC)
            for hour in (calendar.opens, calendar.closes)
        )
        begins = max(opens, now)
        if _is_open(calendar, day) and begins < closes:
            if begins + left <= closes:
                return begins + left
            left -= closes - begins
        day += dt.timedelta(days=1)


def _is_open(calendar: Calendar, day: dt.date) -> bool:
    return day.weekday() in calendar.weekdays and day not in calendar.holidays

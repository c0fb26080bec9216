"""What a draft of the policy would have decided on what the record holds, without a model.

The facts of every verdict are in its event, so a verdict can be taken again under another policy. Sums in the
facts count what was executed and what was held, so they are the same whichever of the two a draft chooses.
"""

import datetime as dt
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from approvals.policy.document import Document
from approvals.policy.rules import Facts, Policy, Verdict, decide
from approvals.policy.versions import policy_at, version_in_force
from audit.models import Event
from base.money import show

MOST_DAYS, MOST_SHOWN = 90, 50


@dataclass(frozen=True, slots=True)
class Changed:
    """One recorded write that the draft decides otherwise."""

    event_id: int
    at: dt.datetime
    tool: str
    customer_id: str
    amount: str
    before: str
    after: str
    rule: str


@dataclass(slots=True)
class Simulation:
    """A draft's verdicts beside those of the policy that was in force, over `days` days of the record."""

    days: int
    writes: int = 0
    reviews_before: int = 0
    reviews_after: int = 0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How many verdicts changed from what to what."""
    money: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """The same with a currency: minor units."""
    changed: list[Changed] = field(default_factory=list)
    """The newest of them."""
    by_day: dict[str, list[int]] = field(default_factory=dict)
    """Reviews by day (UTC), before and after; days without writes are left out."""
    began: str = field(default_factory=lambda: timezone.now().isoformat())
    before: int | None = None
    """The event down to which the replay has come."""
    reached: str = ""
    done: bool = False

    @property
    def percent(self) -> int:
        """How much of the time span the replay has gone through."""
        if self.done or not self.reached:
            return 100 if self.done else 0
        gone = dt.datetime.fromisoformat(self.began) - dt.datetime.fromisoformat(self.reached)
        return min(99, int(100 * gone / dt.timedelta(days=self.days)))

    @property
    def otherwise(self) -> int:
        """How many verdicts changed."""
        return self.counts.total()

    @property
    def extra_reviews_per_day(self) -> float:
        """How many more decisions people would have taken each day; negative for fewer."""
        return (self.reviews_after - self.reviews_before) / self.days

    def rows(self) -> list[dict[str, Any]]:
        """From what to what, how many, and the money in words."""
        return [
            {"before": before, "after": after, "count": count, "money": self._money(before, after)}
            for (before, after), count in sorted(self.counts.items(), key=lambda row: -row[1])
        ]

    def _money(self, before: str, after: str) -> str:
        sums = {key[2]: minor for key, minor in self.money.items() if key[:2] == (before, after)}
        return ", ".join(show(minor, currency) for currency, minor in sorted(sums.items()))


def simulate(draft: Document, days: int) -> Simulation:
    """Take the verdicts of the last `days` days again, newest first. Each is compared with what the policy that
    decided it says of the same facts."""
    found = Simulation(days=days)
    go_on(draft, found)
    return found


def go_on(draft: Document, found: Simulation, seconds: float | None = None) -> None:
    """A replay from where it stands to its end, or for so long; `found.done` says which."""
    policy = draft if isinstance(draft, Policy) else Policy(version=0, **dict(draft))
    now, until = version_in_force(), None if seconds is None else time.monotonic() + seconds
    for event, facts in _recorded(found):
        _take(found, event, facts, decide(policy_at(event.policy_version or now), facts), decide(policy, facts))
        if until is not None and time.monotonic() > until:
            return
    found.done = True


def _recorded(found: Simulation) -> Iterator[tuple[Event, Facts]]:
    """The dispatches that a policy decided, with the facts that it saw, older than where the replay stands."""
    since = dt.datetime.fromisoformat(found.began) - dt.timedelta(days=found.days)
    events = Event.objects.filter(kind="dispatch", at__gte=since, detail__body__contains='"facts":{"')
    if found.before is not None:
        events = events.filter(id__lt=found.before)
    for event in events.select_related("detail").order_by("-id").iterator(chunk_size=500):
        facts = json.loads(event.detail.body).get("facts")
        found.before, found.reached = event.pk, event.at.isoformat()
        if isinstance(facts, dict) and "tool" in facts:
            yield event, Facts.stored(facts)


def _take(found: Simulation, event: Event, facts: Facts, before: Verdict, after: Verdict) -> None:
    found.writes += 1
    found.reviews_before += before.approvals_needed
    found.reviews_after += after.approvals_needed
    day = found.by_day.setdefault(f"{event.at.astimezone(dt.UTC):%Y-%m-%d}", [0, 0])
    day[0] += before.approvals_needed
    day[1] += after.approvals_needed
    if _words(before) != _words(after):
        _count(found, event, facts, before, after)


def _words(verdict: Verdict) -> str:
    if verdict.outcome != "ask":
        return {"allow": "alone", "deny": "refused"}[verdict.outcome]
    return "one person" if verdict.approvals_needed == 1 else "two people"


def _count(found: Simulation, event: Event, facts: Facts, before: Verdict, after: Verdict) -> None:
    change = _words(before), _words(after)
    found.counts[change] += 1
    if facts.currency:
        found.money[*change, facts.currency] += facts.amount_minor
    if len(found.changed) < MOST_SHOWN:
        amount = show(facts.amount_minor, facts.currency) if facts.currency else ""
        row = Changed(event.pk, event.at, facts.tool, event.customer_id, amount, *change, after.rule)
        found.changed.append(row)

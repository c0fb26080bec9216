"""Background work that was given up and waits for people."""

import datetime as dt

from django.db.models import Count, Min
from django.db.models.functions import Now

from base.models import WorkItem


def park(name: str, key: str, why: str) -> None:
    """Show what was given up by a rule of its own among what is parked."""
    given_up = {"attempts": 0, "next_at": Now(), "parked_at": Now(), "parked_why": why[:300]}
    WorkItem.objects.update_or_create(list=name, key=key, defaults=given_up)


def items(most: int = 200) -> list[WorkItem]:
    """What waits for people, oldest first."""
    return list(WorkItem.objects.filter(parked_at__isnull=False).order_by("parked_at")[:most])


def sums() -> list[tuple[str, int, dt.datetime]]:
    """For each list that has parked items: its name, how many, and since when the oldest."""
    sums = WorkItem.objects.filter(parked_at__isnull=False).values_list("list").order_by("list")
    return list(sums.annotate(Count("key"), Min("parked_at")))


def settled(name: str, key: str) -> None:
    """Take one away that was settled by a rule of its own."""
    WorkItem.objects.filter(list=name, key=key).delete()

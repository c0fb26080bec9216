"""Writes that another process asks for: what was previewed there is computed again here, under lock.

A caller never sends a plan. It sends a tool, its arguments, and the digest of the plan that it was shown; only
that plan is carried out, for the credential's customer, once per key.
"""

import hashlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from django.conf import settings
from django.db import connection

from audit.record import canonical
from base.locks import lock_customer
from ledger.access.client import Shop
from ledger.books.entries import SameKeyOtherPlan
from ledger.books.plans import Plan, digest_of_plan
from ledger.models import Entry, Hold
from ledger.shop.orders import Moved

Planner = Callable[[Shop, str, dict[str, Any]], Plan]
"""What a tool with these arguments would do: the same functions that plan in a process of one piece."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """A plan as it stands, and what has moved against the customer's limits without it."""

    plan: Plan
    moved: Moved

    @property
    def shown(self) -> "Shown":
        basis = hashlib.sha256(canonical(asdict(self.moved)).encode()).hexdigest()
        return Shown(digest=digest_of_plan(self.plan.to_json()), basis=basis)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a caller was shown: the digest of the plan, and of what had moved. Without a `basis` only the plan counts,
    as after an approval, which was not decided by sums."""

    digest: str
    basis: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """The request that a write carries out, and whose hold is given back for it."""

    reference: str
    owner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A write in the books, as it was planned."""

    reference: str
    plan: dict[str, Any]
    replayed: bool


class Changed(Exception):
    """What would happen now is not what the caller was shown; `preview` is what would."""

    def __init__(self, preview: Preview) -> None:
        super().__init__(preview.shown.digest)
        self.preview = preview


def preview(shop: Shop, plan: Callable[[], Plan]) -> Preview:
    """What a write would do, without doing it."""
    planned = plan()
    return Preview(plan=planned, moved=shop.moved(planned))


def find(key: str) -> Found | None:
    """The customer's own write under this key."""
    entry = Entry.objects.filter(key=key).first()
    return Found(reference=entry.reference, plan=entry.plan, replayed=True) if entry else None


def post_shown(shop: Shop, plan: Callable[[], Plan], shown: Shown, *, key: str, approved: Approved | None) -> Found:
    """Post what was shown, or answer with what the key posted before. For an approved request, with the credential
    of its execution, its hold is given back first.

    Raises Changed, SameKeyOtherPlan and what planning raises; then nothing is changed.
    """
    _begin(shop)
    if before := find(key):
        if digest_of_plan(before.plan) != shown.digest:
            raise SameKeyOtherPlan(key)
        return before
    if approved:
        shop.post_holds(approved.owner)
    planned = _as_shown(shop, plan, shown)
    posted = shop.post(planned, key=key, request_reference=approved.reference if approved else "")
    return Found(reference=posted.reference, plan=planned.to_json(), replayed=False)


def reserve_shown(shop: Shop, plan: Callable[[], Plan], shown: Shown, *, owner: str) -> int:
    """Hold what was shown for a waiting request; how many holds it has. The same owner again changes nothing."""
    _begin(shop)
    states = list(Hold.objects.filter(owner=owner).values_list("state", flat=True))
    if not states:
        shop.reserve(_as_shown(shop, plan, shown), owner=owner)
        return Hold.objects.filter(owner=owner).count()
    if set(states) != {Hold.State.PENDING}:
        raise SameKeyOtherPlan(owner)
    return len(states)


def void(shop: Shop, *, owner: str) -> int:
    """Give back what a request holds; how many holds that ended, none the second time."""
    _begin(shop)
    return shop.void_holds(owner)


def _begin(shop: Shop) -> None:
    """One write of a customer at a time: a repeated one waits for the first, and then finds it."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [str(settings.PLACET.tool_seconds * 1000)])
    lock_customer(shop.customer_id)


def _as_shown(shop: Shop, plan: Callable[[], Plan], shown: Shown) -> Plan:
    now = preview(shop, plan)
    if now.shown.digest != shown.digest or shown.basis not in ("", now.shown.basis):
        raise Changed(now)
    return now.plan

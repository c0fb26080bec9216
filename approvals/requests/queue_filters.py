"""What somebody looks for in the queue, as it stands in the address: checked once, then a condition."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from approvals.models import CLOSED_STATES, Decision, Snooze, Staff
from approvals.requests.assignment import FREE
from base.keyset import Keyset
from base.money import parse
from ledger.access.staff import as_staff
from ledger.models import Customer

TABS: dict[str, tuple[str | Promise, tuple[str, ...]]] = {
    "pending": (gettext_lazy("Waiting"), ("pending",)),
    "approved": (gettext_lazy("In progress"), ("approved", "executing", "unknown")),
    "executed": (gettext_lazy("Executed"), ("executed",)),
    "denied": (gettext_lazy("Denied"), ("denied",)),
    "closed": (gettext_lazy("Ended otherwise"), CLOSED_STATES),
}
SORTS: dict[str, tuple[str | Promise, str, bool]] = {
    "left": (gettext_lazy("Time left"), "expires_at", False),
    "amount": (gettext_lazy("Largest amount"), "amount_minor", True),
    "oldest": (gettext_lazy("Oldest"), "created_at", False),
    "newest": (gettext_lazy("Newest"), "created_at", True),
}
"""By name: what it is called, the column, whether downwards. Each has an index."""
WHO: dict[str, str | Promise] = {
    "": gettext_lazy("Everybody's"),
    "mine": gettext_lazy("Mine"),
    "free": gettext_lazy("Nobody's"),
    "snoozed": gettext_lazy("Snoozed by me"),
}
NAMES = ("tool", "rule", "who", "currency", "least", "most", "customer", "q")
MOST_CUSTOMERS = 200
MOST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Filters:
    """One view of the queue. `wrong` names by field what cannot be looked for; such a view finds nothing."""

    tab: str
    sort: str
    typed: dict[str, str]
    wrong: dict[str, str]

    @property
    def on(self) -> int:
        """How many filters narrow it."""
        return sum(bool(text) for text in self.typed.values())


class NoSuchView(ValueError):
    """A tab, an order or a `who` that does not exist."""


def read(query: Mapping[str, str]) -> Filters:
    """The view that an address names. Raises NoSuchView."""
    tab = query.get("state") or "pending"
    if tab not in TABS:
        raise NoSuchView(tab)
    sort = query.get("sort") or usual_sort(tab)
    typed = {name: query.get(name, "").strip() for name in NAMES}
    if sort not in sorts_of(tab) or typed["who"] not in views_of(tab):
        raise NoSuchView(sort)
    wrong = {name: gettext("This is too long, or holds a NUL.") for name, text in typed.items() if _is_bad(text)}
    for name in ("least", "most"):
        if typed[name] and name not in wrong:
            wrong |= _wrong_amount(name, typed)
    return Filters(tab, sort, typed, wrong)


def usual_sort(tab: str) -> str:
    """What waits by how soon it expires, what ended newest first."""
    return "left" if tab == "pending" else "newest"


def sorts_of(tab: str) -> tuple[str, ...]:
    """The orders that have an index there."""
    return tuple(SORTS) if tab == "pending" else ("newest", "oldest")


def views_of(tab: str) -> dict[str, str | Promise]:
    """Whose requests one can look for there: of what ended, those that one decided."""
    return WHO if tab == "pending" else {name: WHO[name] for name in ("", "mine")}


def _is_bad(text: str) -> bool:
    return len(text) > MOST_TEXT or "\x00" in text


def _wrong_amount(name: str, typed: dict[str, str]) -> dict[str, str]:
    if not typed["currency"]:
        return {name: gettext("Choose a currency too.")}
    try:
        parse(typed[name], typed["currency"])
    except ValueError as error:
        return {name: str(error)}
    return {}


def condition(filters: Filters, staff: Staff) -> Q:
    """What the view shows to this person."""
    if filters.wrong:
        return Q(pk__in=[])
    typed = filters.typed
    found = Q(state__in=TABS[filters.tab][1])
    if filters.tab != "pending":
        found &= Q(is_decoy=False)
    for name, column in (("tool", "tool"), ("rule", "rule"), ("currency", "currency"), ("customer", "customer_id")):
        if typed[name]:
            found &= Q(**{column: typed[name]})
    if typed["least"]:
        found &= Q(amount_minor__gte=parse(typed["least"], typed["currency"]))
    if typed["most"]:
        found &= Q(amount_minor__lte=parse(typed["most"], typed["currency"]))
    if typed["q"]:
        found &= _search(typed["q"])
    return found & _whose(filters, staff)


def _whose(filters: Filters, staff: Staff) -> Q:
    """Snoozed ones are left out unless somebody looks for them, or for one by a word."""
    who = filters.typed["who"]
    if filters.tab != "pending":
        decided = Exists(Decision.objects.filter(request=OuterRef("pk"), staff=staff))
        return Q(decided) if who == "mine" else Q()
    asleep = Q(Exists(Snooze.objects.filter(request=OuterRef("pk"), staff=staff, until__gt=Now())))
    if who == "snoozed":
        return asleep
    whose = Q()
    if who == "mine":
        whose = Q(assigned_to=staff, assigned_until__gt=Now()) | Q(second_approver=staff)
    elif who == "free":
        whose = FREE & (Q(second_approver=None) | Q(second_approver=staff))
    return whose if filters.typed["q"] else whose & ~asleep


def _search(text: str) -> Q:
    """A reference, an order, or a customer's id, name or e-mail address; a decoy is found by what it names."""
    customers = as_staff(lambda: list(_customers(text).values_list("pk", flat=True)[:MOST_CUSTOMERS]))
    order = Q(order_id__in=[text, f"#{text}"])
    told = Q(preview__customer_id=text) | Q(preview__customer_name__icontains=text) | Q(preview__order_id=text)
    found: Q = Q(reference=text.upper()) | order | Q(customer_id__in=customers) | Q(is_decoy=True) & told
    return found


def _customers(text: str) -> Any:
    return Customer.objects.filter(Q(pk=text) | Q(name__icontains=text) | Q(email__iexact=text)).order_by("pk")


def keyset_of(filters: Filters) -> Keyset:
    """The order of a view, with the reference where two are alike."""
    _, column, downwards = SORTS[filters.sort]
    kind = int if column == "amount_minor" else dt.datetime
    return Keyset({column: kind, "reference": str}, downwards=downwards)

"""What people read for the roles of staff and for the kinds of actors; what is stored stays the code."""

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import pgettext_lazy

from base.access import ADMIN, AGENT, AUDITOR, LEAD

ROLE_NAMES: Mapping[str, str | Promise] = {
    AGENT: pgettext_lazy("role", "agent"),
    LEAD: pgettext_lazy("role", "lead"),
    AUDITOR: pgettext_lazy("role", "auditor"),
    ADMIN: pgettext_lazy("role", "admin"),
}
ACTOR_NAMES: Mapping[str, str | Promise] = {
    "customer": pgettext_lazy("who acted", "customer"),
    "staff": pgettext_lazy("who acted", "staff"),
    "system": pgettext_lazy("who acted", "system"),
}


def role_name(role: str) -> str:
    """A role in the reader's language; one that is not known is shown as it is."""
    return str(ROLE_NAMES.get(role, role))


def actor_name(kind: str) -> str:
    """The kind of an event's actor in the reader's language."""
    return str(ACTOR_NAMES.get(kind, kind))

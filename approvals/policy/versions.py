"""Versions of the policy: which one binds, proposing one, and activating another person's.

A conversation keeps the version that it began with, unless the one in force now is stricter on the write at hand.
"""

import datetime as dt
from dataclasses import replace
from functools import cache, reduce
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from approvals.errors import Forbidden
from approvals.models import PolicyVersion, Request, Staff
from approvals.policy.document import Document, InvalidDocument, above_ceilings, changes, read_document, within_ceilings
from approvals.policy.rules import Facts, Policy, Verdict, decide, may_approve, stricter
from audit.models import Kind
from audit.record import Actor, NewEvent, canonical, hash_of, record
from base import sql
from base.access import ADMIN, LEAD
from base.names import role_name

WRITES_POLICY = (LEAD, ADMIN)
AUTHORS_WAIT = dt.timedelta(days=7)
MOST_CHARACTERS = 100_000


class PolicyRefused(Exception):
    """A version was not proposed or activated; `code` is role, same_person, unknown, withdrawn or superseded."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


@cache
def policy_at(version: int) -> Policy:
    """A version, which never changes; what the settings' ceilings forbid is lowered to them."""
    found = PolicyVersion.objects.values_list("document", flat=True).get(version=version)
    document = read_document(canonical(found))
    return within_ceilings(Policy(version=version, **dict(document)), settings.POLICY_CEILINGS)


IN_FORCE = "SELECT max(version) FROM approvals_policyversion WHERE activated_at IS NOT NULL"


def version_in_force() -> int:
    """The highest version that was activated."""
    row = sql.row(IN_FORCE)
    assert row is not None
    return int(row[0])


def in_force() -> Policy:
    """The policy that new conversations begin with."""
    return policy_at(version_in_force())


def binding(began: int, now: int) -> tuple[Policy, ...]:
    """The policies that a write meets: that of its beginning and the one in force. Not in a customer's scope, which
    cannot read them."""
    return tuple(policy_at(version) for version in dict.fromkeys((began, now)))


def binding_of(request: Request) -> tuple[Policy, ...]:
    """Those that a request meets now: the one that it was decided under, and the one in force."""
    return binding(request.policy_version, version_in_force())


def verdict_under(policies: tuple[Policy, ...], facts: Facts) -> Verdict:
    """The strictest verdict of some policies; of equal ones the first's."""
    return reduce(stricter, (decide(policy, facts) for policy in policies))


def verdict_at_execution(request: Request) -> Verdict:
    """What the version decided under and the one in force say now about what was approved, with the customer's flags
    as they stand. Sums stay as they were: every later write has counted this one already."""
    flag = sql.row("SELECT FROM approvals_flag WHERE customer_id = %s AND cleared_at IS NULL", [request.customer_id])
    facts = replace(_settled(request), flagged=flag is not None)
    return verdict_under(binding_of(request), facts)


def verdict_of_reissue(request: Request, policies: tuple[Policy, ...], facts: Facts) -> Verdict:
    """On a request that drifted and is put before people again: it asks by its first rule, even where nothing else
    asks any more."""
    verdict = verdict_under(policies, facts)
    if verdict.outcome != "allow":
        return verdict
    return replace(verdict, outcome="ask", rule=request.rule, approvals_needed=1)


def _settled(request: Request) -> Facts:
    """A request's facts without what only bears on queueing it."""
    return replace(Facts.stored(request.facts), open_requests=0, open_requests_site=0, denied_reference="")


def within_role(role: str, request: Request) -> bool:
    """Whether the policy in force lets a role approve so much."""
    return may_approve(in_force(), role, request.currency, request.amount_minor)


def refusal_of(request: Request, staff: Staff) -> Forbidden | None:
    """Why the policy lets this person not approve this request: their role's line, or a line that they loosened."""
    if not within_role(staff.role, request):
        return Forbidden(
            "role",
            _("This is above what the role %(role)s may approve; somebody else has to decide.")
            % {"role": role_name(staff.role)},
        )
    if _loosened_by(staff, request):
        return Forbidden(
            "policy_author",
            _(
                "You took part in loosening the policy in the last seven days, and before that this "
                "would have asked for more; a colleague has to decide."
            ),
        )
    return None


def _loosened_by(staff: Staff, request: Request) -> bool:
    """Whether a version of theirs, young enough, asks less of this request than the one before did."""
    theirs = sql.rows(_THEIRS, [staff.pk, timezone.now() - AUTHORS_WAIT])
    facts = _settled(request)
    return any(_loosens(version, facts) for (version,) in theirs)


_THEIRS = """
    SELECT version FROM approvals_policyversion WHERE %s IN (proposed_by_id, activated_by_id) AND activated_at > %s
"""


def _loosens(version: int, facts: Facts) -> bool:
    before = PolicyVersion.objects.filter(activated_at__isnull=False, version__lt=version)
    old, new = decide(policy_at(before.latest("version").pk), facts), decide(policy_at(version), facts)
    return stricter(new, old) is old


def check(text: str) -> Document:
    """The document in a text, within the settings' ceilings and naming tools that exist; InvalidDocument otherwise."""
    if len(text) > MOST_CHARACTERS:
        raise InvalidDocument({"document": f"At most {MOST_CHARACTERS:,} characters."})
    document = read_document(text)
    known = import_string(settings.POLICY_TOOLS)()
    unknown = sorted({*document.tools} - {*known})
    faults = {f"tools.{tool}": f"No such write. There are: {', '.join(known)}." for tool in unknown}
    if faults := faults | above_ceilings(document, settings.POLICY_CEILINGS):
        raise InvalidDocument(faults)
    return document


def propose(*, staff: Staff, text: str) -> PolicyVersion:
    """Store a draft as the next version; it binds nothing until another person activates it. InvalidDocument names
    what is wrong in it by path."""
    _require_role(staff)
    body = check(text).to_json()
    with transaction.atomic():
        _one_at_a_time()
        last = PolicyVersion.objects.aggregate(last=Max("version"))["last"]
        before = in_force().to_json()
        if body == before:
            raise InvalidDocument({"document": "Says what the version in force says; change something."})
        made = PolicyVersion.objects.create(version=last + 1, document=body, digest=hash_of(body), proposed_by=staff)
        _record(made, staff, "proposed", changes(before, body))
    return made


def activate(*, staff: Staff, version: int) -> PolicyVersion:
    """Put another person's version in force, for good: an older one cannot come back except as a new one."""
    _require_role(staff)
    with transaction.atomic():
        _one_at_a_time()
        found = PolicyVersion.objects.filter(version=version).first()
        if found is None:
            raise PolicyRefused("unknown", _("There is no policy version %(version)s.") % {"version": version})
        now = version_in_force()
        if version <= now:
            raise PolicyRefused(
                "superseded",
                _("Version %(now)s is in force; propose version %(version)s's text again.")
                % {"now": now, "version": version},
            )
        if found.withdrawn_at:
            raise PolicyRefused(
                "withdrawn", _("Version %(version)s was withdrawn; propose its text again.") % {"version": version}
            )
        if found.proposed_by_id == staff.pk:
            raise PolicyRefused(
                "same_person", _("You proposed this version; another lead or administrator activates it.")
            )
        before = policy_at(now).to_json()
        found.activated_by, found.activated_at = staff, timezone.now()
        found.save(update_fields=["activated_by", "activated_at"])
        _record(found, staff, "activated", changes(before, found.document))
    return found


def withdraw(*, staff: Staff, version: int) -> None:
    """Take a proposal back, one's own or a colleague's, before it was put in force: it never can be then."""
    _require_role(staff)
    with transaction.atomic():
        _one_at_a_time()
        waiting = PolicyVersion.objects.filter(version=version, activated_at=None, withdrawn_at=None)
        if not waiting.update(withdrawn_by=staff, withdrawn_at=timezone.now()):
            raise PolicyRefused(
                "superseded", _("Version %(version)s is no proposal that waits.") % {"version": version}
            )
        _record(PolicyVersion.objects.get(version=version), staff, "withdrawn", [])


def _require_role(staff: Staff) -> None:
    if staff.role not in WRITES_POLICY or not staff.is_active:
        raise PolicyRefused("role", _("Only an active lead or administrator proposes and activates policies."))


def _one_at_a_time() -> None:
    """Two people who propose or activate at once would both act on the version that they saw."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('approvals_policyversion'))")


def _record(version: PolicyVersion, staff: Staff, decision: str, changed: list[tuple[str, Any, Any]]) -> None:
    event = NewEvent(kind=Kind.POLICY, decision=decision, policy_version=version.version)
    record(Actor(kind="staff", id=staff.username), event, digest=version.digest, changes=changed)

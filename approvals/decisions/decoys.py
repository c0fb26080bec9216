"""Decoys: made-up requests that a reviewer who reads denies. Off unless PLACET_DECOYS_PER_DAY says how many.

They look like the shop's last real refund, for a customer and an order that do not exist, to a payment method that
never paid. The database holds that a decoy has no customer, no order and no hold and is never executed.
"""

import datetime as dt
import re
import secrets
import uuid
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from approvals.models import Decision, Request
from approvals.news import desk_changed
from approvals.policy.deadlines import expires_at
from approvals.policy.rules import Facts, decide
from approvals.policy.versions import in_force
from approvals.requests.digest import digest_of
from approvals.requests.lifecycle import decoy_event, move
from audit.record import Actor, record
from base import work
from base.locks import lock_customer
from base.references import new_reference
from base.work import WorkList
from ledger.books.plans import Movement, Plan, listed

DAY = dt.timedelta(hours=24)
TOOL, REASONS = "issue_refund", ("damaged", "late", "wrong_item")
FIRST = ("Adele", "Bruno", "Carys", "Dylan", "Esther", "Farid", "Greta", "Hamish", "Imogen", "Jonas", "Kezia", "Luca")
LAST = ("Ashdown", "Barlow", "Castellan", "Dunmore", "Everitt", "Fairley", "Guthrie", "Hollis", "Marlowe", "Penrose")
CARDS = ("Visa", "Mastercard")


def make_due() -> Request | None:
    """Make the next decoy if it is time: at most so many in 24 hours, and nobody can tell when."""
    most = settings.PLACET.decoys_per_day
    if not most:
        return None
    with transaction.atomic():
        lock_customer("")  # of nobody: two workers would each make one
        recent = Request.objects.filter(is_decoy=True).order_by("-created_at")[:most]
        return make() if _is_due(list(recent), most) else None


DECOYS = WorkList(
    name="decoys",
    source="(SELECT 'next'::text AS key)",
    key="s.key",
    belongs="%(decoys_per_day)s > 0",
    values=lambda: {"decoys_per_day": settings.PLACET.decoys_per_day},
    order="s.key",
    do=lambda _key: make_due(),
    lease_seconds=lambda: 60.0,
    most_attempts=20,
)


def run_due() -> None:
    """The same as background work, of which nothing depends on its success."""
    work.run(DECOYS)


def _is_due(recent: list[Request], most: int) -> bool:
    """From half to one and a half shares of the day after the last one, by a number that its digest gives."""
    now = timezone.now()
    if len(recent) == most and recent[-1].created_at > now - DAY:
        return False
    return not recent or now - recent[0].created_at > DAY / most * (0.5 + int(recent[0].digest[:4], 16) / 0x10000)


def make() -> Request | None:
    """A decoy like the last real refund that waited for a person; None where there was none, or where the policy in
    force does not ask about refunds."""
    like = Request.objects.filter(is_decoy=False, tool=TOOL).order_by("-created_at").first()
    if like is None:
        return None
    preview, policy = _preview(like), in_force()
    facts = _facts(like, preview["amount_minor"])
    verdict = decide(policy, facts)
    if verdict.outcome != "ask":
        return None
    reference = new_reference("R")
    desk_changed.send(Request, reference=reference)
    sealed: dict[str, Any] = {
        "reference": reference,
        "tool": TOOL,
        "arguments": {name: preview[name] for name in ("order_id", "amount_minor")} | {"reason": facts.reason},
        "preview": preview,
        "customer_id": "",
        "policy_version": policy.version,
    }
    return Request.objects.create(
        **sealed,
        is_decoy=True,
        key=f"decoy:{reference}",
        digest=digest_of(**sealed, revision=1),
        facts=asdict(facts),
        rule=verdict.rule,
        amount_minor=facts.amount_minor,
        currency=facts.currency,
        conversation_id=uuid.uuid4(),
        turn_id=uuid.uuid4(),
        approvals_needed=verdict.approvals_needed,
        lead_needed=verdict.lead_needed,
        expires_at=expires_at(policy, verdict.rule, timezone.now()),
    )


def _preview(like: Request) -> dict[str, Any]:
    """What would change, were it real; with the name of a customer, whom the ledger does not know."""
    name = f"{secrets.choice(FIRST)} {secrets.choice(LAST)}"
    order = re.sub("[0-9]", lambda _: str(secrets.randbelow(10)), like.order_id)
    amount_minor = max(1, like.amount_minor * (70 + secrets.randbelow(61)) // 100)
    card = Movement(
        kind="refund",
        payment_method_id=f"card-{secrets.token_hex(4)}",
        method_kind="card",
        amount_minor=amount_minor,
        label=f"{secrets.choice(CARDS)} ••{secrets.randbelow(10_000):04}",
        paid_before=False,
    )
    words = listed((card,), like.currency)
    plan = Plan(
        tool=TOOL,
        customer_id=f"{name.lower().replace(' ', '_')}_{secrets.randbelow(10_000):04}",
        order_id=order,
        currency=like.currency,
        amount_minor=amount_minor,
        summary=f"Refund {words} for order {order}",
        done=f"Refunded {words}.",
        status_before="delivered",
        order_value_minor=amount_minor,
        movements=(card,),
    )
    return {**plan.to_json(), "customer_name": name}


def _facts(like: Request, amount_minor: int) -> Facts:
    """What the policy would have seen: the first and only write of somebody who signed in like the last one."""
    seen = Facts.stored(like.facts)
    scopes = ("customer", "order", "method", "conversation")
    sums: dict[str, Any] = {f"{of}_{window}_minor": amount_minor for of in scopes for window in ("day", "month")}
    return Facts(
        tool=TOOL,
        currency=like.currency,
        amount_minor=amount_minor,
        **sums,
        reason=secrets.choice(REASONS),
        order_status="delivered",
        pays_unproven_method=True,
        sign_in_minutes=seen.sign_in_minutes,
        sign_in_methods=seen.sign_in_methods,
    )


def end_decoy(request: Request, decision: Decision) -> None:
    """The first decision ends it, in that decision's transaction; nobody is told but the record."""
    approved = decision.verdict == Decision.Verdict.APPROVE
    move(
        request,
        to=Request.State.WITHDRAWN if approved else Request.State.DENIED,
        expected=("pending",),
        decided_by=decision.staff.username,
        decided_at=timezone.now(),
        assigned_to=None,
        assigned_until=None,
        ended_reason="a decoy was approved" if approved else "denied",
    )
    desk_changed.send(Request, reference=request.pk)
    record(
        Actor(kind="staff", id=decision.staff.username),
        decoy_event(request, decision="approved" if approved else "denied"),
        reason=decision.reason_code,
        note=decision.note,
        digest=request.digest,
        seconds=decision.seconds,
        too_fast=decision.too_fast,
    )

"""How the execution of an approved request is bound and how it ends, wherever the shop lives. All of it under the
request's lock."""

from collections.abc import Callable

from agents.chat import notices
from approvals.models import Request
from approvals.news import request_changed
from approvals.policy.facts import circumstances_of, facts_for, standing_of
from approvals.policy.rules import Verdict
from approvals.policy.versions import binding_of, policy_at, verdict_of_reissue
from approvals.requests.digest import digest_of
from approvals.requests.lifecycle import Origin, event_of, move, propose, void_holds
from audit.record import SYSTEM, record
from base.references import new_reference
from ledger.access.credentials import EXECUTE, READ, WRITE, bound_to, mint
from ledger.books.plans import Plan, digest_of_plan
from ledger.protocol.writes import Preview

CHANGED = "what would happen has changed since it was approved"


class Drift(Exception):
    """What would happen now is not what was approved; `again` where people can be asked about what would."""

    def __init__(self, why: str, *, again: bool = False) -> None:
        super().__init__(why)
        self.why, self.again = why, again


def key_of(request: Request) -> str:
    """The key of the execution: nothing but the request and its revision."""
    return f"{request.reference}:{request.revision}"


def credential_for(request: Request) -> str:
    """A credential that can carry out what was approved, once, and nothing else."""
    bound = bound_to(key_of(request), digest_of_plan(request.preview))
    untrusted = bool(circumstances_of(request).untrusted_text)
    return mint(request.customer_id, request.conversation_id, READ, WRITE, EXECUTE, digest=bound, untrusted=untrusted)


def digest_with(request: Request, plan: Plan) -> str:
    """The request's digest, if this were its preview."""
    return digest_of(
        reference=request.reference,
        revision=request.revision,
        tool=request.tool,
        arguments=request.arguments,
        preview=plan.to_json(),
        customer_id=request.customer_id,
        policy_version=request.policy_version,
    )


def executed(request: Request, *, entry_reference: str, done: str, credential_id: str) -> None:
    """It is in the books: the request, the record and the customer are told."""
    move(request, to=Request.State.EXECUTED, expected=(request.state,), entry_reference=entry_reference)
    record(
        SYSTEM,
        event_of(request, kind="execution", decision="executed", downstream_reference=entry_reference),
        credential=credential_id,
        digest=request.digest,
    )
    request_changed.send(Request, request=request, customer_message="")
    notices.notice(
        request.conversation_id, f"{done} Reference {entry_reference}.", key=f"executed:{entry_reference}"
    )  # fmt: skip


def end(request: Request, state: Request.State, why: str) -> None:
    """A state without an effect: what was held is given back."""
    move(request, to=state, expected=(request.state,), ended_reason=why[:300])
    void_holds(request)
    record(SYSTEM, event_of(request, kind="execution", decision=state), reason=why)
    request_changed.send(Request, request=request, customer_message="")


def go_stale(request: Request, drift: Drift, now: Callable[[], Preview]) -> Request | None:
    """Drift is never a surprise: the request ends, and one fresh request, if it may be asked for again, shows what
    would happen now. Its hold is for the caller to place, after the old one was given back here."""
    end(request, Request.State.STALE, drift.why)
    if not drift.again or request.replaces:
        return None
    found, standing = now(), standing_of(request.customer_id)
    facts = facts_for(found.plan, found.moved, standing, request.arguments, circumstances_of(request))
    verdict = verdict_of_reissue(request, binding_of(request), facts)
    return None if verdict.outcome == "deny" else _reissue(request, found.plan, verdict)


def _reissue(request: Request, plan: Plan, verdict: Verdict) -> Request:
    return propose(
        reference=new_reference("R"),
        plan=plan,
        arguments=request.arguments,
        verdict=verdict,
        policy=policy_at(verdict.policy_version),
        origin=Origin(
            key=f"{request.key}:reissued",
            conversation_id=request.conversation_id,
            turn_id=request.turn_id,
            tool_use_id=request.tool_use_id,
            session_id=request.session_id,
        ),
        replaces=request.reference,
    )

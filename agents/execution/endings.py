"""How the execution of an approved request is bound and how it ends, wherever the shop lives. All of it under the
request's lock."""

from agents.chat import notices
from approvals.models import Request
from approvals.news import request_changed
from approvals.policy.facts import circumstances_of
from approvals.policy.rules import Verdict
from approvals.policy.versions import policy_at
from approvals.requests.digest import digest_of
from approvals.requests.lifecycle import Origin, event_of, move, propose, void_holds
from audit.record import SYSTEM, record
from ledger.access.credentials import EXECUTE, READ, WRITE, bound_to, mint
from ledger.books.plans import Plan, digest_of_plan


class Drift(Exception):
    """What would happen now is not what was approved; `plan` is what would, if anything can."""

    def __init__(self, why: str, plan: Plan | None = None) -> None:
        super().__init__(why)
        self.why, self.plan = why, plan


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


def reissue(request: Request, reference: str, plan: Plan, verdict: Verdict) -> None:
    """Ask people again, with what would happen now; not where the policy refuses that."""
    if verdict.outcome == "deny":
        return
    propose(
        reference=reference,
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

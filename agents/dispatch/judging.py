"""What the policy says of a plan, and how a plan that must wait is queued: the same wherever the shop lives."""

from dataclasses import dataclass
from typing import Any

from agents.dispatch.results import Call, Done
from agents.turns.claims import LockedTurn
from approvals.policy.facts import Circumstances, Standing, facts_for, standing_of
from approvals.policy.rules import Policy
from approvals.policy.versions import binding, policy_at, verdict_under
from approvals.requests import lifecycle
from ledger.books.plans import Plan
from ledger.errors import Refused
from ledger.shop.orders import Moved


@dataclass(frozen=True, slots=True)
class Case:
    """What a write is judged by, besides its plan and what the ledger moved."""

    standing: Standing
    around: Circumstances
    policies: tuple[Policy, ...]


def case_of(call: Call, locked: LockedTurn) -> Case:
    """Read under the customer's lock, or two conversations could each see none waiting."""
    return Case(standing_of(call.turn.customer_id), locked.around, binding(*locked.policies))


def judge(plan: Plan, moved: Moved, arguments: dict[str, Any], case: Case, credential_id: str) -> Done:
    """A write that is allowed, or that must wait; Refused where the policy denies it."""
    verdict = verdict_under(case.policies, facts_for(plan, moved, case.standing, arguments, case.around))
    if verdict.outcome == "deny":
        raise Refused(verdict.rule, verdict.message, facts=verdict.facts)
    return Done(plan=plan, verdict=verdict, arguments=arguments, credential_id=credential_id)


def queue(call: Call, done: Done) -> None:
    """Let the write wait for a person, in the dispatch's transaction."""
    lifecycle.propose(
        reference=done.reference,
        plan=done.plan,
        arguments=done.arguments,
        verdict=done.verdict,
        policy=policy_at(done.verdict.policy_version),
        origin=lifecycle.Origin(
            key=call.key,
            conversation_id=call.turn.conversation_id,
            turn_id=call.turn.turn_id,
            tool_use_id=call.tool_use_id,
            session_id=call.turn.session_id,
        ),
    )

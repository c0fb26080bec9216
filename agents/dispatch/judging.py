"""A call that was admitted, what it is judged by, and how a plan that must wait is queued."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from agents.dispatch.results import Call, Done
from agents.tools.registry import Arguments, Tool
from agents.turns.claims import LockedTurn
from approvals.policy.facts import Circumstances, Standing, standing_of
from approvals.policy.rules import Policy
from approvals.policy.versions import binding, policy_at
from approvals.requests import lifecycle
from ledger.books.plans import Plan
from ledger.shop.orders import Moved


@dataclass(frozen=True, slots=True)
class Case:
    """What a write is judged by, besides its plan and what the ledger moved."""

    standing: Standing
    around: Circumstances
    policies: tuple[Policy, ...]


@dataclass(frozen=True, slots=True)
class Admitted:
    """A call that passed the checks; `case` for a write in the shop."""

    call: Call
    tool: Tool
    token: str
    arguments: Arguments
    case: Case | None = None

    @property
    def effective(self) -> dict[str, Any]:
        return self.arguments.model_dump(exclude_none=True)

    @property
    def order_id(self) -> str:
        return str(self.effective.get("order_id", ""))

    def with_case(self, case: Case) -> "Admitted":
        return replace(self, case=case)


class Checks(NamedTuple):
    """The list of `dispatch`, for whichever way commits."""

    identify: Callable[[Call, LockedTurn], Admitted]
    admit: Callable[[Call, LockedTurn], Admitted]
    decide: Callable[[Admitted, Plan, Moved, str], Done]


def case_of(call: Call, turn: LockedTurn) -> Case:
    """Read under the customer's lock, or two conversations could each see none waiting."""
    return Case(standing_of(call.turn.customer_id), turn.around, binding(*turn.policies))


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

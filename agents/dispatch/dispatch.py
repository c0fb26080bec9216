"""ONE tool call: what is checked before the model gets its way, from top to bottom.

This is the whole list, wherever the shop lives. What differs is how effect and evidence are committed: `here` in one
transaction, `elsewhere` as an intent, the act, and its outcome. What is refused leaves only its row.
"""

from agents.dispatch import elsewhere, guards, here
from agents.dispatch.judging import Admitted, Checks, case_of
from agents.dispatch.results import Call, Done, Outcome
from agents.tools.registry import tools
from agents.turns.claims import LockedTurn
from approvals.policy.facts import facts_for
from approvals.policy.versions import verdict_under
from base.locks import lock_customer
from ledger.books.plans import Plan
from ledger.errors import Refused
from ledger.shop.orders import Moved


def dispatch(call: Call) -> Outcome:
    """Decide and act on one `tool_use` block, and store its one result. Raises ShopSilent while it is unknown what a
    shop that lives elsewhere has done."""
    checks = Checks(identify, admit, decide)
    if elsewhere.is_asked(call.name):
        return elsewhere.dispatch(call, checks)
    return here.dispatch(call, checks)


def identify(call: Call, turn: LockedTurn) -> Admitted:
    """Which tool, on whose behalf, with which arguments: under the turn's lock, which says that the turn is still
    ours, the customer still signed in, nobody of the staff in between, and the call not seen before."""
    tool = guards.known_tool(call.name, tools())
    token = guards.credential_for(tool, call.turn.customer_id, turn.around)
    return Admitted(call, tool, token, guards.valid_arguments(tool, call.input))


def admit(call: Call, turn: LockedTurn) -> Admitted:
    """All that is checked before the shop is asked what the call would do."""
    admitted = identify(call, turn)
    tool = admitted.tool
    guards.within_budget(tool, turn)
    if not tool.writes:
        return admitted
    guards.not_stopped(tool)  # by the brake, which nobody can pull from here until the transaction ends
    lock_customer(call.turn.customer_id)  # or two conversations could each stay below a line
    guards.customers_own_wish(tool, turn.around)
    if tool.act is not None:
        return admitted
    case = case_of(call, turn)
    guards.nothing_open(admitted.order_id, case.standing)
    return admitted.with_case(case)


def decide(admitted: Admitted, plan: Plan, moved: Moved, credential_id: str) -> Done:
    """What the policy says of the plan: allowed, or it waits for a person; Refused where it is denied."""
    case, arguments = admitted.case, admitted.effective
    assert case is not None  # every write in the shop has one
    verdict = verdict_under(case.policies, facts_for(plan, moved, case.standing, arguments, case.around))
    if verdict.outcome == "deny":
        raise Refused(verdict.rule, verdict.message, facts=verdict.facts)
    return Done(plan=plan, verdict=verdict, arguments=arguments, credential_id=credential_id)

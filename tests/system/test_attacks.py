"""The public attacks: calls in somebody else's session, with an identity among the arguments, with a victim's
payment method or items, and foreign reads. All refused, nothing changed, and the owner's own call still works."""

import json
from collections import defaultdict

import pytest

from agents.dispatch.dispatch import dispatch
from agents.dispatch.results import Outcome
from approvals.models import Request, Staff
from tests.conftest import make_call
from tests.support import cast
from tests.support.retail import Json, approve_all, approvers, needs_data, others, read, retail_shop

__all__ = ["approvers", "retail_shop"]
pytestmark = [needs_data, pytest.mark.usefixtures("retail_shop", "at_once")]
TASKS = {task["case"]: task for task in read("replay.jsonl")}
ATTACKS: dict[str, dict[int, list[Json]]] = defaultdict(lambda: defaultdict(list))
for attack in read("attacks.jsonl"):
    case, step = attack["case"].split(".")[:2]
    ATTACKS[case][int(step)].append(attack)
NOBODY = ""


# Which guard refuses each kind.
RULES = {
    "A_foreign_session": "not_found",
    "B_identity_in_args": "arguments",
    "C_own_order_foreign_payment_method": "payment_method",
    "D_own_order_foreign_items": "items",
    "E_foreign_read": "not_found",
}


@pytest.mark.parametrize("case", ATTACKS)
def test_attacks_are_refused_and_the_owner_goes_on(case: str, approvers: list[Staff]) -> None:
    task = TASKS[case]
    for number, step in enumerate(task["steps"]):
        if attacks := ATTACKS[case].get(number):
            _withstand(attacks)
        outcome = _call(task["customer_id"], step["tool"], step["input"])
        assert outcome.is_error is not step["accepted"], (number, step, outcome.text)
        approve_all(approvers)


def _withstand(attacks: list[Json]) -> None:
    before = others(NOBODY)
    for attack in attacks:
        outcome = _call(attack["customer_id"], attack["tool"], attack["input"])
        assert (outcome.decision, outcome.is_error) == ("refused", True), attack["case"]
        assert outcome.rule == RULES[attack["variant"]], (attack["case"], outcome.text)
        if attack["must"] == "denied_same_shape_as_not_found":
            _reads_as_none(attack, outcome)
    assert others(NOBODY) == before
    assert not Request.objects.filter(state="pending").exists()


def _reads_as_none(attack: Json, outcome: Outcome) -> None:
    order_id = attack["input"]["order_id"]
    missing = order_id[:-1] + "x"
    none = _call(attack["customer_id"], attack["tool"], {"order_id": missing})
    assert outcome.text.encode() == none.text.replace(missing, order_id).encode()
    assert (outcome.rule, outcome.decision) == (none.rule, none.decision)


def _call(customer_id: str, tool: str, arguments: Json) -> Outcome:
    """One call in a turn of this customer's own."""
    return dispatch(make_call(cast.begin_turn(customer_id), 1, tool, arguments))


def test_every_attack_has_its_task() -> None:
    count = sum(len(attacks) for steps in ATTACKS.values() for attacks in steps.values())
    assert count == len(read("attacks.jsonl"))
    assert ATTACKS.keys() <= TASKS.keys(), json.dumps(sorted(ATTACKS.keys() - TASKS.keys()))

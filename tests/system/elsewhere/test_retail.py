"""A sample of the public tasks and attacks once more, with the shop in another process. Nothing is rolled back there,
so no two of the sample are about one customer."""

from typing import Any

import pytest
from django.db import connection

from approvals.models import Staff
from tests.support import cast
from tests.support.retail import Json, needs_data, retail_shop
from tests.support.standin import Server
from tests.system import test_attacks, test_replay
from tests.system.elsewhere.conftest import SecondProcess

__all__ = ["retail_shop"]
pytestmark = [needs_data, pytest.mark.usefixtures("at_once"), pytest.mark.xdist_group("elsewhere")]
MOST = 6


def sample(tasks: list[Json], skip: int) -> list[Json]:
    """A few tasks of different customers, from all over the list."""
    by_customer = {task["customer_id"]: task for task in tasks}
    return list(by_customer.values())[skip :: max(1, len(by_customer) // MOST)]


@pytest.fixture(scope="module")
def approvers(retail_shop: None, second_process: SecondProcess) -> list[Staff]:
    second_process.control(database=str(connection.settings_dict["NAME"]))
    return [cast.make_staff("lena", "lead"), cast.make_staff("ada", "agent")]


@pytest.mark.parametrize("task", sample(test_replay.TASKS, 0), ids=lambda task: task["case"])
def test_tasks(task: Json, approvers: list[Staff], model: Server) -> None:
    test_replay.test_a_task_ends_as_stated(task, approvers, model)


@pytest.mark.parametrize("case", [task["case"] for task in sample(list(test_attacks.TASKS.values()), 1)])
def test_attacks_there(case: str, approvers: list[Staff]) -> None:
    test_attacks.test_attacks_are_refused_and_the_owner_goes_on(case, approvers)


def test_the_second_process_was_asked(asked: Any) -> None:
    """A guard against a sample that silently stays in this process."""
    from agents.dispatch.elsewhere import is_asked

    assert is_asked("get_order")
    assert not is_asked("withdraw_request")

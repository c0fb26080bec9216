"""The cases of dispatch and execution once more, word for word, with the shop in another process."""

import pytest

from tests.agents.dispatch import test_dispatch
from tests.agents.execution import test_execute
from tests.agents.execution.test_execute import waiting

__all__ = ["waiting"]
pytestmark = pytest.mark.usefixtures("at_once")
_NOT_HERE = {
    # They reach into the shop's process, which is another one here.
    "test_a_handler_that_raises_or_returns_nothing_has_failed",
    "test_a_handler_that_fails_ends_the_request_as_failed",
    # It has a database of its own.
    "test_many_workers_and_a_withdrawal_have_one_outcome",
}
for _cases in (test_dispatch, test_execute):
    globals().update({n: case for n, case in vars(_cases).items() if n.startswith("test_") and n not in _NOT_HERE})

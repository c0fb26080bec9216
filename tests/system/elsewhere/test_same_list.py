"""Both ways of committing pass one list of checks: the same guards, in the same order."""

from collections.abc import Callable
from typing import Any

import pytest

from agents.dispatch import dispatch as listed
from agents.dispatch import guards
from approvals.policy.versions import verdict_under
from base.locks import lock_customer
from tests.conftest import Propose
from tests.support.env import replace

GUARDS = (
    "known_tool", "credential_for", "valid_arguments", "within_budget", "not_stopped", "customers_own_wish",
    "nothing_open",
)  # fmt: skip


@pytest.fixture
def passed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The guards that were asked, in order, and the verdicts."""
    names: list[str] = []

    def noting(name: str, guard: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*given: Any) -> Any:
            names.append(name)
            return guard(*given)

        return noted

    for name in GUARDS:
        monkeypatch.setattr(guards, name, noting(name, getattr(guards, name)))
    monkeypatch.setattr(listed, "lock_customer", noting("lock_customer", lock_customer))
    monkeypatch.setattr(listed, "verdict_under", noting("verdict", verdict_under))
    return names


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("get_order", {"order_id": "4471"}),
        ("issue_refund", {"order_id": "4471", "amount_minor": 1_200, "reason": "damaged"}),
        ("issue_refund", {"order_id": "4471", "amount_minor": 12_400, "reason": "damaged"}),
        ("issue_refund", {"order_id": "4471", "amount_minor": "much", "reason": "damaged"}),
        ("no_such_tool", {}),
    ],
)
def test_here_and_elsewhere(
    propose: Propose, passed: list[str], settings: Any, tool: str, given: dict[str, Any]
) -> None:
    propose(tool, **given)
    there, here = list(passed), passed
    here.clear()
    settings.PLACET = replace(settings.PLACET, ledger_url=None)
    propose(tool, **given | {"order_id": "4472"})  # nothing waits on this one
    checks, verdict = here[: len(here) - ("verdict" in here)], here[-1:] if "verdict" in here else []
    # Elsewhere a write passes the list before the shop says what it would do, and once more when that is decided.
    assert there in (here, [*checks, *checks, *verdict])
    assert len(there) == len(here) or "verdict" in there


def test_an_open_request_is_met_before_the_shop_is_asked(propose: Propose, passed: list[str]) -> None:
    given = {"order_id": "4471", "amount_minor": 12_400, "reason": "damaged"}
    reference = propose("issue_refund", **given).reference
    passed.clear()
    refused = propose("issue_refund", **given)
    assert (refused.rule, reference in refused.text) == ("open_request", True)
    assert passed == [*GUARDS[:5], "lock_customer", *GUARDS[5:]]

"""The rules of the policy, row by row: facts in, verdict and rule out. No database and no prompt is involved."""

import json
from dataclasses import asdict, replace
from itertools import pairwise
from typing import Any

import pytest

from approvals.policy.document import (
    Document,
    InvalidDocument,
    Lines,
    Policy,
    above_ceilings,
    changes,
    read_document,
    within_ceilings,
)
from approvals.policy.rules import AUTOMATIC, Facts, Verdict, decide, may_approve, stricter

DEFAULT = Policy(version=1)


def _facts(amount_minor: int = 1_000, **given: Any) -> Facts:
    """A refund in pounds as the first write of its customer, unless said otherwise."""
    sums = dict.fromkeys(AUTOMATIC.values(), amount_minor)
    return Facts(
        **{"tool": "issue_refund", "currency": "GBP", "order_status": "delivered", "reason": "late", **sums, **given}
    )


def _with(**changed: Any) -> Policy:
    return Policy(version=2, **changed)


def _lines(**changed: Any) -> Policy:
    return _with(lines={"GBP": Lines(**changed)})


ADDRESS = {"tool": "change_order_address", "currency": "", "amount_minor": 0, "customer_day_minor": 0, "reason": ""}

ROWS = [
    # the customer's lines, exact: at a line is within it
    (_facts(1), "allow", "within_lines", 0),
    (_facts(5_000), "allow", "within_lines", 0),
    (_facts(5_001), "ask", "above_automatic_day", 1),
    (_facts(1, customer_day_minor=5_000), "allow", "within_lines", 0),
    (_facts(1, customer_day_minor=5_001), "ask", "above_automatic_day", 1),
    (_facts(1, customer_month_minor=20_000), "allow", "within_lines", 0),
    (_facts(1, customer_month_minor=20_001), "ask", "above_automatic_month", 1),
    (_facts(50_000), "ask", "above_automatic_day", 1),
    (_facts(50_001), "ask", "above_two_people_day", 2),
    (_facts(1, customer_day_minor=50_001, customer_month_minor=50_001), "ask", "above_two_people_day", 2),
    (_facts(1, customer_day_minor=1, customer_month_minor=10**9), "ask", "above_automatic_month", 1),
    # currencies
    (_facts(5_000, currency="USD"), "allow", "within_lines", 0),
    (_facts(5_000, currency="EUR"), "allow", "within_lines", 0),
    (_facts(1, currency="JPY"), "ask", "currency_without_lines", 1),
    # what always asks
    (_facts(reason="other"), "ask", "reason_other", 1),
    (_facts(repeats=True), "ask", "repeat", 1),
    (_facts(0, repeats=True, **{k: v for k, v in ADDRESS.items() if k != "amount_minor"}), "ask", "repeat", 1),
    (_facts(pays_unproven_method=True), "ask", "unproven_method", 1),
    (_facts(untrusted_text="note from get_order"), "ask", "untrusted_text", 1),
    (_facts(50_001, untrusted_text="note from get_order"), "ask", "untrusted_text", 2),
    (_facts(flagged=True), "ask", "flag", 1),
    (_facts(order_status="processed"), "ask", "status_asks", 1),
    (_facts(order_status="pending_items_changed"), "ask", "status_asks", 1),
    (_facts(order_status="return_requested"), "ask", "status_asks", 1),
    (_facts(order_status="exchange_requested"), "ask", "status_asks", 1),
    (_facts(tool="return_items", order_status="processed"), "allow", "within_lines", 0),
    # addresses: what is on its way there
    (Facts(tool="change_order_address"), "allow", "within_lines", 0),
    (Facts(tool="change_order_address", on_the_way={"GBP": 50_000}), "allow", "within_lines", 0),
    (Facts(tool="change_order_address", on_the_way={"GBP": 50_001}), "ask", "address_of_valuable_order", 1),
    (Facts(tool="change_my_address", on_the_way={"GBP": 1, "USD": 50_001}), "ask", "address_of_valuable_order", 1),
    (Facts(tool="change_my_address", on_the_way={"JPY": 1}), "ask", "address_of_valuable_order", 1),
    (Facts(tool="change_my_address", untrusted_text="web_search"), "ask", "untrusted_text", 1),
    (Facts(tool="change_my_address", flagged=True), "ask", "flag", 1),
    # caps and refusals; what is allowed is not refused for what waits
    (_facts(5_001, open_requests=3), "ask", "above_automatic_day", 1),
    (_facts(5_001, open_requests=4), "deny", "too_many_open", 0),
    (_facts(1, open_requests=4), "allow", "within_lines", 0),
    (_facts(5_001, open_requests_site=9_999), "ask", "above_automatic_day", 1),
    (_facts(5_001, open_requests_site=10_000), "deny", "too_many_open_site", 0),
    (_facts(1, denied_reference="R-7F3K9Q"), "deny", "denied_before", 0),
    (_facts(1, denied_reference="R-7F3K9Q", flagged=True), "deny", "denied_before", 0),
]


@pytest.mark.parametrize(("facts", "outcome", "rule", "people"), ROWS)
def test_the_default_policy(facts: Facts, outcome: str, rule: str, people: int) -> None:
    verdict = decide(DEFAULT, facts)
    assert (verdict.outcome, verdict.rule, verdict.approvals_needed) == (outcome, rule, people)
    assert verdict.lead_needed is (people == 2)
    assert verdict.policy_version == 1
    assert verdict.facts == asdict(facts)  # what was seen goes into the record
    assert bool(verdict.message) is (outcome == "deny")


@pytest.mark.parametrize(("line", "sum_"), AUTOMATIC.items())
def test_every_line_is_met_exactly(line: str, sum_: str) -> None:
    policy = _lines(**{"automatic_day": 900, "automatic_month": 900, line: 700})
    assert decide(policy, replace(_facts(1), **{sum_: 700})).outcome == "allow"
    above = decide(policy, replace(_facts(1), **{sum_: 701}))
    assert (above.outcome, above.rule) == ("ask", f"above_{line}")


@pytest.mark.parametrize(
    ("policy", "facts", "outcome", "rule"),
    [
        (_with(tools={"issue_refund": "ask"}), _facts(1), "ask", "tool_asks"),
        (_with(tools={"issue_refund": "never"}), _facts(1), "deny", "tool_never"),
        (_with(tools={"issue_refund": "never"}), _facts(1, flagged=True), "deny", "tool_never"),
        (_with(tools={"cancel_order": "never"}), _facts(1), "allow", "within_lines"),
        (_with(sign_in={"minutes": 30}), _facts(1, sign_in_minutes=30), "allow", "within_lines"),
        (_with(sign_in={"minutes": 30}), _facts(1, sign_in_minutes=31), "ask", "sign_in_old"),
        (_with(sign_in={"minutes": 30}), _facts(1), "ask", "sign_in_old"),
        (
            _with(sign_in={"methods": ("mfa", "hwk")}),
            _facts(1, sign_in_methods=("pwd", "mfa")),
            "allow",
            "within_lines",
        ),
        (_with(sign_in={"methods": ("mfa",)}), _facts(1, sign_in_methods=("pwd",)), "ask", "sign_in_weak"),
        (_with(sign_in={"methods": ("mfa",)}), _facts(1), "ask", "sign_in_weak"),
        (_with(lines={}), _facts(1), "ask", "currency_without_lines"),
        (_lines(automatic_day=0), _facts(1), "ask", "above_automatic_day"),
        (_with(most_open_requests=0), _facts(5_001), "deny", "too_many_open"),
    ],
)
def test_what_a_document_adds(policy: Policy, facts: Facts, outcome: str, rule: str) -> None:
    verdict = decide(policy, facts)
    assert (verdict.outcome, verdict.rule) == (outcome, rule)


def test_split_refunds_become_one_case() -> None:
    """The held ones count, so the parts ask as the whole would."""
    whole = decide(DEFAULT, _facts(60_000))
    part = decide(DEFAULT, _facts(20_000, customer_day_minor=60_000, customer_month_minor=60_000))
    assert (part.rule, part.approvals_needed, part.lead_needed) == (whole.rule, 2, True)


def test_who_may_approve_how_much() -> None:
    policy = _with(approve_up_to={"agent": {"GBP": 20_000}})
    assert may_approve(policy, "agent", "GBP", 20_000)
    assert not may_approve(policy, "agent", "GBP", 20_001)
    assert may_approve(policy, "lead", "GBP", 10**9)
    assert may_approve(policy, "agent", "USD", 10**9)
    assert may_approve(DEFAULT, "agent", "GBP", 10**9)


def _verdict(outcome: Any, people: int = 0, lead: bool = False) -> Verdict:
    return Verdict(outcome=outcome, rule="r", approvals_needed=people, lead_needed=lead)


def test_the_stricter_of_two_verdicts() -> None:
    rising = [_verdict("allow"), _verdict("ask", 1), _verdict("ask", 2), _verdict("ask", 2, True), _verdict("deny")]
    for lower, higher in pairwise(rising):
        assert stricter(lower, higher) is higher
        assert stricter(higher, lower) is higher
    again = _verdict("deny")
    assert stricter(again, rising[-1]) is again


def test_facts_survive_the_record() -> None:
    facts = _facts(on_the_way={"GBP": 3}, sign_in_methods=("pwd",))
    kept = json.loads(json.dumps(asdict(facts))) | {"of_an_older_release": 1}
    assert asdict(Facts.stored(kept)) | {"sign_in_methods": ("pwd",)} == asdict(facts)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("{", "document"),
        ("[]", "document"),
        ('{"line": {}}', "line"),
        ('{"version": 3}', "version"),
        ('{"lines": {"gbp": {}}}', "lines.gbp.[key]"),
        ('{"lines": {"GBP": {"automatic_day": "5000"}}}', "lines.GBP.automatic_day"),
        ('{"lines": {"GBP": {"automatic_day": 50.5}}}', "lines.GBP.automatic_day"),
        ('{"lines": {"GBP": {"automatic_day": true}}}', "lines.GBP.automatic_day"),
        ('{"lines": {"GBP": {"automatic_day": -1}}}', "lines.GBP.automatic_day"),
        ('{"lines": {"GBP": {"automatic_day": 10, "two_people_day": 9}}}', "lines.GBP"),
        ('{"lines": {"GBP": {"automatic": 10}}}', "lines.GBP.automatic"),
        ('{"tools": {"issue_refund": "allow"}}', "tools.issue_refund"),
        ('{"approve_up_to": {"auditor": {"GBP": 1}}}', "approve_up_to.auditor.[key]"),
        ('{"expires_hours": 0}', "expires_hours"),
    ],
)
def test_what_is_no_document_is_named_by_its_path(text: str, path: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        read_document(text)
    assert path in caught.value.faults


def test_nothing_loosens_a_ceiling() -> None:
    loose = Policy(version=2, lines={"GBP": Lines(automatic_day=300), "USD": Lines(automatic_day=50)}, expires_hours=90)
    ceilings = {"automatic_day": 100, "expires_hours": 80, "most_open_requests": 9}
    assert above_ceilings(loose, ceilings).keys() == {"lines.GBP.automatic_day", "expires_hours"}
    lowered = within_ceilings(loose, ceilings)
    assert (lowered.lines["GBP"].automatic_day, lowered.lines["USD"].automatic_day) == (100, 50)
    assert (lowered.expires_hours, lowered.most_open_requests) == (80, 4)


def test_what_differs_between_two_documents() -> None:
    before, after = (
        Document().to_json(),
        Document(lines={"GBP": Lines(call=9)}, tools={"cancel_order": "ask"}).to_json(),
    )
    found = {path: (old, new) for path, old, new in changes(before, after)}
    assert found["lines.GBP.call"] == (None, 9)
    assert found["tools.cancel_order"] == (None, "ask")
    assert found["lines.USD.automatic_day"] == (5_000, None)
    assert changes(before, before) == []

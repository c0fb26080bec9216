"""What happens at the provider without Placet: signed reports, dashboard refunds, disputes, reconciliation."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.execution.execute import execute
from approvals.models import Request, Staff
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Account, Order, Payout, ProviderEvent, Transfer
from ledger.payouts.reconciliation import Finding, reconcile
from ledger.providers import connector
from tests.ledger.payouts.test_sending import balance, payout, run
from tests.support import cast
from tests.support.api import refused
from tests.support.cast import seen_by_staff
from tests.support.provider import SECRET, Provider, deliver

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("provider")]
DASHBOARD = {"payment_intent": "pi_7001", "currency": "gbp"}


@pytest.fixture(autouse=True)
def paid_order(shop: None) -> None:
    as_staff(lambda: cast.make_order("7001", "maya", 9_900, method="maya-visa", provider_reference="pi_7001"))


def account() -> Account:
    return seen_by_staff(lambda: Account.objects.get(order_id="7001"))


def frozen() -> bool:
    return bool(seen_by_staff(lambda: Order.objects.get(pk="7001").frozen))


def compared() -> list[Finding]:
    provider = connector()
    assert provider is not None
    return reconcile(provider)


EVENT = {"id": "evt_1", "type": "refund.created", "data": {"object": {"object": "balance", "id": "b"}}}
BODY = json.dumps(EVENT).encode()


@pytest.mark.parametrize(
    ("secret", "age", "code"),
    [("whsec_forged", 0, "bad_signature"), (SECRET, 310, "bad_signature"), (SECRET, -310, "bad_signature")],
)
def test_a_forged_or_old_signature_is_refused(secret: str, age: int, code: str) -> None:
    refused(deliver(BODY, secret=secret, at=time.time() - age), 400, code)
    assert not seen_by_staff(lambda: ProviderEvent.objects.exists())


@pytest.mark.parametrize("header", ["", "t=1", "v1=00", "t=,v1=", "t=9,v1=é", "t=1,t=2,v1=x,v0=y", "=,=", "t=²,v1=a"])
def test_a_header_that_is_none_is_refused(client: Any, header: str) -> None:
    headers = {"Stripe-Signature": header}
    answer = client.generic("POST", "/ledger/payments/webhook/", BODY, "application/json", headers=headers)
    refused(answer, 400, "bad_signature")


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"id":1,"data":{"object":{"object":"refund"}}}', b"\xff", b"null"]
)
def test_signed_nonsense_is_refused_in_the_one_shape(body: bytes) -> None:
    refused(deliver(body), 400, "malformed")


def test_other_events_are_noted_and_other_methods_refused(client: Any, settings: Any) -> None:
    assert deliver(BODY).json() == {"outcome": "ignored"}
    assert deliver(BODY).json() == {"outcome": "known"}
    refused(client.get("/ledger/payments/webhook/"), 405)


def test_a_dashboard_refund_is_recorded_once(provider: Provider) -> None:
    provider.call("/provider/refund", {**DASHBOARD, "amount": 2_000})
    [event] = provider.events
    assert [deliver(event).json()["outcome"] for _ in range(2)] == ["applied", "known"]
    assert deliver({**event, "id": "evt_again"}).json()["outcome"] == "known"
    assert (balance(), account().over_refunded_minor) == (7_900, 0)
    assert Event.objects.get(kind="payout", decision="external_refund").amount_minor == 2_000


def test_one_that_failed_is_taken_back_whatever_comes_first(provider: Provider) -> None:
    made = provider.call("/provider/refund", {**DASHBOARD, "amount": 2_000, "id": "re_a"})
    provider.call("/provider/change", {"id": made["id"], "status": "failed"})
    created, failed = provider.events
    deliver(created), deliver(failed)
    assert balance() == 9_900
    provider.call("/provider/refund", {**DASHBOARD, "amount": 2_000, "id": "re_b"})
    provider.call("/provider/change", {"id": "re_b", "status": "failed"})
    deliver(provider.events[3]), deliver(provider.events[2])
    assert balance() == 9_900


def test_what_is_nobodys_is_noted_and_listed(provider: Provider) -> None:
    provider.call("/provider/refund", {**DASHBOARD, "payment_intent": "pi_unknown", "amount": 5})
    provider.call("/provider/refund", {**DASHBOARD, "currency": "usd", "amount": 5})
    assert [deliver(event).json()["outcome"] for event in provider.events] == ["unmatched", "unmatched"]
    assert [(found.code, found.repaired) for found in compared()] == [("unmatched", False)] * 2


def test_reality_is_never_refused_and_the_order_shows_it(
    provider: Provider, propose: Callable[..., Any], lead: Staff, at_once: None
) -> None:
    """More is gone than is left: recorded and flagged; what waits is stale, and nothing more goes back."""
    asked = propose("issue_refund", order_id="7001", amount_minor=8_000, reason="damaged")
    assert asked.decision == "queued"
    provider.call("/provider/refund", {**DASHBOARD, "amount": 9_000})
    assert deliver(provider.events[0]).status_code == 200
    request = Request.objects.get(pk=asked.reference)
    assert (request.state, request.ended_reason) == (
        "stale", "order 7001 changed: it was refunded in the payment provider's dashboard",
    )  # fmt: skip
    assert (balance(), account().held_minor, account().over_refunded_minor) == (900, 0, 0)
    provider.call("/provider/refund", {**DASHBOARD, "amount": 1_500})
    deliver(provider.events[1])
    assert (balance(), account().over_refunded_minor) == (-600, 600)
    answer = propose("issue_refund", order_id="7001", amount_minor=100, reason="damaged")
    assert (answer.decision, answer.rule) == ("refused", "balance")
    assert not execute(asked.reference)
    call_command("doctor")


def test_the_schema_refuses_ours_where_reality_went_further(provider: Provider) -> None:
    from django.db import IntegrityError, transaction

    provider.call("/provider/refund", {**DASHBOARD, "amount": 10_500})
    deliver(provider.events[0])
    capture = seen_by_staff(lambda: Transfer.objects.get(order_id="7001", kind="capture"))
    with pytest.raises(IntegrityError, match="never_below_what_is_held"), transaction.atomic():
        as_staff(
            lambda: Transfer.objects.create(
                kind="refund",
                debit_id=capture.credit_id,
                credit_id=capture.debit_id,
                amount_minor=1,
                currency="GBP",
                customer_id="maya",
                order_id="7001",
            )
        )


@pytest.mark.parametrize(("end", "left"), [("won", 9_900), ("lost", 0)])
@pytest.mark.parametrize("order", [(0, 1), (1, 0), (1, 1, 0, 1)], ids=str)
def test_a_dispute_freezes_the_order_until_it_is_decided(
    provider: Provider, propose: Callable[..., Any], end: str, left: int, order: tuple[int, ...]
) -> None:
    made = provider.call("/provider/dispute", {**DASHBOARD, "amount": 9_900})
    provider.call("/provider/change", {"id": made["id"], "status": end})
    events = provider.events
    for n in order:
        assert deliver(events[n]).status_code == 200
        if (n, order) == (0, (0, 1)):
            assert (frozen(), balance()) == (True, 0)
            answer = propose("issue_refund", order_id="7001", amount_minor=5, reason="late")
            assert (answer.decision, answer.rule) == ("refused", "frozen")
    assert (frozen(), balance()) == (False, left)
    assert Event.objects.filter(kind="payout", decision=f"dispute_{end}").count() == 1
    call_command("doctor")


def test_an_inquiry_freezes_but_takes_no_money(provider: Provider) -> None:
    made = provider.call("/provider/dispute", {**DASHBOARD, "amount": 9_900, "status": "warning_needs_response"})
    deliver(provider.events[0])
    assert (frozen(), balance()) == (True, 9_900)
    provider.call("/provider/change", {"id": made["id"], "status": "warning_closed"})
    deliver(provider.events[1])
    assert (frozen(), balance()) == (False, 9_900)


def test_reconciliation_finds_what_no_report_told(provider: Provider, propose: Callable[..., Any]) -> None:
    propose("issue_refund", order_id="7001", amount_minor=1_200, reason="damaged")
    provider.plan("late")
    run()
    provider.call("/provider/change", {"id": payout().provider_reference, "status": "failed"})
    provider.call("/provider/refund", {**DASHBOARD, "amount": 500})
    provider.call("/provider/dispute", {**DASHBOARD, "amount": 300})
    assert sorted((found.code, found.repaired) for found in compared()) == [
        ("outside", True), ("outside", True), ("state", True),
    ]  # fmt: skip
    assert (payout().state, balance(), frozen()) == ("failed", 9_900 - 800, True)
    assert compared() == []


def test_after_a_restore_of_an_older_backup_the_orphans_are_listed(
    provider: Provider, propose: Callable[..., Any]
) -> None:
    """The provider has a refund under a key of ours that our books no longer know (the database went back)."""
    provider.call(
        "/provider/refund",
        {**DASHBOARD, "amount": 1_200, "metadata": {"placet_key": "99-T-GONE0000", "placet_entry": "T-GONE0000"}},
    )
    [orphan] = compared()
    assert (orphan.code, orphan.repaired) == ("orphan", True)
    assert "99-T-GONE0000" in orphan.text
    assert balance() == 8_700
    answer = propose("issue_refund", order_id="7001", amount_minor=9_000, reason="damaged")
    assert (answer.decision, answer.rule) == ("refused", "balance")


def test_a_second_object_under_one_key_is_a_refund_of_its_own(provider: Provider, propose: Callable[..., Any]) -> None:
    propose("issue_refund", order_id="7001", amount_minor=1_200, reason="damaged")
    run()
    provider.call("/provider/refund", {**DASHBOARD, "amount": 1_200, "metadata": {"placet_key": payout().key}})
    deliver(provider.events[-1])
    assert balance() == 9_900 - 2_400


def test_the_command_lists_resolves_and_compares(
    provider: Provider, propose: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    reference = propose("issue_refund", order_id="7001", amount_minor=1_200, reason="damaged").reference
    provider.plan("drop_after")
    run()
    call_command("payouts", "list")
    assert f"unknown refund £12.00 order=7001 entry={reference}" in capsys.readouterr().out
    call_command("payouts", "resolve", str(payout().pk))
    assert capsys.readouterr().out == f"{payout().key} is now settled.\n"
    call_command("payouts", "reconcile")
    provider.call("/provider/refund", {**DASHBOARD, "payment_intent": "pi_unknown", "amount": 5})
    with pytest.raises(CommandError, match="1 of 1 disagreements"):
        call_command("payouts", "reconcile")
    with pytest.raises(CommandError, match="There is no payout 5"):
        call_command("payouts", "resolve", "5")
    call_command("payouts", "list")
    assert capsys.readouterr().out.endswith("No payout needs anybody.\n")


def test_the_page_is_read_by_all_and_acted_on_by_leads(
    provider: Provider, propose: Callable[..., Any], signed_in: Any, agent: Staff, lead: Staff, auditor: Staff
) -> None:
    reference = propose("issue_refund", order_id="7001", amount_minor=1_200, reason="damaged").reference
    provider.plan("decline")
    run()
    act, compare = f"/console/payouts/{payout().pk}/", "/console/payouts/reconcile/"
    for staff in (agent, auditor):
        page = signed_in(staff).get("/console/payouts/")
        assert reference in page.content.decode()
        assert "Taken care of" not in page.content.decode()
        assert signed_in(staff).post(act, {"handled": "1"}).status_code == 403
        assert signed_in(staff).post(compare).status_code == 403
    browser = signed_in(lead)
    assert "Taken care of" in browser.get("/console/payouts/").content.decode()
    assert browser.get(act).status_code == 405
    browser.post(act, {"handled": "1"})
    assert payout().handled_by == "lena"
    page = browser.get("/console/payouts/").content.decode()
    assert "is marked as taken care of" in page
    assert "No payout needs anybody." in page
    assert reference in browser.get("/console/payouts/?tab=all").content.decode()
    assert browser.get("/console/payouts/?tab=none").status_code == 404
    assert "They agree" in browser.post(compare).content.decode()
    provider.call("/provider/refund", {**DASHBOARD, "amount": 500})
    assert "Recorded in the books" in browser.post(compare).content.decode()


def test_the_case_file_shows_it(provider: Provider, propose: Callable[..., Any], signed_in: Any, lead: Staff) -> None:
    provider.call("/provider/refund", {**DASHBOARD, "amount": 10_500})
    provider.call("/provider/dispute", {**DASHBOARD, "amount": 300})
    asked = propose("issue_refund", order_id="7001", amount_minor=8_000, reason="damaged").reference
    for event in provider.events:
        deliver(event)
    page = signed_in(lead).get(f"/console/requests/{asked}/").content.decode()
    assert "Over-refunded by £9.00" in page
    assert "Frozen" in page
    assert seen_by_staff(lambda: Payout.objects.count()) == 0

"""What the payment provider can never move is refused before anything is asked."""

from typing import Any

import pytest

from approvals.models import Request
from ledger.access.staff import as_staff
from ledger.models import Entry, PaymentMethod, Payout
from tests.conftest import Propose
from tests.support import cast
from tests.support.cast import seen_by_staff
from tests.support.env import replace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("provider")]


@pytest.fixture
def paid_by_paypal(shop: None) -> None:
    def fill() -> None:
        for position, (name, kind) in enumerate({"maya-paypal": "paypal", "maya-mastercard": "card"}.items(), 2):
            PaymentMethod.objects.create(payment_method_id=name, customer_id="maya", position=position, kind=kind)
        cast.make_order("7002", "maya", 2_400, method="maya-paypal", status="pending")

    as_staff(fill)


def _nothing_happened() -> bool:
    return not (Request.objects.exists() or seen_by_staff(Entry.objects.exists) or seen_by_staff(Payout.objects.exists))


def test_a_card_that_never_paid_here_is_not_charged(paid_by_paypal: None, propose: Propose) -> None:
    """Moved to such a card the charge failed, the refund went, and the order was still to be sent."""
    refused = propose("change_order_payment", order_id="7002", payment_method_id="maya-mastercard")
    assert (refused.decision, refused.rule) == ("refused", "payment_method")
    assert "never paid in this shop" in refused.text
    assert "maya-paypal" in refused.text
    assert _nothing_happened()


def test_without_a_provider_the_shops_own_rules_stand_alone(
    paid_by_paypal: None, propose: Propose, settings: Any
) -> None:
    settings.PLACET = replace(settings.PLACET, payments="off")
    assert not propose("change_order_payment", order_id="7002", payment_method_id="maya-mastercard").is_error


def test_stripe_gives_nothing_back_that_it_never_took(shop: None, propose: Propose, settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, payments="stripe", stripe_api_key="sk_test_1")
    refused = propose("issue_refund", order_id="4471", amount_minor=1_200, reason="damaged")
    assert (refused.rule, "can go back to it" in refused.text) == ("payment_method", True)
    assert _nothing_happened()


def test_an_amount_that_cannot_be_paid_is_refused_with_those_that_can(shop: None, propose: Propose) -> None:
    as_staff(lambda: cast.make_order("7003", "maya", 50_000, method="maya-visa", currency="KWD"))
    refused = propose("issue_refund", order_id="7003", amount_minor=12_345, reason="damaged")
    assert refused.rule == "amount_not_payable"
    assert "12.340 KWD or 12.350 KWD can" in refused.text
    assert _nothing_happened()

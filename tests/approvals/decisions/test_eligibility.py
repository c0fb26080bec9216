"""Who is kept from deciding because they may be the customer, and who gives the second approval."""

from typing import Any

import pytest
from django.urls import reverse

from approvals import errors
from approvals.casefile import conflicts
from approvals.decisions import eligibility
from approvals.decisions.deciding import decide
from approvals.decisions.undo import undo
from approvals.models import Clearance, Request, Staff
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Customer, PaymentMethod
from tests.conftest import Propose
from tests.support import cast
from tests.support.cast import here


@pytest.fixture
def waiting(propose: Propose) -> Request:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


@pytest.fixture
def large(propose: Propose) -> Request:
    propose("issue_refund", order_id="4472", amount_minor=60_000, reason="late")
    return Request.objects.get()


def approve(request: Request, staff: Staff) -> Request:
    return decide(
        reference=request.reference, staff=staff, verdict="approve", digest=request.digest, shown={}, proof=here()
    )


def other_account(*methods: dict[str, Any], **fields: Any) -> Staff:
    """A colleague who is a customer too, under another id than Maya's."""

    def make() -> None:
        cast.make_customer("other", *methods)
        Customer.objects.filter(pk="maya").update(phone="0117 496-0000")
        Customer.objects.filter(pk="other").update(**fields)

    as_staff(make)
    return cast.make_staff("olga", "agent", customer_id="other")


ELSEWHERE = {**cast.ADDRESS, "line1": "9 Elsewhere"}


@pytest.mark.parametrize(
    ("methods", "fields", "what"),
    [
        ((), {"email": "MAYA@example.com ", "address": ELSEWHERE}, "an e-mail address"),
        ((), {"address": cast.ADDRESS | {"line1": "1 quay", "postal_code": "bs1"}}, "a postal address"),
        (({"payment_method_id": "o-visa", "kind": "card", "brand": "visa", "last4": "4242"},), {"address": ELSEWHERE},
         "a payment method"),
        ((), {"phone": "00 44 117 496 0000", "address": ELSEWHERE}, "a telephone number"),
    ],
)  # fmt: skip
def test_who_shares_something_with_the_customer_waits_for_a_lead(
    waiting: Request, lead: Staff, methods: tuple[dict[str, Any], ...], fields: dict[str, Any], what: str
) -> None:
    olga = other_account(*methods, **fields)
    with pytest.raises(errors.Forbidden, match=f"share {what}") as caught:
        approve(waiting, olga)
    assert caught.value.code == "self"
    assert conflicts.conflicts_of("maya") == [(olga, [what])]
    conflicts.clear(staff=olga, customer_id="maya", by=lead, reason="a neighbour")
    assert approve(waiting, olga).state == "approved"
    assert Event.objects.get(kind="role", decision="cleared").actor_id == "lena"


def test_an_own_e_mail_address_is_enough(waiting: Request) -> None:
    mail = cast.make_staff("may", "agent", email="maya@example.com")
    with pytest.raises(errors.Forbidden, match="e-mail"):
        approve(waiting, mail)


def test_strangers_share_nothing(waiting: Request) -> None:
    other = {"payment_method_id": "o-visa", "kind": "card", "brand": "visa", "last4": "1111"}
    assert approve(waiting, other_account(other, address=ELSEWHERE)).state == "approved"
    assert not as_staff(lambda: PaymentMethod.objects.filter(customer_id="other", last4="4242").exists())


def test_nobody_clears_themself_and_agents_nobody(waiting: Request, agent: Staff, lead: Staff) -> None:
    for staff, by in ((lead, lead), (agent, agent), (lead, agent)):
        with pytest.raises(errors.Forbidden):
            conflicts.clear(staff=staff, customer_id="maya", by=by, reason="x")
    assert not Clearance.objects.exists()


def test_a_lead_clears_on_the_customers_page(signed_in: Any, waiting: Request, agent: Staff, lead: Staff) -> None:
    olga = other_account(address=cast.ADDRESS)
    client, page = signed_in(lead), reverse("customer", args=["maya"])
    assert b"Clear olga" in client.get(page).content
    client.post(reverse("clearances"), {"customer": "maya", "staff": "olga", "reason": "a neighbour"})
    assert conflicts.shared_with(olga, "maya") == []
    assert signed_in(agent).post(reverse("clearances")).status_code == 403


def test_the_second_approver_is_assigned_by_load(large: Request, agent: Staff, lead: Staff) -> None:
    second = cast.make_staff("lou", "lead")
    Request.objects.filter(pk=large.pk).update(second_approver=lead)  # lena has one already
    approve(large, agent)
    large.refresh_from_db()
    assert large.second_approver == second
    with pytest.raises(errors.Forbidden, match="assigned to lou") as caught:
        approve(large, lead)
    assert caught.value.code == "assigned"
    assert approve(large, second).state == "approved"
    event = Event.objects.get(kind="request", decision="assigned")
    assert ("lou" in event.detail.body, event.actor_kind) == (True, "system")


def test_a_lead_has_it_assigned_again_without_choosing(
    signed_in: Any, large: Request, agent: Staff, lead: Staff
) -> None:
    lou = cast.make_staff("lou", "lead")
    approve(large, agent)
    first = Request.objects.get().second_approver
    boss = cast.make_staff("bo", "lead")
    signed_in(boss).post(reverse("request-reassign", args=[large.reference]))
    assert Request.objects.get().second_approver in {lou, lead, boss} - {first}
    with pytest.raises(errors.Forbidden):
        eligibility.reassign(reference=large.reference, by=agent)


def test_anybody_may_deny_what_is_assigned(large: Request, agent: Staff, lead: Staff) -> None:
    approve(large, agent)
    denied = decide(
        reference=large.reference, staff=cast.make_staff("aaron", "agent"), verdict="deny", digest=large.digest,
        shown={}, proof=here(), reason_code="policy",
    )  # fmt: skip
    assert denied.state == "denied"


def test_taking_the_first_approval_back_ends_the_assignment(large: Request, agent: Staff, lead: Staff) -> None:
    approve(large, agent)
    assert Request.objects.get().second_approver == lead
    undo(reference=large.reference, staff=agent)
    assert Request.objects.get().second_approver is None


def test_without_a_second_person_nobody_approves(large: Request, agent: Staff) -> None:
    approve(large, agent)
    assert Request.objects.get().second_approver is None
    lena = cast.make_staff("lena", "lead")
    assert approve(large, lena).state == "approved"


def test_a_colleagues_own_number_counts_without_an_account(waiting: Request) -> None:
    as_staff(lambda: Customer.objects.filter(pk="maya").update(phone="+44 (0)117 496 0000"))
    olga = cast.make_staff("olga", "agent", phone="0117 496 0000")
    assert conflicts.shared_with(olga, "maya") == ["a telephone number"]
    assert conflicts.conflicts_of("maya") == [(olga, ["a telephone number"])]
    assert conflicts.shared_with(cast.make_staff("oda", "agent", phone="0117 496 0001"), "maya") == []

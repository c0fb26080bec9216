"""One customer as staff see them."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from agents.chat import conversations, takeover
from agents.turns.claims import Claimed
from approvals.models import Staff
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Customer
from tests.conftest import Propose
from tests.support.cast import make_customer

pytestmark = pytest.mark.django_db
MAYA = "/console/customers/maya/"


def test_everything_in_one_place(signed_in: Any, propose: Propose, agent: Staff, turn: Claimed) -> None:
    card = {"payment_method_id": "nora-visa", "kind": "card", "brand": "visa", "last4": "4242"}
    as_staff(lambda: make_customer("nora", card))
    done = propose("issue_refund", order_id="4472", amount_minor=100, reason="damaged").reference
    asked = propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged").reference
    takeover.take_over(conversation_id=turn.conversation_id, staff=agent)
    body = signed_in(agent).get(MAYA).content.decode()
    for text in ("maya@example.com", "1 Quay", "••4242", "Nora", done, asked, "4473", "With staff", "without a person"):
        assert text in body, text
    assert str(turn.conversation_id) in body


def test_how_they_signed_in(signed_in: Any, agent: Staff, shop: None) -> None:
    assert b"not in a chat yet" in signed_in(agent).get(MAYA).content
    found = conversations.begin(customer_id="maya", session_id="s1")
    assert b"does not say when or how" in signed_in(agent).get(MAYA).content
    found.auth_time, found.amr = "2026-11-01T10:00:00Z", ["pwd", "otp"]
    found.save(update_fields=["auth_time", "amr"])
    assert b"(pwd, otp)" in signed_in(agent).get(MAYA).content


def test_somebody_who_never_did_anything(signed_in: Any, agent: Staff, shop: None) -> None:
    as_staff(
        lambda: Customer.objects.create(customer_id="new", name="New", email="n@example.com", address={}, imported={})
    )
    body = signed_in(agent).get("/console/customers/new/").content.decode()
    for text in ("None yet.", "They never wrote.", "Nothing yet.", "No orders.", "Nobody with the same brand"):
        assert text in body


def test_who_may_and_how(client: Client, signed_in: Any, agent: Staff, auditor: Staff, shop: None) -> None:
    assert client.get(MAYA)["Location"].startswith(reverse("sign-in"))
    assert signed_in(agent).post(MAYA).status_code == 405
    for staff in (agent, auditor):
        assert signed_in(staff).get(MAYA).status_code == 200
    assert Event.objects.filter(kind="access", customer_id="maya", decision="read").count() == 2
    assert signed_in(agent).get("/console/customers/nobody/").status_code == 404


def test_as_many_queries_however_much_there_is(
    signed_in: Any, agent: Staff, propose: Propose, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        propose("issue_refund", order_id="4471", amount_minor=100 + number, reason="damaged")
        conversations.begin(customer_id="maya", session_id="s1")
    client = signed_in(agent)
    with django_assert_max_num_queries(40):
        client.get(MAYA)

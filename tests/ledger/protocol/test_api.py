"""The ledger's protocol over HTTP: what a credential opens, what it does not, and that a write happens once."""

import datetime as dt
import uuid
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import Case, GenerationMode
from schemathesis.specs.openapi.checks import negative_data_rejection

from ledger.access.credentials import EXECUTE, READ, WRITE, bound_to, mint
from ledger.access.staff import as_staff
from ledger.models import Customer, Entry, Hold
from tests.support.api import Api
from tests.support.cast import seen_by_staff

BASE = "/ledger/v1/"
CONVERSATION = uuid.uuid4()
REFUND: dict[str, Any] = {
    "tool": "issue_refund",
    "arguments": {"order_id": "4471", "amount_minor": 1_200, "reason": "damaged"},
}
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shop")]


def as_customer(customer_id: str = "maya", *scopes: str, digest: str = "") -> Api:
    return Api(mint(customer_id, CONVERSATION, *(scopes or (READ, WRITE)), digest=digest))


def answered(response: Any, status: int = 200, code: str = "") -> dict[str, Any]:
    body: dict[str, Any] = response.json()
    assert (response.status_code, body.get("code", "")) == (status, code), body
    return body


def previewed(api: Api, **changed: Any) -> dict[str, Any]:
    asked = {**REFUND, "arguments": REFUND["arguments"] | changed}
    preview = answered(api.post(BASE + "plans/", asked))
    return asked | {"digest": preview["digest"], "basis": preview["basis"]}


def entries() -> int:
    return seen_by_staff(Entry.objects.count)


def holds() -> list[str]:
    return seen_by_staff(lambda: list(Hold.objects.filter(owner__startswith="R-").values_list("state", flat=True)))


# Reading.


def test_what_a_customer_reads() -> None:
    maya = as_customer("maya", READ)
    assert answered(maya.get(BASE + "profile/"))["profile"]["customer_id"] == "maya"
    assert [row["order_id"] for row in answered(maya.get(BASE + "orders/", status="pending"))["items"]] == ["4473"]
    order = answered(maya.get(BASE + "order/", order_id="4471"))
    assert (order["balance_minor"], order["methods"]["maya-visa"]["last4"]) == (12_400, "4242")
    assert answered(maya.get(BASE + "product/", product_id="mug"))["name"] == "Mug"
    assert answered(maya.get(BASE + "products/", query="mug"))["next_cursor"] is None


def test_somebody_elses_order_is_refused_byte_for_byte_as_none() -> None:
    maya = as_customer("maya", READ)
    foreign, missing = (maya.get(BASE + "order/", order_id=order_id) for order_id in ("5001", "5002"))
    assert answered(foreign, 409, "refused")["rule"] == "not_found"
    assert foreign.content.replace(b"5001", b"5002") == missing.content
    planned = {"tool": "cancel_order", "arguments": {"order_id": "5001", "reason": "no_longer_needed"}}
    assert answered(as_customer().post(BASE + "plans/", planned), 409, "refused")["rule"] == "not_found"


@pytest.mark.parametrize("order_id", ["../profile/", "..", "a/b", "%2e%2e%2fprofile", "?x=1", "#1", "é\u202e"])
def test_an_order_id_is_only_ever_an_order_id(order_id: str) -> None:
    assert answered(as_customer().get(BASE + "order/", order_id=order_id), 409, "refused")["rule"] == "not_found"


@pytest.mark.parametrize("value", ["\x00", "x" * 1_001, ""])
def test_a_query_that_no_column_can_hold_is_named(value: str) -> None:
    body = answered(as_customer().get(BASE + "order/", order_id=value), 422, "invalid")
    assert list(body["fields"]) == ["order_id"]


def test_a_name_that_a_query_does_not_know_is_refused() -> None:
    body = answered(as_customer().get(BASE + "orders/", customer_id="noor"), 422, "invalid")
    assert list(body["fields"]) == ["customer_id"]


# Writing.


def test_a_preview_changes_nothing_and_what_was_shown_is_posted_once() -> None:
    maya = as_customer()
    shown = previewed(maya)
    assert entries() == 0
    first = answered(maya.post(BASE + "entries/", shown | {"key": "k1"}))
    again = answered(maya.post(BASE + "entries/", shown | {"key": "k1"}))
    assert (first["replayed"], again["replayed"], entries()) == (False, True, 1)
    assert first["reference"] == again["reference"]
    assert answered(maya.get(BASE + "entries/", key="k1"))["plan"] == first["plan"]
    assert first["plan"]["done"] == "Refunded £12.00 to Visa ••4242."


def test_the_same_key_for_another_write_is_a_conflict() -> None:
    maya = as_customer()
    answered(maya.post(BASE + "entries/", previewed(maya) | {"key": "k1"}))
    other = previewed(maya, amount_minor=300) | {"key": "k1"}
    answered(maya.post(BASE + "entries/", other), 409, "key_used")
    noor = as_customer("noor")
    asked = {"tool": "issue_refund", "arguments": {"order_id": "5001", "amount_minor": 1, "reason": "late"}}
    shown = answered(noor.post(BASE + "plans/", asked))
    answered(noor.post(BASE + "entries/", asked | {"digest": shown["digest"], "key": "k1"}), 409, "key_used")
    answered(noor.get(BASE + "entries/", key="k1"), 404, "not_found")
    assert entries() == 1


def test_what_changed_since_it_was_shown_is_shown_again() -> None:
    maya = as_customer()
    shown, other = previewed(maya), previewed(maya, order_id="4472")
    answered(maya.post(BASE + "entries/", other | {"key": "k1"}))
    fresh = answered(maya.post(BASE + "entries/", shown | {"key": "k2"}), 412, "changed")["preview"]
    assert (fresh["digest"], fresh["moved"]["customer_day_minor"]) == (shown["digest"], 1_200)
    answered(maya.post(BASE + "entries/", shown | {"basis": fresh["basis"], "key": "k2"}))
    wrong = shown | {"digest": "0" * 64, "basis": fresh["basis"], "key": "k3"}
    answered(maya.post(BASE + "entries/", wrong), 412, "changed")
    assert entries() == 2


def test_the_rules_hold_here_whatever_the_caller_claims() -> None:
    maya = as_customer()
    lie = previewed(maya) | {"arguments": REFUND["arguments"] | {"amount_minor": 12_401}, "key": "k1"}
    body = answered(maya.post(BASE + "entries/", lie), 409, "refused")
    assert (body["rule"], body["message"][:45]) == ("balance", "At most £124.00 of order 4471 can still be re")
    for arguments in ({}, {"order_id": 1}, REFUND["arguments"] | {"customer_id": "noor"}):
        asked = {"tool": "issue_refund", "arguments": arguments}
        assert answered(maya.post(BASE + "plans/", asked), 409, "refused")["rule"] == "arguments"
    for tool in ("get_order", "hand_off_to_human", "drop_tables"):
        answered(maya.post(BASE + "plans/", {"tool": tool, "arguments": {}}), 409, "refused")
    assert entries() == 0


def test_a_hold_is_placed_once_and_given_back_once() -> None:
    maya = as_customer()
    hold = previewed(maya, amount_minor=12_400) | {"owner": "R-7F3K9Q"}
    for _ in range(2):
        assert answered(maya.post(BASE + "holds/", hold)) == {"holds": 1}
    assert holds() == ["pending"]
    assert answered(maya.get(BASE + "order/", order_id="4471"))["held_minor"] == 12_400
    owner = {"owner": "R-7F3K9Q"}
    assert [answered(maya.post(BASE + "holds/void/", owner))["holds"] for _ in range(2)] == [1, 0]
    answered(maya.post(BASE + "holds/", hold), 409, "key_used")
    assert holds() == ["voided"]


def test_a_hold_of_a_return_is_nobodys_to_end() -> None:
    maya = as_customer()
    asked = {
        "tool": "return_items",
        "arguments": {"order_id": "4471", "item_ids": ["4471-2"], "payment_method_id": "maya-visa"},
    }
    shown = asked | {"digest": answered(maya.post(BASE + "plans/", asked))["digest"]}
    reference = answered(maya.post(BASE + "entries/", shown | {"key": "k1"}))["reference"]
    answered(maya.post(BASE + "holds/void/", {"owner": reference}), 422, "invalid")
    assert seen_by_staff(lambda: Hold.objects.get().state) == "pending"


# Credentials.


@pytest.mark.parametrize(
    "header", [None, "x.y.z", mint("maya", CONVERSATION, READ)[:-4] + "AAAA"], ids=["none", "garbage", "forged"]
)
def test_without_a_good_credential_nothing_is_seen_or_done(header: str | None) -> None:
    for path in ("profile/", "orders/", "order/?order_id=4471", "products/", "entries/?key=k"):
        answered(Api(header).get(BASE + path), 401, "unauthenticated")
    for path in ("plans/", "entries/", "holds/", "holds/void/"):
        answered(Api(header).post(BASE + path, REFUND), 401, "unauthenticated")
    assert (entries(), holds()) == (0, [])


def test_an_expired_one_and_one_of_a_disabled_customer_open_nothing() -> None:
    maya = as_customer()
    answered(maya.get(BASE + "profile/"))
    as_staff(lambda: Customer.objects.filter(pk="maya").update(disabled_at=dt.datetime.now(dt.UTC)))
    answered(maya.get(BASE + "profile/"), 401, "unauthenticated")
    answered(maya.post(BASE + "plans/", REFUND), 401, "unauthenticated")


def test_a_session_of_staff_opens_nothing(signed_in: Any, lead: Any) -> None:
    browser: Client = signed_in(lead)
    assert browser.get(BASE + "profile/").status_code == 401


def test_one_that_reads_does_not_write() -> None:
    reader, shown = as_customer("maya", READ), previewed(as_customer())
    for path, body in (
        ("plans/", REFUND),
        ("entries/", shown | {"key": "k1"}),
        ("holds/", shown | {"owner": "R-7F3K9Q"}),
        ("holds/void/", {"owner": "R-7F3K9Q"}),
    ):
        answered(reader.post(BASE + path, body), 403, "credential")
    writer = as_customer("maya", WRITE)
    answered(writer.get(BASE + "profile/"), 403, "credential")
    assert (entries(), holds()) == (0, [])


def test_one_of_another_customer_reaches_nothing_of_this_one() -> None:
    shown, noor = previewed(as_customer()), as_customer("noor")
    for path, body in (
        ("plans/", REFUND),
        ("entries/", shown | {"key": "k1"}),
        ("holds/", shown | {"owner": "R-7F3K9Q"}),
    ):
        assert answered(noor.post(BASE + path, body), 409, "refused")["rule"] == "not_found"
    assert (entries(), holds()) == (0, [])
    held = previewed(as_customer(), amount_minor=12_400) | {"owner": "R-7F3K9Q"}
    answered(as_customer().post(BASE + "holds/", held))
    assert answered(noor.post(BASE + "holds/void/", {"owner": "R-7F3K9Q"})) == {"holds": 0}
    assert holds() == ["pending"]


def test_one_of_an_approved_action_does_that_action_alone() -> None:
    maya = as_customer()
    shown = previewed(maya, amount_minor=12_400)
    del shown["basis"]
    answered(maya.post(BASE + "holds/", shown | {"owner": "R-7F3K9Q"}))
    approved = shown | {"key": "R-7F3K9Q:1", "request_reference": "R-7F3K9Q", "owner": "R-7F3K9Q"}
    bound = as_customer("maya", READ, WRITE, EXECUTE, digest=bound_to("R-7F3K9Q:1", shown["digest"]))
    answered(maya.post(BASE + "entries/", approved), 403, "credential")
    other = previewed(maya, order_id="4472")
    for body in (other | {"key": "R-7F3K9Q:1"}, other | {"key": "k2"}, other | approved | {"key": "R-7F3K9Q:2"}):
        assert bound.post(BASE + "entries/", body).status_code in (403, 412), body
    for part in ({"key": "k2"}, {"owner": "R-7F3K9R"}, {"request_reference": "R-7F3K9R"}):
        answered(bound.post(BASE + "entries/", approved | part), 409, "not_one_request")
    answered(bound.post(BASE + "holds/", other | {"owner": "R-7F3K9R"}), 403, "credential")
    answered(bound.post(BASE + "holds/void/", {"owner": "R-7F3K9Q"}), 403, "credential")
    assert (entries(), holds()) == (0, ["pending"])
    answered(bound.post(BASE + "entries/", approved))
    assert (entries(), holds()) == (1, ["posted"])
    again = answered(bound.post(BASE + "entries/", approved))
    assert (again["replayed"], entries()) == (True, 1)


# Whatever else is sent.

OPERATIONS = [
    ("GET", "profile/"), ("GET", "orders/"), ("GET", "order/"), ("GET", "products/"), ("GET", "product/"),
    ("GET", "entries/"), ("POST", "plans/"), ("POST", "entries/"), ("POST", "holds/"), ("POST", "holds/void/"),
]  # fmt: skip


@cache
def described() -> Any:
    schema = SchemaGenerator().get_schema(public=True)
    schema["paths"] = {path: item for path, item in schema["paths"].items() if path.startswith(BASE)}
    for item in schema["paths"].values():
        for operation in item.values():
            if "requestBody" in operation:  # the test signs in: what only lacks that is no wrong request
                del operation["security"]
    loaded = schemathesis.openapi.from_dict(schema)
    loaded.config.update(base_url="http://localhost")
    loaded.app = get_wsgi_application()
    return loaded


def test_every_address_of_the_protocol_is_described() -> None:
    paths = described().raw_schema["paths"]
    found = {(method.upper(), path) for path, item in paths.items() for method in item}
    assert found == {(method, BASE + path) for method, path in OPERATIONS}


@pytest.fixture
def kept_connection() -> Iterator[None]:
    """As in Django's own test client: a request's end does not close what the test's transaction lives in."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.usefixtures("kept_connection")
@pytest.mark.parametrize("mode", list(GenerationMode))
@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_no_request_finds_a_fault(method: str, path: str, mode: GenerationMode) -> None:
    """Requests made from the description, right ones and wrong ones, are answered as it says."""
    maya = {"Authorization": f"Bearer {mint('maya', CONVERSATION, READ, WRITE)}"}

    @settings(
        max_examples=10, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(case=described()[BASE + path][method].as_strategy(generation_mode=mode))
    def send(case: Case) -> None:
        # Nor is one whose odd query is lost in sending, an empty list for one.
        case.call_and_validate(headers=maya, excluded_checks=[negative_data_rejection] if method == "GET" else [])

    send()

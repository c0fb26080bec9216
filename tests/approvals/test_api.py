"""The staff API of requests: who may, in which order it is checked, and how the list is read."""

import datetime as dt
import json
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from approvals.models import Decision, Participant, Request, Staff
from audit.models import Event
from tests.conftest import Propose
from tests.support.api import STAFF, Api, as_maya, refused, with_token
from tests.support.cast import begin_turn, make_staff
from tests.support.env import replace

LISTED = {
    "reference", "state", "digest", "tool", "arguments", "amount_minor", "currency", "customer_id",
    "conversation_id", "rule", "approvals_needed", "approvals_given", "created_at", "expires_at",
}  # fmt: skip
ROUTES = [("", "GET"), ("{}/", "GET"), ("{}/decide/", "POST"), ("{}/claim/", "POST"), ("{}/release/", "POST")]


@pytest.fixture
def waiting(propose: Propose) -> Request:
    """Maya's refund of £124, which needs one person."""
    return Request.objects.get(pk=_reference(propose("issue_refund", **refund("4471", 12_400))))


@pytest.fixture
def great(propose: Propose) -> Request:
    """Maya's refund of £600, which needs two people, one of them a lead."""
    return Request.objects.get(pk=_reference(propose("issue_refund", **refund("4472", 60_000))))


def refund(order_id: str, amount_minor: int) -> dict[str, Any]:
    return {"order_id": order_id, "amount_minor": amount_minor, "reason": "damaged"}


def _reference(outcome: Any) -> str:
    return str(json.loads(outcome.text)["reference"])


def approve(api: Api, request: Request, **changed: Any) -> Any:
    return api.post(f"{STAFF}{request.pk}/decide/", {"verdict": "approve", "digest": request.digest, **changed})


def deny(api: Api, request: Request, **changed: Any) -> Any:
    return approve(api, request, **{"verdict": "deny", "reason_code": "policy", **changed})


@pytest.mark.parametrize(("route", "method"), ROUTES)
def test_nobody_gets_in_without_a_staff_token(route: str, method: str, waiting: Request, agent: Staff) -> None:
    url = STAFF + route.format(waiting.pk)
    good = with_token(agent)
    gone = with_token(make_staff("gone", "lead"))
    Staff.objects.filter(username="gone").update(is_active=False)
    void = with_token(make_staff("void", "lead"))
    Staff.objects.filter(username="void").update(tokens_valid_from=timezone.now() + dt.timedelta(hours=1))
    forged = Api(good.headers["Authorization"].removeprefix("Bearer ")[:-2] + "xx")
    for api in (Api(), Api(""), Api("x"), as_maya(), gone, void, forged):
        response = api.send(method, url, "{}")
        refused(response, 401, "unauthenticated")
        assert response["WWW-Authenticate"].startswith("Bearer")
    assert Request.objects.get().state == "pending"
    assert Request.objects.get().assigned_to is None


@pytest.mark.parametrize(("route", "method"), ROUTES)
@pytest.mark.parametrize("role", ["agent", "lead", "auditor", "admin"])
def test_the_table_of_roles(route: str, method: str, role: str, waiting: Request) -> None:
    staff = make_staff("someone", role)
    body = {"verdict": "approve", "digest": waiting.digest} if "decide" in route else {}
    if "release" in route:
        Request.objects.update(assigned_to=staff, assigned_until=timezone.now() + dt.timedelta(minutes=1))
    response = with_token(staff).send(method, STAFF + route.format(waiting.pk), json.dumps(body))
    if method == "POST" and role in ("auditor", "admin"):
        assert role in refused(response, 403, "role")["message"]
    else:
        assert response.status_code == 200


@pytest.mark.parametrize(("route", "method"), ROUTES)
def test_wrong_methods(route: str, method: str, waiting: Request, agent: Staff) -> None:
    for wrong in {"GET", "POST", "PUT", "PATCH", "DELETE"} - {method}:
        refused(with_token(agent).send(wrong, STAFF + route.format(waiting.pk), "{}"), 405)


@pytest.mark.parametrize("reference", ["R-7F3K9Q", "x", "%00", "R-%00", "%F0%9F%98%80", "9" * 300])
def test_unknown_references(reference: str, waiting: Request, agent: Staff, auditor: Staff) -> None:
    for route, method in ROUTES[1:]:
        url = STAFF + route.format(reference)
        refused(with_token(agent).send(method, url, "{}"), 404)
        if method == "POST":  # who may not, learns nothing of what there is
            refused(with_token(auditor).send(method, url, "{}"), 403, "role")


def test_a_session_serves_too_and_writes_with_csrf(waiting: Request, agent: Staff) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(agent)
    assert client.get(STAFF).status_code == 200
    url, body = f"{STAFF}{waiting.pk}/claim/", "{}"
    refused(client.post(url, body, content_type="application/json"), 403)
    assert Request.objects.get().assigned_to is None
    client.get("/console/")
    token = client.cookies[settings.CSRF_COOKIE_NAME].value if settings.CSRF_COOKIE_NAME in client.cookies else ""
    if not token:
        client.get(f"/console/requests/{waiting.pk}/")
        token = client.cookies[settings.CSRF_COOKIE_NAME].value
    done = client.post(url, body, content_type="application/json", headers={"X-CSRFToken": token})
    assert done.status_code == 200
    assert Request.objects.get().assigned_to == agent


def test_a_bad_token_beside_a_good_session_is_refused(waiting: Request, agent: Staff) -> None:
    client = Client()
    client.force_login(agent)
    refused(client.get(STAFF, headers={"Authorization": "Bearer x"}), 401)


def test_headers_of_proxies_name_nobody(agent: Staff, waiting: Request) -> None:
    named = ("X-Forwarded-User", "X-User", "X-User-Id", "Remote-User", "X-Staff")
    refused(Api(**dict.fromkeys(named, agent.username)).get(STAFF), 401)
    refused(Api().get(STAFF, user=agent.username), 401)


def test_approving(waiting: Request, agent: Staff) -> None:
    response = approve(with_token(agent), waiting, note="seen a photo")
    assert response.status_code == 200
    body = response.json()
    assert body.keys() == LISTED
    assert (body["state"], body["approvals_given"], body["approvals_needed"]) == ("approved", 1, 1)
    decision = Decision.objects.get()
    assert (decision.staff, decision.note, decision.digest) == (agent, "seen a photo", waiting.digest)
    event = Event.objects.get(kind="decision")
    assert (event.actor_kind, event.actor_id, event.reference) == ("staff", "ada", waiting.pk)


def test_denying(waiting: Request, agent: Staff) -> None:
    response = deny(with_token(agent), waiting, customer_message="Sorry.", note="")
    assert (response.status_code, response.json()["state"]) == (200, "denied")
    detail = with_token(agent).get(f"{STAFF}{waiting.pk}/").json()["decisions"]
    assert [(row["by"], row["verdict"], row["reason_code"], row["customer_message"]) for row in detail] == [
        ("ada", "deny", "policy", "Sorry.")
    ]


@pytest.mark.parametrize(
    ("changed", "fields"),
    [
        ({"verdict": "maybe"}, {"verdict"}),
        ({"verdict": None}, {"verdict"}),
        ({"verdict": "deny"}, {"reason_code"}),
        ({"verdict": "deny", "reason_code": ""}, {"reason_code"}),
        ({"reason_code": "because"}, {"reason_code"}),
        ({"digest": ""}, {"digest"}),
        ({"digest": 5}, {"digest"}),
        ({"digest": None}, {"digest"}),
        ({"digest": "a" * 65}, {"digest"}),
        ({"note": 5}, {"note"}),
        ({"note": "x" * 2_001}, {"note"}),
        ({"customer_message": ["x"]}, {"customer_message"}),
        ({"staff": "lena"}, {"staff"}),
        ({"verdict": "x", "note": 1}, {"verdict", "note"}),
    ],
)
def test_wrong_fields_are_named(waiting: Request, agent: Staff, changed: dict[str, Any], fields: set[str]) -> None:
    assert refused(approve(with_token(agent), waiting, **changed), 422)["fields"].keys() == fields
    assert Request.objects.get().state == "pending"


@pytest.mark.parametrize(
    ("data", "content_type", "status"),
    [
        ("{", "application/json", 400),
        ("[]", "application/json", 400),
        ('{"digest": NaN}', "application/json", 400),
        (b"\xff", "application/json", 400),
        ("verdict=approve", "application/x-www-form-urlencoded", 415),
        (" " * 256_001, "application/json", 413),
        ("{}", "application/json", 422),
    ],
)
def test_broken_bodies(waiting: Request, agent: Staff, data: Any, content_type: str, status: int) -> None:
    refused(with_token(agent).send("POST", f"{STAFF}{waiting.pk}/decide/", data, content_type), status)


def test_the_order_of_checks(waiting: Request, agent: Staff, lead: Staff, auditor: Staff) -> None:
    """Everything is wrong at first; each step mends what was answered, and the next check answers."""
    Request.objects.update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    Participant.objects.create(conversation_id=waiting.conversation_id, staff=agent)
    wrong = {"verdict": "maybe", "digest": "0" * 64}
    unknown = Request(reference="R-7F3K9Q", digest="0" * 64)
    refused(approve(Api(), unknown, **wrong), 401)
    refused(approve(with_token(auditor), unknown, **wrong), 403, "role")
    refused(approve(with_token(auditor), waiting, **wrong), 403, "role")
    refused(approve(with_token(agent), waiting, **wrong), 403, "self")
    refused(approve(with_token(lead), unknown, **wrong), 404)
    refused(approve(with_token(lead), waiting, **wrong), 422)
    refused(approve(with_token(lead), waiting, digest="0" * 64), 410, "expired")
    Request.objects.update(expires_at=timezone.now() + dt.timedelta(hours=1))
    refused(approve(with_token(lead), waiting, digest="0" * 64), 412)
    assert approve(with_token(lead), waiting).status_code == 200
    late = refused(approve(with_token(make_staff("lou", "lead")), waiting, digest="0" * 64), 409)
    assert (late["state"], late["decided_by"]) == ("approved", "lena")
    assert dt.datetime.fromisoformat(late["decided_at"]) <= timezone.now()
    assert Decision.objects.count() == 1


@pytest.mark.parametrize("state", ["withdrawn", "stale", "failed"])
def test_what_ended_otherwise_is_a_conflict(waiting: Request, agent: Staff, state: str) -> None:
    Request.objects.update(state=state)
    assert refused(approve(with_token(agent), waiting), 409)["state"] == state


def test_what_the_sweeper_expired_is_gone(waiting: Request, agent: Staff) -> None:
    Request.objects.update(state="expired")
    refused(approve(with_token(agent), waiting), 410, "expired")


def test_who_is_the_customer_does_not_decide(waiting: Request) -> None:
    maya = make_staff("maya.works.here", "lead", customer_id="maya")
    refused(approve(with_token(maya), waiting), 403, "self")
    refused(deny(with_token(maya), waiting), 403, "self")


def test_a_token_does_not_decide_what_needs_two(great: Request, lead: Staff) -> None:
    refused(approve(with_token(lead), great), 403, "fresh_authentication_required")
    assert Request.objects.get().state == "pending"


def test_the_first_of_two_leaves_it_pending_and_the_second_is_another(
    great: Request, agent: Staff, lead: Staff, settings: Any
) -> None:

    settings.PLACET = replace(settings.PLACET, token_approvals="all")
    first = approve(with_token(agent), great).json()
    assert (first["state"], first["approvals_given"], first["approvals_needed"]) == ("pending", 1, 2)
    refused(approve(with_token(agent), great), 403, "same_person")
    refused(approve(with_token(make_staff("amos", "agent")), great), 403, "role")  # neither would be a lead
    second = approve(with_token(lead), great).json()
    assert (second["state"], second["approvals_given"]) == ("approved", 2)


def test_claims(waiting: Request, agent: Staff, lead: Staff) -> None:
    ada, lena = with_token(agent), with_token(lead)
    url = f"{STAFF}{waiting.pk}/"
    refused(ada.post(f"{url}release/"), 409)
    assert ada.post(f"{url}claim/").status_code == 200
    assert ada.post(f"{url}claim/").status_code == 200  # renewed
    assert refused(lena.post(f"{url}claim/"), 409)["decided_by"] == "ada"
    refused(lena.post(f"{url}release/"), 409)
    assert ada.post(f"{url}release/").status_code == 200
    assert lena.post(f"{url}claim/").status_code == 200
    Request.objects.update(assigned_until=timezone.now() - dt.timedelta(seconds=1))
    assert ada.post(f"{url}claim/").status_code == 200  # the lease is over
    assert approve(lena, waiting).status_code == 200  # a claim tells, and does not lock
    refused(ada.post(f"{url}claim/"), 409)


def test_the_list_and_its_filters(waiting: Request, propose: Propose, agent: Staff) -> None:
    noor = begin_turn("noor", session_id="noor-1")
    propose("issue_refund", turn=noor, **refund("5001", 8_000))
    other = Request.objects.get(customer_id="noor")
    Request.objects.filter(pk=other.pk).update(expires_at=timezone.now() + dt.timedelta(hours=1))
    api = with_token(agent)

    def listed(**query: Any) -> list[str]:
        return [row["reference"] for row in api.get(STAFF, **query).json()["results"]]

    assert listed() == [other.pk, waiting.pk]  # soonest to expire first
    assert listed(state="pending") == [other.pk, waiting.pk]
    assert listed(state="denied") == []
    assert listed(customer="noor") == [other.pk]
    assert listed(customer="nobody") == []
    assert listed(conversation=waiting.conversation_id) == [waiting.pk]
    assert listed(conversation=waiting.conversation_id, customer="noor") == []
    row = api.get(STAFF, customer="maya").json()["results"][0]
    assert row.keys() == LISTED
    assert row["arguments"] == refund("4471", 12_400)
    assert (row["tool"], row["rule"], row["amount_minor"], row["currency"]) == (
        "issue_refund", "above_automatic_day", 12_400, "GBP",
    )  # fmt: skip


@pytest.mark.parametrize(
    "query",
    [
        {"state": "x"}, {"conversation": "x"}, {"limit": 0}, {"limit": 201}, {"limit": "x"}, {"limit": "1.5"},
        {"cursor": "x"}, {"cursor": "~"}, {"cursor": "2026-01-01T00:00:00+00:00~\x00"}, {"customer": "\x00"},
        {"customer": "x" * 201},
    ],
)  # fmt: skip
def test_filters_that_are_none(query: dict[str, Any], agent: Staff, waiting: Request) -> None:
    assert refused(with_token(agent).get(STAFF, **query), 422)["fields"].keys() == query.keys()


def test_pages_by_next(waiting: Request, agent: Staff) -> None:
    copies = []
    for n in range(7):
        copy = Request.objects.get(pk=waiting.pk)
        copy.pk, copy.key, copy.order_id = f"R-00000{n}", f"k{n}", ""
        copies.append(copy)
    Request.objects.bulk_create(copies)
    everything = {copy.pk for copy in copies} | {waiting.pk}
    api, url, seen = with_token(agent), f"{STAFF}?limit=3&state=pending", list[str]()
    sizes = []
    while url:
        page = api.get(url).json()
        sizes.append(len(page["results"]))
        seen += [row["reference"] for row in page["results"]]
        url = page["next"]
    assert sizes == [3, 3, 2]
    assert len(seen) == len(set(seen))
    assert set(seen) == everything
    assert api.get(STAFF, limit=8).json()["next"] is None


def test_one_request_with_everything_and_reading_it_is_recorded(waiting: Request, auditor: Staff) -> None:
    detail = with_token(auditor).get(f"{STAFF}{waiting.pk}/").json()
    assert detail.keys() == LISTED | {"preview", "case_file", "decisions"}
    assert detail["preview"]["summary"] == "Refund £124.00 to Visa ••4242 for order 4471"
    order = detail["case_file"]["order"]
    assert (order["captured_minor"], order["held_minor"], order["refundable_minor"]) == (12_400, 12_400, 0)
    event = Event.objects.get(kind="access", reference=waiting.pk)
    assert (event.actor_kind, event.actor_id, event.customer_id) == ("staff", "otto", "maya")


def test_no_secret_is_in_an_answer_or_in_the_record(waiting: Request, agent: Staff) -> None:
    api = with_token(agent)
    token = api.headers["Authorization"].removeprefix("Bearer ")
    approve(api, waiting)
    answers = api.get(STAFF).content + api.get(f"{STAFF}{waiting.pk}/").content
    bodies = [event.detail.body for event in Event.objects.select_related("detail")]
    record = json.dumps([[str(value) for value in event.__dict__.values()] for event in Event.objects.all()])
    for secret in (token, settings.SECRET_KEY, agent.password):
        assert secret.encode() not in answers
        assert all(secret not in text for text in (record, *bodies))

"""The chat API from outside: who gets in, whose things are there, and what becomes of every kind of input."""

import json
import time
import uuid
from typing import Any

import jwt
import pytest
from django.conf import settings
from django.utils import timezone

from agents.models import Conversation, Message, Session, Turn
from agents.turns.claims import Claimed
from approvals.models import Request
from tests.conftest import Propose
from tests.support.api import CHAT, Api, as_maya, as_noor, refused
from tests.support.cast import begin_turn

pytestmark = pytest.mark.usefixtures("shop")

ROUTES = [
    ("", {"GET", "POST"}),
    ("{conversation}/", {"GET"}),
    ("{conversation}/messages/", {"POST"}),
    ("{conversation}/turns/{turn}/", {"GET"}),
    ("{conversation}/requests/{reference}/withdraw/", {"POST"}),
]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def waiting(propose: Propose) -> Request:
    """Maya's refund of £124, which waits for a person."""
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


def fill(route: str, of: Claimed, reference: str, **other: Any) -> str:
    names = {"conversation": of.conversation_id, "turn": of.turn_id, "reference": reference}
    return CHAT + route.format(**{**names, **other})


def signed(**changed: Any) -> str:
    """A token of the built-in key, with some claims changed, or left out (None)."""
    now = int(time.time())
    claims = {"aud": "placet-chat", "sub": "maya", "sid": "s1", "iat": now, "exp": now + 600, **changed}
    kept = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(kept, f"{settings.SECRET_KEY}:widget-token", "HS256", {"kid": "local"})


def long_ago() -> int:
    return int(time.time()) - 1000


def post(text: Any, client_id: Any = "c1", **more: Any) -> Any:
    """Maya writes this in a new conversation."""
    return as_maya().post(f"{begun()}messages/", {"client_id": client_id, "text": text, **more})


def begun(api: Api | None = None) -> str:
    """The address of a new conversation."""
    response = (api or as_maya()).post(CHAT)
    assert response.status_code == 201
    return f"{CHAT}{response.json()['id']}/"


@pytest.mark.parametrize(("route", "allowed"), ROUTES)
def test_wrong_methods(route: str, allowed: set[str], waiting: Request, turn: Claimed) -> None:
    for method in set(METHODS) - allowed:
        response = as_maya().send(method, fill(route, turn, waiting.reference), "{}")
        refused(response, 405, "method_not_allowed")
        assert set(response["Allow"].split(", ")) - {"HEAD", "OPTIONS"} == allowed


@pytest.mark.parametrize(("route", "allowed"), ROUTES)
def test_without_a_good_token_nothing_is_told(route: str, allowed: set[str], waiting: Request, turn: Claimed) -> None:
    Session.objects.create(session_id="ended", customer_id="maya")
    bad = [
        signed(exp=long_ago(), iat=long_ago() - 60),
        signed(aud="placet-staff"),
        signed(aud=None),
        signed(sub="nobody"),
        signed(sub="maya\x00"),
        signed(sid="ended"),
        signed(sid=None),
        signed(exp=int(time.time()) + 7200),
        signed()[:-3] + "abc",
        jwt.encode({"sub": "maya"}, "", "none"),
        "",
        "x",
        "Ünicode",
    ]
    url, method = fill(route, turn, waiting.reference), min(allowed)
    answers = {Api(token).send(method, url, "{}").content for token in bad}
    nobody = Api().send(method, url, "{}")
    refused(nobody, 401, "unauthenticated")
    assert nobody["WWW-Authenticate"].startswith("Bearer")
    assert answers == {nobody.content}
    assert Api().send("DELETE", url).status_code == 401  # before the method is looked at
    assert Request.objects.get().state == "pending"


def test_headers_of_proxies_and_arguments_name_nobody() -> None:
    named = ("X-Forwarded-User", "X-User-Id", "X-User", "X-Customer-Id", "Remote-User", "X-Remote-User")
    refused(Api(**dict.fromkeys(named, "maya")).get(CHAT), 401)
    refused(Api().get(CHAT, sub="maya", customer_id="maya", token=signed()), 401)
    noors = begun(as_noor())
    api = as_maya()
    api.headers |= dict.fromkeys((*named, "X-Forwarded-For", "X-Forwarded-Host"), "noor")
    refused(api.get(noors), 404)
    assert api.get(CHAT).json()["results"] == []
    refused(api.post(f"{begun()}messages/", {"client_id": "1", "text": "hi", "customer_id": "noor"}), 422)


@pytest.mark.parametrize(("route", "allowed"), ROUTES[1:])
def test_what_is_not_ones_own_reads_as_what_is_not_there(
    route: str, allowed: set[str], waiting: Request, turn: Claimed
) -> None:
    other = begin_turn("noor", session_id="noor-1")
    method = min(allowed)
    body = json.dumps({"client_id": "1", "text": "hi"})
    ids = [other.conversation_id, uuid.uuid4(), uuid.UUID(int=0), "x", "1", "9" * 80, "%00", "%C3%BC"]
    urls = [fill(route, turn, waiting.reference, conversation=each) for each in ids]
    if "{turn}" in route:
        second = begin_turn()
        urls += [fill(route, turn, "", turn=each) for each in (other.turn_id, second.turn_id, uuid.uuid4(), "x", "%00")]
    if "{reference}" in route:
        second = begin_turn()
        urls += [fill(route, turn, each) for each in ("R-7F3K9Q", "x", "%00", "R-%00", "%F0%9F%98%80", "9" * 300)]
        urls.append(fill(route, second, waiting.reference))
    answers = [as_maya().send(method, url, body) for url in urls]
    for answer in answers:
        refused(answer, 404, "not_found")
    assert len({answer.content for answer in answers}) == 1
    # Noor, with Maya's: no different.
    foreign = as_noor().send(method, fill(route, turn, waiting.reference), body)
    assert (foreign.status_code, foreign.content) == (404, answers[0].content)
    assert Request.objects.get().state == "pending"


def test_a_conversation_begins_empty_and_is_listed_newest_first() -> None:
    first, second = begun(), begun()
    assert as_maya().get(first).json() == {
        "id": first.split("/")[-2], "state": "open", "messages": [], "requests": [], "last_event_id": "0-0",
    }  # fmt: skip
    listed = as_maya().get(CHAT).json()
    assert [f"{CHAT}{row['id']}/" for row in listed["results"]] == [second, first]
    assert listed["next"] is None
    assert as_noor().get(CHAT).json()["results"] == []


def test_the_list_goes_on_by_next() -> None:
    row = Conversation.objects.get(pk=begun().split("/")[-2])
    more = [Conversation(customer_id="maya", session_id="s1", definition_id=row.definition_id) for _ in range(59)]
    made = {str(each.pk) for each in (row, *Conversation.objects.bulk_create(more))}
    Conversation.objects.update(created_at=timezone.now())  # all at once, which must lose none
    page = as_maya().get(CHAT).json()
    rest = as_maya().get(page["next"]).json()
    assert (len(page["results"]), len(rest["results"]), rest["next"]) == (50, 10, None)
    assert {each["id"] for each in page["results"] + rest["results"]} == made
    refused(as_maya().get(CHAT, cursor="x"), 404)


def test_a_message_is_stored_and_shown_with_its_turn() -> None:
    url = begun()
    posted = as_maya().post(f"{url}messages/", {"client_id": "c1", "text": " Where is it? "})
    assert posted.status_code == 202
    assert posted.json().keys() == {"message_id", "turn_id"}
    shown = as_maya().get(url).json()["messages"]
    assert [(m["id"], m["author"], m["text"]) for m in shown] == [
        (posted.json()["message_id"], "customer", " Where is it? ")
    ]
    turn = as_maya().get(f"{url}turns/{posted.json()['turn_id']}/").json()
    assert turn == {"state": "queued", "reason": None, "steps": 0, "input_tokens": 0, "output_tokens": 0}


def test_the_same_client_id_again_is_the_same_message() -> None:
    url = f"{begun()}messages/"
    first = as_maya().post(url, {"client_id": "c1", "text": "hello"})
    again = as_maya("another session").post(url, {"client_id": "c1", "text": "hello"})
    assert (first.status_code, again.status_code) == (202, 200)
    assert again.content == first.content
    refused(as_maya().post(url, {"client_id": "c1", "text": "hello!"}), 409)
    assert Message.objects.count() == 1
    elsewhere = as_maya().post(f"{begun()}messages/", {"client_id": "c1", "text": "other"})
    assert elsewhere.status_code == 202


def test_messages_until_the_turn_is_claimed_share_it_and_later_ones_wait(turn: Claimed) -> None:
    url = f"{CHAT}{turn.conversation_id}/"
    ids = [as_maya().post(f"{url}messages/", {"client_id": f"c{n}", "text": "and"}).json()["turn_id"] for n in (1, 2)]
    assert ids[0] == ids[1] != str(turn.turn_id)
    states = [as_maya().get(f"{url}turns/{each}/").json()["state"] for each in (turn.turn_id, ids[0])]
    assert states == ["running", "queued"]
    Turn.objects.filter(pk=turn.turn_id).update(state="finished", reason="limit_money", input_tokens=7)
    shown = as_maya().get(f"{url}turns/{turn.turn_id}/").json()
    assert (shown["state"], shown["reason"], shown["input_tokens"]) == ("finished", "limit_money", 7)


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("😀", "😀"),
        ("👩‍👩‍👧‍👦 🇬🇧", "👩‍👩‍👧‍👦 🇬🇧"),
        ("a" * 8_000, "a" * 8_000),
        ("😀" * 8_000, "😀" * 8_000),
        ("a\x00b", "a\ufffdb"),
        ("\x00", "\ufffd"),
        ("a\ud800b", "a\ufffdb"),
        ("\udc00\ud800", "\ufffd\ufffd"),
        ("\ud83d\ude00", "😀"),
        ("bell \x07 escape \x1b[31m del \x7f\r\n\ttab", "bell \x07 escape \x1b[31m del \x7f\r\n\ttab"),
        ("\u202eright to left", "\u202eright to left"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("' OR 1=1; --", "' OR 1=1; --"),
    ],
)
def test_texts_that_are_kept(sent: str, kept: str) -> None:
    url = begun()
    body = json.dumps({"client_id": "c1", "text": sent})
    responses = [as_maya().send("POST", f"{url}messages/", body) for _ in range(2)]
    assert [response.status_code for response in responses] == [202, 200]
    assert as_maya().get(url).json()["messages"][0]["text"] == kept


@pytest.mark.parametrize("text", ["", " ", "\n\t\r\u2003\u00a0 ", "a" * 8_001, "😀" * 8_001, "x" * 100_000])
def test_texts_that_are_empty_or_too_long(text: str) -> None:
    assert refused(post(text), 422, "invalid")["fields"].keys() == {"text"}


@pytest.mark.parametrize("value", [None, 1, True, 1.5, [], ["a"], {}, {"a": 1}])
def test_wrong_types_are_named(value: Any) -> None:
    assert refused(post(value), 422)["fields"].keys() == {"text"}
    assert refused(post("hi", value), 422)["fields"].keys() == {"client_id"}


@pytest.mark.parametrize("client_id", ["", "  ", "c" * 101])
def test_client_ids_that_are_none(client_id: str) -> None:
    assert refused(post("hi", client_id), 422)["fields"].keys() == {"client_id"}


def test_what_is_missing_or_unknown_is_named() -> None:
    url = f"{begun()}messages/"
    assert refused(as_maya().post(url), 422)["fields"].keys() == {"client_id", "text"}
    assert refused(post("hi", extra=1, **{"customer-id": 1}), 422)["fields"].keys() == {"extra", "customer-id"}
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"nothing", 400),
        (b'{"client_id": "1", "text": NaN}', 400),
        (b'{"client_id": "1", "text": -Infinity}', 400),
        (b"[]", 400),
        (b'"text"', 400),
        (b"null", 400),
        (b"1", 400),
        (b"\xff\xfe{}", 400),
        (b'{"client_id": "1", "text": "\xe9"}', 400),
        (b'\xef\xbb\xbf{"client_id": "1", "text": "a"}', 400),
        (b"[" * 100_000, 400),
        (b'{"text": ' + b"9" * 5_000 + b"}", 400),
        (b'{"client_id": "1", "text": "' + b"x" * 100_000 + b'"}', 422),
        (b'{"client_id": "1", "text": "' + b"x" * 256_000 + b'"}', 413),
        (b" " * 3_000_000, 413),
    ],
)
def test_bodies_that_are_no_message(data: bytes, status: int) -> None:
    refused(as_maya().send("POST", f"{begun()}messages/", data), status)
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "junk"],
)
def test_only_json_is_read(content_type: str) -> None:
    data = b'{"client_id": "1", "text": "hi"}'
    refused(as_maya().send("POST", f"{begun()}messages/", data, content_type), 415)
    refused(as_maya().send("POST", CHAT, data, content_type), 415)


def test_a_conversation_is_not_begun_by_a_broken_body() -> None:
    refused(as_maya().send("POST", CHAT, b"{"), 400)
    refused(as_maya().send("POST", CHAT, b"[]"), 400)
    assert as_maya().send("POST", CHAT, b"", "").status_code == 201


def test_a_closed_conversation_takes_nothing_more_and_can_be_read() -> None:
    url = begun()
    as_maya().post(f"{url}messages/", {"client_id": "c1", "text": "hello"})
    Conversation.objects.update(state="closed")
    refused(as_maya().post(f"{url}messages/", {"client_id": "c2", "text": "more"}), 409)
    assert as_maya().post(f"{url}messages/", {"client_id": "c1", "text": "hello"}).status_code == 200
    assert as_maya().get(url).json()["state"] == "closed"


def test_the_newest_200_and_older_ones_by_before(turn: Claimed) -> None:
    rows = [Message(conversation_id=turn.conversation_id, author="notice", text=f"n{n}") for n in range(250)]
    Message.objects.bulk_create(rows)
    Message.objects.create(conversation_id=turn.conversation_id, author="operator", text="for the model alone")
    url = f"{CHAT}{turn.conversation_id}/"
    newest = as_maya().get(url).json()["messages"]
    older = as_maya().get(url, before=newest[0]["id"]).json()["messages"]
    assert [message["text"] for message in newest] == [f"n{n}" for n in range(50, 250)]
    assert [message["text"] for message in older] == ["hello", *(f"n{n}" for n in range(50))]
    assert as_maya().get(url, before=older[0]["id"]).json()["messages"] == []
    for before in ("x", "-1", "1.5", "²", "9" * 30, "1;", "\x00"):
        assert refused(as_maya().get(url, before=before), 422)["fields"].keys() == {"before"}


def test_withdrawing_an_own_request_once(waiting: Request, turn: Claimed) -> None:
    url = fill(ROUTES[-1][0], turn, waiting.reference)
    shown = as_maya().get(f"{CHAT}{turn.conversation_id}/").json()["requests"]
    assert shown == [
        {"reference": waiting.reference, "summary": waiting.preview["summary"], "state": "waiting"}
    ]  # nothing of rules, people or reasons
    first = as_maya().post(url)
    assert (first.status_code, first.json()["state"]) == (200, "withdrawn")
    assert refused(as_maya().post(url), 409)["state"] == "withdrawn"


@pytest.mark.parametrize(
    ("state", "shown"),
    [("denied", "denied"), ("stale", "failed"), ("expired", "expired"), ("failed", "failed"), ("unknown", "unknown")],
)
def test_what_has_ended_is_not_withdrawn(waiting: Request, turn: Claimed, state: str, shown: str) -> None:
    Request.objects.update(state=state)
    assert refused(as_maya().post(fill(ROUTES[-1][0], turn, waiting.reference)), 409)["state"] == shown
    assert as_maya().get(f"{CHAT}{turn.conversation_id}/").json()["requests"][0]["state"] == shown


def test_an_assistants_text_comes_as_harmless_html_too(turn: Claimed) -> None:
    text = "**Done** <img src=x onerror=alert(1)> [a](javascript:alert(1)) [b](https://example.com)"
    Message.objects.create(
        conversation_id=turn.conversation_id, author="assistant", step=1, turn_id=turn.turn_id, text=text
    )
    shown = as_maya().get(f"{CHAT}{turn.conversation_id}/").json()["messages"][-1]
    assert shown["text"] == text
    assert "<strong>Done</strong>" in shown["html"]
    assert "<img" not in shown["html"]
    assert 'href="javascript' not in shown["html"]
    assert 'href="https://example.com"' in shown["html"]


def test_unknown_addresses_and_hosts_have_the_shape_too() -> None:
    refused(as_maya().get("/api/chat/nothing/"), 404)
    api = as_maya()
    api.headers["Host"] = "evil.example"
    refused(api.get(CHAT), 400)

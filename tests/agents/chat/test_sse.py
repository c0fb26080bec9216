"""The event stream, called as an ASGI server calls it, with a real Valkey behind it."""

import asyncio
import json
import time
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agents.chat import sse, stream
from agents.chat.tokens import mint_widget_token
from agents.models import Conversation, Session
from config.asgi import application
from ledger.access.staff import as_staff
from tests.support import cast

Event = dict[str, Any]
ENDING = {"type": "http.disconnect"}


class Reader:
    """One open stream, as far as it has been read."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.text = ""
        self.may_write = asyncio.Event()
        self.may_write.set()
        self.gone = asyncio.Event()
        self.ended = False
        self.news = asyncio.Condition()

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return ENDING

    async def send(self, message: dict[str, Any]) -> None:
        await self.may_write.wait()
        async with self.news:
            if message["type"] == "http.response.start":
                self.status = message["status"]
                self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                self.text += message["body"].decode()
                self.ended = not message.get("more_body", False)
            self.news.notify_all()

    async def until(self, happens: Callable[[], bool]) -> None:
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(happens), 60)

    @property
    def events(self) -> list[Event]:
        frames = [frame for frame in self.text.split("\n\n") if frame and not frame.startswith(":")]
        return [dict(line.split(": ", 1) for line in frame.split("\n")) for frame in frames]

    @property
    def numbers(self) -> list[int]:
        return [json.loads(event["data"])["n"] for event in self.events if event["event"] == "message"]

    async def have(self, count: int) -> list[int]:
        await self.until(lambda: len(self.numbers) >= count)
        return self.numbers


@pytest.fixture(autouse=True)
def fresh_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub lives in one event loop, and every test has its own."""
    monkeypatch.setattr("config.asgi.events", sse.EventStream())


@pytest.fixture
def conversation(committing_db: str) -> Conversation:
    """Maya's, with no event yet; the route looks it up in another thread, so it is committed."""
    as_staff(cast.fill_shop)
    return begun("maya")


def begun(customer_id: str) -> Conversation:
    found = Conversation.objects.get(pk=cast.begin_turn(customer_id).conversation_id)
    stream.client().flushall()
    return found


def token(**changed: Any) -> str:
    return mint_widget_token(**{"customer_id": "maya", "session_id": "s1", "ttl_seconds": 600, **changed})


def scope(conversation_id: object, method: str = "GET", **headers: str) -> dict[str, Any]:
    given = {"host": "localhost:8000", "authorization": f"Bearer {token()}", **headers}
    return {
        "type": "http",
        "method": method,
        "path": f"/api/chat/conversations/{conversation_id}/events/",
        "headers": [(k.replace("_", "-").encode(), v.encode("latin-1")) for k, v in given.items() if v],
    }


@asynccontextmanager
async def reading(conversation_id: object, **headers: str) -> AsyncIterator[Reader]:
    """A reader until the block ends, which hangs up."""
    reader = Reader()
    task = asyncio.create_task(application(scope(conversation_id, **headers), reader.receive, reader.send))
    try:
        await reader.until(lambda: reader.status > 0)
        yield reader
    finally:
        reader.gone.set()
        reader.may_write.set()
        await asyncio.wait_for(task, 10)


def tell(conversation: Conversation, *numbers: int) -> None:
    for number in numbers:
        stream.publish(conversation.pk, ("message", {"n": number}))


async def live(conversation: Conversation, *numbers: int) -> None:
    await asyncio.to_thread(tell, conversation, *numbers)


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, 30))


def refusal(conversation_id: object, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    async def call() -> Reader:
        reader = Reader()
        called = scope(conversation_id, method, **headers)
        await asyncio.wait_for(application(called, reader.receive, reader.send), 10)
        return reader

    reader = asyncio.run(call())
    body = json.loads(reader.text)
    assert body.keys() == {"code", "message"}
    assert body["message"].endswith(".")
    assert reader.headers["content-type"] == "application/json"
    assert reader.headers["x-content-type-options"] == "nosniff"
    assert reader.ended
    return reader.status, reader.text.encode()


def test_what_was_kept_and_then_what_comes(conversation: Conversation) -> None:
    tell(conversation, 1, 2)

    async def test() -> None:
        async with reading(conversation.pk) as reader:
            assert reader.headers["content-type"].startswith("text/event-stream")
            assert reader.headers["cache-control"] == "no-store"
            assert await reader.have(2) == [1, 2]
            await live(conversation, 3)
            assert await reader.have(3) == [1, 2, 3]
            assert [event["event"] for event in reader.events] == ["message"] * 3
            assert all(event["id"] for event in reader.events)

    run(test())


def test_coming_back_loses_and_repeats_nothing(conversation: Conversation) -> None:
    async def test() -> None:
        seen: list[int] = []
        last_id = ""
        writer = asyncio.create_task(live(conversation, *range(300)))
        while len(seen) < 300:
            async with reading(conversation.pk, last_event_id=last_id) as reader:
                await reader.have(1)
                got = [event for event in reader.events if event["event"] == "message"]
                assert "resync" not in reader.text
            seen += [json.loads(event["data"])["n"] for event in got]
            last_id = got[-1]["id"]
        await writer
        assert seen == list(range(300))

    run(test())


def test_nothing_falls_between_catching_up_and_the_subscription(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first reader of a process subscribes; what is said right after its catching up reaches it."""
    real = sse._catch_up

    async def slow(hub: sse.Hub, *args: Any) -> str:
        last_id = await real(hub, *args)
        await live(conversation, 2)
        return last_id

    monkeypatch.setattr(sse, "_catch_up", slow)
    tell(conversation, 1)

    async def test() -> None:
        async with reading(conversation.pk) as reader:
            assert await reader.have(2) == [1, 2]

    run(test())


def test_the_subscription_stands_before_anything_is_read(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    standing: list[bool] = []
    real = sse._catch_up

    async def look(hub: sse.Hub, *args: Any) -> str:
        standing.append(bool(await hub.redis.pubsub_numpat()))
        return await real(hub, *args)

    monkeypatch.setattr(sse, "_catch_up", look)
    tell(conversation, 1)

    async def test() -> None:
        async with reading(conversation.pk) as reader:
            await reader.have(1)

    run(test())
    assert standing == [True]


@pytest.mark.parametrize("last_id", ["1-0", "0-1", "junk", "99", "1-0; DROP", "-1-1", "½-1"])
def test_an_id_that_is_too_old_or_none_says_get_again(conversation: Conversation, last_id: str) -> None:
    tell(conversation, 1)

    async def test() -> None:
        async with reading(conversation.pk, last_event_id=last_id) as reader:
            await reader.have(1)
            assert [event["event"] for event in reader.events] == ["resync", "message"]
            assert json.loads(reader.events[0]["data"]) == {}

    run(test())


def test_when_nothing_is_kept_any_more_an_id_says_get_again(conversation: Conversation) -> None:
    tell(conversation, 1)
    last_id = stream.last_event_id(conversation.pk)
    stream.client().flushall()

    async def test() -> None:
        async with reading(conversation.pk, last_event_id=last_id) as reader:
            await reader.until(lambda: bool(reader.events))
            assert [event["event"] for event in reader.events] == ["resync"]
            await live(conversation, 2)
            assert await reader.have(1) == [2]

    run(test())


def test_the_id_that_a_get_gave_is_good_even_when_nothing_was_said(conversation: Conversation) -> None:
    assert stream.last_event_id(conversation.pk) == "0-0"

    async def test() -> None:
        async with reading(conversation.pk, last_event_id="0-0") as reader:
            await live(conversation, 1)
            assert await reader.have(1) == [1]
            assert "resync" not in reader.text

    run(test())


def test_two_readers_hear_the_same_and_another_conversation_nothing(conversation: Conversation) -> None:
    other = begun("maya")

    async def test() -> None:
        async with (
            reading(conversation.pk) as first,
            reading(conversation.pk) as second,
            reading(other.pk) as foreign,
        ):
            await live(conversation, 1, 2)
            await live(other, 9)
            assert await first.have(2) == await second.have(2) == [1, 2]
            assert await foreign.have(1) == [9]

    run(test())


def test_one_who_hangs_up_is_forgotten(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async with reading(conversation.pk) as first:
            async with reading(conversation.pk):
                pass
            from config import asgi

            hub = asgi.events._hub
            assert hub is not None
            assert [len(readers) for readers in hub._readers.values()] == [1]
            await live(conversation, 1)
            await first.have(1)
        assert hub._readers == {}

    run(test())


def test_a_slow_reader_is_sent_away_and_the_others_are_not(
    conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "MOST_WAITING", 8)

    async def test() -> None:
        async with reading(conversation.pk) as slow, reading(conversation.pk) as quick:
            await live(conversation, 0)
            await slow.have(1)
            await quick.have(1)
            slow.may_write.clear()
            for number in range(1, 40):
                await live(conversation, number)
                await quick.have(number + 1)
            slow.may_write.set()
            await slow.until(lambda: slow.ended)
            last_id = slow.events[-1]["id"]
            lost = slow.numbers[-1] + 1
            assert lost < 40
            assert not quick.ended
        async with reading(conversation.pk, last_event_id=last_id) as back:
            assert await back.have(40 - lost) == list(range(lost, 40))

    run(test())


def test_it_ends_when_the_token_does(conversation: Conversation) -> None:
    async def test() -> None:
        began = time.monotonic()
        async with reading(conversation.pk, authorization=f"Bearer {token(ttl_seconds=2)}") as reader:
            await reader.until(lambda: reader.ended)
        assert time.monotonic() - began < 4

    run(test())


def test_a_comment_keeps_the_line_open(conversation: Conversation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "COMMENT_SECONDS", 0.1)

    async def test() -> None:
        async with reading(conversation.pk) as reader:
            await reader.until(lambda: reader.text.count(": ") >= 3)
            assert reader.text.startswith(":")
            assert reader.events == []

    run(test())


def test_somebody_who_watches_is_seen(conversation: Conversation) -> None:
    assert not stream.is_watched(conversation.pk)

    async def test() -> None:
        async with reading(conversation.pk) as reader:
            await live(conversation, 1)
            await reader.have(1)
            assert await asyncio.to_thread(stream.is_watched, conversation.pk)

    run(test())


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
def test_wrong_methods(conversation: Conversation, method: str) -> None:
    assert refusal(conversation.pk, method)[0] == 405


def test_without_a_good_token(conversation: Conversation) -> None:
    Session.objects.create(session_id="ended", customer_id="maya")
    bad = ["", "Bearer", "Bearer x", f"Basic {token()}", f"Bearer {token(session_id='ended')}"]
    bad += [f"Bearer {token(customer_id='nobody')}", f"Bearer {token()}x", "Bearer \xff"]
    answers = {refusal(conversation.pk, authorization=each) for each in bad}
    assert {status for status, _ in answers} == {401}
    assert len(answers) == 1
    assert refusal("x", authorization="", x_user="maya", x_forwarded_user="maya")[0] == 401


def test_what_is_not_ones_own_reads_as_what_is_not_there(conversation: Conversation) -> None:
    answers = {refusal(each) for each in (begun("noor").pk, uuid.uuid4(), "x", "\x00", "ü" * 30)}
    assert {status for status, _ in answers} == {404}
    assert len(answers) == 1


@pytest.mark.parametrize("host", ["evil.example", "", "localhost:80:80", "localhost@evil.example", "a/b"])
def test_only_our_hosts_are_served(conversation: Conversation, host: str) -> None:
    assert refusal(conversation.pk, host=host)[0] == 400

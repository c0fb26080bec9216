"""What a turn outlives besides its worker: lost rings, a broker or a database that goes away, a frozen worker, a
deploy, a cut connection. Real worker processes throughout."""

import json
import os
import signal
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis
from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.test import Client

from agents.chat import conversations
from agents.chat.tokens import mint_widget_token
from agents.models import Conversation, Limit, Message, Turn
from agents.turns import doorbell
from agents.turns.limits import MOST_DEATHS
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Entry
from tests.support import cast, invariants
from tests.support.cast import messages_for, seen_by_staff
from tests.support.proxy import CuttingProxy
from tests.support.servers import cluster, product_env
from tests.support.standin import Server
from tests.support.workers import LEASE_SECONDS, Workers, running_workers, within

pytestmark = pytest.mark.xdist_group("crash")
TWO_LEASES = 2 * LEASE_SECONDS + 20  # and what a machine under load adds
TEXT = {"content": [{"type": "text", "text": "That is all."}], "stop_reason": "end_turn", "repeat": 9_000}


@dataclass
class Site:
    """A shop in a database of its own, the model, and what workers need to know."""

    model: Server
    folder: Path
    environ: dict[str, str]

    def workers(self, count: int = 1, threads: int = 8, **environ: str) -> Any:
        more = {"PLACET_WORKER_THREADS": str(threads), **environ}
        return running_workers(self.environ | more, self.log, count=count, threads=threads)

    @property
    def log(self) -> Path:
        return self.folder / "workers.log"

    def says(self, match: str, *replies: dict[str, Any]) -> None:
        self.model.script(match, *replies)

    def plan(self, point: str, conversation: Conversation, number: int, times: int = 1) -> None:
        for position in range(times):
            (self.folder / f"{point}@{conversation.pk}#{position:02}").write_text(str(number))

    def spent(self, point: str) -> list[int]:
        """The processes in which a planned point was reached."""
        return [int(path.suffix[1:]) for path in (self.folder / "spent").glob(f"{point}@*")]


@pytest.fixture
def site(committing_db: str, standin: Server, tmp_path: Path) -> Site:
    as_staff(cast.fill_shop)
    (tmp_path / "spent").mkdir()
    environ = product_env(
        committing_db, PLACET_LEASE_SECONDS=str(LEASE_SECONDS), PLACET_FAILPOINTS=str(tmp_path),
        ANTHROPIC_BASE_URL=standin.url, ANTHROPIC_API_KEY="a-key",
    )  # fmt: skip
    return Site(standin, tmp_path, environ)


def _post(text: str, conversation: Conversation | None = None, customer_id: str = "maya") -> Conversation:
    conversation = conversation or conversations.begin(customer_id=customer_id, session_id="s1")
    conversations.post_message(conversation_id=conversation.pk, session_id="s1", client_id=uuid.uuid4().hex, text=text)
    return conversation


def _turn(conversation: Conversation) -> Turn:
    return Turn.objects.filter(conversation=conversation).latest("number")


def _answered(*conversations: Conversation) -> bool:
    return all(_turn(conversation).state == "finished" for conversation in conversations)


def _refund(site: Site, mark: str, **more: Any) -> None:
    """Whoever says `mark` gets £10.00 back for order 4471."""
    arguments = {"order_id": "4471", "amount_minor": 1_000, "reason": "damaged"}
    call = {"type": "tool_use", "id": f"toolu_{mark}", "name": "issue_refund", "input": arguments}
    site.says(call["id"], TEXT)
    site.says(f"say {mark}", {"content": [call], "stop_reason": "tool_use", "repeat": 50, **more})


def _entries() -> int:
    return seen_by_staff(Entry.objects.count)


def test_a_ring_that_nobody_hears(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doorbell, "ring", lambda task: None)
    site.says("hello", TEXT)
    with site.workers():
        conversation = _post("hello")
        within(TWO_LEASES, lambda: _answered(conversation))
    invariants.hold_all()


def test_a_broker_that_forgets_everything(site: Site) -> None:
    site.says("hello", TEXT | {"delay": 0.1})
    broker = redis.Redis.from_url(os.environ["REDIS_URL"])
    conversations = []
    with site.workers():
        for _ in range(20):
            conversations.append(_post("hello"))
            broker.flushall()
        within(TWO_LEASES, lambda: _answered(*conversations))
    invariants.hold_all()


def test_a_broker_that_does_not_answer_costs_the_customer_seconds_and_the_turn_nothing(site: Site) -> None:
    site.says("hello", TEXT)
    with site.workers() as workers:
        before = _post("hello")
        within(30, lambda: _answered(before))
        with _frozen_broker():
            began = time.monotonic()
            conversation = _post("hello")
            assert time.monotonic() - began < 4
            within(TWO_LEASES, lambda: _answered(conversation))  # found, not rung for; its live events are lost
        assert len(workers.pids) == 1
    invariants.hold_all()


@contextmanager
def _frozen_broker() -> Iterator[None]:
    pid = redis.Redis.from_url(os.environ["REDIS_URL"]).info("server")["process_id"]
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_database_that_goes_away_under_load_and_comes_back(site: Site, client: Client) -> None:
    site.says("hello", TEXT | {"delay": 0.3})
    client.raise_request_exception = False
    page = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={'a' * 32}"}
    with site.workers(count=2) as workers:
        before = workers.pids
        conversations = [_post("hello") for _ in range(30)]
        with _no_database(site):
            assert _status(client, "/console/", **page) == 503
            assert _status(client, f"/api/chat/conversations/{conversations[0].pk}/", **_bearer()) == 503
            time.sleep(4)
        within(10, lambda: _status(client, "/console/", **page) < 500)
        within(TWO_LEASES, lambda: _answered(*conversations))
        assert workers.pids == before
    invariants.hold_all()


def _status(client: Client, path: str, **headers: str) -> int:
    connection.close()  # a real server does that after a request, Django's test client does not
    return client.get(path, headers=headers).status_code


def _bearer() -> dict[str, str]:
    return {"Authorization": f"Bearer {mint_widget_token('maya', 's1', 600)}"}


@contextmanager
def _no_database(site: Site) -> Iterator[None]:
    """What a restart of Postgres does to one database: every connection is cut, and none is accepted."""
    name = site.environ["DATABASE_URL"].rpartition("/")[2]
    with psycopg.connect(cluster().url("postgres"), autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        try:
            yield
        finally:
            admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')


@pytest.mark.parametrize("point", ["model_replied", "effect_written"])
def test_a_worker_that_was_frozen_for_two_leases_changes_nothing(site: Site, point: str) -> None:
    """Between transactions and within one, where it also holds locks."""
    _refund(site, "frozen")
    with site.workers(count=2, threads=1) as workers:
        conversation = conversations.begin(customer_id="maya", session_id="s1")
        site.plan(point, conversation, signal.SIGSTOP)
        _post("say frozen", conversation)
        within(20, lambda: bool(site.spent(point)), "the freeze")
        within(TWO_LEASES, lambda: _answered(conversation))
        before = (_entries(), Message.objects.count(), _dispatched(), _turn(conversation).fence)
        assert before[0] == 1
        os.kill(site.spent(point)[0], signal.SIGCONT)
        _still_works(workers, site)
        assert before == (_entries(), Message.objects.count() - 2, _dispatched(), _turn(conversation).fence)
    if point == "model_replied":
        assert "went on elsewhere" in site.log.read_text()
    invariants.hold_all()


def _dispatched() -> int:
    return Event.objects.filter(kind="dispatch").count()


def _still_works(workers: Workers, site: Site) -> None:
    time.sleep(1)
    site.says("still there", TEXT)
    other = _post("still there")
    within(TWO_LEASES, lambda: _answered(other))
    assert len(workers.pids) == 2


def test_a_commit_whose_answer_is_lost_is_read_back_and_not_repeated(site: Site) -> None:
    _refund(site, "commit")
    with CuttingProxy(cluster().port, after=b"INSERT INTO agents_toolcall") as proxy:
        url = site.environ["DATABASE_URL"].replace(f":{cluster().port}/", f":{proxy.port}/")
        with site.workers(DATABASE_URL=url):
            conversation = _post("say commit")
            within(TWO_LEASES, lambda: _answered(conversation))
        assert proxy.cuts == 1
    assert _entries() == 1
    assert _turn(conversation).steps == 2
    invariants.hold_all()


def test_what_kills_its_worker_every_time_is_parked_and_takes_nobody_along(site: Site) -> None:
    _refund(site, "poison")
    site.says("hello", TEXT)
    poison = conversations.begin(customer_id="noor", session_id="s1")
    site.plan("effect_written", poison, signal.SIGKILL, times=MOST_DEATHS + 3)
    with site.workers(threads=16):
        _post("say poison", poison)
        others = [_post("hello") for _ in range(12)]
        within(60, lambda: _answered(poison, *others))
    assert len(site.spent("effect_written")) == MOST_DEATHS
    assert {_turn(conversation).reason for conversation in others} == {"answered"}
    assert _turn(poison).reason == "parked"
    assert Message.objects.get(conversation=poison, author="notice").text
    assert Event.objects.get(kind="turn", conversation_id=poison.pk).rule == "parked"
    invariants.hold_all()


def test_a_deploy_lets_a_short_turn_finish_and_hands_back_a_long_one(site: Site) -> None:
    site.says("short", TEXT | {"delay": 2.0})
    site.says("long", TEXT | {"delay": 30, "repeat": 1}, TEXT)
    site.says("later", TEXT)
    with site.workers(PLACET_LEASE_SECONDS="8") as workers:  # turns in flight get four seconds
        long = _post("long")
        within(30, lambda: _turn(long).state == "running", "the start of the long one")
        short = _post("short")
        within(30, lambda: _turn(short).state != "queued", "the start of the short one")
        workers.send(signal.SIGTERM)
        time.sleep(0.3)
        later = _post("later")
        within(20, lambda: _turn(long).owner == "" and _answered(short), "the hand-back")
        assert (_turn(short).attempts, _turn(long).waits) == (1, 1)
        assert _turn(later).state == "queued"
        workers.send(signal.SIGKILL)  # as the supervisor does after 25 s; here it starts the next one
        within(30, lambda: _answered(short, long, later))
    assert (_turn(long).attempts, _turn(long).waits) == (2, 1)
    invariants.hold_all()


def test_of_1200_messages_posted_while_turns_begin_and_end_none_is_left_unread(site: Site) -> None:
    Limit.objects.create(name="customer_day_turns", most=1_000_000, set_by="the test")
    site.says("message", TEXT)
    begun = [conversations.begin(customer_id="maya", session_id="s1") for _ in range(24)]
    with site.workers(count=2, threads=6):
        with ThreadPoolExecutor(6) as people:
            list(people.map(lambda n: _post(f"message {n}.", begun[n % 24]), range(1_200)))
            people.submit(connection.close)
        within(60, lambda: not Turn.objects.filter(~Q(state="finished")).exists())
    for position, conversation in enumerate(begun):
        read = json.dumps(messages_for(conversation.pk, _turn(conversation).number))
        assert [n for n in range(position, 1_200, 24) if f"message {n}." not in read] == []
    assert set(Turn.objects.values_list("reason", flat=True)) == {"answered"}
    invariants.hold_all()

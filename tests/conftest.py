"""What every test can use: a database of its own and a small cast of people."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import translation

from agents.dispatch.dispatch import dispatch
from agents.dispatch.results import Call, Outcome
from agents.models import Message
from agents.turns.claims import Claimed
from approvals.models import Staff
from approvals.policy.versions import policy_at
from ledger.access.staff import as_staff
from tests.support import cast
from tests.support.env import replace
from tests.support.provider import provider, running_provider
from tests.support.servers import committing_db, django_db_setup
from tests.support.standin import Server, running_standin, standin

__all__ = ["committing_db", "django_db_setup", "provider", "running_provider", "running_standin", "standin"]


@pytest.fixture(autouse=True)
def _policies_of_this_test() -> None:
    """Versions are kept by number, and each test's rollback makes the numbers free again."""
    policy_at.cache_clear()


@pytest.fixture
def shop(db: None) -> None:
    """The cast's customers and orders."""
    as_staff(cast.fill_shop)


@pytest.fixture
def agent(db: None) -> Staff:
    return cast.make_staff("ada", "agent")


@pytest.fixture
def lead(db: None) -> Staff:
    return cast.make_staff("lena", "lead")


@pytest.fixture
def auditor(db: None) -> Staff:
    return cast.make_staff("otto", "auditor")


@pytest.fixture
def turn(shop: None) -> Claimed:
    """A running turn of Maya's."""
    return cast.begin_turn()


Propose = Callable[..., Outcome]


@pytest.fixture
def propose(turn: Claimed) -> Propose:
    """Dispatch one call as if the model had asked for it in Maya's turn."""
    steps = iter(range(1, 1000))

    def call(tool: str, *, turn: Claimed = turn, **arguments: Any) -> Outcome:
        return dispatch(make_call(turn, next(steps), tool, arguments))

    return call


def make_call(turn: Claimed, step: int, tool: str, arguments: Any, block: int = 0) -> Call:
    message = Message.objects.create(
        conversation_id=turn.conversation_id, turn_id=turn.turn_id, author="assistant", step=step, content="[]"
    )
    return Call(turn=turn, message_id=message.pk, block=block, tool_use_id=f"toolu_{step}", name=tool, input=arguments)


@pytest.fixture
def signed_in(client: Client) -> Callable[[Staff], Client]:
    """A browser in which this member of staff has signed in."""

    def sign_in(staff: Staff) -> Client:
        client.force_login(staff)
        return client

    return sign_in


@pytest.fixture
def model(standin: Server, settings: Any) -> Server:
    """The stand-in model, and the product pointed at it."""
    settings.PLACET = replace(settings.PLACET, anthropic_base_url=standin.url, anthropic_api_key="a-key")
    return standin


@pytest.fixture(autouse=True)
def _language() -> None:
    """The shop's own: a request in another leaves its language on the thread, which the next request sets anew."""
    translation.deactivate()


@pytest.fixture(autouse=True)
def _cheap(settings: Any) -> None:
    """Passwords without the slow hash, and no look at every static file for each test's client."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.WHITENOISE_AUTOREFRESH = True


@pytest.fixture
def at_once(settings: Any) -> None:
    """Approved requests are due at once."""
    settings.PLACET = replace(settings.PLACET, undo_seconds=0)

"""The pages of turns: who may read, who may steer, and what the wrong person or method gets."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from agents.models import Turn
from agents.turns.claims import Claimed
from agents.turns.endings import finish
from approvals.models import Staff
from audit.models import Event
from tests.support import cast

SignIn = Callable[[Staff], Client]


@pytest.mark.parametrize("role", ["agent", "lead", "auditor", "admin"])
def test_every_role_reads_turns_with_their_story(turn: Claimed, signed_in: SignIn, role: str) -> None:
    finish(turn, "parked")
    browser = signed_in(cast.make_staff("reader", role))
    assert "Parked" in browser.get(reverse("turns")).content.decode()
    page = browser.get(reverse("turn", args=[turn.turn_id])).content.decode()
    assert ("Try again" in page) is (role in ("lead", "admin"))


def test_all_quiet(lead: Staff, signed_in: SignIn) -> None:
    assert b"All quiet" in signed_in(lead).get(reverse("turns")).content


def test_a_lead_tries_a_parked_turn_again(turn: Claimed, lead: Staff, signed_in: SignIn) -> None:
    finish(turn, "parked")
    answer = signed_in(lead).post(reverse("turn-steer", args=[turn.turn_id]), {"deed": "retry"}, follow=True)
    assert b"It is tried again." in answer.content
    assert Turn.objects.get(state="queued").number == 2
    assert Event.objects.get(kind="turn", decision="retried").actor_id == "lena"


def test_ending_a_turn_twice_says_that_it_is_over(turn: Claimed, lead: Staff, signed_in: SignIn) -> None:
    browser = signed_in(lead)
    url = reverse("turn-steer", args=[turn.turn_id])
    assert b"The turn was ended." in browser.post(url, {"deed": "end"}, follow=True).content
    assert b"is finished already" in browser.post(url, {"deed": "end"}, follow=True).content
    assert b"Choose to" in browser.post(url, {"deed": "else"}, follow=True).content


@pytest.mark.parametrize("role", ["agent", "auditor"])
def test_the_wrong_role_steers_nothing(turn: Claimed, signed_in: SignIn, role: str) -> None:
    answer = signed_in(cast.make_staff("other", role)).post(reverse("turn-steer", args=[turn.turn_id]), {"deed": "end"})
    assert answer.status_code == 403
    assert Turn.objects.get().state == "running"


def test_the_wrong_method_and_nobody(turn: Claimed, lead: Staff, client: Client) -> None:
    assert client.get(reverse("turns")).status_code == 302
    client.force_login(lead)
    assert client.post(reverse("turns")).status_code == 405
    assert client.get(reverse("turn-steer", args=[turn.turn_id])).status_code == 405

"""The console: who sees what, deciding, losing a race, signing in."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from agents.execution.execute import execute
from approvals.models import Decision, Request, Staff
from audit.models import Event
from ledger.access.staff import as_staff
from ledger.models import Order
from tests.support.cast import PASSWORD, make_staff

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(propose) -> Request:
    """Maya wants £99 back: above the automatic line."""
    outcome = propose("issue_refund", order_id="4471", amount_minor=9_900, reason="damaged")
    return Request.objects.get(reference=outcome.reference)


def page_of(request: Request) -> str:
    return reverse("request", args=[request.reference])


def form_on(client: Client, request: Request, **typed: str) -> dict[str, str]:
    """What a browser would send: the page's hidden fields and what a person typed."""
    body = client.get(page_of(request)).content.decode()
    hidden = dict(re.findall(r'<input type="hidden" name="(digest|shown)" value="([^"]*)"', body))
    return {**hidden, **typed}


def all_pages(request: Request) -> list[str]:
    return [
        reverse("console"),
        page_of(request),
        reverse("request-status", args=[request.reference]),
        reverse("customer", args=["maya"]),
    ]


def test_nobody_is_sent_to_sign_in(client: Client, waiting: Request) -> None:
    for url in all_pages(waiting):
        assert client.get(url)["Location"].startswith(reverse("sign-in"))
    assert client.post(page_of(waiting), {"verdict": "approve"}).status_code == 302
    assert Request.objects.get().state == "pending"


def test_wrong_methods(signed_in, agent: Staff, waiting: Request) -> None:
    client = signed_in(agent)
    for url in all_pages(waiting):
        assert client.put(url).status_code == 405
    assert client.get(reverse("request-assign", args=[waiting.reference])).status_code == 405
    assert client.get(reverse("sign-out")).status_code == 405


def test_the_auditor_reads_and_cannot_decide(signed_in, auditor: Staff, waiting: Request) -> None:
    client = signed_in(auditor)
    for url in all_pages(waiting):
        assert client.get(url).status_code == 200
    assert b'id="decide"' not in client.get(page_of(waiting)).content
    assert client.post(page_of(waiting), {"verdict": "approve", "digest": waiting.digest}).status_code == 403
    assert client.post(reverse("request-assign", args=[waiting.reference])).status_code == 403


def test_the_page_shows_what_would_change_and_why(signed_in, agent: Staff, waiting: Request) -> None:
    body = signed_in(agent).get(page_of(waiting)).content.decode()
    for text in (waiting.preview["summary"], "Above the daily automatic line", waiting.digest, "Still refundable"):
        assert text in body


def test_the_queue_lists_by_state(signed_in, agent, waiting) -> None:
    client = signed_in(agent)
    assert waiting.reference in client.get(reverse("console")).content.decode()
    assert waiting.reference not in client.get(reverse("console"), {"state": "denied"}).content.decode()
    assert client.get(reverse("console"), {"state": "nonsense"}).status_code == 404


def test_approving_stores_what_was_shown(signed_in, agent: Staff, waiting: Request) -> None:
    client = signed_in(agent)
    response = client.post(page_of(waiting), form_on(client, waiting, verdict="approve", note="seen a photo"))
    assert response["Location"] == page_of(waiting)
    decision = Decision.objects.get()
    assert (decision.staff, decision.verdict, decision.note) == (agent, "approve", "seen a photo")
    assert decision.shown["preview"] == waiting.preview
    assert decision.shown["case"]["order"]["refundable_minor"] == 2_500


def test_a_denial_needs_a_reason_and_keeps_what_was_typed(signed_in, agent: Staff, waiting: Request) -> None:
    client = signed_in(agent)
    response = client.post(page_of(waiting), form_on(client, waiting, verdict="deny", note="kept"))
    assert response.status_code == 422
    assert b"kept</textarea>" in response.content
    assert Request.objects.get().state == "pending"


def test_the_second_is_told_who_was_first(signed_in, agent: Staff, lead: Staff, waiting: Request) -> None:
    client = signed_in(agent)
    late = form_on(client, waiting, verdict="approve")
    other = Client()
    other.force_login(lead)
    other.post(page_of(waiting), form_on(other, waiting, verdict="deny", reason_code="policy"))
    response = client.post(page_of(waiting), late)
    assert response.status_code == 409
    assert b"lena was first" in response.content
    assert Decision.objects.count() == 1


def test_a_stale_request_shows_what_has_changed(signed_in, agent: Staff, waiting: Request, at_once: None) -> None:
    client = signed_in(agent)
    client.post(page_of(waiting), form_on(client, waiting, verdict="approve"))
    as_staff(lambda: Order.objects.filter(pk="4471").update(status="processed"))
    execute(waiting.reference)
    fresh = Request.objects.get(replaces=waiting.reference)
    stale_page, fresh_page = client.get(page_of(waiting)).content, client.get(page_of(fresh)).content
    for body, other in ((stale_page, fresh), (fresh_page, waiting)):
        assert b"What has changed" in body
        assert other.reference.encode() in body
        assert b"<td>delivered</td>" in body
        assert b"<td>processed</td>" in body


def test_what_was_not_seen_is_not_decided(signed_in, agent: Staff, waiting: Request) -> None:
    client = signed_in(agent)
    form = form_on(client, waiting, verdict="approve")
    assert client.post(page_of(waiting), {**form, "digest": "0" * 64}).status_code == 412
    assert client.post(page_of(waiting), {**form, "shown": "forged"}).status_code == 412
    assert not Decision.objects.exists()


def test_a_form_of_somebody_else_is_refused(signed_in, agent: Staff, lead: Staff, waiting: Request) -> None:
    form = form_on(signed_in(agent), waiting, verdict="approve")
    other = Client()
    other.force_login(lead)
    assert other.post(page_of(waiting), form).status_code == 412


def test_who_is_the_customer_sees_why_not_before_typing(signed_in, waiting: Request) -> None:
    client = signed_in(make_staff("mayas-account", "agent", customer_id="maya"))
    body = client.get(page_of(waiting)).content
    assert b"your own customer account" in body
    assert b'id="decide"' not in body
    assert client.post(page_of(waiting), {"verdict": "approve", "digest": waiting.digest}).status_code == 403


def test_an_open_page_hears_of_a_change(signed_in, agent: Staff, waiting: Request) -> None:
    client, url = signed_in(agent), reverse("request-status", args=[waiting.reference])
    assert client.get(url, {"seen": "pending-1-0"}).status_code == 204
    assert b"has changed" in client.get(url, {"seen": "pending-1-1"}).content
    assert client.get(url, {"seen": "approved-1-1", "reload": "1"})["HX-Refresh"] == "true"


def test_claiming_and_giving_back(signed_in, agent: Staff, lead: Staff, waiting: Request) -> None:
    client, url = signed_in(agent), reverse("request-assign", args=[waiting.reference])
    client.post(url)
    assert Request.objects.get().assigned_to == agent
    other = Client()
    other.force_login(lead)
    assert b"Nothing was changed" in other.post(url, follow=True).content
    client.post(url, {"release": ""})
    assert Request.objects.get().assigned_to is None


@pytest.mark.parametrize("path", ["requests/R-00000000/", "requests/R-%00/", "customers/nobody/", "customers/%00/"])
def test_unknown_things_are_not_found(signed_in, agent: Staff, path: str) -> None:
    assert signed_in(agent).get(reverse("console") + path).status_code == 404


def test_a_customers_page_is_an_event(signed_in, agent: Staff, shop: None) -> None:
    assert b"4471" in signed_in(agent).get(reverse("customer", args=["maya"])).content
    assert Event.objects.filter(kind="access", customer_id="maya", actor_id=agent.username).count() == 1


def test_signing_in_and_out_is_recorded(client: Client, agent: Staff) -> None:
    url = reverse("sign-in")
    assert client.post(url, {"username": "ada", "password": "wrong"}).status_code == 422
    assert client.post(url, {"username": "ada", "password": PASSWORD})["Location"] == reverse("console")
    client.post(reverse("sign-out"))
    decisions = Event.objects.filter(kind="sign_in", actor_id="ada").order_by("id").values_list("decision", flat=True)
    assert list(decisions) == ["failed", "accepted", "signed_out"]


def test_guessing_is_stopped_for_that_name_only(client: Client, agent: Staff, lead: Staff) -> None:
    url = reverse("sign-in")
    for _ in range(5):
        client.post(url, {"username": "ada", "password": "wrong"})
    response = client.post(url, {"username": "Ada", "password": PASSWORD})
    assert (response.status_code, response["Retry-After"]) == (429, "300")
    assert client.post(url, {"username": "lena", "password": PASSWORD}).status_code == 302

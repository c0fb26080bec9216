"""Decoys: what the database keeps from them, what leaves them out, and what reviewers and leads learn."""

import datetime as dt
import re
from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agents.execution import holds_elsewhere
from agents.execution.execute import execute, ready
from agents.models import Message
from approvals import doctor, errors
from approvals.casefile.contents import case_file
from approvals.decisions import bulk, decoys
from approvals.decisions.deciding import decide
from approvals.models import Delivery, Request, Staff
from approvals.outbox import delivery
from approvals.policy.facts import standing_of
from approvals.requests.expiry import expire_due
from audit.models import Event
from ledger.access.scopes import as_customer
from ledger.models import Account, Hold
from tests.conftest import Propose
from tests.support.api import STAFF, with_token
from tests.support.env import replace


@pytest.fixture
def real(propose: Propose) -> Request:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


@pytest.fixture
def decoy(real: Request) -> Request:
    made = decoys.make()
    assert made is not None
    return made


def approve(request: Request, staff: Staff) -> Request:
    return decide(reference=request.reference, staff=staff, verdict="approve", digest=request.digest, shown={})


def deny(request: Request, staff: Staff) -> Request:
    return decide(
        reference=request.reference, staff=staff, verdict="deny", digest=request.digest, shown={}, reason_code="other"
    )


def post(client: Client, request: Request, **typed: str) -> str:
    page = reverse("request", args=[request.reference])
    body = client.get(page).content.decode()
    hidden = dict(re.findall(r'<input type="hidden" name="(digest|shown)" value="([^"]*)"', body))
    return client.post(page, {**hidden, **typed}, follow=True).content.decode()


def refused(request: Request, **changes: Any) -> str:
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        Request.objects.filter(pk=request.pk).update(**changes)
    return str(caught.value)


def test_the_database_refuses_a_decoy_with_a_customer_an_order_or_an_execution(decoy: Request, real: Request) -> None:
    now = timezone.now()
    scheduled = {"execute_after": now, "execute_before": now, "decided_at": now}
    for changes in (
        {"customer_id": "maya"},
        {"order_id": "4471"},
        {"state": "approved", **scheduled},
        {"state": "executing", **scheduled},
        {"state": "executed", "entry_reference": "E-AAAAAAAA"},
        {"state": "unknown"},
        {"state": "failed"},
        {"state": "stale"},
    ):
        assert "decoy_touches_nobody" in refused(decoy, **changes)
    assert "decoy_touches_nobody" in refused(real, is_decoy=True)
    assert "decoy_touches_nobody" in refused(real, customer_id="")


def test_the_database_refuses_a_hold_of_a_decoy(decoy: Request) -> None:
    def reserve(owner: str) -> Hold:
        account = Account.objects.get(order_id="4472")
        return Hold.objects.create(owner=owner, account=account, customer_id="maya", amount_minor=1, currency="GBP")

    for owner in (decoy.reference, f"{decoy.reference}.2"):
        with pytest.raises(IntegrityError, match="a decoy holds nothing"):
            as_customer("maya", partial(reserve, owner))
    assert as_customer("maya", partial(reserve, "R-ANOTHER0")).amount_minor == 1


def test_it_counts_nowhere(decoy: Request, real: Request, agent: Staff) -> None:
    assert standing_of("maya").open_site == 1
    assert ready() == []
    assert execute(decoy.reference) is False
    assert [faults for _, faults in doctor.prove() if faults] == []
    [done] = bulk.approve_all(chosen=[(decoy.reference, decoy.digest)], staff=agent)
    assert isinstance(done.error, errors.NotFound)
    client = with_token(agent)
    assert [row["reference"] for row in client.get(STAFF).json()["results"]] == [real.reference]
    path = f"{STAFF}{decoy.reference}/"
    body = {"verdict": "deny", "digest": decoy.digest, "reason_code": "other"}
    assert client.get(path).status_code == 404
    assert {client.post(f"{path}{verb}/", body).status_code for verb in ("decide", "claim", "release", "undo")} == {404}
    decoy.refresh_from_db()
    assert (decoy.state, decoy.assigned_to) == ("pending", None)


def test_a_shop_elsewhere_is_not_asked_to_hold_for_it(
    decoy: Request, real: Request, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PLACET = replace(settings.PLACET, ledger_url="http://127.0.0.1:9/")
    placed: list[str] = []

    def place(reference: str) -> bool:
        placed.append(reference)
        return True

    monkeypatch.setattr(holds_elsewhere, "place", place)
    holds_elsewhere.settle()
    assert placed == [real.reference]


def test_another_decoy_is_no_part_of_its_case_file(decoy: Request, agent: Staff) -> None:
    other = decoys.make()
    assert other is not None
    approve(other, agent)
    found = case_file(decoy, staff=agent)
    assert (found["customer"], found["order"], found["requests"], found["entries"]) == (None, None, [], [])
    assert (found["asked"]["requests"], found["asked"]["conversations"]) == (1, 1)


def test_the_page_looks_like_any_other(signed_in: Any, decoy: Request, agent: Staff) -> None:
    client = signed_in(agent)
    preview = decoy.preview
    queue = client.get(reverse("console")).content.decode()
    page = client.get(reverse("request", args=[decoy.reference])).content.decode()
    for body in (queue, page):
        assert preview["customer_name"] in body
        assert f"order {preview['order_id']}" in body
        assert "decoy" not in body.lower()
    assert "did not pay for this order" in page
    assert "(2)" in queue


@pytest.mark.parametrize(("verdict", "says"), [("deny", "You caught it"), ("approve", "and you approved it")])
def test_who_decides_is_told_at_once_and_nobody_else(
    signed_in: Any, decoy: Request, agent: Staff, lead: Staff, verdict: str, says: str
) -> None:
    told = Message.objects.count(), Delivery.objects.count()
    body = post(signed_in(agent), decoy, verdict=verdict, reason_code="other", customer_message="Sorry.")
    assert says in body
    assert "This was a decoy" in body
    assert (Message.objects.count(), Delivery.objects.count()) == told
    [event] = Event.objects.filter(reference=decoy.reference).exclude(kind="access")
    decision = "denied" if verdict == "deny" else "approved"
    assert (event.kind, event.decision, event.actor_id, event.amount_minor) == ("decoy", decision, "ada", None)
    decoy.refresh_from_db()
    assert decoy.state == ("denied" if verdict == "deny" else "withdrawn")
    for tab in ("denied", "closed"):
        assert decoy.reference not in signed_in(agent).get(f"{reverse('console')}?state={tab}").content.decode()
    with pytest.raises(errors.Conflict):
        deny(decoy, lead)


def test_a_lower_amount_is_an_approval_too(decoy: Request, agent: Staff) -> None:
    ended = decide(
        reference=decoy.reference, staff=agent, verdict="approve", digest=decoy.digest, shown={}, amount_minor=1
    )
    assert (ended.state, ended.revision) == ("withdrawn", 1)


def test_leads_see_who_approves_what_they_did_not_read(
    signed_in: Any, decoy: Request, real: Request, agent: Staff, lead: Staff
) -> None:
    other = decoys.make()
    assert other is not None
    approve(decoy, agent)
    deny(other, agent)
    approve(real, agent)
    body = signed_in(lead).get(reverse("reviewers")).content.decode()
    row = re.search(r'<th scope="row">ada</th>(.*?)</tr>', body, re.S)
    assert row is not None
    assert re.findall(r'<td class="amount">([^<]*)</td>', row[1]) == ["1", "0", "not measured", "0", "2", "1"]
    assert signed_in(agent).get(reverse("reviewers")).status_code == 403


def test_it_expires_silently(decoy: Request, settings: Any, agent: Staff) -> None:
    settings.PLACET = replace(
        settings.PLACET, notify=replace(settings.PLACET.notify, webhook_url="https://example.com/", secret="s" * 16)
    )
    told = Message.objects.count()
    now = timezone.now()
    soon = now + dt.timedelta(minutes=1)
    Request.objects.filter(pk=decoy.pk).update(created_at=now - dt.timedelta(hours=9), expires_at=soon)
    delivery.remind()
    Request.objects.filter(pk=decoy.pk).update(expires_at=now)
    assert expire_due() == 1
    decoy.refresh_from_db()
    assert decoy.state == "expired"
    assert (Message.objects.count(), Delivery.objects.count()) == (told, 0)
    assert Event.objects.get(reference=decoy.reference).kind == "decoy"
    with pytest.raises(errors.Expired):
        approve(decoy, agent)


def test_off_unless_turned_on_and_never_more_than_so_many_a_day(real: Request, settings: Any) -> None:
    decoys.run_due()
    assert not Request.objects.filter(is_decoy=True).exists()
    settings.PLACET = replace(settings.PLACET, decoys_per_day=2)
    decoys.run_due()
    first = Request.objects.get(is_decoy=True)
    assert decoys.make_due() is None
    hours = dt.timedelta(hours=1)
    Request.objects.filter(pk=first.pk).update(created_at=timezone.now() - 19 * hours)
    second = decoys.make_due()
    assert second is not None
    Request.objects.filter(pk=second.pk).update(created_at=timezone.now() - 18.5 * hours)
    assert decoys.make_due() is None
    Request.objects.filter(pk=first.pk).update(created_at=timezone.now() - 25 * hours)
    assert decoys.make_due() is not None


@pytest.mark.django_db
def test_none_before_the_first_real_refund(settings: Any) -> None:
    settings.PLACET = replace(settings.PLACET, decoys_per_day=2)
    assert decoys.make_due() is None
    assert not Request.objects.exists()

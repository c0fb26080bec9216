"""What people looked at, how fast they decide, and deciding several at once."""

import datetime as dt
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from approvals.casefile.flags import flag
from approvals.decisions import bulk, evidence
from approvals.decisions.deciding import decide
from approvals.errors import Invalid
from approvals.models import CardView, Decision, Request, Staff
from tests.conftest import Propose
from tests.support.api import STAFF, with_token
from tests.support.cast import here

OTHER = {"order_id": "4471", "amount_minor": 100, "reason": "other"}


@pytest.fixture
def waiting(propose: Propose) -> Request:
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    return Request.objects.get()


def form_on(client: Client, request: Request) -> dict[str, str]:
    body = client.get(reverse("request", args=[request.reference])).content.decode()
    return dict(re.findall(r'<input type="hidden" name="(digest|shown)" value="([^"]*)"', body))


def look(client: Client, request: Request, card: str, seconds: int) -> int:
    path = reverse("request-reading", args=[request.reference])
    return client.post(path, {"card": card, "seconds": str(seconds)}).status_code


def test_how_long_each_card_was_open_is_kept_with_the_decision(signed_in: Any, waiting: Request, agent: Staff) -> None:
    client = signed_in(agent)
    form = form_on(client, waiting)
    CardView.objects.create(
        request=waiting, revision=1, staff=agent, card="case", opened_at=timezone.now() - dt.timedelta(minutes=1)
    )
    assert [look(client, waiting, "case", seconds) for seconds in (0, 40, 20)] == [204, 204, 204]
    assert look(client, waiting, "nonsense", 1) == 404
    client.post(reverse("request", args=[waiting.reference]), {**form, "verdict": "approve"})
    decision = Decision.objects.get()
    assert decision.seconds in range(60, 65)
    assert decision.cards == {"case": 40}
    assert not decision.too_fast


def test_what_nobody_can_have_read_is_flagged(signed_in: Any, waiting: Request, agent: Staff, lead: Staff) -> None:
    client = signed_in(agent)
    form = form_on(client, waiting)
    look(client, waiting, "action", 0)
    client.post(reverse("request", args=[waiting.reference]), {**form, "verdict": "approve"})
    assert Decision.objects.get().too_fast
    body = signed_in(lead).get(reverse("reviewers")).content.decode()
    assert re.search(r'<th scope="row">ada</th>\s*<td class="amount">1</td>', body)


def test_a_flag_is_read_before_it_is_approved_on_the_page(
    signed_in: Any, propose: Propose, agent: Staff, lead: Staff
) -> None:
    flag(staff=lead, customer_id="maya", reason="many refunds")
    propose("issue_refund", **OTHER)
    request, client = Request.objects.get(), signed_in(agent)
    form, page = form_on(client, request), reverse("request", args=[request.reference])
    refused = client.post(page, {**form, "verdict": "approve"})
    assert (refused.status_code, b"it shows why this asks: The case file" in refused.content) == (422, True)
    look(client, request, "case", 3)
    assert client.post(page, {**form, "verdict": "approve"}).status_code == 302


def test_leads_see_who_approves_with_whom(signed_in: Any, propose: Propose, agent: Staff, lead: Staff) -> None:
    propose("issue_refund", order_id="4472", amount_minor=60_000, reason="late")
    request = Request.objects.get()
    for staff in (agent, lead):
        decide(
            reference=request.reference,
            staff=staff,
            verdict="approve",
            digest=request.digest,
            shown={},
            proof=here(),
        )
    body = signed_in(lead).get(reverse("reviewers")).content.decode()
    assert re.search(r"<td>ada</td>\s*<td>lena</td>\s*<td class=\"amount\">1</td>", body)
    assert signed_in(agent).get(reverse("reviewers")).status_code == 403


def test_reading_takes_time() -> None:
    assert evidence.is_too_fast(evidence.Reading(seconds=1), {})
    assert not evidence.is_too_fast(evidence.Reading(seconds=2), {})
    assert evidence.is_too_fast(evidence.Reading(seconds=9), {"text": "word " * 1_000})
    assert not evidence.is_too_fast(evidence.Reading(), {"text": "word " * 1_000})


def test_small_ones_are_approved_together_and_others_one_by_one(propose: Propose, agent: Staff, auditor: Staff) -> None:
    propose("issue_refund", **OTHER)
    propose("issue_refund", order_id="4472", amount_minor=12_400, reason="damaged")
    small, large = Request.objects.order_by("order_id")
    items = [{"reference": request.reference, "digest": request.digest} for request in (small, large)]
    path = f"{STAFF}bulk/"
    assert with_token(auditor).post(path, {"items": items}).status_code == 403
    one, other = with_token(agent).post(path, {"items": items}).json()["results"]
    assert (one["reference"], one["state"]) == (small.reference, "approved")
    assert (other["state"], "by itself" in other["message"]) == (None, True)
    large.refresh_from_db()
    assert large.state == "pending"


def test_each_with_its_digest_and_never_many(propose: Propose, agent: Staff, lead: Staff) -> None:
    propose("issue_refund", **OTHER)
    request = Request.objects.get()
    [done] = bulk.approve_all(chosen=[(request.reference, "0" * 64)], staff=agent)
    assert done.error is not None
    for chosen in ([], [(request.reference, request.digest)] * 2, [(f"R-{n:08}", "") for n in range(21)]):
        with pytest.raises(Invalid):
            bulk.approve_all(chosen=chosen, staff=agent)
    flag(staff=lead, customer_id="maya", reason="many refunds")
    [done] = bulk.approve_all(chosen=[(request.reference, request.digest)], staff=agent)
    assert done.error is not None
    assert Request.objects.get().state == "pending"


def test_the_queue_offers_it_with_the_digest(signed_in: Any, propose: Propose, agent: Staff) -> None:
    propose("issue_refund", **OTHER | {"order_id": "4472"})
    propose("issue_refund", order_id="4471", amount_minor=12_400, reason="damaged")
    client = signed_in(agent)
    body = client.get(reverse("console")).content.decode()
    items = dict(re.findall(r'name="item"\s+form="several"\s+value="((R-\S+) [^"]*)"', body))
    small, large = (Request.objects.get(order_id=order).reference for order in ("4472", "4471"))
    assert f"{small} {Request.objects.get(pk=small).digest}" in items
    assert body.count("small, digest") == 1
    [item] = [item for item, reference in items.items() if reference == small]
    assert large in items.values()
    assert b"approved" in client.post(reverse("several"), {"item": item, "deed": "approve"}).content
    assert Request.objects.get(order_id="4472").state == "approved"
    assert b"Choose from 1" in client.post(reverse("several"), {"deed": "approve"}).content

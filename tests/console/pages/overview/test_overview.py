"""The overview: numbers that agree with what happened, and a sample that people look at."""

import datetime as dt
import re
from typing import Any

import pytest
from django.db import IntegrityError, ProgrammingError, transaction
from django.test import Client
from django.urls import reverse

from agents.models import Turn
from approvals.decisions import decoys, spot_checks
from approvals.decisions.deciding import decide
from approvals.models import Decision, Request, SpotCheck, Staff, Task
from audit.models import Event
from console.pages.overview.charts import draw
from console.templatetags.spans import duration
from ledger.models import Entry
from tests.conftest import Propose
from tests.support.cast import make_staff, seen_by_staff
from tests.support.env import replace

pytestmark = pytest.mark.django_db
PAGE = "/console/overview/"
SPOT_CHECK = "/console/overview/spot-check/"


@pytest.fixture
def done(propose: Propose) -> str:
    """A refund that nobody was asked about."""
    return propose("issue_refund", order_id="4471", amount_minor=1_000, reason="damaged").reference


def ask(propose: Propose, order: str = "4472", amount: int = 12_000) -> Request:
    reference = propose("issue_refund", order_id=order, amount_minor=amount, reason="damaged").reference
    return Request.objects.get(pk=reference)


def test_who_may_what(client: Client, signed_in: Any, agent: Staff, auditor: Staff, done: str) -> None:
    assert client.get(PAGE)["Location"].startswith(reverse("sign-in"))
    assert client.post(SPOT_CHECK)["Location"].startswith(reverse("sign-in"))
    for staff in (agent, auditor, make_staff("root", "admin"), make_staff("lou", "lead")):
        sees = signed_in(staff).get(PAGE)
        assert sees.status_code == 200
        assert (b"Model cost" in sees.content) == (staff != agent)
        assert done in sees.content.decode()
    assert signed_in(agent).post(PAGE).status_code == 405
    assert signed_in(agent).get(SPOT_CHECK).status_code == 405
    assert signed_in(auditor).post(SPOT_CHECK, {"reference": done, "outcome": "fine"}).status_code == 403
    assert not SpotCheck.objects.exists()


def test_an_empty_shop(signed_in: Any, lead: Staff, shop: None) -> None:
    body = signed_in(lead).get(PAGE).content.decode()
    for text in (
        "Nothing was executed without a person on this day.",
        "Nothing was decided in these days.",
        "none yet",
    ):
        assert text in body


@pytest.mark.parametrize("query", ["days=8", "days=x", "tz=Nowhere", "day=2999-01-01", "day=x", "day=2026-02-31"])
def test_a_bad_address_is_not_found(signed_in: Any, lead: Staff, query: str) -> None:
    assert signed_in(lead).get(f"{PAGE}?{query}").status_code == 404


def test_what_was_decided_by_which_rule(signed_in: Any, propose: Propose, agent: Staff, lead: Staff) -> None:
    one = ask(propose)
    decide(reference=one.pk, staff=agent, verdict="approve", digest=one.digest, shown={}, amount_minor=11_000)
    two = ask(propose, "4471", 12_400)
    decide(reference=two.pk, staff=agent, verdict="deny", digest=two.digest, shown={}, reason_code="policy")
    Request.objects.filter(pk=two.pk).update(created_at="2026-01-01T00:00:00Z", decided_at=dt.datetime.now(dt.UTC))
    body = signed_in(lead).get(PAGE).content.decode()
    rows = re.findall(r"<code>(above_\w+)</code></th>((?:\s*<td.*?</td>)+)", body, re.DOTALL)
    counts = {rule: [int(n) for n in re.findall(r">(\d+)</td>", cells)] for rule, cells in rows}
    assert sum(numbers[1] for numbers in counts.values()) == 1  # lowered
    assert sum(numbers[2] for numbers in counts.values()) == 1  # denied
    assert sum(map(sum, counts.values())) == 2


def test_decoys_are_in_no_number(signed_in: Any, propose: Propose, agent: Staff, lead: Staff) -> None:
    ask(propose)
    decoy = decoys.make()
    assert decoy is not None
    before = signed_in(lead).get(PAGE)
    assert before.context["waiting"]["count"] == 1
    assert decoy.pk not in before.content.decode()
    decide(reference=decoy.pk, staff=agent, verdict="approve", digest=decoy.digest, shown={})
    assert Decision.objects.count() == 1
    assert signed_in(lead).get(PAGE).context["decided"]["count"] == 0


def test_money_and_model_cost_by_day(signed_in: Any, lead: Staff, done: str) -> None:
    Turn.objects.update(cost_microcents=250_000_000)
    body = signed_in(lead).get(PAGE).content.decode()
    assert "£10.00 in all" in body
    assert "$2.50 in all" in body
    assert body.count("<rect") == 2
    assert "<title id=" in body
    assert "<desc id=" in body


def test_days_are_the_readers(signed_in: Any, lead: Staff, done: str) -> None:
    """What happened at eleven in the evening in London was tomorrow in Auckland."""
    zones = {zone: signed_in(lead).get(f"{PAGE}?tz={zone}") for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago")}
    days = {zone: response.context["span"].dates[-1] for zone, response in zones.items()}
    assert days["Pacific/Kiritimati"] > days["Pacific/Pago_Pago"]
    for zone, response in zones.items():
        money = {chart.key: chart for chart in response.context["charts"]}["money-GBP"]
        assert money.rows[-1] == (days[zone], ["£10.00", "£0.00"])


def test_limits_that_were_hit(signed_in: Any, lead: Staff, turn: Any) -> None:
    Turn.objects.update(state="finished", reason="limit_writes")
    assert signed_in(lead).get(PAGE).context["limits"] == [("limit_writes", 1)]


def test_looking_is_kept_once_with_an_event(signed_in: Any, agent: Staff, lead: Staff, done: str) -> None:
    signed_in(agent).post(SPOT_CHECK, {"reference": done, "outcome": "fine", "note": ""})
    kept = SpotCheck.objects.get()
    assert (kept.entry_reference, kept.staff, kept.outcome) == (done, agent, "fine")
    event = Event.objects.get(decision="spot_checked")
    assert (event.actor_id, event.rule, event.reference, event.customer_id) == ("ada", "fine", done, "maya")
    again = signed_in(lead).post(SPOT_CHECK, {"reference": done, "outcome": "wrong", "note": "no"}, follow=True)
    assert b"by ada" in again.content
    assert SpotCheck.objects.count() == 1
    assert not Task.objects.exists()


def test_what_is_wrong_opens_a_task_and_recalls_the_money(signed_in: Any, agent: Staff, lead: Staff, done: str) -> None:
    missing = signed_in(agent).post(SPOT_CHECK, {"reference": done, "outcome": "wrong", "note": " "}, follow=True)
    assert b"Say what is wrong" in missing.content
    signed_in(agent).post(SPOT_CHECK, {"reference": done, "outcome": "wrong", "note": "It was never damaged"})
    task = Task.objects.get()
    assert (task.reference, task.customer_id, task.text) == (done, "maya", "It was never damaged")
    body = signed_in(lead).get(reverse("tasks")).content.decode()
    assert f"/audit/?reference={done}" in body


def test_what_was_approved_is_no_part_of_the_sample(signed_in: Any, agent: Staff, done: str) -> None:
    own = make_staff("mayas-account", "agent", customer_id="maya")
    assert signed_in(agent).post(SPOT_CHECK, {"reference": "T-000000", "outcome": "fine"}).status_code == 404
    refused = signed_in(own).post(SPOT_CHECK, {"reference": done, "outcome": "fine"}, follow=True)
    assert b"your own customer account" in refused.content
    assert not SpotCheck.objects.exists()


def test_the_sample_is_the_same_for_everybody_and_bounded(settings: Any, propose: Propose) -> None:
    for number in range(4):
        propose("issue_refund", order_id="4471", amount_minor=100 + number, reason="damaged")
    today = dt.datetime.combine(dt.datetime.now(dt.UTC).date(), dt.time(), dt.UTC)
    whole = [row["reference"] for row in spot_checks.sample(today)]
    assert len(whole) == seen_by_staff(Entry.objects.count) == 4
    settings.PLACET = replace(settings.PLACET, sample_per_day=2)
    assert [row["reference"] for row in spot_checks.sample(today)] == whole[:2]
    assert spot_checks.sample(today - spot_checks.DAY) == []


def test_the_database_keeps_what_was_found(agent: Staff, done: str) -> None:
    spot_checks.record_spot_check(reference=done, staff=agent, outcome="fine", note="")
    for change in ({"outcome": "wrong"}, {"note": "x"}):
        with pytest.raises((IntegrityError, ProgrammingError)), transaction.atomic():
            SpotCheck.objects.update(**change)
    for bad in ({"outcome": "wrong", "note": ""}, {"outcome": "odd", "note": "x"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            SpotCheck.objects.create(entry_reference="T-AAAAAA", customer_id="maya", staff=agent, **bad)


def test_as_many_queries_however_much_happened(
    signed_in: Any, lead: Staff, propose: Propose, django_assert_max_num_queries: Any
) -> None:
    for number in range(4):
        propose("issue_refund", order_id="4471", amount_minor=100 + number, reason="damaged")
    ask(propose)
    client = signed_in(lead)
    with django_assert_max_num_queries(24):
        assert client.get(f"{PAGE}?days=90").status_code == 200


def test_bars_stand_on_each_other_and_what_is_small_is_seen() -> None:
    day = dt.date(2026, 1, 1)
    chart = draw("k", "t", ("a", "b"), {day: [50, 50], day + spot_checks.DAY: [1, 0]}, str)
    assert [(bar.y, bar.height) for bar in chart.bars] == [(50, 50), (0, 50), (99, 1), (99, 0)]
    assert (chart.highest, chart.total, chart.width) == ("100", "101", 20)
    assert draw("k", "t", ("a",), {}, str).bars == []


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "none yet"), (0, "0 s"), (59.4, "59 s"), (150, "2 min"), (7200, "2 h"), (180_000, "2 days")],
)
def test_durations(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text

"""Macros and the words of reason codes: history, variables, and what the decision form offers."""

from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.urls import reverse

from approvals import errors
from approvals.decisions import macros, reasons
from approvals.models import MOST_TEXT, Decision, MacroEdit, ReasonEdit, Request, Staff
from audit.models import Event
from tests.conftest import Propose

FIELDS = {
    "name": "Late parcel",
    "use": "deny",
    "reason_code": "policy",
    "text": "Dear {customer_name}.",
    "offered": True,
}


def _save(staff: Staff, macro: int | None = None, version: int = 1, **changed: Any) -> MacroEdit:
    return macros.save(staff=staff, macro=macro, version=version, fields={**FIELDS, **changed})


@pytest.fixture
def waiting(propose: Propose) -> Request:
    outcome = propose("issue_refund", order_id="4471", amount_minor=9_000, reason="damaged")
    return Request.objects.get(pk=outcome.reference)


def test_some_come_with_the_product_and_all_of_them_can_be_filled(waiting: Request) -> None:
    assert {edit.use for edit in macros.latest()} == {*MacroEdit.Use.values}
    for edit in macros.latest():
        assert macros.fault_in(edit.text) == ""
        assert "{" not in macros.fill(edit, waiting)


def test_a_macro_is_filled_with_the_requests_own_values(waiting: Request, lead: Staff) -> None:
    made = _save(lead, text="{customer_name}, {order_id}, {amount}, {reference}, {shop} & <co>")
    assert macros.fill(made, waiting) == f"Maya, 4471, £90.00, {waiting.pk}, our shop & <co>"


def test_a_value_that_looks_like_a_variable_stays_as_it_is() -> None:
    assert macros.filled("{shop} {amount}", {"shop": "{amount}", "amount": "£1"}) == "{amount} £1"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Dear {name}", "There is no variable {name}. There are: {customer_name}, {order_id}, {amount}, {reference}"),
        ("Dear {}", "There is no variable {}."),
        ("Dear { customer_name }", "There is no variable { customer_name }."),
        ("Dear {customer_name", "A brace stands alone"),
        ("{{shop}}", "A brace stands alone"),
        ("", "Write something"),
        ("x" * (MOST_TEXT + 1), "at most 1,500"),
    ],
)
def test_a_text_that_cannot_be_filled_is_refused(lead: Staff, text: str, says: str) -> None:
    with pytest.raises(errors.Invalid) as caught:
        _save(lead, text=text)
    assert says in caught.value.fields["text"][0]


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", " "), ("name", "x" * 61), ("name", "REFUNDED before"), ("use", "no"), ("reason_code", "no")],
)
def test_other_fields_are_checked(lead: Staff, field: str, value: str) -> None:
    with pytest.raises(errors.Invalid) as caught:
        _save(lead, **{field: value})
    assert [*caught.value.fields] == [field]


def test_an_edit_is_a_new_row_and_withdrawing_takes_it_from_offer(lead: Staff) -> None:
    first = _save(lead, version=0)
    _save(lead, macro=first.macro, text="Other words.")
    _save(lead, macro=first.macro, version=2, offered=False)
    texts = [edit.text for edit in macros.history(first.macro)]
    assert texts == [FIELDS["text"], "Other words.", FIELDS["text"]]
    assert "Late parcel" not in [edit.name for edit in macros.offered("deny")]
    assert "Late parcel" in [edit.name for edit in macros.latest()]
    assert Event.objects.filter(kind="policy", decision="edited", actor_id="lena").count() == 3


def test_who_edits_what_a_colleague_has_edited_meanwhile_is_told(lead: Staff) -> None:
    _save(lead, macro=1, name="Mine")
    with pytest.raises(macros.Taken, match="a colleague edited this"):
        _save(lead, macro=1, name="Mine too")
    with pytest.raises(errors.Invalid, match="no such macro"):
        _save(lead, macro=99)
    assert macros.history(1)[0].name == "Mine"


@pytest.mark.parametrize("role", ["agent", "auditor"])
def test_others_edit_nothing(db: None, role: str) -> None:
    other = Staff.objects.create(username="x", role=role)
    with pytest.raises(errors.Forbidden):
        _save(other)
    with pytest.raises(errors.Forbidden):
        reasons.save(staff=other, code="other", version=1, fields={"label": "x", "help": "", "offered": True})


def test_the_words_of_a_code_change_and_the_code_does_not(lead: Staff) -> None:
    fields = {"label": "Twice", "help": "Paid before.", "offered": False}
    reasons.save(staff=lead, code="duplicate", version=1, fields=fields)
    assert [edit.code for edit in reasons.latest()] == Decision.Reason.values
    assert "duplicate" not in [edit.code for edit in reasons.offered()]
    assert reasons.label_of("duplicate") == "Twice"
    with pytest.raises(macros.Taken):
        reasons.save(staff=lead, code="duplicate", version=1, fields=fields)
    for wrong in ({"label": " "}, {"label": "x" * 61}, {"help": "x" * 301}):
        with pytest.raises(errors.Invalid):
            reasons.save(staff=lead, code="duplicate", version=2, fields=fields | wrong)
    with pytest.raises(errors.Invalid, match="no such reason"):
        reasons.save(staff=lead, code="nothing", version=1, fields=fields)


def test_one_reason_stays_on_offer(lead: Staff) -> None:
    *most, last = Decision.Reason.values
    for code in most:
        reasons.save(staff=lead, code=code, version=1, fields={"label": code, "help": "", "offered": False})
    with pytest.raises(errors.Invalid, match="At least one reason stays"):
        reasons.save(staff=lead, code=last, version=1, fields={"label": "x", "help": "", "offered": False})
    assert [edit.code for edit in reasons.offered()] == [last]


@pytest.mark.parametrize(
    "row",
    [
        lambda: MacroEdit(macro=1, version=0, name="x", use="deny", text="x"),
        lambda: MacroEdit(macro=99, version=1, name="x", use="deny", text="x"),
        lambda: MacroEdit(macro=99, version=0, name="", use="deny", text="x"),
        lambda: MacroEdit(macro=99, version=0, name="x", use="deny", text=""),
        lambda: MacroEdit(macro=99, version=0, name="x", use="maybe", text="x"),
        lambda: ReasonEdit(code="other", version=0, label="x"),
        lambda: ReasonEdit(code="other", version=1, label="x"),
        lambda: ReasonEdit(code="new", version=0, label=""),
    ],
)
def test_the_database_refuses_what_nobody_may_write(db: None, row: Any) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        row().save(force_insert=True)


@pytest.mark.parametrize("table", [MacroEdit, ReasonEdit])
def test_history_is_never_changed(db: None, table: Any) -> None:
    with pytest.raises(DatabaseError), transaction.atomic():
        table.objects.update(offered=False)
    with pytest.raises(DatabaseError), transaction.atomic():
        table.objects.all().delete()


def test_the_decision_form_offers_them(waiting: Request, signed_in: Any, agent: Staff, lead: Staff) -> None:
    _save(lead, text="Dear {customer_name}, <b>{amount}</b>")
    _save(lead, macro=4, name="Gone", offered=False)
    reasons.save(staff=lead, code="goodwill", version=1, fields={"label": "Kindness", "help": "", "offered": True})
    reasons.save(staff=lead, code="other", version=1, fields={"label": "Other", "help": "", "offered": False})
    page = signed_in(agent).get(reverse("request", args=[waiting.pk])).content.decode()
    assert "Dear Maya, &lt;b&gt;£90.00&lt;/b&gt;" in page
    assert "Gone" not in page
    assert "A photo, please" not in page  # is for asking
    assert ">Kindness</option>" in page
    assert 'value="other"' not in page
    assert "console/macros.js" in page

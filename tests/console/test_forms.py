"""Every page that acts, every field that it reads: what is no answer to the field is refused, and changes nothing."""

import inspect
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, cast
from urllib.parse import urlencode

import pytest
from django import forms
from django.db import connection, transaction
from django.test import Client
from django.urls import resolve, reverse

from approvals.decisions.reauthentication import SESSION_KEY
from approvals.models import Request
from approvals.policy.versions import in_force
from approvals.requests import queue_filters
from audit.models import Event
from audit.search import FILTERS
from base.access import LEAD
from console.access import registered
from console.forms.fields import Choice, Colleague, Form, Number, Pattern, Pressed, Several, Text
from console.forms.policy import PolicyForm
from tests.console.test_access import arguments
from tests.support.cast import make_staff

__all__ = ["arguments"]
pytestmark = pytest.mark.django_db

NUL, HALF, LONG, ODD = "a\x00b", "a\ud800b", "x" * 100_001, "[object Object]"
DIGITS = "9" * 5_000
PAGES = registered()
ACTS = sorted(name for name, rights in PAGES.items() if rights.acts)
DEEDS = ("deed", "do")
"""Fields whose value says which other form is read."""
NO_FIELDS = {
    "request-undo", "request-reassign", "policy-withdraw", "policy-activate", "payouts-reconcile",
    "conversation-hand-back", "conversation-close",
}  # fmt: skip
ALLAUTH = {name for name in ACTS if name.startswith(("mfa_", "account_"))} | {"account-password"}
"""These are checked by forms of Django's and allauth's."""
ANSWERS_ANYWAY = {"request-challenge": 204}
"""It says that there is nothing to sign, and the decision's own form refuses."""


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> list[Form]:
    """Every form of the console's that was filled with something."""
    found: list[Form] = []
    make = Form.__init__

    def spying(self: Form, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        if self.is_bound:
            found.append(self)

    monkeypatch.setattr(Form, "__init__", spying)
    return found


class Walk:
    """A page, and somebody who may act on it."""

    def __init__(self, name: str, url: str, bound: list[Form]) -> None:
        self.bound, self.url, self.client = bound, url, Client(raise_request_exception=True)
        role = LEAD if LEAD in PAGES[name].acts else PAGES[name].acts[0]
        self.client.force_login(make_staff("walker", role))
        session = self.client.session
        session[SESSION_KEY] = time.time()
        session.save()

    def send(self, data: dict[str, str]) -> tuple[int, Any]:
        """What the page answers, and what it changed; then it never happened."""
        with transaction.atomic():
            before, changed = events(), writes()
            body = urlencode(data, errors="surrogatepass")
            answer = self.client.post(self.url, body, content_type="application/x-www-form-urlencoded")
            after = (events() - before, {table: n for table, n in writes().items() if n != changed.get(table)})
            transaction.set_rollback(True)
        return answer.status_code, after

    def fields(self, deed: dict[str, str], samples: Callable[[forms.Field], str | None]) -> dict[str, forms.Field]:
        """Every field that the page reads for a deed: forms are found by what a POST binds, as often as more appear."""
        known: dict[str, forms.Field] = {}
        while True:
            self.bound.clear()
            self.send(filled(known, samples) | deed)
            more = {form.add_prefix(name): field for form in self.bound for name, field in form.fields.items()}
            if more.keys() <= known.keys():
                return known
            known |= more


def events() -> int:
    """What was done; that somebody reads a page is an event too."""
    return Event.objects.exclude(kind="access", decision="read").count()


def writes() -> dict[str, int]:
    """Rows that this transaction wrote, by table; what reading a page leaves is left out."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables"
            " WHERE relname !~ 'session|cacheentry|^audit_'"
        )
        return dict(cursor.fetchall())


def filled(fields: dict[str, forms.Field], samples: Callable[[forms.Field], str | None]) -> dict[str, str]:
    return {name: text for name, field in fields.items() if (text := samples(field)) is not None}


@pytest.fixture
def samples(arguments: dict[str, Any]) -> Callable[[forms.Field], str | None]:
    """What somebody would rightly send in a field."""
    make_staff("colleague", "agent")
    make_staff("person", "auditor")
    waiting = Request.objects.get()

    def sample(field: forms.Field) -> str | None:
        match field:
            case Pressed():
                return None
            case Colleague():
                return "colleague"
            case Several():
                return f"{waiting.pk} {waiting.digest}"
            case Number():
                return "1" if field.required else None
            case Pattern():
                return next((t for t in (waiting.digest, "T-7F3K9QXA", "2026-01-31") if _fits(field, t)), "")
            case Choice():
                return str(next(value for value, _label in cast(Any, field).choices if value))
        return "a text"

    return sample


def _fits(field: forms.Field, text: str) -> bool:
    try:
        field.clean(text)
    except forms.ValidationError:
        return False
    return True


def spoilt(field: forms.Field) -> Iterator[str]:
    """What no field takes; a text of another kind is still a text."""
    yield from (NUL, HALF, LONG)
    if type(field) is not Text:
        yield from (ODD, DIGITS)


@contextmanager
def told(*what: object) -> Iterator[None]:
    """Name what was sent where it went wrong."""
    try:
        yield
    except Exception as error:
        error.add_note(f"sent: {what!r:.300}")
        raise


@pytest.mark.parametrize("name", [name for name in ACTS if name not in ALLAUTH | NO_FIELDS])
def test_no_field_takes_what_is_no_answer(
    name: str, arguments: dict[str, Any], bound: list[Form], samples: Callable[[forms.Field], str | None]
) -> None:
    walk = Walk(name, reverse(name, args=arguments.get(name, ())), bound)
    first = walk.fields({}, samples)
    assert first, "a page that reads no form"
    deeds = [(key, str(value)) for key in DEEDS if key in first for value, _ in cast(Any, first[key]).choices]
    for deed in [dict([each]) for each in deeds] or [{}]:
        fields = walk.fields(deed, samples)
        for key, field in fields.items():
            for text in spoilt(field):
                with told(key, text[:20], deed):
                    bound.clear()
                    status, changed = walk.send(filled(fields, samples) | deed | {key: text})
                    assert status == ANSWERS_ANYWAY.get(name, status)
                    assert 400 <= status < 500 or name in ANSWERS_ANYWAY
                    wrong = {form.add_prefix(each) for form in bound for each in form.errors}
                    assert key in wrong or len(text) <= (getattr(field, "max_length", None) or 0)
                    assert changed == (0, {})


@pytest.mark.parametrize("name", sorted(NO_FIELDS))
def test_pages_without_fields_read_none(name: str, arguments: dict[str, Any], bound: list[Form]) -> None:
    walk = Walk(name, reverse(name, args=arguments.get(name, ())), bound)
    with told(name):
        assert walk.send(dict.fromkeys(("text", "reason", "deed"), NUL))[0] < 500
    assert bound == []


def test_every_line_of_the_policy(arguments: dict[str, Any], bound: list[Form]) -> None:
    walk = Walk("policy-edit", reverse("policy-edit"), bound)
    usual = {field.name: field.value for field in PolicyForm(in_force().to_json(), None).fields()}
    for key in usual:
        for text in (NUL, HALF, LONG, ODD):
            with told(key, text[:20]):
                assert walk.send(usual | {key: text}) == (422, (0, {}))


def test_the_walk_sees_a_change(arguments: dict[str, Any], bound: list[Form]) -> None:
    walk = Walk("note", reverse("note", args=["maya"]), bound)
    status, (acted, changed) = walk.send({"text": "rang twice"})
    assert (status, acted, changed) == (302, 1, {"approvals_note": 1})


@pytest.mark.parametrize("name", sorted(ALLAUTH))
def test_pages_of_ones_own_account_never_break(name: str, arguments: dict[str, Any], bound: list[Form]) -> None:
    walk = Walk(name, reverse(name, args=arguments.get(name, ())), bound)
    keys = ("code", "password", "old_password", "new_password1", "new_password2", "name", "credential")
    for text in (NUL, HALF, LONG, ODD):
        assert walk.send(dict.fromkeys(keys, text))[0] < 500


def read_names(module: ModuleType) -> set[str]:
    """What a module of pages reads of an address."""
    found = set(re.findall(r'request\.GET(?:\.get\w*\(|\[)"(\w+)"', inspect.getsource(module)))
    given = [form for form in vars(module).values() if isinstance(form, type) and issubclass(form, Form)]
    found |= {name for form in given for name in form.base_fields}
    found |= set(queue_filters.NAMES) | {"sort", "after", "row"} if "queue_filters" in vars(module) else set()
    return found | (set(FILTERS) | {"cursor"} if "FILTERS" in vars(module) else set())


@pytest.mark.parametrize("name", sorted(name for name, page in PAGES.items() if page.reads and name not in ALLAUTH))
def test_no_address_breaks_a_page(name: str, arguments: dict[str, Any], bound: list[Form]) -> None:
    make_staff("person", "auditor")
    url = reverse(name, args=arguments.get(name, ()))
    module = sys.modules[inspect.unwrap(resolve(url).func).__module__]
    client = Client()
    client.force_login(make_staff("reader", "lead" if LEAD in PAGES[name].reads else PAGES[name].reads[0]))
    for key in read_names(module):
        for text in (NUL, HALF, LONG, ODD, DIGITS):
            with told(key, text[:20]):
                query = urlencode({key: text}, errors="surrogatepass")
                assert client.get(url, QUERY_STRING=query).status_code < 500


def test_an_address_with_a_nul_is_no_page() -> None:
    client = Client()
    client.force_login(make_staff("boss", "admin"))
    for url in ("/console/customers/a%00b/", "/console/staff/a%00b/", "/console/notes/a%00/"):
        assert client.get(url).status_code in (404, 405)
    assert resolve("/console/customers/a/b c/").kwargs == {"customer_id": "a/b c"}

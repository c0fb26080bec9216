"""Every text of the console can be translated, and German is complete."""

import ast
import gettext
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.translation import override
from django.utils.translation.template import templatize

from agents.models import Conversation, Turn
from approvals.models import Request, Staff
from approvals.policy.rules import Facts
from audit.models import ActorKind, Event, Kind
from audit.search import FILTERS
from base.access import ROLES
from base.home import REPOSITORY
from base.names import actor_name, role_name
from base.templatetags.words import words
from ledger.models import Order, Payout
from tests.house.files import sources, templates

GERMAN = REPOSITORY / "locale" / "de" / "LC_MESSAGES" / "django.mo"
CALLS = {"gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy", "_"}
IN_CONTEXT = {"pgettext", "pgettext_lazy"}
PLURALS = {"ngettext", "ngettext_lazy"}
ENGLISH_ONLY = {"demo", "api_docs.html"}
"""The demo shop and what developers read."""
CONTEXT = "\x04"
"""Stands between a context and a text in a catalogue, as gettext has it."""
TOKEN = re.compile(r"(\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}|<[^>]*>)", re.DOTALL)
ATTRIBUTE = re.compile(r'\b(?:aria-label|title|placeholder|alt|data-label)="[^"{]*[A-Za-z]{3,}[^"]*"')
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w+\}|</?\w+>")


def console_templates() -> list[Path]:
    english = [p for p in templates() if ENGLISH_ONLY & {p.name, p.parent.name}]
    assert len(english) == 5
    return [p for p in templates() if p not in english]


def of_module(path: Path) -> Iterator[tuple[str, str]]:
    """A module that has `_` for something else says nothing to translate."""
    code = path.read_text()
    return calls(code) if "django.utils.translation" in code else iter(())


def calls(code: str) -> Iterator[tuple[str, str]]:
    """What is said in one and in many of each call for a translation; the second is empty where there is no plural."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS | IN_CONTEXT:
            texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            if texts and node.func.id in IN_CONTEXT:
                yield CONTEXT.join(texts), ""
            elif texts:
                yield texts[0], texts[1] if node.func.id in PLURALS else ""


def of_template(path: Path) -> Iterator[tuple[str, str]]:
    found = re.finditer(
        r"\bn?gettext\((?:u?'(?:[^'\\]|\\.)*'|u?\"(?:[^\"\\]|\\.)*\"|[^()])*\)", templatize(path.read_text())
    )
    for call in found:
        yield from calls(call.group())
    for call in re.finditer(
        r"(?<!\w)_\((?:u?'(?:[^'\\]|\\.)*'|u?\"(?:[^\"\\]|\\.)*\")\)", templatize(path.read_text())
    ):
        yield from calls(call.group().strip())


def texts() -> set[tuple[str, str]]:
    found = {text for path in console_templates() for text in of_template(path)}
    return found | {text for path in sources() for text in of_module(path)}


def bare(text: str) -> Iterator[str]:
    """Words between tags that are in no translate tag."""
    depth = skipped = 0
    for part in TOKEN.split(text):
        if re.match(r"\{%-?\s*blocktrans", part):
            depth += 1
        elif re.match(r"\{%-?\s*endblocktrans", part):
            depth -= 1
        elif re.match(r"<(script|style|code|pre)\b", part):
            skipped += 1
        elif re.match(r"</(script|style|code|pre)\b", part):
            skipped -= 1
        elif part[:1] not in ("{", "<") and not depth and not skipped:
            words = re.sub(r"&\w+;|Placet", "", part)
            if re.search(r"[A-Za-z]{2,}", words):
                yield " ".join(part.split())


def test_no_page_of_the_console_has_bare_text() -> None:
    found = {(p.name, text) for p in console_templates() for text in bare(p.read_text())}
    assert found == set()
    assert {
        (p.name, a) for p in console_templates() for a in ATTRIBUTE.findall(p.read_text()) if "{%" not in a
    } == set()
    assert list(bare("<p>Left as it is <b>{{ n }}</b></p>")) == ["Left as it is"]


def test_german_is_complete() -> None:
    with GERMAN.open("rb") as file:
        german = gettext.GNUTranslations(file)
    wanted = texts()
    assert len(wanted) > 900
    for one, many in wanted:
        known = german._catalog  # type: ignore[attr-defined]
        said = [german.ngettext(one, many, n) for n in (1, 2)] if many else [german.gettext(one)]
        assert ((one, 0) if many else one) in known, one
        for text in said:
            assert text.strip()
            assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(one)), text


def test_what_is_stored_has_a_name_in_german() -> None:
    """Roles, kinds of actors, states, and the fields of events and facts are codes; pages say them in words."""
    states = [*Request.State.values, *Turn.State.values, *Conversation.State.values, *Payout.State.values]
    columns = [field.name for field in Event._meta.concrete_fields]
    codes = [*states, *columns, *FILTERS, *Kind.values, *(part.name for part in fields(Facts)), *Order.Status.values]
    with GERMAN.open("rb") as file:
        known = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    with override("en-gb"):
        assert {words(code) for code in codes} - set(known) == set()
    with override("de"):
        assert {role_name(role) for role in ROLES} == {"Sachbearbeitung", "Leitung", "Revision", "Verwaltung"}
        assert {actor_name(kind) for kind in ActorKind.values} == {"Kunde", "Team", "System"}
        assert words("order_id") == "Bestellnummer"


@pytest.mark.django_db
def test_roles_are_shown_in_the_readers_language_and_stored_in_english(client: Client, lead: Staff) -> None:
    client.force_login(Staff.objects.create_user("root", role="admin"))
    page = client.get(reverse("staff"), headers={"accept-language": "de"}).content.decode()
    assert '<option value="lead">Leitung</option>' in page
    assert "(Verwaltung)" in page
    assert Staff.objects.get(pk=lead.pk).role == "lead"


@pytest.mark.django_db
def test_each_reader_has_a_language_of_their_own(client: Client, agent: Staff) -> None:
    client.force_login(agent)
    assert 'lang="en-gb"' in client.get(reverse("console")).content.decode()
    german = client.get(reverse("console"), headers={"accept-language": "de-AT,de;q=0.9"}).content.decode()
    assert 'lang="de"' in german
    assert "Nichts wartet auf Sie" in german
    client.post(reverse("set_language"), {"language": "de"})
    assert "Warteschlange" not in german
    assert "Nichts wartet auf Sie" in client.get(reverse("console")).content.decode()
    assert client.get(reverse("set_language")).status_code == 302

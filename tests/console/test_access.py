"""Every page for staff, every role, every method: what the registry says is what happens."""

from html import unescape
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse

from agents.models import Conversation
from approvals.models import Request
from audit.models import Event
from base.access import ROLES
from console.access import addresses, expected, registered, table
from tests.conftest import Propose
from tests.support.cast import make_staff

pytestmark = pytest.mark.django_db

DOES = {
    ("request", "POST"): 412,  # without what the page showed
    ("request-status", "GET"): 200,
    ("request-reading", "POST"): 404,  # no such card
    ("request-challenge", "POST"): 204,
    ("request-viewers", "GET"): 204,  # nobody else does
    ("request-told", "POST"): 200,
    ("pulse", "GET"): 404,  # of which request?
    ("several", "POST"): 422,
    ("note", "POST"): 422,
    ("flag", "POST"): 422,
    ("overview-spot-check", "POST"): 422,
    ("request-mistake", "POST"): 422,
    ("request-reopen", "POST"): 422,
    ("request-give", "POST"): 422,
    ("request-snooze", "POST"): 422,
    ("request-ask", "POST"): 422,
    ("shift", "POST"): 422,
    ("turn-steer", "POST"): 422,
    ("conversation-note", "POST"): 422,
    ("clearances", "POST"): 404,  # no such colleague
    ("tasks", "POST"): 404,  # no such task
    ("policy", "POST"): 422,
    ("policy-edit", "POST"): 422,
    ("policy-simulation", "GET"): 422,  # of what is in force already
    ("policy-simulation-step", "POST"): 422,
    ("work", "POST"): 422,
    ("payouts-reconcile", "POST"): 404,  # there is no provider
    ("macro", "POST"): 422,
    ("macro-new", "POST"): 422,
    ("reason", "POST"): 422,
    ("definition-use", "POST"): 422,
    ("conversation-say", "POST"): 422,
    ("staff", "POST"): 422,
    ("staff-member", "POST"): 422,
    ("account-password", "POST"): 422,
    ("account_reauthenticate", "POST"): 422,
    ("mfa_reauthenticate", "GET"): 302,  # to the password, which this person has
    ("mfa_reauthenticate", "POST"): 302,
    ("mfa_reauthenticate_webauthn", "GET"): 302,
    ("mfa_reauthenticate_webauthn", "POST"): 302,
    ("mfa_activate_totp", "GET"): 302,  # to confirm first
    ("mfa_deactivate_totp", "GET"): 404,  # there is none
    ("mfa_deactivate_totp", "POST"): 404,
    ("mfa_view_recovery_codes", "GET"): 404,
    ("mfa_generate_recovery_codes", "GET"): 302,
    ("mfa_add_webauthn", "GET"): 302,
    ("mfa_remove_webauthn", "GET"): 302,
}
"""What a page answers where it does as asked, if not 200 to GET and 302 to POST. Posted forms are empty but these."""
FORMS = {"brake": {"what": "writes", "reason": "a test"}}


BEFORE_SIGNING_IN = {
    "sign-in", "account_login", "mfa_authenticate", "mfa_login_webauthn", "openid_connect_login",
    "openid_connect_callback", "sign-out", "account_logout", "set_language",
}  # fmt: skip
"""For who has not signed in yet, or whose session says nothing about their role."""
PAGES = registered()


@pytest.fixture
def arguments(propose: Propose) -> dict[str, tuple[Any, ...]]:
    """By the name of a page, what its address needs."""
    propose("issue_refund", order_id="4471", amount_minor=9_900, reason="damaged")
    found = Request.objects.get()
    by_request = [name for name in PAGES if name == "request" or name.startswith("request-")]
    by_conversation = [name for name in PAGES if name == "conversation" or name.startswith("conversation-")]
    by_version = ["policy-version", "policy-activate", "policy-withdraw", "policy-simulation", "policy-simulation-step"]
    return {
        **dict.fromkeys(by_request, (found.pk,)),
        **dict.fromkeys(by_conversation, (found.conversation_id,)),
        **dict.fromkeys(["definition", "definition-use"], (Conversation.objects.get().definition_id,)),
        "macro": (1,),
        "reason": ("other",),
        **dict.fromkeys(["turn", "turn-steer"], (Event.objects.exclude(turn_id=None).latest("id").turn_id,)),
        **dict.fromkeys(["customer", "note", "flag"], ("maya",)),
        **dict.fromkeys(by_version, (1,)),
        "audit-event": (Event.objects.latest("id").pk,),
        "payout-act": (1,),
        "staff-member": ("person",),
        "mfa_remove_webauthn": (1,),
    }


def test_every_address_for_staff_is_registered() -> None:
    names = {str(pattern.name) for path, pattern in addresses() if path.startswith(("console/", "audit/"))}
    assert names == PAGES.keys() | BEFORE_SIGNING_IN
    assert PAGES.keys() & BEFORE_SIGNING_IN == set()


@pytest.mark.parametrize("name", PAGES)
def test_the_table_is_true(name: str, arguments: dict[str, tuple[Any, ...]]) -> None:
    url = reverse(name, args=arguments.get(name, ()))
    answers, wanted = {}, {}
    for role in ("", *ROLES):
        client = Client()
        staff = make_staff("person", role) if role else None
        for method in ("GET", "HEAD", "POST", "PUT"):
            does = DOES.get((name, method.replace("HEAD", "GET")), 302 if method == "POST" else 200)
            wanted[role, method] = expected(name, role, method) or does
            with transaction.atomic():
                if staff:
                    client.force_login(staff)
                send = getattr(client, method.lower())
                answers[role, method] = send(url, FORMS.get(name, {}) if method == "POST" else None).status_code
                transaction.set_rollback(True)
        if staff:
            type(staff).objects.filter(pk=staff.pk).update(username=f"was {role}")
    assert answers == wanted


def test_an_auditor_acts_on_nothing_but_their_own_account() -> None:
    acts = {name for name in PAGES if expected(name, "auditor", "POST") is None}
    assert {name for name in acts if not name.startswith("mfa_")} == {
        "sessions", "account-password", "account_reauthenticate",
        "policy-simulation-step",  # a replay changes nothing
    }  # fmt: skip


def test_an_agent_sees_no_policy_editor_and_no_accounts() -> None:
    for name in ("policy", "policy-version", "policy-activate", "staff", "staff-member", "audit"):
        assert expected(name, "agent", "GET") == 403
        assert expected(name, "agent", "POST") == 403


def test_the_page_of_roles_is_the_table(client: Client) -> None:
    client.force_login(make_staff("otto", "auditor"))
    body = unescape(client.get(reverse("roles")).content.decode())
    assert len(list(table())) > 40
    assert all(f'<th scope="row">{what}</th>' in body for what, _ in table())

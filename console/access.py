"""Who may do what on every page for staff: the table that the page of roles shows and that the tests go through.

A page that is not here fails a test, and so does one that lets in somebody else than is said here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from base.access import ADMIN, AUDITOR, DECIDES, LEAD, READS_CONSOLE, READS_RECORD, ROLES

LEADS = (LEAD, ADMIN)
NOBODY: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Which roles may read a page (GET) and act on it (POST); `what` is how the page of roles calls it, and empty
    for a part of another page."""

    reads: tuple[str, ...] = NOBODY
    acts: tuple[str, ...] = NOBODY
    what: Any = ""


SIGN_IN_PAGES = (
    "sign-in", "account_login", "mfa_authenticate", "mfa_login_webauthn", "sign-out", "account_logout", "set_language",
    "openid_connect_login", "openid_connect_callback",
)  # fmt: skip
"""Pages for who has not signed in yet, or whose session says nothing about their role."""

PAGES: dict[str, Page] = {
    "overview": Page(READS_CONSOLE, what=_("The overview (money and costs: not for agents)")),
    "overview-spot-check": Page(acts=DECIDES, what=_("Look at an automatic execution and say what one found")),
    "console": Page(READS_CONSOLE, what=_("The queue of requests")),
    "request": Page(READS_CONSOLE, DECIDES, _("A request: read it; decide it")),
    "request-status": Page(READS_CONSOLE),
    "request-assign": Page(acts=DECIDES),
    "request-undo": Page(acts=DECIDES, what=_("Take one's own approval back")),
    "request-mistake": Page(acts=DECIDES, what=_("Report a mistake")),
    "request-reading": Page(acts=DECIDES),
    "request-challenge": Page(acts=DECIDES),
    "request-reassign": Page(acts=(LEAD,), what=_("Have the second approval assigned again")),
    "request-viewers": Page(READS_CONSOLE),
    "request-give": Page(acts=DECIDES, what=_("Give a request to a colleague")),
    "request-snooze": Page(acts=DECIDES, what=_("Let a request rest in one's own queue")),
    "request-ask": Page(acts=DECIDES, what=_("Ask the customer a fixed question")),
    "request-told": Page(acts=DECIDES),
    "pulse": Page(READS_CONSOLE),
    "several": Page(acts=DECIDES, what=_("Decide or give away several requests at once")),
    "shift": Page(DECIDES, DECIDES, _("One's own shift: away, hand over")),
    "reviewers": Page(READS_RECORD, what=_("How reviewers decide")),
    "note": Page(acts=DECIDES, what=_("Write a note about a customer")),
    "flag": Page(acts=DECIDES, what=_("Flag a customer")),
    "customer": Page(READS_CONSOLE, what=_("A customer's file")),
    "clearances": Page(acts=(LEAD,), what=_("Clear a colleague who shares something with a customer")),
    "tasks": Page(READS_RECORD, LEADS, _("Tasks: read them; close them")),
    "policy-alone": Page(READS_CONSOLE, what=_("What can happen with no human")),
    "policy": Page(READS_RECORD, LEADS, _("The policy: read it; propose a version")),
    "policy-version": Page(READS_RECORD),
    "policy-edit": Page(LEADS, LEADS),
    "policy-withdraw": Page(acts=LEADS, what=_("Withdraw a proposed policy")),
    "policy-simulation": Page(READS_RECORD),
    "policy-simulation-step": Page(acts=READS_RECORD),
    "policy-activate": Page(acts=LEADS, what=_("Bring a proposed policy into force")),
    "macro": Page(READS_CONSOLE, LEADS),
    "macros": Page(READS_CONSOLE, what=_("Ready-made messages and reasons")),
    "macro-new": Page(READS_CONSOLE, LEADS, _("A ready-made message or a reason: see its history; change it")),
    "reason": Page(READS_CONSOLE, LEADS),
    "definitions": Page(READS_RECORD, what=_("The assistant's definitions")),
    "definition": Page(READS_RECORD),
    "definition-use": Page(acts=LEADS, what=_("Choose the definition of new conversations")),
    "conversations": Page(READS_CONSOLE, what=_("Conversations")),
    "conversation": Page(READS_CONSOLE),
    "conversation-live": Page(READS_CONSOLE),
    "conversation-desk": Page(READS_CONSOLE),
    "conversation-take": Page(acts=DECIDES, what=_("Take a conversation over, answer the customer, hand it back")),
    "conversation-say": Page(acts=DECIDES),
    "conversation-hand-back": Page(acts=DECIDES),
    "conversation-close": Page(acts=DECIDES, what=_("Close a conversation")),
    "conversation-note": Page(acts=DECIDES, what=_("Write a note about a conversation")),
    "conversation-transcript": Page(READS_CONSOLE),
    "turns": Page(READS_CONSOLE, what=_("Turns of the assistant")),
    "turn": Page(READS_CONSOLE),
    "turn-steer": Page(acts=LEADS, what=_("Try a turn again, or end it")),
    "brake": Page(READS_CONSOLE, LEADS, _("The brake: see it; pull it and let go")),
    "payouts": Page(READS_CONSOLE, what=_("Payouts")),
    "payouts-reconcile": Page(acts=LEADS, what=_("Compare with the payment provider")),
    "payout-act": Page(acts=LEADS, what=_("Resolve a payout")),
    "audit": Page(READS_RECORD, what=_("The record")),
    "audit-event": Page(READS_RECORD),
    "roles": Page(ROLES, what=_("This page")),
    "staff": Page((AUDITOR, ADMIN), (ADMIN,), _("Accounts of staff: see them; make one")),
    "staff-member": Page(acts=(ADMIN,), what=_("Change a colleague's role, close an account, end its sessions")),
    "mfa_index": Page(ROLES, what=_("One's own account")),
    "sessions": Page(ROLES, ROLES, _("One's own sessions: see them; end them")),
    "account-password": Page(ROLES, ROLES),
    "account_reauthenticate": Page(ROLES, ROLES),
    "mfa_reauthenticate": Page(ROLES, ROLES),
    "mfa_reauthenticate_webauthn": Page(ROLES, ROLES),
    "mfa_activate_totp": Page(ROLES, ROLES),
    "mfa_deactivate_totp": Page(ROLES, ROLES),
    "mfa_view_recovery_codes": Page(ROLES),
    "mfa_generate_recovery_codes": Page(ROLES, ROLES),
    "mfa_add_webauthn": Page(ROLES, ROLES),
    "mfa_list_webauthn": Page(ROLES),
    "mfa_remove_webauthn": Page(ROLES, ROLES),
}


def expected(name: str, role: str, method: str) -> int | None:
    """What a page answers to a role: 302 (sign in first; role is empty), 403, 405, or None when it does as asked."""
    page = PAGES[name]
    if not role:
        return 302
    if role not in {*page.reads, *page.acts}:
        return 403
    roles = {"GET": page.reads, "POST": page.acts}.get(method, NOBODY)
    if not roles:
        return 405
    return None if role in roles else 403


def table() -> Iterable[tuple[Any, list[tuple[bool, bool]]]]:
    """Rows of the page of roles: what, and for each role whether it sees and whether it acts."""
    for page in PAGES.values():
        if page.what:
            yield page.what, [(role in page.reads, role in page.acts) for role in ROLES]

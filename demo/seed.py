"""The demo: a small homeware shop, Harbour & Hearth, and three members of its staff."""

import secrets
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from approvals.models import Staff
from approvals.people.accounts import create_staff
from base.access import ADMIN, AGENT, AUDITOR, LEAD
from base.home import make_home, read_private, write_private
from ledger.access.staff import as_staff
from ledger.files.importing import import_shop
from ledger.models import Customer

SHOP = Path(__file__).with_name("demo-shop.jsonl")
DEMO_CUSTOMERS = ("maya-lindqvist", "tom-okafor", "priya-raman", "owen-carrick", "elena-duarte")
"""Whom the demo shop's page can be looked at as; the first is the default."""
DEMO_STAFF = {"ada": AGENT, "lena": LEAD, "otto": AUDITOR, "nina": ADMIN}


class SignIn(NamedTuple):
    """With what a demo member of staff signs in."""

    role: str
    name: str
    password: str


def seed() -> list[SignIn]:
    """Bring in the demo shop and its staff where they are missing; gives the sign-ins."""
    # Once it is there it may have been written to, and a later edition of the file need not fit.
    if not as_staff(lambda: Customer.objects.filter(customer_id=DEMO_CUSTOMERS[0]).exists()):
        with SHOP.open("rb") as file:
            import_shop(file, lambda done, total: None)
    passwords = _passwords()
    return [_staff(name, role, passwords[name]) for name, role in DEMO_STAFF.items()]


def _passwords() -> dict[str, str]:
    """The demo's passwords, random for this installation and kept in demo-passwords.json (0600)."""
    make_home(settings.PLACET.home)
    path = settings.PLACET.home / "demo-passwords.json"
    kept = read_private(path) or {}
    missing = {name: secrets.token_urlsafe(12) for name in DEMO_STAFF if name not in kept}
    if missing:
        # Staff of an earlier home sign in with the passwords that are printed now.
        for staff in Staff.objects.filter(username__in=missing):
            staff.set_password(missing[staff.username])
            staff.save(update_fields=["password"])
        write_private(path, kept | missing)
    return kept | missing


def _staff(name: str, role: str, password: str) -> SignIn:
    if not Staff.objects.filter(username=name).exists():
        create_staff(name, role, password)
    return SignIn(role, name, password)

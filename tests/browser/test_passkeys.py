"""A passkey, in Chromium's virtual authenticator: made, signed in with, and used to sign a decision."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any, TypeVar

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.db import connection
from playwright.sync_api import BrowserContext, Page, expect

from approvals.models import Request, Signature, Staff
from approvals.people.administration import end_access
from demo.seed import SignIn
from tests.browser.conftest import NewContext
from tests.browser.test_walk import serious, sign_in
from tests.support.product import Chat, Product

pytestmark = [pytest.mark.browser, pytest.mark.committing, pytest.mark.xdist_group("browser")]
T = TypeVar("T")
SLOW = 30_000
PARTS = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
         "isUserVerified": True, "automaticPresenceSimulation": True}  # fmt: skip


def give_passkeys(context: BrowserContext, page: Page) -> Any:
    """A device that can make passkeys; its session, with which it can be taken away again."""
    device = context.new_cdp_session(page)
    device.send("WebAuthn.enable")
    device.send("WebAuthn.addVirtualAuthenticator", {"options": PARTS})
    return device


def confirm(page: Page, who: SignIn) -> None:
    expect(page.get_by_role("heading", name="Confirm that it is you")).to_be_visible()
    page.get_by_label("Password").fill(who.password)
    page.get_by_role("button", name="Confirm").click()


def add_passkey(page: Page, who: SignIn) -> None:
    page.goto("/console/account/")
    page.get_by_role("link", name="Add a passkey").click()
    confirm(page, who)
    page.get_by_label("What to call it").fill("My phone")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()


def apart(work: Callable[[], T]) -> T:
    """Ask the database in a thread of its own: in the browser's runs an event loop."""

    def run() -> T:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run).result()


@pytest.fixture(scope="module")
def great(product: Product) -> str:
    """A refund of over £500, which needs two people."""
    chat = Chat(product, "maya-lindqvist")
    chat.answered(chat.say("Please refund £560.00 of order #4436, it arrived damaged."))
    return apart(lambda: Request.objects.get(state="pending", approvals_needed=2).pk)


def test_a_passkey_signs_in_and_signs_a_decision(
    new_context: NewContext, sign_ins: dict[str, SignIn], complaints: list[str], great: str
) -> None:
    context = new_context()
    page = sign_in(context, sign_ins["ada"])
    give_passkeys(context, page)
    add_passkey(page, sign_ins["ada"])
    page.get_by_role("button", name="Sign out").click()

    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url(re.compile(r"/console/$"))

    page.goto(f"/console/requests/{great}/")
    expect(page.get_by_text("your passkey signs what you approve")).to_be_visible()
    page.locator("#note").fill("seen the photo")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("It needs one more person's approval")).to_be_visible(timeout=SLOW)
    expect(page.get_by_text("Signed with a passkey.")).to_be_visible()
    assert complaints == []

    kept = apart(lambda: Signature.objects.select_related("decision").get(decision__request_id=great))
    assert kept.decision.note == "seen the photo"
    out = StringIO()
    apart(lambda: call_command("verify_signatures", great, stdout=out))
    assert out.getvalue().startswith("1 signatures")


def test_an_old_sign_in_confirms_in_place_and_keeps_what_was_typed(
    new_context: NewContext, sign_ins: dict[str, SignIn], complaints: list[str], great: str
) -> None:
    context = new_context()
    page = sign_in(context, sign_ins["lena"])
    cookies = context.cookies()
    apart(lambda: grow_old(cookies))
    page.goto(f"/console/requests/{great}/")
    form = page.locator("#decide")
    form.get_by_label("Note").fill("typed before")
    expect(page.get_by_text("What you have typed stays")).to_be_visible()
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Confirm").click()
    expect(
        page.get_by_text("password", exact=False).filter(has_text=re.compile("incorrect|not", re.I)).first
    ).to_be_visible()
    page.get_by_label("Password").fill(sign_ins["lena"].password)
    page.get_by_role("button", name="Confirm").click()
    expect(page.get_by_text("Confirmed. Now decide.")).to_be_visible()
    expect(form.get_by_label("Note")).to_have_value("typed before")
    form.get_by_label("Reason").select_option("policy")
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_text("typed before")).to_be_visible(timeout=SLOW)
    assert [text for text in complaints if "422" not in text] == []


def grow_old(cookies: Any) -> None:
    """The session's last authentication was an hour ago."""
    session = SessionStore(next(cookie["value"] for cookie in cookies if cookie["name"] == "placet"))
    session["authenticated_at"] -= 3600
    session.save()


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_pages_of_accounts_are_free_of_serious_faults(
    new_context: NewContext, sign_ins: dict[str, SignIn], complaints: list[str], colours: str
) -> None:
    context = new_context(color_scheme=colours, bypass_csp=True, viewport={"width": 320, "height": 800})
    page = sign_in(context, sign_ins["otto"])
    give_passkeys(context, page)
    faults, wide = {}, {}
    page.goto("/console/account/app/")
    faults["confirm"] = serious(page)
    confirm(page, sign_ins["otto"])
    for path in ("", "app/", "passkeys/add/", "sessions/", "password/"):
        page.goto(f"/console/account/{path}")
        faults[path], wide[path] = serious(page), page.evaluate("document.documentElement.scrollWidth")
    for path in ("roles/", "staff/"):
        page.goto(f"/console/{path}")
        faults[path], wide[path] = serious(page), page.evaluate("document.documentElement.scrollWidth")
    assert {path: found for path, found in faults.items() if found} == {}
    assert {path: width for path, width in wide.items() if width > 320} == {}
    assert complaints == []


def test_a_session_that_was_ended_elsewhere_is_over(new_context: NewContext, sign_ins: dict[str, SignIn]) -> None:
    page = sign_in(new_context(), sign_ins["otto"])
    apart(lambda: end_access(staff=(otto := Staff.objects.get(username="otto")), by=otto))
    page.goto("/console/")
    expect(page).to_have_url(re.compile(r"/console/sign-in/\?next="))

"""Two people at work in the console at once, one of them without a mouse."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from demo.seed import SignIn
from tests.browser.conftest import NewContext
from tests.browser.test_walk import SLOW, ask_for_much, open_chat, serious, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.committing, pytest.mark.xdist_group("browser")]


@pytest.fixture(scope="module")
def undo_seconds() -> str:
    """Longer than a test, so that second thoughts come in time."""
    return "600"


def live_queue(page: Page) -> Page:
    page.goto("/console/")
    expect(page.locator("#live")).to_have_attribute("data-state", "live", timeout=SLOW)
    return page


def test_two_people_claim_race_decide_and_undo(
    new_context: NewContext, sign_ins: dict[str, SignIn], complaints: list[str]
) -> None:
    ada = live_queue(sign_in(new_context(), sign_ins["ada"]))
    lena = live_queue(sign_in(new_context(), sign_ins["lena"]))
    lena.evaluate("window.notReloaded = true")
    reference = ask_for_much(open_chat(new_context()))
    for page in (ada, lena):  # told, and nothing jumps
        expect(page.get_by_role("button", name=re.compile("new request"))).to_be_visible(timeout=SLOW)
        page.get_by_role("button", name=re.compile("new request")).click()
        expect(page.locator(f"#row-{reference}")).to_be_visible()
        expect(page).to_have_title(re.compile(r"^\(1\)"))
    ada.locator(f"#assign-{reference}").click()
    expect(ada.locator(f"#to-{reference}")).to_be_focused()
    expect(ada.locator("#said")).to_have_text("You are on it.")
    expect(lena.locator(f"#row-{reference}")).to_contain_text("ada", timeout=SLOW)
    for page in (ada, lena):
        page.goto(f"/console/requests/{reference}/")
        expect(page.locator("#decide")).to_be_visible()
    expect(lena.locator("#viewers")).to_contain_text("ada", timeout=SLOW)
    expect(ada.locator(".proposing")).to_contain_text("proposed")
    ada.get_by_role("button", name="Approve", exact=True).click()
    lena.get_by_label("Reason").select_option("policy")
    lena.get_by_role("button", name="Deny", exact=True).click()
    expect(lena.get_by_role("alert")).to_contain_text("ada was first", timeout=SLOW)
    expect(ada.get_by_role("timer")).to_contain_text(re.compile(r"\d+ s"))
    ada.get_by_role("button", name="Take your approval back").click()
    expect(ada.get_by_text("You took your approval")).to_be_visible()
    lena.goto(f"/console/requests/{reference}/")
    watching = live_queue(ada)
    lena.get_by_label("Reason").select_option("policy")
    lena.get_by_role("button", name="Deny", exact=True).click()
    expect(lena.get_by_text(f"You denied {reference}")).to_be_visible(timeout=SLOW)
    expect(watching.locator(f"#row-{reference}.over")).to_contain_text("lena", timeout=SLOW)
    assert [text for text in complaints if "409" not in text] == []
    watching.context.set_offline(True)
    expect(watching.locator("#live")).to_contain_text("Offline since")
    watching.context.set_offline(False)
    expect(watching.locator("#live")).to_have_attribute("data-state", "live", timeout=SLOW)


def test_news_that_comes_while_the_queue_asks_is_not_left_for_later(
    new_context: NewContext, sign_ins: dict[str, SignIn], complaints: list[str]
) -> None:
    reference = ask_for_much(open_chat(new_context(), "priya-raman"))
    lena = sign_in(new_context(), sign_ins["lena"])
    lena.goto(f"/console/requests/{reference}/")
    ada, beside = (live_queue(sign_in(new_context(), sign_ins["ada"])) for _ in range(2))
    held: list[Any] = []

    def hold_one(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))

    ada.route("**/console/pulse/**", hold_one)
    lena.get_by_role("button", name="I am on it").click()
    while not held:
        ada.wait_for_timeout(50)
    lena.get_by_label("Reason").select_option("policy")
    lena.get_by_role("button", name="Deny", exact=True).click()
    expect(lena.get_by_text(f"You denied {reference}")).to_be_visible(timeout=SLOW)
    expect(beside.locator(f"#row-{reference}.over")).to_contain_text("lena")  # so the news has come
    route, answer = held[0]
    route.fulfill(response=answer)
    expect(ada.locator(f"#row-{reference}.over")).to_contain_text("lena")
    assert complaints == []


def test_with_keys_alone(new_context: NewContext, sign_ins: dict[str, SignIn], complaints: list[str]) -> None:
    first = ask_for_much(open_chat(new_context(), "tom-okafor"))
    page = live_queue(sign_in(new_context(bypass_csp=True), sign_ins["lena"]))
    expect(page.get_by_role("button", name="Keyboard")).to_be_visible()
    keys = page.keyboard
    keys.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert serious(page) == []
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    keys.press("j")
    expect(page.locator(f"#to-{first}")).to_be_focused()
    keys.press("Enter")
    expect(page.get_by_role("button", name="Keyboard")).to_be_visible()  # its script has run
    keys.press("n")
    expect(page.locator("#note")).to_be_focused()
    keys.type("adj: seen before")  # letters of shortcuts too, which do nothing here
    page.reload()
    expect(page.locator("#note")).to_have_value("adj: seen before")
    expect(page.get_by_role("button", name="Keyboard")).to_be_visible()
    page.locator("body").press("d")
    expect(page.locator("#reason_code")).to_be_focused()
    keys.type("Dup")
    keys.press("Escape")
    keys.press("d")
    expect(page.get_by_role("button", name="Deny", exact=True)).to_be_focused()
    keys.press("Enter")
    said = page.get_by_text(f"You denied {first}")
    expect(said).to_be_visible(timeout=SLOW)
    expect(page.locator(".banner.good").first).to_be_focused()
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('draft'))") == []
    page.goto("/console/")
    page.get_by_role("button", name="Keyboard").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.get_by_label("Single keys are on").uncheck()
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    keys.press("/")
    expect(page.locator("#q")).not_to_be_focused()
    assert complaints == []

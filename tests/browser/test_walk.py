"""A customer and an agent, each in a browser: ask, approve, and see it happen in the open chat."""

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from demo.seed import SignIn
from tests.browser.conftest import NewContext

pytestmark = [pytest.mark.browser, pytest.mark.committing, pytest.mark.xdist_group("browser")]
SLOW = 30_000


def sign_in(context: BrowserContext, who: SignIn) -> Page:
    page = context.new_page()
    page.goto("/console/sign-in/")
    page.get_by_label("Name").fill(who.name)
    page.get_by_label("Password").fill(who.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(r"/console/$"))
    return page


def open_chat(context: BrowserContext, customer: str = "maya-lindqvist") -> Page:
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Demo customer").select_option(customer)
    page.get_by_role("button", name="Switch").click()
    page.get_by_role("button", name="Chat with us").click()
    return page


def ask_for_much(page: Page) -> str:
    """Ask for a whole order's money, which waits for a person; gives the reference."""
    page.get_by_role("button", name=re.compile("Refund me the whole")).click()
    card = page.locator(".request.waiting")
    expect(card).to_contain_text("Waiting for a person", timeout=SLOW)
    found = re.search(r"R-[0-9A-Z]+", card.inner_text())
    assert found
    return found[0]


def test_what_was_approved_appears_in_the_open_chat(
    new_context: NewContext, sign_ins: dict[str, SignIn], complaints: list[str]
) -> None:
    customer = open_chat(new_context())
    customer.evaluate("window.notReloaded = true")
    reference = ask_for_much(customer)
    expect(customer.locator(".message.assistant").last).to_contain_text(reference, timeout=SLOW)
    agent = sign_in(new_context(), sign_ins["ada"])
    agent.get_by_role("link", name=re.compile(reference)).or_(
        agent.locator("tr, li").filter(has_text=reference).get_by_role("link")
    ).first.click()
    expect(agent.locator("#decide")).to_be_visible()
    expect(agent.get_by_text("Refund me the whole").first).to_be_visible()  # the transcript
    agent.get_by_role("button", name="Approve", exact=True).click()
    notice = customer.locator(".message.notice").filter(has_text=re.compile(r"Refunded .* Reference T-"))
    expect(notice).to_be_visible(timeout=SLOW)
    expect(agent.get_by_text("executed", exact=False).first).to_be_visible(timeout=SLOW)
    assert customer.evaluate("window.notReloaded") is True
    assert complaints == []


def test_text_is_never_markup(new_context: NewContext, complaints: list[str]) -> None:
    page = open_chat(new_context())
    page.get_by_label("Your message").fill("<img src=x onerror=alert(1)><b>hello</b>")
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".message.customer").last).to_contain_text("<b>hello</b>")
    expect(page.locator(".message.assistant").last).to_be_visible(timeout=SLOW)
    assert page.locator(".message img, .message.customer b").count() == 0
    assert complaints == []


@pytest.mark.parametrize(("colours", "customer"), [("light", "tom-okafor"), ("dark", "priya-raman")])
def test_pages_are_free_of_serious_faults_and_of_csp_violations(
    new_context: NewContext,
    sign_ins: dict[str, SignIn],
    complaints: list[str],
    colours: str,
    customer: str,
) -> None:
    strict = new_context(color_scheme=colours)
    loose = new_context(color_scheme=colours, bypass_csp=True)  # axe is a script from outside
    asking = open_chat(loose, customer)
    reference = ask_for_much(asking)
    faults = {"/ with the chat open": serious(asking)}
    sign_in_page = loose.new_page()
    sign_in_page.goto("/console/sign-in/")
    faults["sign-in"] = serious(sign_in_page)
    reader = sign_in(loose, sign_ins["lena"])
    reader.goto("/audit/")
    event = reader.locator("a[href*='/audit/events/']").first.get_attribute("href")
    assert event
    paths = ["/", "/demo/chat/", "/console/", f"/console/requests/{reference}/", "/console/conversations/",
             "/console/?sort=amount&currency=GBP", "/console/shift/",
             "/console/brake/", "/console/tasks/", "/console/reviewers/", f"/console/customers/{customer}/",
             "/audit/", event, "/nothing-here/"]  # fmt: skip
    for path in paths:
        reader.goto(path)
        reader.wait_for_load_state("networkidle") if path not in ("/", "/demo/chat/") else None
        faults[path] = serious(reader)
    assert {path: found for path, found in faults.items() if found} == {}
    complaints.clear()
    page = sign_in(strict, sign_ins["lena"])
    for path in (*paths, "/api/docs/"):  # whose faults are Swagger UI's own
        page.goto(path)
        page.wait_for_timeout(200)  # for scripts to run; there is nothing else to wait for
    assert [text for text in complaints if "404 (Not Found)" not in text] == []
    asking.get_by_role("button", name="Withdraw this request").click()
    expect(asking.locator(".request.withdrawn")).to_be_visible(timeout=SLOW)


def serious(page: Page) -> list[tuple[str, str, Any]]:
    """What axe finds serious or critical."""
    found = Axe().run(page).response["violations"]
    return [(v["id"], v["help"], v["nodes"][0]["target"]) for v in found if v["impact"] in ("serious", "critical")]

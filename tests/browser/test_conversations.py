"""A customer and a person of the staff, each in a browser: taken over in mid-thought, answered, handed back."""

import pytest
from playwright.sync_api import expect

from demo.seed import SignIn
from tests.browser.conftest import NewContext
from tests.browser.test_walk import SLOW, open_chat, serious, sign_in
from tests.support.product import within
from tests.support.standin import Server

pytestmark = [pytest.mark.browser, pytest.mark.committing, pytest.mark.xdist_group("browser")]
OK = {"content": [{"type": "text", "text": "I had that ready."}], "stop_reason": "end_turn"}


def test_a_person_takes_over_answers_and_hands_back(
    new_context: NewContext, sign_ins: dict[str, SignIn], running_standin: Server, complaints: list[str]
) -> None:
    running_standin.script("ponder this", {**OK, "delay": 5})
    customer, ada = open_chat(new_context(), "owen-carrick"), sign_in(new_context(), sign_ins["ada"])
    customer.get_by_label("Your message").fill("Please ponder this")
    customer.get_by_role("button", name="Send").click()
    within(20, lambda: running_standin.received("ponder this"), "the model's thinking")
    ada.goto("/console/conversations/?q=owen")
    ada.get_by_role("link", name="Please ponder this").click()
    expect(ada.get_by_text("Whoever takes a conversation over cannot decide")).to_be_visible()
    ada.get_by_role("button", name="Take over").click()
    expect(customer.locator(".disclosure")).to_have_text("You are talking to Ada from our team.", timeout=SLOW)
    expect(customer.locator(".typing")).to_have_count(0)
    ada.get_by_label("Your answer to the customer").fill("Hello, this is <b>Ada</b>.")
    ada.get_by_label("Your answer to the customer").press("Control+Enter")
    staff = customer.locator(".message.staff")
    expect(staff).to_contain_text("Hello, this is <b>Ada</b>.", timeout=SLOW)
    expect(staff.locator(".label")).to_have_text("Ada, our team")
    expect(ada.get_by_label("Your answer to the customer")).to_have_value("")
    ada.get_by_label("Your answer to the customer").fill("half an ans")
    customer.get_by_label("Your message").fill("Are you a person?")
    customer.get_by_role("button", name="Send").click()
    expect(ada.locator("#transcript")).to_contain_text("Are you a person?", timeout=SLOW)
    expect(ada.get_by_label("Your answer to the customer")).to_have_value("half an ans")
    ada.get_by_role("button", name="Hand back to the assistant").click()
    expect(customer.locator(".disclosure")).to_have_text("You are talking to an AI assistant.", timeout=SLOW)
    customer.get_by_label("Your message").fill("Where is my order?")
    customer.get_by_role("button", name="Send").click()
    expect(customer.locator(".message.assistant").last).to_be_visible(timeout=SLOW)
    expect(customer.locator(".message.assistant")).not_to_contain_text(["I had that ready."])
    expect(ada.locator("#transcript")).to_contain_text("Where is my order?", timeout=SLOW)
    assert complaints == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_pages_are_free_of_serious_faults(
    new_context: NewContext, sign_ins: dict[str, SignIn], complaints: list[str], colours: str
) -> None:
    loose = new_context(color_scheme=colours, bypass_csp=True)  # axe is a script from outside
    customer = open_chat(loose, "elena-duarte")
    customer.get_by_label("Your message").fill("I want to speak to a human")
    customer.get_by_role("button", name="Send").click()
    expect(customer.locator(".message.assistant").last).to_be_visible(timeout=SLOW)
    lena = sign_in(loose, sign_ins["lena"])
    faults = {}
    for path in ("/console/conversations/", "/console/conversations/?state=handed_over", "/console/overview/?days=30",
                 "/console/customers/elena-duarte/"):  # fmt: skip
        lena.goto(path)
        faults[path] = serious(lena)
    lena.goto("/console/conversations/?state=handed_over&q=elena")
    lena.locator("tbody a").first.click()
    expect(lena.get_by_text("Its claim, in its own words:")).to_be_visible()
    faults["before"] = serious(lena)
    lena.get_by_role("button", name="Take over").click()
    lena.get_by_label("Your answer to the customer").fill("Hello")
    lena.get_by_role("button", name="Send", exact=True).click()
    expect(customer.locator(".message.staff")).to_be_visible(timeout=SLOW)
    faults["while"], faults["the chat"] = serious(lena), serious(customer)
    lena.get_by_role("button", name="Close the conversation").click()
    expect(customer.get_by_text("This conversation is closed.")).to_be_visible(timeout=SLOW)
    assert {path: found for path, found in faults.items() if found} == {}
    narrow = sign_in(new_context(color_scheme=colours, viewport={"width": 320, "height": 700}), sign_ins["lena"])
    for path in ("/console/conversations/", lena.url, "/console/overview/", "/console/customers/elena-duarte/"):
        narrow.goto(path)
        assert narrow.evaluate("document.documentElement.scrollWidth") <= 320, path
    assert complaints == []

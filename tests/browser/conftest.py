"""A real Chromium in front of the real product, with the demo shop in it."""

import os
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, expect, sync_playwright
from pytest_django import DjangoDbBlocker

from demo.seed import SignIn, seed
from tests.support import chromium
from tests.support.product import Product, running_product
from tests.support.servers import on_fresh_database
from tests.support.standin import Server

NewContext = Callable[..., BrowserContext]
PATIENCE = 20_000
"""Milliseconds that a condition may take to hold: a Chromium that has just been installed is slow at first."""
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="session")
def executable() -> str:
    """Where Chromium is; without one the tests are skipped, which fails where CI=true."""
    found = chromium.find()
    if found is None and os.environ.get("CI") == "true":
        pytest.fail(chromium.HOW)
    if found is None:
        pytest.skip(chromium.HOW)
    return found


@pytest.fixture(scope="module")
def sign_ins() -> dict[str, SignIn]:
    """By name, filled by `product`."""
    return {}


@pytest.fixture(scope="module")
def undo_seconds() -> str:
    """How long an approval can be taken back; a module that wants to overrides it."""
    return "0"


@pytest.fixture(scope="module")
def product(
    executable: str, undo_seconds: str, sign_ins: dict[str, SignIn], django_db_setup: None,
    django_db_blocker: DjangoDbBlocker, running_standin: Server, tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Product]:  # fmt: skip
    running_standin.call("/standin/reset", {})
    with on_fresh_database(django_db_blocker) as url:
        sign_ins |= {each.name: each for each in seed()}
        with running_product(
            url, tmp_path_factory.mktemp("product"), PLACET_UNDO_SECONDS=undo_seconds, PLACET_DEMO="1",
            ANTHROPIC_BASE_URL=running_standin.url, ANTHROPIC_API_KEY="a-key",
        ) as product:  # fmt: skip
            yield product


@pytest.fixture(scope="module")
def browser(product: Product, executable: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # As root there is no sandbox to be had.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=executable, args=[*arguments, "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser's console said against any page: violations of the CSP, errors of scripts."""
    return []


@pytest.fixture
def new_context(browser: Browser, product: Product, complaints: list[str]) -> Iterator[NewContext]:
    """A browser of its own per person."""
    made: list[BrowserContext] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(f"{message.page.url if message.page else ''}: {message.text}")

    def new(**options: object) -> BrowserContext:
        context = browser.new_context(base_url=product.url, **options)
        context.set_default_timeout(PATIENCE)
        context.on("console", hear)
        context.on("weberror", lambda error: complaints.append(str(error.error)))
        made.append(context)
        return context

    yield new
    for context in made:
        context.close()

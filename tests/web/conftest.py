"""A real browser, and the page of one project for all tests of a module."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.web.scene import Scene, Served, build, served

CHROMIUM = os.environ.get("LTM_CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
PATIENCE = 90_000
"""Milliseconds after which a test gives up; nothing is measured with it."""

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-sync", "--disable-background-networking", "--disable-component-update"),
    "--force-prefers-reduced-motion",  # a page that still scrolls would move away under a click
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once a module: while it is there, no other event loop runs in a thread."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=FLAGS, timeout=4 * PATIENCE
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A project of some weeks."""
    return build(tmp_path_factory.mktemp("scene"))


@pytest.fixture(scope="module")
def site(scene: Scene) -> Iterator[Served]:
    """Its page."""
    with served(scene) as running:
        yield running


def entered(context: BrowserContext, site: Served) -> Page:
    """A tab of a browser that came through the link."""
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    answer = page.goto(site.entry.address)
    assert answer is not None
    assert (answer.status, page.url) == (200, f"{site.address}/")
    return page


def unfold(page: Page, within: str = "main details") -> None:
    """Open all that can be unfolded."""
    page.evaluate("wanted => document.querySelectorAll(wanted).forEach(e => e.open = true)", within)


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def tab(request: pytest.FixtureRequest, browser: Browser, site: Served) -> Iterator[Page]:
    """A tab that shows the first page, with scripts and without, and that meets no error."""
    with_scripts: bool = request.param
    context = browser.new_context(java_script_enabled=with_scripts)
    errors: list[str] = []
    page = entered(context, site)
    page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert not [each for each in errors if "status of 4" not in each]

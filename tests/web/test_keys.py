"""What scripts add: search while one types, keys, a selection that is counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.web.conftest import entered
from tests.web.scene import Scene, Served


@pytest.fixture
def tab(browser: Browser, site: Served) -> Iterator[Page]:
    context = browser.new_context()
    yield entered(context, site)
    context.close()


def test_what_is_found_follows_what_is_typed(tab: Page, site: Served) -> None:
    tab.goto(f"{site.address}/find")
    expect(tab.locator("#q")).to_be_focused()
    # A screen reader tells what changes in a place, not a place that is new.
    told = tab.get_by_role("status").element_handle()
    tab.keyboard.type("retry clock")
    expect(tab.locator("#hits mark").first).to_be_visible()
    assert told
    assert re.fullmatch(r"\d+ match(es)?", told.inner_text())
    expect(tab.locator("#every")).to_be_visible()
    # At once, not key by key: an answer to half of it would put other links below the pointer.
    tab.locator("#q").fill("PostgreSQL")
    expect(tab.locator("#hits li").first).to_contain_text("PostgreSQL")
    expect(tab.locator("#hits")).to_have_count(1)
    # The address follows too, so that the way back leads to what was found.
    expect(tab).to_have_url(re.compile(r"/find\?q=PostgreSQL"))
    with tab.expect_event("domcontentloaded"):
        tab.locator("#hits a.title").first.click()
    tab.go_back()
    expect(tab.locator("#q")).to_have_value("PostgreSQL")
    expect(tab.locator("#hits li").first).to_contain_text("PostgreSQL")


def test_a_search_that_is_not_answered_says_why(tab: Page, site: Served) -> None:
    tab.goto(f"{site.address}/find")
    expect(tab.locator("#q")).to_be_focused()
    tab.context.set_offline(True)
    tab.keyboard.type("retry")
    expect(tab.locator("#count")).to_contain_text("Type ltm ui to start it again")
    tab.context.set_offline(False)
    tab.context.clear_cookies()  # as after another start of the server at the same port
    tab.keyboard.type(" clock")
    expect(tab.locator("body")).to_contain_text("This page needs the link")


def test_keys_lead_to_pages_and_into_the_search(tab: Page, site: Served) -> None:
    for keys, path in (("gr", "/review"), ("gf", "/find"), ("gt", "/time"), ("gh", "/")):
        tab.locator("h1").click()
        tab.keyboard.press("Escape")
        with tab.expect_event(
            "domcontentloaded"
        ):  # to its end: before, the next page knows no keys
            for key in keys:
                tab.keyboard.press(key)
        assert tab.url == f"{site.address}{path}"
        if path == "/find":
            expect(tab.locator("#q")).to_be_focused()
    tab.keyboard.press("/")
    expect(tab.locator("#search")).to_be_focused()
    tab.keyboard.press("Escape")
    tab.keyboard.press("?")
    expect(tab.get_by_role("dialog")).to_be_visible()
    tab.keyboard.press("Escape")
    expect(tab.get_by_role("dialog")).to_be_hidden()


def test_the_menu_of_projects_closes_by_a_click_elsewhere_and_by_escape(tab: Page) -> None:
    menu = tab.locator("details.switch .menu")
    ways: list[Callable[[], None]] = [
        lambda: tab.locator("h1").click(),
        lambda: tab.keyboard.press("Escape"),
    ]
    for leave in ways:
        tab.locator("details.switch summary").click()
        expect(menu).to_be_visible()
        leave()
        expect(menu).to_be_hidden()


def test_review_is_done_by_keys_alone(tab: Page, site: Served, scene: Scene) -> None:
    tab.goto(f"{site.address}/review")
    tab.keyboard.press("j")
    tab.keyboard.press("j")
    expect(tab.locator("#item-1")).to_be_focused()
    tab.keyboard.press("k")
    text = tab.locator("#item-0 p").first.inner_text()
    tab.keyboard.press("d")
    expect(tab.locator(".banner")).to_contain_text("Dropped")
    # The next one has the place, and the focus.
    expect(tab.locator("#item-0")).to_be_focused()
    assert tab.locator("#item-0 p").first.inner_text() != text
    tab.keyboard.press("u")
    expect(tab.locator(".banner")).to_contain_text("Undone")
    expect(tab.get_by_text(text, exact=True)).to_be_visible()


def test_a_selection_is_counted_and_e_edits(tab: Page, site: Served, scene: Scene) -> None:
    tab.goto(f"{site.address}/find?kind=preference")
    tab.locator("#every").check()
    many = tab.locator("input[name=id]").count()
    expect(tab.locator("#selected")).to_have_text(f"{many} selected")
    for key in ("Enter", "e"):
        tab.goto(f"{site.address}/find?kind=preference")
        expect(tab.locator("#q")).to_be_focused()  # some frames after the page is there
        tab.keyboard.press("Escape")
        tab.keyboard.press("j")
        expect(tab.locator("li[data-item]").first).to_be_focused()
        with tab.expect_event("domcontentloaded"):
            tab.keyboard.press(key)
        assert ("edit=yes" in tab.url) == (key == "e")
        expect(tab.locator("#edit-text")).to_be_visible(visible=key == "e")
    tab.goto(f"{site.address}/m/{scene.ids['port']}")
    tab.keyboard.press("e")
    expect(tab.locator("#edit-text")).to_be_focused()

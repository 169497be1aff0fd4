"""Every page in a real browser: readable by anyone, at any width, in both themes, as JSON too."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from ltm.web.app import PAGES
from ltm.web.memories import HITS
from tests.web.conftest import entered, unfold
from tests.web.scene import FIRST, LONG, Scene, Served, build, build_long, served

PICTURES = Path(__file__).parents[2] / "docs" / "images"
"""Where `LTM_PICTURES=write` puts a picture of each page."""

RULES = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    }
}
"""The rules of axe: those of WCAG 2.2 AA, some of which it leaves out unless asked, and its own."""

COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""Those of them that depend on a theme: nothing else of a page does."""

MOST = 60_000
"""Bytes of a picture."""


def addresses(scene: Scene) -> dict[str, str]:
    """An address for every page, and for what a page looks like in other states."""
    memory = {
        name: f"/m/{scene.ids[name]}" for name in ("gotcha", "learned", "old", "waits", "gone")
    }
    return {
        "start": "/",
        "start for a sub-agent": "/?start=subagent",
        "find": "/find?q=retry+clock",
        "find all": "/find",
        "find nothing": "/find?q=zebra&kind=decision",
        "find everything": "/find?status=all",
        "memory": memory["learned"],
        "memory with a history": memory["gotcha"],
        "memory in conflict": memory["old"],
        "memory that waits": memory["waits"],
        "memory that is forgotten": memory["gone"],
        "memory to be merged": f"{memory['learned']}?with={scene.ids['old']}",
        "review": "/review",
        "time": "/time",
        "time of no session": "/time?since=2020-01-01&until=2020-02-01",
        "session": f"/s/{FIRST}?around=7",
        "friction": "/friction",
        "figures": "/figures",
        "health": "/health",
        "teams": "/teams",
        "memories of a team": "/find?team=acme",
        "memory of a team": f"/m/{scene.ids['acme decision']}?team=acme",
        "review of a team": "/review?team=acme",
        "settings": "/settings",
        "changes": "/changes",
        "import": "/import",
    }


TITLES = {
    "start": "What the next session is told",
    "find": "Memories",
    "memory": "Deploys go through the queue runner",
    "review": "Review",
    "time": "Time",
    "session": "How do deploys work here?",
    "friction": "Friction",
    "figures": "Figures",
    "health": "Health",
    "teams": "Teams",
    "settings": "Settings",
    "import": "Bring in",
    "changes": "Changes made here",
}


WITH_SERVER = '{"mcpServers": {"ltm": {"command": "ltm", "args": ["mcp"]}}}'


def test_the_table_above_has_every_page(scene: Scene) -> None:
    templates = {template for template, _ in PAGES.values()}
    assert templates - {"work"} == set(TITLES)
    assert set(TITLES) <= set(addresses(scene))


def read_sessions(page: Page, site: Served) -> str:
    """Have friction looked for; the address of that work."""
    page.goto(f"{site.address}/friction")
    with page.expect_event("domcontentloaded"):
        page.get_by_role("button", name=re.compile("^Read the sessions")).click()
    page.get_by_role("link", name="Look at the result").wait_for()
    return page.url.removeprefix(site.address)


THEMES: dict[Literal["light", "dark"], Any] = {"light": RULES, "dark": COLOURS}


def faults(page: Page, themes: Sequence[Literal["light", "dark"]]) -> list[tuple[str, str, str]]:
    """What axe finds in these themes; nothing moves, so a page changes its theme at once."""
    found: list[tuple[str, str, str]] = []
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        for each in Axe().run(page, options=THEMES[theme]).response["violations"]:
            found += [(theme, each["id"], each["nodes"][0]["html"])]
    return found


def test_every_page_has_no_fault_that_axe_knows_and_fits_any_width(
    browser: Browser, site: Served, scene: Scene
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = entered(context, site)
    paths = addresses(scene) | {"work": read_sessions(page, site), "error": "/m/nothing"}
    for name, path in paths.items():
        answer = page.goto(site.address + path)
        assert answer is not None
        wanted = 404 if name == "error" else 200
        assert answer.status == wanted, (name, page.inner_text("main"))
        unfold(page)
        assert (name, faults(page, ("light", "dark"))) == (name, [])
        unfold(page, "details.switch")
        for wide in (1280, 320):
            page.set_viewport_size({"width": wide, "height": 900})
            across = page.evaluate("document.documentElement.scrollWidth")
            assert across <= wide, (name, across)
        page.set_viewport_size({"width": 1280, "height": 900})
    context.close()


def test_words_of_any_length_break_no_page(browser: Browser, tmp_path: Path) -> None:
    scene = build_long(tmp_path)
    paths = addresses(scene) | {
        "memory": f"/m/{scene.ids['long fact']}",
        "memory in conflict": f"/m/{scene.ids['long issue']}",
        "session": f"/s/{LONG}",
        "find": "/find?q=Donaudampfschifffahrt",
    }
    with served(scene) as site:
        context = browser.new_context(viewport={"width": 320, "height": 900})
        page = entered(context, site)
        for name in (*TITLES, "memory in conflict"):
            page.goto(site.address + paths[name])
            unfold(page, "details")
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 320, (name, wide)
            assert (name, faults(page, ("light",))) == (name, [])  # colours are as above
        context.close()


def test_every_page_says_what_it_is(tab: Page, site: Served, scene: Scene) -> None:
    paths = addresses(scene)
    for name, title in TITLES.items():
        tab.goto(site.address + paths[name])
        expect(tab.locator("h1")).to_have_count(1)
        expect(tab.locator("h1")).to_contain_text(title)
        assert tab.title().endswith("· shop · LTM")


def test_every_page_is_json_too(tab: Page, site: Served, scene: Scene) -> None:
    for name, path in addresses(scene).items():
        twin, mark, words = path.partition("?")
        answer = tab.request.get(f"{site.address}{_twin(twin)}{mark}{words}")
        assert answer.headers["content-type"] == "application/json"
        values = json.loads(answer.text())
        assert isinstance(values, dict), name
        assert values, name


def _twin(path: str) -> str:
    return "/index.json" if path == "/" else f"{path}.json"


def test_a_page_that_is_not_there_says_so(tab: Page, site: Served) -> None:
    for path, told in (
        ("/nothing", "there is no page at /nothing"),
        ("/m/mem_nothing", "mem_nothing"),
        ("/undo", "there is no page at /undo"),
        ("/s/nothing", "nothing is kept of session"),
        ("/?project=nothing", "there is no project"),
        ("/?team=nothing", "belongs to no team"),
        ("/?agent=../nothing", "agent"),
        ("/time?since=yellow", "is not a day"),
        ("/find?kind=yellow", "yellow"),
    ):
        answer = tab.goto(site.address + path)
        assert answer is not None
        assert 400 <= answer.status < 500
        expect(tab.get_by_role("alert")).to_contain_text(told)


def test_the_first_page_tells_what_a_session_is_told_and_why(
    tab: Page, site: Served, scene: Scene
) -> None:
    values = json.loads(tab.request.get(f"{site.address}/index.json").text())
    rules = next(each for each in values["sections"] if each["heading"].startswith("Rules"))
    assert {each["reason"] for each in rules["lines"]} == {"a rule the user stated"}
    for line in rules["lines"]:
        expect(tab.get_by_text(line["text"], exact=True).first).to_be_visible()
    said = f"{values['budget']['characters']:,} of 9,800 characters"
    expect(tab.get_by_text(said)).to_be_visible()
    assert values["text"].count("\n") > len(rules["lines"])


def test_what_is_found_ranks_and_is_explained_as_recall_does(
    tab: Page, site: Served, scene: Scene
) -> None:
    for question in ("retry clock", "deploys", "what was changed in src/orders/queue.py?"):
        command = ["recall", *question.split(), "--limit", str(HITS), "--json"]
        done = subprocess.run(
            [sys.executable, "-m", "ltm", *command],
            cwd=scene.project,
            env={**os.environ, **scene.environ},
            capture_output=True,
            text=True,
            check=True,
        )
        wanted = [(each["id"], each["why"]) for each in json.loads(done.stdout)["hits"]]
        asked = urlencode({"q": question})
        found = json.loads(tab.request.get(f"{site.address}/find.json?{asked}").text())
        assert [(each["id"], each["why"]) for each in found["hits"]] == wanted
        assert wanted


def test_no_client_is_told_what_it_loads_by_itself(browser: Browser, tmp_path: Path) -> None:
    scene = build(tmp_path)
    (scene.home / ".codex").mkdir()
    rule = "Always run the tests before you say that something works"
    (scene.project / "AGENTS.md").write_text(f"# Rules\n\n- {rule}\n")
    with served(scene) as site:
        context = browser.new_context()
        page = entered(context, site)
        for name, told in (("Claude Code", 1), ("Codex", 0), ("Claude Code, reading AGENTS.md", 0)):
            with page.expect_event("domcontentloaded"):
                page.get_by_role("link", name=name, exact=True).click()
            expect(page.get_by_role("link", name=name, exact=True)).to_have_attribute(
                "aria-current", "true"
            )
            line = page.locator("li", has_text=rule)
            expect(line.filter(has_text="a rule the user stated")).to_have_count(told)
            # What it is not told is said, too.
            expect(line.filter(has_not_text="a rule the user stated")).to_have_count(1 - told)
        context.close()


def test_health_is_that_of_the_clients_a_person_has(browser: Browser, tmp_path: Path) -> None:
    scene = build(tmp_path)
    settings = scene.home / ".qwen" / "settings.json"
    settings.parent.mkdir()
    with served(scene) as site:
        context = browser.new_context()
        page = entered(context, site)
        for text, is_connected in (("{}", False), (WITH_SERVER, True)):
            settings.write_text(text)
            page.goto(f"{site.address}/health")
            main = page.locator("main")
            shown = "Something is wrong." if is_connected else "The memories are in order."
            expect(main).to_contain_text(shown)
            for other in ("No client is connected", "no hook of ltm is registered"):
                expect(main.get_by_text(other)).to_have_count(0 if is_connected else 1)
            expect(main.get_by_text("ltm setup --client qwen")).to_have_count(1)
        context.close()


def test_days_show_the_client_what_was_learned_changed_and_failed(
    tab: Page, site: Served, scene: Scene
) -> None:
    tab.goto(f"{site.address}/time")
    entry = tab.locator("li", has_text="How do deploys work here?")
    for words in (
        *("Claude Code", "Learned: Deploys go through", "queue.py", "1 failed call"),
        "Waits for approval: Deploys are approved by sending",
    ):
        expect(entry).to_contain_text(words)


def test_nothing_of_another_project_is_shown_without_choosing_it(
    tab: Page, site: Served, scene: Scene
) -> None:
    assert "Hugo" not in tab.content()
    tab.locator("summary", has_text="shop").click()
    with tab.expect_event("domcontentloaded"):
        tab.get_by_role("link", name="site", exact=True).click()
    expect(tab.get_by_text("The site is built with Hugo").first).to_be_visible()
    assert scene.title("port") not in tab.content()
    with tab.expect_event("domcontentloaded"):
        tab.get_by_role("navigation").get_by_role("link", name="Memories").click()
    expect(tab.get_by_role("link", name=re.compile("Hugo")).first).to_be_visible()
    assert "project=" in tab.url


def test_what_only_scripts_make_useful_is_shown_with_them_only(
    tab: Page, site: Served, request: pytest.FixtureRequest
) -> None:
    with_scripts = "without" not in request.node.name
    for path, words in (("/find", "All"), ("/review", "to walk"), ("/", "Keys")):
        tab.goto(site.address + path)
        place = tab.locator("[data-script]", has_text=words)
        expect(place).to_have_count(1)
        expect(place).to_be_visible(visible=with_scripts)


def test_a_session_has_its_memories_next_to_their_lines(tab: Page, site: Served) -> None:
    tab.goto(f"{site.address}/s/{FIRST}")
    line = tab.locator("li#line-1")
    expect(line).to_contain_text("How do deploys work here?")
    expect(line.get_by_role("link")).to_contain_text("Deploys go through the queue runner")


def test_health_leads_to_the_memory_that_a_finding_is_about(
    tab: Page, site: Served, scene: Scene
) -> None:
    tab.goto(f"{site.address}/health")
    with tab.expect_event("domcontentloaded"):
        tab.get_by_role("link", name="Open the memory").first.click()
    expect(tab.get_by_role("heading", name="In conflict with this")).to_be_visible()


def test_a_history_is_a_difference_of_words(tab: Page, site: Served, scene: Scene) -> None:
    tab.goto(f"{site.address}/m/{scene.ids['gotcha']}")
    expect(tab.locator("#history ~ ol ins").first).to_contain_text("behind")
    expect(tab.locator("#history ~ ol del").first).to_contain_text("ahead")
    # The title follows the text, so it says nothing else.
    expect(tab.locator("#history ~ ol del")).to_have_count(1)


@pytest.mark.skipif(os.environ.get("LTM_PICTURES") != "write", reason="made on demand")
def test_a_picture_of_every_page_is_made_for_the_guide(browser: Browser) -> None:
    PICTURES.mkdir(exist_ok=True)
    views: list[tuple[Literal["light", "dark"], int, list[str]]] = [
        ("dark", 1120, ["start"]),
        ("light", 320, ["memory"]),
        ("light", 1120, list(TITLES)),
    ]
    # Paths are on the pictures: these say nothing of a person.
    with TemporaryDirectory(prefix="ltm-") as folder:
        scene = build(Path(folder))
        with served(scene) as site:
            for theme, wide, names in views:
                context = browser.new_context(
                    color_scheme=theme, viewport={"width": wide, "height": 760}
                )
                page = entered(context, site)
                read_sessions(page, site)
                for name in names:
                    if name == "changes":
                        page.goto(f"{site.address}/m/{scene.ids['architecture']}")
                        with page.expect_event("domcontentloaded"):
                            page.get_by_role("button", name="Pin", exact=True).click()
                    page.goto(site.address + addresses(scene)[name])
                    how = "-dark" * (theme == "dark") + "-narrow" * (wide < 400)
                    wanted = {"format": "webp", "quality": 80}
                    taken = context.new_cdp_session(page).send("Page.captureScreenshot", wanted)
                    picture = base64.b64decode(taken["data"])
                    (PICTURES / f"page-{name}{how}.webp").write_bytes(picture)
                    assert len(picture) <= MOST, (name, len(picture))
                context.close()

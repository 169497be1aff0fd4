"""No browser is served by accident: every route of the page, whatever a request may say.

Reliability S1 for the page. The list of routes is the application's own, so a later route without
the guard fails here. What only a browser does is tried in one.
"""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import TypeVar

import anyio
import pytest
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.routing import Route

from ltm.http.address import AllowedNames
from ltm.web.app import ACTS, PAGES, application
from ltm.web.guard import BrowserGuard, EntryLink
from ltm.web.site import Site
from tests.figures import count
from tests.http.test_guard import HOSTS, METHODS, ORIGINS, OWN, PORT, ask, named
from tests.web.conftest import entered
from tests.web.scene import Scene, Served

T = TypeVar("T")

SITES: dict[str, tuple[bool, bool, list[str]]] = {
    # for a page, for an act
    "same-origin": (True, True, ["same-origin"]),
    "none": (True, False, ["none"]),
    "not said": (True, True, []),
    "same-site": (False, False, ["same-site"]),
    "cross-site": (False, False, ["cross-site"]),
    "empty": (False, False, [""]),
    "two": (False, False, ["same-origin", "cross-site"]),
}
TYPES = {"form": True, "json": False, "text": False, "none": False}
KINDS = {
    "form": ["application/x-www-form-urlencoded"],
    "json": ["application/json"],
    "text": ["text/plain"],
    "none": [],
}


def run(look: Callable[[], Awaitable[T]]) -> T:
    """Ask in a thread: this one has the loop of a browser, once a test began one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, look).result()


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[BrowserGuard, str, Site]:
    """The application as `ltm ui` makes it, a cookie that it gave out, and its site."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("LTM_HOME", str(tmp_path / "home"))
    names = AllowedNames(OWN, tuple(f"http://{each}" for each in OWN))
    entry = EntryLink(f"http://{OWN[0]}")
    site = Site(str(tmp_path / "home"), str(project))
    guard = application(site, names, entry)
    cookie = entry.use(entry.address.rpartition("/")[2])
    assert cookie
    return guard, f"ltm-{PORT}={cookie}", site


def routes(guard: BrowserGuard) -> list[Route]:
    assert isinstance(guard.app, Starlette)
    found = [route for route in guard.app.routes if isinstance(route, Route)]
    assert len(found) == len(guard.app.routes), "a kind of route that this test does not know"
    return found


def test_the_routes_are_the_pages_their_twins_the_acts_and_the_files(
    guarded: tuple[BrowserGuard, str, Site],
) -> None:
    paths = {route.path for route in routes(guarded[0])}
    twins = {"/index.json" if path == "/" else f"{path}.json" for path in PAGES}
    assert paths == {*PAGES, *twins, *ACTS, "/enter/{token}", "/static/{name}"}


def test_no_route_is_served_without_the_cookie(guarded: tuple[BrowserGuard, str, Site]) -> None:
    guard, cookie, _ = guarded
    wrong = {
        "none": [],
        "empty": [f"ltm-{PORT}="],
        "another value": [f"ltm-{PORT}=right"],
        "another name": [cookie.replace(f"ltm-{PORT}", "ltm")],
        "twice": [cookie, cookie],
        "broken": ["\x00;=;"],
    }

    async def look() -> None:
        for route, method, said in product(routes(guard), ("GET", "HEAD", "POST"), wrong.values()):
            headers = [("Host", OWN[0]), *named("Cookie", said)]
            headers += [("Sec-Fetch-Site", "same-origin"), ("Content-Type", KINDS["form"][0])]
            status, told, _ = await ask(guard, method, route.path, headers, b"")
            enters = route.path.startswith("/enter/") and method == "GET"
            assert status == (403 if enters else 401), (route.path, method, said)
            assert "set-cookie" not in told
            assert told["content-security-policy"].startswith("default-src 'none'")

    run(look)


def test_only_what_is_right_in_every_respect_is_answered(
    guarded: tuple[BrowserGuard, str, Site],
) -> None:
    guard, cookie, _ = guarded

    async def look() -> set[str]:
        answered: set[str] = set()
        cells = 0
        for route, method in product(routes(guard), METHODS):
            if route.path.startswith("/enter/"):
                continue
            kinds = TYPES if method == "POST" else ("none",)
            for host, origin, fetch, kind in product(HOSTS, ORIGINS, SITES, kinds):
                headers = [
                    *named("Host", HOSTS[host][1]),
                    *named("Origin", ORIGINS[origin][1]),
                    *named("Sec-Fetch-Site", SITES[fetch][2]),
                    *named("Content-Type", KINDS[kind]),
                    ("Cookie", cookie),
                ]
                wanted = expected(method, host, origin, fetch, kind)
                if wanted == 200 and (origin, fetch) not in (
                    ("none", "same-origin"),
                    ("own", "same-origin"),
                    ("own", "not said"),
                ):
                    continue  # answered, and the same answer takes long
                path = route.path.replace("{name}", "page.css")
                status, _, body = await ask(guard, method, path, headers, b"token=wrong")
                cells += 1
                if wanted != 200:
                    assert status == wanted, (method, route.path, host, origin, fetch, kind)
                elif method == "POST":  # the form has not the token of the page
                    assert status == (403 if "POST" in (route.methods or ()) else 405)
                    assert status == 405 or b"not of this page" in body
                else:
                    answered.add(route.path) if status == 200 else None
                    assert status in (200, 404, 405)
        count("S1", page_cells=cells)
        return answered

    answered = run(look)
    assert {"/", "/find", "/review", "/settings", "/static/{name}", "/index.json"} <= answered


def expected(method: str, host: str, origin: str, fetch: str, kind: str) -> int:
    if not HOSTS[host][0] or not ORIGINS[origin][0]:
        return 403
    page, act, _ = SITES[fetch]
    if not (act if method == "POST" else page):
        return 403
    if method == "POST" and fetch == "not said" and origin == "none":
        return 403
    if method not in ("GET", "HEAD", "POST"):
        return 405
    return 415 if method == "POST" and not TYPES[kind] else 200


def test_an_act_needs_the_token_of_our_own_forms(guarded: tuple[BrowserGuard, str, Site]) -> None:
    guard, cookie, site = guarded
    headers = [("Host", OWN[0]), ("Cookie", cookie), ("Content-Type", KINDS["form"][0])]
    headers.append(("Sec-Fetch-Site", "same-origin"))

    async def look() -> None:
        for path in ACTS:
            for body in (b"", b"token=", b"token=wrong", b"token=%ff", b"act=x"):
                status, _, _ = await ask(guard, "POST", path, headers, body)
                assert status == (400 if body == b"token=%ff" else 403), (path, body)
        body = f"token={site.token}&change=x".encode()
        status, _, said = await ask(guard, "POST", "/undo", headers, body)
        assert status == 422
        assert b"cannot be undone" in said

    run(look)


@pytest.mark.parametrize("taken", ["gzip, br", "identity"])
def test_a_packed_file_is_sent_as_the_browser_takes_it(
    guarded: tuple[BrowserGuard, str, Site], taken: str
) -> None:
    guard, cookie, _ = guarded
    headers = [("Host", OWN[0]), ("Cookie", cookie), ("Sec-Fetch-Site", "same-origin")]
    headers.append(("Accept-Encoding", taken))

    async def look() -> None:
        status, said, body = await ask(guard, "GET", "/static/htmx.min.js", headers)
        assert (status, said.get("content-encoding")) == (200, {"gzip, br": "gzip"}.get(taken))
        text = gzip.decompress(body) if "content-encoding" in said else body
        assert text.startswith(b"var htmx=")
        assert said["content-length"] == str(len(body))

    run(look)


def test_a_link_is_good_once_and_not_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    once = EntryLink("http://127.0.0.1:1", seconds=600)
    token = once.address.rpartition("/")[2]
    assert not once.use("")
    assert not once.use(token[:-1])
    assert once.use(token)
    assert not once.use(token)
    late = EntryLink("http://127.0.0.1:1", seconds=-1)
    assert not late.use(late.address.rpartition("/")[2])
    told: list[str] = []
    renewed = EntryLink("http://127.0.0.1:1", used=lambda: told.append("used"))
    first = renewed.address
    assert renewed.use(first.rpartition("/")[2])
    assert told == ["used"]
    assert renewed.address != first
    assert not renewed.use(first.rpartition("/")[2])


def test_another_site_cannot_act_frame_or_read(
    browser: Browser, site: Served, scene: Scene
) -> None:
    context = browser.new_context()
    tab = entered(context, site)
    target = f"{site.address}/m/{scene.ids['port']}/forget"
    token = site.site.token  # even one who had it
    evil = f"""<form id=f method=post action="{target}"><input name=token value="{token}"></form>
    <iframe src="{site.address}/"></iframe><img src="{site.address}/index.json">
    <script>fetch("{site.address}/index.json", {{credentials: "include"}})
      .then(said => said.text()).then(text => {{ document.title = "read " + text.length }},
                                      () => {{ document.title = "refused" }});
    </script>"""
    other = context.new_page()
    other.route(
        "http://evil.test/*", lambda route: route.fulfill(body=evil, content_type="text/html")
    )
    other.goto("http://evil.test/x")
    other.wait_for_function("() => document.title === 'refused'")
    with other.expect_navigation() as sent:
        other.evaluate("document.getElementById('f').submit()")
    assert sent.value.status == 403
    assert scene.read("port").status == "active"
    # A name that was made to lead here (DNS rebinding) is not one of ours.
    refused = tab.request.get(f"{site.address}/", headers={"Host": "evil.test"})
    assert refused.status == 403
    context.close()


def test_a_stolen_link_opens_nothing_once_it_was_used(browser: Browser, site: Served) -> None:
    link = site.entry.address
    context = browser.new_context()
    tab = context.new_page()
    assert tab.goto(link)
    thief = browser.new_context()
    refused = thief.new_page().goto(link)
    assert refused is not None
    assert refused.status == 403
    assert thief.request.get(f"{site.address}/").status == 401
    (cookie,) = context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    assert tab.evaluate("document.cookie + JSON.stringify(localStorage)") == "{}"
    thief.close()
    context.close()

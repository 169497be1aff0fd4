"""What memories and sessions say is text to the browser, and nothing else (reliability S12).

Two hundred payloads of the trust tests, each with markup of its own, in every field of memories, in
sessions, candidates, stashes and names of files: no page runs a script of theirs or asks for
anything elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from unittest.mock import patch
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, expect

from ltm.decisions import Add
from ltm.history.db import Passages
from ltm.history.passage import Header, Passage
from ltm.model import Source, Status, Trust, iso, new_id, now
from ltm.notes.stash import Stashes
from ltm.state.candidates import CandidateRecord, Candidates
from ltm.store.revision import revise
from ltm.team.outbox import Outbox
from ltm.team.teams import add
from ltm.text.sentences import summary_of
from tests.figures import count
from tests.security.payloads import payloads
from tests.stores import make
from tests.web.conftest import entered
from tests.web.scene import Scene, Served, served

MARKUP = (
    "<script>fetch('http://{0}.test/')</script>",
    "<img src=http://{0}.test/x onerror=alert(1)>",
    "\"><svg onload=alert(1)><a href='javascript:alert(1)' autofocus onfocus=alert(1)>x</a>",
    "</textarea></title></style><iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "<div hx-get=http://{0}.test/ hx-trigger=load hx-on:click=alert(1)>x</div>{{{{7*7}}}}",
    "<meta http-equiv=refresh content='0;url=http://{0}.test/'><base href=http://{0}.test/>",
    "<link rel=stylesheet href=http://{0}.test/x.css><style>@import 'http://{0}.test/y'</style>",
    "javascript:alert(1)//' onclick='alert(1)",
)
SESSION = "5e55101f-2222-4333-8444-555555555555"


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scene, Served, list[str]]]:
    """A project in which all of them are kept, its page, and the ids of the memories."""
    scene = Scene(tmp_path_factory.mktemp("poisoned"))
    scene.home.mkdir()
    scene.project.mkdir()
    texts = [
        f"{MARKUP[number % len(MARKUP)].format(each.mark)} {each.text}"
        for number, each in enumerate(payloads())
    ]
    ids: list[str] = []
    with patch.dict(os.environ, scene.environ), scene.open() as project:
        at = now()
        for number, text in enumerate(texts):
            moment = at - timedelta(minutes=number)
            status = (Status.ACTIVE, Status.ACTIVE, Status.QUARANTINED)[number % 3]
            memory = make(
                text.split("\n")[0],
                text,
                id=new_id(moment),
                summary=summary_of(text),
                kind=("fact", "preference", "issue")[number % 3],
                tags=(text[:40].replace("\n", " "),),
                reason=text,
                status=status,
                created=moment,
                updated=moment,
                confirmed=moment,
                source=Source(Trust.TOOL, SESSION, f"{number + 1}", text[:60].replace("\n", " ")),
            )
            ids.append(project.store.apply(Add(memory)).stored.memory.id)
        said = int(at.timestamp())
        Candidates(project.places.private).reopen(
            CandidateRecord(
                f"p{number}", text, "fact", "high", "project", "user", SESSION, "1", 500, said, said
            )
            for number, text in enumerate(texts)
        )
        for number, text in enumerate(texts[:8]):
            Stashes(project.places.project.root, project.places.private).put(f"s{number}", text)
        team = add(project.places.home, "acme", "http://127.0.0.1:1/t/acme/p/main", "ltm_x", {})
        for number, text in enumerate(texts):
            record = {"decision": "add", "memory": {"title": text}}
            Outbox(team.folder).refuse(f"{number:012}-x", record, text, text)
        with closing(Passages(project.places.sessions_db)) as kept:
            kept.add(
                Header(SESSION, cwd=texts[0], title=texts[1], started=iso(at), ended=iso(at)),
                [spoken(number, text, iso(at)) for number, text in enumerate(texts)],
            )
    with served(scene) as running:
        yield scene, running, ids


def spoken(number: int, text: str, at: str) -> Passage:
    """What was said on a line of the session, with a file and an error of the same words."""
    line, name = number + 1, f"m{number}"
    said = Passage(line, 0, "user", text, at, line, line, name)
    return said._replace(files=(text[:50],), errors=(text,))


def test_no_page_runs_a_script_of_a_memory_or_asks_for_anything_elsewhere(
    browser: Browser, poisoned: tuple[Scene, Served, list[str]]
) -> None:
    scene, site, ids = poisoned
    context = browser.new_context()
    run: list[str] = []
    asked: list[str] = []

    def seen(request: Request) -> None:
        if not request.url.startswith((site.address, "data:")):
            asked.append(request.url)

    def shown(dialog: Dialog) -> None:
        run.append(dialog.message)
        dialog.dismiss()

    context.on("request", seen)
    tab = entered(context, site)
    tab.on("dialog", shown)

    def complained(said: ConsoleMessage) -> None:
        if said.type == "error" and "status of 4" not in said.text:
            run.append(said.text)

    # The policy says so on the console where it had to refuse anything: nothing got that far.
    tab.on("console", complained)
    tab.on("pageerror", lambda error: run.append(str(error)))
    for each in ids[: len(MARKUP)]:  # one with each markup, so that what was done says it too
        tab.goto(f"{site.address}/m/{each}")
        tab.get_by_role("button", name="Pin", exact=True).click()
        expect(tab.locator(".banner")).to_contain_text("Pinned")
    paths = ["/", "/?start=subagent", "/find", "/find?status=all", "/find?q=zq0001+always+run"]
    paths += [f"/find?status=all&page={number}" for number in range(1, 4)]
    paths += ["/review", "/time", "/friction", "/figures", "/health", "/settings", "/import"]
    paths += ["/teams", "/changes", f"/s/{SESSION}", f"/s/{SESSION}?page=1"]
    paths += [f"/m/{each}" for each in ids]
    paths += [f"/m/{ids[0]}?with={each}" for each in ids[1 : len(MARKUP)]]
    # Errors quote what was asked for.
    asking = ("/find?q=", "/m/", "/s/", "/", "/time?since=", "/find?kind=", "/find?project=")
    paths += [path + quote(MARKUP[number].format("zq0")) for number, path in enumerate(asking)]
    told = 0
    for path in paths:
        answer = tab.goto(site.address + path, wait_until="domcontentloaded")
        assert answer is not None
        assert answer.status == 200 or "%20" in path, path
        told += "zq0" in answer.text()
        only_ours(tab, path)
    # Pages that a form alone leads to: a clash of two texts, and work under way.
    tab.goto(f"{site.address}/m/{ids[3]}?edit=yes")
    with scene.open() as project:
        revise(project.store, project.store.read(ids[3]), {"content": MARKUP[1].format("zq0")})
    with tab.expect_event("domcontentloaded"):
        tab.get_by_role("button", name="Save").click()
    expect(tab.locator("h1")).to_have_text("It was changed elsewhere meanwhile")
    only_ours(tab, "a clash")
    tab.goto(f"{site.address}/import")
    tab.get_by_label("Path on this machine").fill(MARKUP[1].format("zq0"))
    with tab.expect_event("domcontentloaded"):
        tab.get_by_role("button", name="Import", exact=True).click()
    expect(tab.locator("#work .note.ill")).to_be_visible()
    only_ours(tab, "work")
    assert told >= len(ids)
    assert run == []
    assert asked == []
    count("S12", page_payloads=len(payloads()), page_scripts=len(run), page_requests=len(asked))
    context.close()


def only_ours(tab: Page, path: str) -> None:
    """No element of the page was made by a text."""
    sources, strange = tab.evaluate(
        """wanted => {
            const all = (found) => [...document.querySelectorAll(found)];
            return [all("script").map(e => e.getAttribute("src")), all(wanted).length];
        }""",
        "img, iframe, base, object, embed, form[action^=http], a[href^=java]",
    )
    assert sorted(sources) == ["/static/htmx.min.js", "/static/page.js"], path
    assert strange == 0, path

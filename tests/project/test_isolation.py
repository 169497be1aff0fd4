"""No question finds what is another project's, was forgotten, or was purged: in no layer."""

from __future__ import annotations

from contextlib import closing, suppress
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from ltm.config.config import load
from ltm.embed.embedder import Embedder, open_embedder
from ltm.errors import LtmError
from ltm.history.ingest import keep_session
from ltm.mcp import recall as find
from ltm.mcp.call import Call
from ltm.model import Filter, new_id, now
from ltm.project.layout import Places, places
from ltm.recall.fix_error import solve
from ltm.recall.for_prompt import fits
from ltm.recall.passages import SessionSearch
from ltm.recall.related import related
from ltm.recall.search import recall
from ltm.recall.timeline import around, retell
from ltm.recall.why_file import explain
from ltm.state.session_log import SessionLog
from ltm.store.open import open_files
from ltm.store.project import OpenProject
from ltm.worker.learning import begin
from tests.cli.runner import Ltm
from tests.sessions.writing import Transcript
from tests.stores import make

PROJECTS = 50


def marker(number: int) -> str:
    """A word of one project that no question has, so that its answers can be told from others'."""
    return f"quokka{number}q"


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder | None:
    return open_embedder(load(str(tmp_path_factory.mktemp("none")), ""))


@pytest.fixture
def projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Places]:
    """Projects with folders of the same name, the same files, the same errors, the same words."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text('[embed]\nbackend = "none"\n')
    for name, value in (("LTM_HOME", home), ("HOME", tmp_path)):
        monkeypatch.setenv(name, str(value))
    log = SessionLog(str(home / "state.db"))
    made: list[Places] = []
    for number in range(PROJECTS):
        folder = tmp_path / f"{number}" / "app"
        folder.mkdir(parents=True)
        where = places(str(folder))
        transcript = Transcript(tmp_path / f"s{number}.jsonl", f"session-{number}")
        transcript.user(f"why does src/app.py fail in {marker(number)}?")
        transcript.calls("Bash", "t1", command="make test")
        transcript.result(f"Exit code 1\nKeyError: shared flux {marker(number)}", "t1", error=True)
        transcript.says(f"The shared flux of {marker(number)} was missing in src/app.py.")
        session = begin(
            log,
            str(transcript.path),
            transcript.session,
            where.project.id,
            str(folder),
            "2026-11-15",
        )
        with OpenProject(str(folder)) as project:
            assert keep_session(project, session, datetime(2026, 11, 16, tzinfo=UTC)) > 2
        with closing(open_files(where, load(where.home, ""))) as store:
            store.create(
                make(
                    f"KeyError: shared flux {marker(number)} in src/app.py",
                    f"src/app.py needs the shared flux {marker(number)}",
                    id=new_id(now()),
                    kind="gotcha",
                    tags=("app.py",),
                )
            )
        made.append(where)
    log.close()
    return made


def everything(where: Places, embedder: Embedder | None, asked: str) -> str:
    """All that any way of asking answers in a project, as one text."""
    parts: list[object] = []
    said = SessionSearch(where.sessions_db, lambda: embedder)
    with closing(open_files(where, load(where.home, ""))) as store, closing(said):
        hits = recall(store, asked, Filter(), 100, said=said).hits
        parts += [hits, explain(store, said, ["src/app.py"], 100)]
        parts += [explain(store, said, ["src"], 100, folder=True)]
        parts += [solve(store, said, f"KeyError: shared flux {asked}", 100)]
        parts += [retell(store, said, 1_000), retell(store, said, 1_000, words=asked)]
        parts += [fits(store, f"KeyError shared flux {asked}", date(2026, 11, 16))]
        for stored in store.list(Filter()).items:
            parts.append(related(store, stored.memory.id, 100))
        for header in said.passages.sessions():
            with suppress(LtmError):  # its first line may be left out
                parts.append(around(store, said, f"{header.id}:1", 100))
    return "\n".join(map(repr, parts))


def by_tools(where: Places, asked: str, others: list[str]) -> str:
    """The same through the tools, and what they say to ids of other projects."""
    parts: list[str] = []

    def add(function: object, **arguments: object) -> None:
        with Call("test", where.project.root) as call:
            try:
                parts.append(function(call, **arguments))  # type: ignore[operator]
            except LtmError as error:
                parts.append(str(error))

    add(find.recall, query=asked, limit=50)
    add(find.memory_search, query=asked, limit=100)
    add(find.memory_ask, question=asked)
    add(find.list_memories, limit=100)
    add(find.memory_related, tags=["app.py"], limit=50)
    add(find.memory_timeline, limit=100)
    add(find.memory_timeline, query=asked, limit=100)
    for other in others:
        add(find.get_memory, id=other)
        add(find.memory_related, id=other)
        add(find.memory_timeline, around=other)
    return "\n".join(parts)


def test_no_project_answers_with_anything_of_another(
    projects: list[Places], embedder: Embedder | None
) -> None:
    """50 projects, every way of asking, both layers, words and vectors: 0 hits of another."""
    asked = "shared flux KeyError app.py make test"
    ids: list[str] = []
    for where in projects:
        with closing(open_files(where, load(where.home, ""))) as store:
            ids.append(store.list(Filter()).items[0].memory.id)
    leaks: list[tuple[int, int]] = []
    for number, where in enumerate(projects):
        other = (number + 1) % PROJECTS
        answered = everything(where, embedder, asked)
        answered += by_tools(where, asked, [f"session-{other}:1", ids[other]])
        assert marker(number) in answered
        leaks += [
            (number, each)
            for each in range(PROJECTS)
            if each != number and marker(each) in answered
        ]
    assert leaks == []


WORD = "zanzibarquokka"


@pytest.mark.parametrize("how", ["forgotten", "memory purged", "session purged"])
def test_what_is_gone_is_found_by_no_question(
    ltm: Ltm, monkeypatch: pytest.MonkeyPatch, embedder: Embedder | None, how: str
) -> None:
    """In memories and in sessions, by words and by meaning; forgetting can be undone."""
    transcript = Transcript(ltm.home / "one.jsonl", "one")
    transcript.user(f"remember that the vault door of src/vault.py opens with {WORD} only")
    transcript.says("Noted.")
    transcript.user("now paint the fence green")
    (memory,) = ltm.json("capture", str(transcript.path))["added"]
    monkeypatch.setenv("LTM_HOME", str(ltm.home / ".ltm"))
    monkeypatch.setenv("HOME", str(ltm.home))
    where = places(str(ltm.project))
    asked = f"what opens the vault door? {WORD}"
    assert WORD in everything(where, embedder, asked)  # and its vectors are made
    if how == "forgotten":
        ltm.ok("forget", memory)
    elif how == "memory purged":
        ltm.ok("forget", memory, "--purge", "--yes")
    else:
        ltm.ok("forget", memory)
        ltm.ok("sessions", "--purge", "one", "--yes")

    found = everything(where, embedder, "what opens the vault door of src/vault.py?")
    tools = by_tools(where, "what opens the vault door?", ["one:1"])
    shown = ltm.ok("recall", "what", "opens", "the", "vault") + ltm.ok("why", "src/vault.py")
    shown += ltm.ok("timeline") + ltm.ok("fix", "the vault door opens")
    assert WORD not in found + tools + shown
    if how == "forgotten":
        ltm.ok("restore", memory)
        assert WORD in everything(where, embedder, asked)

"""Names that try to be paths, and paths that lead elsewhere: nothing outside is read or written.

Reliability S5. Two hundred payloads go into every text that a command, a tool or a route takes
where no path is meant. What this process opens, makes, renames and deletes meanwhile is heard from
Python itself, so no way around is missed. Traps of the file system are planted in the store, and
swapped for each other while it is read.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from ltm.cli.app import ltm as app
from ltm.errors import LtmError, WrongUsage
from ltm.mcp.call import Call, answer
from ltm.mcp.tools import tools
from ltm.model import Filter
from ltm.vault.codec import to_bytes
from tests.figures import count, worst
from tests.hook.runner import Hooks
from tests.http.runner import JSON, Server, nobody_drains
from tests.stores import file_store, make

ALL = os.environ.get("LTM_FAULTS") == "all"
STOLEN = "stolen words from outside"


def payloads(outside: str) -> list[str]:
    """Ways to name a file that is somebody else's, or none at all."""
    targets = ("etc/passwd", outside.lstrip("/"), "secret.md", "proc/self/environ", "x")
    made = [f"{'../' * depth}{target}" for depth in (1, 2, 3, 5, 8, 12) for target in targets]
    made += [f"/{target}" for target in targets] + [f"//{target}" for target in targets]
    made += [f"file:///{target}" for target in targets] + [f"./{target}" for target in targets]
    for up in ("..%2f", "%2e%2e/", "..%252f", "..%c0%af", "..\\", "....//", "..;/", "．．／"):
        made += [f"{up * depth}{target}" for depth in (1, 2, 4, 9) for target in targets[:4]]
    made += [f"mem_{up}x" for up in ("/../", "\\..\\", "\0", "\n", "%00", "/", "*", "?", "[a]")]
    made += [f"{name}{end}" for name in ("con", "aux", "nul", "com1") for end in ("", ".md")]
    made += ["\\\\server\\share\\x", "C:\\x", "C:x", "~/.ssh/id_rsa", "~root/.ssh", "$HOME/x"]
    made += ["`id`", "$(id)", "; id", "| id", "&& id", "-rf", "--help", "--", "-", ".", "..", ""]
    made += ["a" * 300, "a" * 5_000, "a/" * 500, "é" * 200, "\u202e", "\u2215etc", "\ufeff", "🙂"]
    made += ["a\0b", "a\nb", "a\r\nb", "\x1b[2J", "\x7f", "\ud800", "mem_" + "a" * 4_000]
    return list(dict.fromkeys(made))


class Watch:
    """What this process does with files, as Python's own audit tells it."""

    EVENTS = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink")

    def __init__(self) -> None:
        self.on = False
        self.seen: list[tuple[str, str, bool]] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on or event not in self.EVENTS:
            return
        writes = event != "open" or bool((args[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
        for path in args[: 2 if event in ("os.rename", "os.link", "os.symlink") else 1]:
            if isinstance(path, str | bytes | os.PathLike):
                self.seen.append((event, os.path.abspath(os.fsdecode(path)), writes))

    def outside(self, *tops: Path) -> list[tuple[str, str]]:
        """What was touched beyond these folders: anything written, and no code of ours read."""
        own = [str(top) for top in tops]
        code = [sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), str(SOURCE)]
        system = ["/usr", "/proc/self", "/dev/null", "/dev/urandom", "/etc/localtime"]
        return [
            (event, path)
            for event, path, writes in self.seen
            if not path.startswith(tuple(own))
            and (writes or not path.startswith(tuple(code + system)))
        ]


SOURCE = Path(__file__).parents[2]
WATCH = Watch()


@pytest.fixture(scope="module")
def hooks() -> Iterator[Hooks]:
    """A home with a memory in it, in which this process works too, and a secret beside it."""
    top = Path(tempfile.mkdtemp(prefix="ltm-paths-"))
    made = Hooks(top / "inside")
    made.remember("The gateway drops one request in a hundred")
    memory = make("outside", STOLEN, id="mem_outside")
    (top / "secret.md").write_bytes(to_bytes(memory))
    (top / "inside" / "secret.md").write_bytes(to_bytes(memory))
    with pytest.MonkeyPatch.context() as patch:
        for name in ("LTM_HOME", "LTM_AGENT", "CLAUDE_CONFIG_DIR", "XDG_RUNTIME_DIR"):
            patch.delenv(name, raising=False)
        for name, value in {**made.environ, "EDITOR": "true", "VISUAL": "true"}.items():
            patch.setenv(name, value)
        patch.chdir(made.project)
        yield made
    shutil.rmtree(top)


def given(hooks: Hooks) -> list[str]:
    return payloads(str(hooks.top.parent / "secret.md"))


def watched(hooks: Hooks, texts: list[str], calls: int, began: float) -> None:
    """Judge what a series of calls did."""
    outside = WATCH.outside(hooks.top)
    WATCH.seen.clear()
    leaked = sum(STOLEN in text or "root:x:0:0" in text for text in texts)
    count("S5", fields_filled=calls, touched_outside=len(outside), read_outside=leaked)
    worst("S5", payloads=len(given(hooks)), slowest_call_s=round(began, 2))
    assert outside == []
    assert leaked == 0
    kept = {path for path in hooks.top.rglob("*.md") if path.name != "secret.md"}
    own = (hooks.home, hooks.project / ".claude", hooks.project / "CLAUDE.md")
    assert all(any(path.is_relative_to(top) for top in own) for path in kept), kept


def test_there_are_two_hundred_of_them() -> None:
    assert len(payloads("/outside/secret.md")) >= 200


@pytest.mark.parametrize("name", sorted(tools().by_name))
def test_no_argument_of_a_tool_leads_outside(hooks: Hooks, name: str) -> None:
    tool = tools().by_name[name]
    texts: list[str] = []
    calls, slowest = 0, 0.0
    every = given(hooks) if ALL else given(hooks)[::4]
    WATCH.on = True
    try:
        for path in every:
            for argument, schema in tool.properties.items():
                value: Any = [path] if schema.get("type") == "array" else path
                began = time.process_time()
                with Call(name, str(hooks.project)) as call:
                    filled = {**dict.fromkeys(tool.required, path), argument: value}
                    try:
                        texts.append(answer(call, name, filled))
                    except LtmError as error:
                        texts.append(str(error))
                slowest = max(slowest, time.process_time() - began)
                calls += 1
    finally:
        WATCH.on = False
    watched(hooks, texts, calls, slowest)


def test_half_a_character_is_refused_and_named(hooks: Hooks) -> None:
    """JSON can write it, no file can: a tool used to fall over it."""
    with Call("store_memory", str(hooks.project)) as call:
        for given_ in ({"content": "half \ud800"}, {"content": "x", "tags": ["\udc00"]}):
            with pytest.raises(WrongUsage, match="cannot be"):
                answer(call, "store_memory", given_)
        with pytest.raises(WrongUsage, match="has no argument"):
            answer(call, "store_memory", {"content": "x", "\ud800": "x"})


LONG = ("mcp", "serve", "setup", "uninstall", "demo", "drain", "completion")
"""Commands that run until they are ended, or that are about other programs' settings."""


def fields() -> list[tuple[str, str]]:
    """Every command and every text it takes that is not meant to be a path, by introspection."""
    context = click.Context(app)
    found = []
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        for parameter in command.params:
            texts = isinstance(parameter.type, click.types.StringParamType)
            if name not in LONG and texts:
                assert parameter.name
                found.append((name, parameter.name))
    return found


@pytest.mark.parametrize(("name", "field"), fields())
def test_no_word_of_a_command_leads_outside(hooks: Hooks, name: str, field: str) -> None:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    texts: list[str] = []
    calls, slowest = 0, 0.0
    every = [path for path in given(hooks) if "\0" not in path and "\ud800" not in path]
    WATCH.on = True
    try:
        for path in every if ALL else every[::8]:
            words = [name]
            for parameter in command.params:
                if parameter.name == field and isinstance(parameter, click.Option):
                    words += [f"{parameter.opts[0]}={path}"]
            for parameter in command.params:
                if isinstance(parameter, click.Argument):
                    meant = isinstance(parameter.type, click.Path)
                    wanted = parameter.name == field or parameter.required
                    words += ["--", "nothing.here" if meant else path] if wanted else []
            began = time.process_time()
            ran = CliRunner().invoke(app, words, input="")
            slowest = max(slowest, time.process_time() - began)
            known = (SystemExit, LtmError, type(None))
            assert isinstance(ran.exception, known), (words, ran.exc_info)
            texts.append(ran.output)
            calls += 1
    finally:
        WATCH.on = False
    watched(hooks, texts, calls, slowest)


def test_no_field_of_a_route_leads_outside(tmp_path: Path) -> None:
    """Events: what is kept of a session id, an agent or a folder is a text and opens nothing."""
    hooks = Hooks(tmp_path / "inside")
    memory = make("outside", STOLEN, id="mem_outside")
    (tmp_path / "secret.md").write_bytes(to_bytes(memory))
    every = payloads(str(tmp_path / "secret.md"))
    names = ("session_id", "cwd", "agent_id", "agent_type", "tool_name", "source", "reason")
    before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(hooks.user_home)}
    calls = leaks = errors = 0
    with nobody_drains(hooks), Server(hooks) as server:
        for path in every if ALL else every[::4]:
            for name in names:
                event = "session_start" if name in ("cwd", "source") else "subagent_stop"
                body = {**hooks.payload("x", agent_type="b"), name: path}
                answer = server.tell(event, body)
                calls += 1
                errors += answer.status >= 500
                leaks += STOLEN.encode() in answer.body
        for target in every if ALL else every[::4]:
            plain = "".join(each for each in target if each > " " and ord(each) < 127)
            asked = server.ask("GET", f"/{plain[:2_000]}", [server.authorized, JSON])
            calls += 1
            errors += asked.status >= 500
            leaks += STOLEN.encode() in asked.body or b"root:x:0:0" in asked.body
    after = {path for path in tmp_path.rglob("*") if not path.is_relative_to(hooks.user_home)}
    count("S5", fields_filled=calls, read_outside=leaks, touched_outside=len(after - before))
    assert (leaks, errors, after - before) == (0, 0, set())


# -- traps of the file system --------------------------------------------------------------------


def traps(folder: Path, outside: Path) -> dict[str, Any]:
    """Ways to plant something under a memory's name."""

    def linked(path: Path) -> None:
        path.symlink_to(outside)

    def far(path: Path) -> None:
        path.symlink_to("/etc/passwd")

    def endless(path: Path) -> None:
        path.symlink_to("/dev/zero")

    def sparse(path: Path) -> None:
        path.touch()
        os.truncate(path, 1 << 30)

    def itself(path: Path) -> None:
        path.symlink_to(path)

    return {
        "a link": linked,
        "a link far away": far,
        "a device": endless,
        "a loop": itself,
        "a pipe": lambda path: os.mkfifo(path),
        "a folder": lambda path: path.mkdir(),
        "a hard link": lambda path: os.link(outside, path),
        "a sparse gigabyte": sparse,
    }


def test_planted_traps_are_told_and_neither_read_nor_waited_for(tmp_path: Path) -> None:
    outside = tmp_path / "secret.md"
    outside.write_bytes(to_bytes(make("outside", STOLEN, id="mem_outside")))
    slowest = 0.0
    for number, (name, plant) in enumerate(traps(tmp_path, outside).items()):
        store = file_store(tmp_path / f"v{number}")
        kept = Path(store.create(make("good", "a good memory")).path)
        plant(kept.with_name("trap.md"))
        began = time.perf_counter()
        found = [each.memory.content for each in store.list(Filter()).items]
        told = store.problems()
        store.search("stolen good", Filter(), 5)
        slowest = max(slowest, time.perf_counter() - began)
        # A hard link is a file of the folder like any other: it needs a right to the folder, and
        # shows its maker nothing that they could not put there as a copy.
        read = name == "a hard link"
        count("S5", traps=1, read_outside=int(STOLEN in found and not read))
        assert (STOLEN in found) == read, name
        assert "a good memory" in found
        assert read or [Path(each.path).name for each in told] == ["trap.md"], name
        store.close()
    worst("S5", slowest_trap_s=round(slowest, 2))
    assert outside.read_bytes() == to_bytes(make("outside", STOLEN, id="mem_outside"))


def test_a_file_that_is_swapped_while_it_is_read_leads_nowhere_else(tmp_path: Path) -> None:
    """Between a look and the reading there is a moment; what is opened is judged, not the name."""
    outside = tmp_path / "secret.md"
    outside.write_bytes(to_bytes(make("outside", STOLEN, id="mem_outside")))
    store = file_store(tmp_path / "vault")
    path = Path(store.create(make("good", "a good memory")).path)
    good = path.read_bytes()
    link, plain = path.with_suffix(".link"), path.with_suffix(".plain")
    swaps = 1_000 if ALL else 100
    over = threading.Event()

    def swap() -> None:
        for _ in range(swaps):
            link.symlink_to(outside)
            link.replace(path)
            plain.write_bytes(good)
            plain.replace(path)
        over.set()

    before = outside.read_bytes()
    thread = threading.Thread(target=swap)
    thread.start()
    leaks = reads = 0
    while not over.is_set() or not reads:
        reads += 1
        for each in store.list(Filter()).items:
            leaks += STOLEN in each.memory.text
        try:
            store.update("mem_" + path.stem.rpartition("mem_")[2], {"tags": (f"t{reads}",)})
        except LtmError:
            continue
    thread.join()
    count("S5", swaps=swaps, reads_meanwhile=reads, read_outside=leaks)
    assert leaks == 0
    assert outside.read_bytes() == before
    store.close()

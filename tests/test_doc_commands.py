"""Every command block of the README and the guides runs, in order, in an empty home.

A page is one story: its lines are typed one after the other, in a repository whose home has nothing
but what the reader of that page already has (`STORIES`). Words in capitals are what a reader fills
in. A line that cannot run on every machine is checked by its form (`FORMS`), with the reason.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from ltm.clients.table import BY_NAME
from ltm.state.candidates import CandidateRecord, Candidates
from tests import forking
from tests.e2e.client import wait_until
from tests.e2e.client.binary import ClientMissing, find, required
from tests.e2e.client.deadline import PATIENCE
from tests.e2e.clients.test_clients import PLUGINS
from tests.e2e.newcomer.stores import STORES as FORMER_TOOLS
from tests.postgres.cluster import new_cluster
from tests.sessions.writing import Transcript
from tests.team.issuer import Issuer
from tests.team.world import team_world
from tests.transfer.test_claude_mem import claude_mem

ROOT = Path(__file__).parent.parent
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    if path != ROOT / "docs" / "reference" / "cli.md"  # the help of every command, generated
    # One for all: tests/clients sets up each, and a test below says that they are alike.
    and (path.parent.name != "clients" or path.name == "codex.md")
)
SESSION = "3f2a41c7-0000-4000-8000-000000000001"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the blocks are for a POSIX shell")


@dataclass
class Reader:
    """A person who reads a page and types what stands there."""

    top: Path
    ends: ExitStack
    """What runs until the page has been read."""
    env: dict[str, str] = field(default_factory=dict)
    given: dict[str, str] = field(default_factory=dict)
    """What only this reader was given, such as a token."""

    def __post_init__(self) -> None:
        self.home, self.project = self.top / "home", self.top / "home" / "shop"
        (self.project / "src" / "billing").mkdir(parents=True)
        (self.project / "src" / "billing" / "invoice.py").write_text("rate = 0.19\n")
        (self.project / "Makefile").write_text(
            "test:\n\t@echo 'connect ECONNREFUSED 127.0.0.1:5432'; exit 1\n"
        )
        tools = self.top / "bin"
        tools.mkdir()
        forking.put_program(tools / "ltm")
        other = self.top / "other"
        other.mkdir()
        # The other machine is this one with another home.
        ssh = f'#!/bin/sh\nshift\nHOME="{other}"; export HOME; cd && exec "$@"\n'
        (tools / "ssh").write_text(ssh)
        (tools / "ssh").chmod(0o755)
        self.env = {
            "HOME": str(self.home),
            "PATH": f"{tools}:{os.environ['PATH']}",
            "EDITOR": "true",
            "GIT_CONFIG_GLOBAL": str(self.top / "gitconfig"),
        }
        (self.top / "gitconfig").write_text("[user]\nname = A\nemail = a@example.org\n")
        self.type("git init -q && git add -A && git commit -qm 'Add the billing'")

    def type(self, line: str, answer: str = "", code: int = 0) -> str:
        """Run a line in a shell; `answer` is typed at the terminal it then has."""
        stdin: int = subprocess.DEVNULL
        if answer:
            keyboard, stdin = os.openpty()
            os.write(keyboard, answer.encode())
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.project,
            env=self.env,
            stdin=stdin,
            capture_output=True,
            text=True,
            timeout=6 * PATIENCE,
            start_new_session=True,  # nothing is asked at the terminal of who runs the tests
        )
        if answer:
            os.close(keyboard)
            os.close(stdin)
        assert done.returncode == code, f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def ids(self, *words: str) -> list[str]:
        """The ids of memories, newest first."""
        found = json.loads(self.type(f"ltm list --json {' '.join(words)}"))["memories"]
        return [each["id"] for each in found]

    def session(self) -> None:
        """A session that the client has kept."""
        folder = self.home / ".claude" / "projects" / "-shop"
        where = {"cwd": str(self.project)}
        said = Transcript(folder / f"{SESSION}.jsonl", SESSION)
        for number in range(115):  # so that the decision stands on line 120, as a page has it
            said.line("file-history-snapshot", number=number)
        said.user("make the tests of src/billing/invoice.py pass, with retries", **where)
        said.calls("Bash", "b1", command="make test")
        said.result("Exit code 1\nconnect ECONNREFUSED 127.0.0.1:5432", "b1", error=True)
        said.says("The database is not running; I start it before the tests.", **where)
        edited = {"file_path": str(self.project / "src/billing/invoice.py")}
        said.calls("Edit", "e1", **edited, old_string="0.19", new_string="0.2")
        said.result("ok", "e1")
        said.calls("Bash", "b2", command="make test")
        said.result("ok", "b2", error=False)
        said.says("The tests pass.", **where)
        said.user("We decided on three retries with backoff, because the bank is slow.", **where)
        said.says("Understood: three retries.", **where)
        said.user("never log the session cookie. I like short commit messages", **where)
        said.says("I will not.", **where)


@dataclass(frozen=True)
class Story:
    """What the reader of a page has, fills in, and is answered."""

    before: Callable[[Reader], object] = lambda reader: None
    names: dict[str, Callable[[Reader], str]] = field(default_factory=dict)
    """What a word stands for, or `WORD of` the lines that begin like this."""
    meanwhile: dict[str, Callable[[Reader], object]] = field(default_factory=dict)
    """What has happened when the reader comes to the line that begins like this."""
    finds: tuple[str, ...] = ()
    """Lines that begin like this find what a person has to mend, and say so with exit code 1."""


def newest(reader: Reader) -> str:
    return reader.ids()[0]


def own(reader: Reader) -> str:
    found = json.loads(reader.type("ltm list --json"))["memories"]
    return str(next(each["id"] for each in found if each["vault"] == "private"))


def last_waiting(reader: Reader) -> str:
    return reader.ids("--status quarantined")[-1]


def captured(reader: Reader) -> None:
    reader.session()
    reader.type("ltm capture --all")


def with_conflict(reader: Reader) -> None:
    for port in (8080, 9090):
        reader.type(f"ltm remember 'The staging server listens on port {port}' --kind fact")


def disputed(reader: Reader) -> str:
    groups = json.loads(reader.type("ltm settle --json"))["conflicts"]
    if not groups:
        with_conflict(reader)
        return disputed(reader)
    return str(groups[0][0]["id"])


def with_much_to_approve(reader: Reader) -> None:
    """Sessions whose words wait, in a clone to which others pushed their memories."""
    reader.type("git remote add origin https://example.org/shop.git && git branch -m main")
    reader.type("ltm config trust.hold all")
    captured(reader)
    theirs = {**reader.env, "HOME": str(reader.top / "other")}
    mine, reader.env = reader.env, theirs
    reader.type(
        "cd ~ && git clone -q ../home/shop && cd shop && ltm init"
        " && ltm remember 'Deploys run on Mondays' && git add . && git commit -qm Share"
    )
    reader.env = mine
    reader.type("git pull -q ../../other/shop main")


def in_a_copy(reader: Reader) -> None:
    """The folder has the project's remote, and a history that is not known of it."""
    reader.type("ltm remember 'Deploys run on Mondays'")
    reader.type(
        "mkdir ../copy && cd ../copy && git init -q && touch it && git add it && git commit -qm It"
        " && git remote add origin https://example.org/shop.git"
    )
    reader.project = reader.home / "copy"


def with_candidates(reader: Reader) -> None:
    captured(reader)
    found = Candidates(str(next((reader.home / ".ltm" / "projects").glob("shop-*"))))
    found.add(
        CandidateRecord(
            name, f"The {name} cache is small", "fact", trust="user", said=int(time.time())
        )
        for name in ("4kqtx", "7hwz0", "9abcd")
    )


def edited_twice(reader: Reader) -> None:
    forgotten = reader.ids("--status forgotten")[0]
    for text in ("Deploys need no VPN", "Deploys need one VPN"):
        reader.type(f"ltm restore {forgotten} && ltm edit {forgotten} --content '{text}'")


def at_another_machine(reader: Reader) -> None:
    """With the files that are to be taken in, and no memory yet."""
    reader.type(
        "mkdir -p ~/.codex/memories ~/.qwen/projects/-home-me-shop/memory ~/.gemini .cursor/rules"
        " && echo '- Use pnpm, never npm.' | tee ~/.codex/memories/MEMORY.md ~/.gemini/GEMINI.md"
        " ~/.qwen/projects/-home-me-shop/memory/pnpm.md .cursor/rules/pnpm.mdc"
        " && mkdir -p backup/projects ~/app && cd ~/app && mv ~/.ltm ~/before"
        " && ltm remember 'The cache is warm'"
        " && cp -r ~/.ltm/projects/app-* ../shop/backup/projects/app-1 && rm -r ~/.ltm"
    )
    with zipfile.ZipFile(reader.project / "old-project.zip", "w") as packed:
        packed.writestr("old/notes/cache.md", "# Cache\n\nThe cache is warmed by a job.\n")
    claude_mem(reader.home / ".claude-mem")
    (reader.project / "CLAUDE.md").write_text(FOREIGN)


def with_a_remote(reader: Reader) -> None:
    """An empty repository, and another machine that uses it already."""
    mine, other = reader.env, {**reader.env, "HOME": str(reader.top / "other")}
    reader.type(f"git init -q --bare -b main {reader.top}/memories.git")
    reader.env = other
    reader.type(
        "mkdir ~/notes && cd ~/notes && ltm remember 'The report is due on Fridays'"
        f" && ltm remote add {reader.top}/memories.git"
    )
    reader.env = mine


def at_a_plain_folder(reader: Reader) -> None:
    reader.type("mkdir ~/papers")
    reader.project = reader.home / "papers"


def with_a_team(reader: Reader) -> None:
    """The reader is invited to a team, and will run a server of one later on."""
    cluster = reader.ends.enter_context(new_cluster(18))
    world = reader.ends.enter_context(team_world(reader.top, cluster))
    reader.given = {
        "ADDRESS": f"{world.server.url}/t/acme/p/main",
        "TOKEN": world.tokens["anna"],
        "ISSUER": reader.ends.enter_context(closing(Issuer())).url,
    }


def with_a_database(reader: Reader) -> None:
    """A superuser of a PostgreSQL that has no tables of LTM yet."""
    cluster = reader.ends.enter_context(new_cluster(18))
    reader.env |= {
        "PATH": f"{cluster.programs}:{reader.env['PATH']}",
        "PGHOST": str(cluster.folder),
        "PGUSER": "postgres",
    }
    reader.given["DATABASE"] = f"secret@/ltm?host={cluster.folder}"


FOREIGN = "# Shop\n\n<!-- MEMORY:START -->\n- The queue is drained at night\n<!-- MEMORY:END -->\n"


def coming_from(tool: str) -> Callable[[Reader], object]:
    """The reader has what another tool left on the machine."""
    return lambda reader: FORMER_TOOLS[tool](reader.home, reader.project)


def with_clients(reader: Reader) -> None:
    """Programs by the names of clients: what sets them up only looks whether they are there."""
    for name in ("claude", "codex"):
        (reader.top / "bin" / name).symlink_to("/bin/true")


def with_a_message(reader: Reader) -> None:
    shutil.copy(ROOT / "src" / "ltm" / "http" / "ltm-hook.sh", reader.project)
    (reader.project / "message.json").write_text('{"session_id":"try"}')


STORIES = {
    "docs/concepts/why-ltm.md": Story(
        lambda reader: reader.type("ltm remember 'We chose tabs because editors show them alike'")
    ),
    **{
        f"docs/guides/coming-from-{tool}.md": Story(coming_from(tool))
        for tool in FORMER_TOOLS
        if tool != "auto-memory"
    },
    "docs/guides/clients.md": Story(with_clients, finds=("ltm doctor",)),
    "docs/guides/install.md": Story(finds=("ltm doctor",)),  # there is no client
    "docs/clients/codex.md": Story(with_clients, finds=("ltm doctor",)),
    "docs/guides/troubleshooting.md": Story(
        captured, {"ID of ltm sessions": lambda _: SESSION[:8], "ID": newest}
    ),
    "docs/guides/tutorial.md": Story(captured, {"ID": newest}),
    "docs/concepts/sameness.md": Story(with_conflict, {"ID": disputed}),
    "docs/concepts/sessions.md": Story(
        Reader.session, {"ID of ltm sessions": lambda _: SESSION[:8], "ID": newest}
    ),
    "docs/concepts/trust.md": Story(
        with_much_to_approve,
        {"ID of ltm verify": own, "ID": last_waiting, "WORDS": lambda _: "retries"},
        {"ltm trust --same-project": in_a_copy},
    ),
    "docs/guides/finding.md": Story(captured),
    "docs/guides/friction.md": Story(captured),
    "docs/guides/memories.md": Story(
        with_candidates,
        {"ID of ltm sessions": lambda _: SESSION[:8], "ID": newest},
        {
            "ltm restore ID": edited_twice,
        },
    ),
    "docs/guides/moving.md": Story(
        lambda reader: reader.type(
            "ltm remember 'We chose tabs' --kind decision && ltm remember 'Deploys run on Mondays'"
        ),
        {"PATH": lambda _: "CLAUDE.md"},
        {"ltm import memories.json": at_another_machine},
    ),
    "docs/guides/reflecting.md": Story(captured),
    "docs/guides/several-machines.md": Story(
        with_a_remote,
        {"ADDRESS": lambda reader: str(reader.top / "memories.git"), "NAME": lambda _: "notes"},
        {"ltm remote join": at_a_plain_folder},
    ),
    "docs/guides/serve.md": Story(with_a_message),
    "docs/guides/teams.md": Story(
        with_a_team,
        {
            # The token is asked for at a terminal, or read.
            "https://memory.example.org/t/acme/p/main of ltm team join": lambda reader: (
                f"{reader.given['ADDRESS']} <<< {reader.given['TOKEN']}"
            ),
            "ID": lambda reader: reader.ids("--team acme")[0],
            "PASSWORD@db.example.org/ltm": lambda reader: reader.given["DATABASE"],
            "https://id.example.org": lambda reader: reader.given["ISSUER"],
        },
        {"createuser": with_a_database},
    ),
}


Check = Callable[[Reader, str], None]


def is_extra(reader: Reader, line: str) -> None:
    """What is installed from this folder is offered by it."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = re.findall(r"'?\.\[(\w+)\]'?", line)
    assert {*wanted} <= {*extras["optional-dependencies"]}
    assert {"ltm", "ltm-memory"} <= {*extras["scripts"]}


def is_program(reader: Reader, line: str) -> None:
    assert os.access(ROOT / line.split()[0], os.X_OK)


def with_claude(reader: Reader, line: str) -> None:
    """The newest real client does it, in a home of its own."""
    try:
        client = find("latest", os.environ)
    except ClientMissing:
        assert not required(os.environ)
        return
    home, tools = reader.top / "client", reader.top / "client" / "bin"
    tools.mkdir(parents=True, exist_ok=True)
    if not (tools / "claude").exists():
        (tools / "claude").symlink_to(client.binary)
    env = {
        **reader.env,
        "HOME": str(home),
        "PATH": f"{tools}:{reader.env['PATH']}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    line = line.partition("  #")[0].replace("PATH-OR-GIT-ADDRESS-OF-THIS-REPOSITORY", str(ROOT))
    line = line.replace("@NAME", "@example")
    mine, reader.env = reader.env, env
    if line.startswith("claude plugin uninstall "):
        another = line.split()[-1]
        reader.type(f"claude plugin marketplace add {shelf_of(another, home)}")
        reader.type(f"claude plugin install {another}")
    reader.type(line)
    reader.env = mine


def shelf_of(plugin: str, home: Path) -> Path:
    """Where a client gets another tool's plugin from."""
    name, _, market = plugin.partition("@")
    manifests = home / market / ".claude-plugin"
    manifests.mkdir(parents=True)
    said = {"name": name, "description": "Another tool"}
    offered = {"name": market, "owner": {"name": "A"}, "plugins": [{**said, "source": "./"}]}
    (manifests / "marketplace.json").write_text(json.dumps(offered))
    (manifests / "plugin.json").write_text(json.dumps({**said, "version": "1.0.0"}))
    return manifests.parent


def is_what_clients_are_given(reader: Reader, line: str) -> None:
    """It is what tests/e2e/clients types at the real ones."""
    typed = [" ".join(words).removesuffix(" --consent") for words in PLUGINS[line.split()[0]]]
    assert re.sub(r"PATH(-OR-URL)?", "{}", line) == " && ".join(typed)


def of_a_release(reader: Reader, line: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert re.search(rf"{extras['name']}\b|{extras['name'].replace('-', '_')}-", line)


def is_benchmark(reader: Reader, line: str) -> None:
    name, options = line.split()[2], re.findall(r"--[a-z-]+", line)
    done = subprocess.run(
        [sys.executable, "-m", name, "--help"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert all(option in done.stdout for option in options)


def served(reader: Reader, line: str) -> None:
    """It serves until it is told to end; a port that is taken on this machine is not tried."""
    words = shlex.split(line, comments=True)
    if "--port" in words:
        words[words.index("--port") + 1] = "0"
    if "--project" in words:
        words[words.index("--project") + 1] = str(reader.project)
    with subprocess.Popen(words, cwd=reader.project, env=reader.env) as process:
        note = reader.home / ".ltm" / "server.json"
        wait_until(lambda: note.exists() or process.poll() is not None, "the server to listen")
        process.terminate()
        assert process.wait(PATIENCE) == 0


def shown_in_a_browser(reader: Reader, line: str) -> None:
    """It prints a link, and serves it until it is told to end."""
    words = [*shlex.split(line, comments=True), "--no-open"]
    if "--port" in words:
        words[words.index("--port") + 1] = "0"
    answers_until_ended(reader, words)


def served_to_a_team(reader: Reader, line: str) -> None:
    line = filled_in(reader, STORIES["docs/guides/teams.md"], line)
    answers_until_ended(reader, [*shlex.split(line), "--port", "0"])


def answers_until_ended(reader: Reader, words: Sequence[str]) -> None:
    """It says its address first."""
    with subprocess.Popen(
        words,
        cwd=reader.project,
        env=reader.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout
        assert "http://127.0.0.1:" in process.stdout.readline()
        process.terminate()
        assert process.wait(PATIENCE) == 0


def of_a_container(reader: Reader, line: str) -> None:
    """What the image is named, and on which port it listens, as its file says."""
    image = (ROOT / "Containerfile").read_text("utf-8")
    if line.startswith("podman run"):
        port = re.search(r"^EXPOSE (\d+)$", image, re.M)
        assert port
        assert f"127.0.0.1:{port[1]}:{port[1]}" in line
        assert line.split()[-1] == "ltm"


def with_gcrypt(reader: Reader, line: str) -> None:
    """Without gcrypt it is said what is missing."""
    if shutil.which("git-remote-gcrypt") is None:
        reader.type("ltm remote remove")
        reader.type(filled_in(reader, STORIES["docs/guides/several-machines.md"], line), code=1)
        reader.type(f"ltm remote add {reader.top}/memories.git")


def exported(reader: Reader, line: str) -> None:
    name, _, value = filled_in(reader, STORIES["docs/guides/teams.md"], line).partition("=")
    reader.env[name.removeprefix("export ")] = value


def with_a_password(reader: Reader, line: str) -> None:
    reader.type(f"printf 'secret\\nsecret\\n' | {line}")


FORMS: Sequence[tuple[str, str, Check]] = (
    (r"gh attestation ", "needs a published release", of_a_release),
    (
        r"uv tool |pip install |python3 -m venv",
        "downloads packages: tests/e2e/newcomer does so",
        is_extra,
    ),
    (r"\./dev/", "it runs these tests", is_program),
    (
        r"(codex|copilot) plugin |(gemini|qwen) extensions ",
        "tests/e2e/clients types it at the real clients",
        is_what_clients_are_given,
    ),
    (r"claude ", "the client has a home of its own, and may not be installed", with_claude),
    (r"podman ", "needs a container's image: dev/image does so", of_a_container),
    (r"python -m benchmarks", "takes minutes, and data of others", is_benchmark),
    (r"createuser ", "a password is asked for", with_a_password),
    (r"export ", "it holds for the lines after it", exported),
    (r"ltm team serve(?!.* --check)", "runs until it is ended", served_to_a_team),
    (r"ltm serve", "runs until it is ended", served),
    (r"ltm ui", "runs until it is ended", shown_in_a_browser),
    (r"ltm remote add gcrypt::", "tests/remote does it where gcrypt is installed", with_gcrypt),
)
"""Lines that begin like this are not typed as they stand: why, and what is checked instead."""

COMMANDS = re.compile(r"(?:ltm|git|make|echo|mkdir|sh|tar|ssh)\b")


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The blocks of a page with their language, fenced or indented."""
    kept: list[str] = []
    language, before = None, ""
    lines = [*text.splitlines(), "", ""]
    for line, after in pairwise(lines):
        if language is not None and line != "```":
            kept.append(line)
        elif line.startswith("```"):
            if language is not None:
                yield language, "\n".join(kept)
                kept = []
            language = line[3:] if language is None else None
        elif line.startswith("    ") and (kept or not before):
            kept.append(line[4:])
        elif kept and not line and after.startswith("    "):
            kept.append("")
        elif kept:
            yield "", "\n".join(kept)
            kept = []
        before = line


def check_text(language: str, text: str) -> None:
    """A block that is no command is valid in its own language."""
    if language == "python":
        exec(compile(text, "the page", "exec"), {})
    elif language == "toml":
        tomllib.loads(text)
    elif text.startswith("{"):
        json.loads(text)
    elif text.startswith("---"):
        yaml.safe_load(text.split("---")[1])
    else:
        assert "─▶" in text, "neither commands nor a picture"


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run_in_order_in_an_empty_home(page: str, tmp_path: Path) -> None:
    with ExitStack() as ends:
        read(page, Reader(tmp_path, ends))


def read(page: str, reader: Reader) -> None:
    """Type what stands on a page."""
    found, story = list(blocks((ROOT / page).read_text("utf-8"))), STORIES.get(page, Story())
    if found:
        story.before(reader)
    for language, text in found:
        lines = text.replace("\\\n", " ").splitlines()
        if language or not (form_of(lines[0]) or COMMANDS.match(lines[0])):
            check_text(language, text)
            continue
        for line in lines:
            for how, happened in story.meanwhile.items():
                if line.startswith(how):
                    happened(reader)
            if check := form_of(line):
                check(reader, line)
            elif not line.lstrip().startswith("#"):
                answer = ASKS.get(line.split("  ")[0], "")
                code = int(line.startswith(story.finds)) if story.finds else 0
                reader.type(filled_in(reader, story, line), answer, code)


def test_every_client_has_a_page_with_the_same_commands() -> None:
    pages = {path.stem: path.read_text("utf-8") for path in (ROOT / "docs/clients").glob("*.md")}
    assert set(pages) == set(BY_NAME) - {"claude-code"}
    known = typed_on(pages["codex"])
    for name, text in pages.items():
        lines = {line.replace(f"--client {name}", "--client codex") for line in typed_on(text)}
        assert len(lines) >= 4
        assert lines <= known, name


def typed_on(page: str) -> set[str]:
    return {line for language, text in blocks(page) if not language for line in text.splitlines()}


ASKS = dict.fromkeys(
    (
        "ltm forget ID --purge",
        "ltm sessions --purge ID",
        "ltm sessions clear",
        "ltm review drop --all",
    ),
    "y\n",
)
"""Lines at which a person is asked, and what they answer."""


def form_of(line: str) -> Check | None:
    return next((check for how, _, check in FORMS if re.match(how, line)), None)


def filled_in(reader: Reader, story: Story, line: str) -> str:
    """A line as a reader types it."""
    command = re.sub(r"\s+# .*", "", line)
    for name, value in story.names.items():
        word, _, begin = name.partition(" of ")
        if command.startswith(begin) and re.search(rf"\b{word}\b", command):
            command = re.sub(rf"\[?\b{word}\b\]?", value(reader), command)
    return re.sub(r" \[[A-Z]+\]", "", command)

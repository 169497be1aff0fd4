"""Sessions of other clients, from the event of a hook or by `ltm capture`, to memories and hits."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ltm.clients.table import CLIENTS
from ltm.sessions.readers import READERS
from tests.cli.runner import Ltm
from tests.sessions.clients import (
    ALL,
    SESSION,
    Codex,
    Copilot,
    Cursor,
    Gemini,
    Goose,
    Kilo,
    OldGemini,
    OpenCode,
    Session,
)
from tests.worker.test_drain import Desk

WANTED = "From now on always use pnpm instead of npm in this repository."


def talk(session: Session) -> None:
    session.user(WANTED)
    session.tool("shell", {"command": "pnpm run quince"}, "quince is missing", failed=True)
    session.agent("I will use pnpm.")


def test_every_reader_is_of_a_client() -> None:
    assert {client.reader for client in CLIENTS if client.reader} == set(READERS)


@pytest.mark.parametrize("client", ALL, ids=lambda client: client.__name__)
def test_an_event_of_any_client_has_its_session_learned_and_kept(
    client: type[Session], tmp_path: Path
) -> None:
    desk = Desk(tmp_path)
    session = client(tmp_path / "kept", desk.hooks.project)
    talk(session)
    for event in ("SessionStart", "Stop", "SessionEnd"):
        desk.tell(event, SESSION, transcript=session.path)
    assert desk.drain().errors == 0
    (noted,) = desk.sessions().values()
    figures = (0, 1) if client.has_results else (0, 0)
    assert (noted.client, noted.ok, noted.failed) == (client.client, *figures)
    assert "pnpm" in desk.hooks.ltm("list").stdout
    found = json.loads(desk.hooks.ltm("recall", "quince", "--json").stdout)
    assert "quince" in json.dumps(found)
    # What was read is not read again, and what is said later is.
    session.user("From now on the staging server is called quokka, always deploy there.")
    desk.tell("SessionEnd", SESSION, transcript=session.path)
    assert desk.drain().errors == 0
    assert len(desk.hooks.ltm("list").stdout.split("pnpm")) == 2
    assert "quokka" in desk.hooks.ltm("recall", "quokka").stdout


def test_a_client_whose_events_name_no_transcript_is_found_by_its_session(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    home = Path(desk.environ["HOME"])
    for client, folder in (
        (OpenCode, home / ".local/share/opencode"),
        (Cursor, home / ".cursor/projects/a/agent-transcripts"),
    ):
        session = client(folder, desk.hooks.project, f"{client.client}-1")
        if client is Cursor:
            session.written = folder / "cursor-1.jsonl"
        talk(session)
        desk.tell("Stop", session.session, transcript="", client=client.client)
    assert desk.drain().errors == 0
    assert {each.client for each in desk.sessions().values()} == {"opencode", "cursor"}
    assert all(each.transcript for each in desk.sessions().values())
    assert "pnpm" in desk.hooks.ltm("list").stdout


def test_clients_can_be_kept_apart(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.hooks.home.mkdir()
    (desk.hooks.home / "config.toml").write_text('[capture]\nclients = "claude-code, copilot"\n')
    session = Codex(tmp_path / "kept", desk.hooks.project)
    talk(session)
    desk.tell("SessionEnd", SESSION, transcript=session.path)
    assert desk.drain().errors == 0
    assert "pnpm" not in desk.hooks.ltm("list").stdout
    assert "quince" not in desk.hooks.ltm("recall", "quince").stdout
    copilot = Copilot(tmp_path / "copilot", desk.hooks.project, "another")
    talk(copilot)
    desk.tell("SessionEnd", "another", transcript=copilot.path)
    assert desk.drain().errors == 0
    assert "pnpm" in desk.hooks.ltm("list").stdout


def test_capture_all_reads_every_client_by_the_folder_it_noted(tmp_path: Path) -> None:
    ltm = Ltm(tmp_path / "home", tmp_path / "project")
    ltm.project.mkdir()
    homes = {
        Codex: ".codex/sessions/2026/11/16", Copilot: ".copilot/session-state/a",
        Gemini: ".gemini/tmp/project", OpenCode: ".local/share/opencode",
        Kilo: ".local/share/kilo", Goose: ".local/share/goose/sessions",
    }  # fmt: skip
    for number, (client, folder) in enumerate(homes.items()):
        session = client(ltm.home / folder, ltm.project, f"{client.client}-{number}")
        session.user(f"Please look at the {client.client} orchard.")
    gone = Codex(ltm.home / ".codex/sessions/2026/11/17", tmp_path / "gone", "gone")
    gone.user("Please look at what is gone.")
    lost = Gemini(ltm.home / ".gemini/tmp/lost", tmp_path, "lost")
    lost.user("Please look at what is lost.")
    (ltm.home / ".gemini/tmp/lost/.project_root").unlink()
    done = ltm.json("capture", "--all")
    assert done["sessions"] == len(homes)
    assert done["left_out"] == {"folder_gone": 1, "client_left_out": 0, "folder_unknown": 1}
    listed = ltm.json("sessions")["sessions"]
    assert {each["client"] for each in listed} == {client.client for client in homes}
    assert ltm.json("capture", "--all")["turns"] == 0
    ltm.ok("config", "capture.clients", "Codex,Kilo")
    assert ltm.json("capture", "--all")["left_out"]["client_left_out"] == 5
    refused = ltm.run("config", "capture.clients", "codecs")
    assert "'codecs' is not a client whose sessions ltm reads" in refused.stderr


def test_a_named_file_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    ltm = Ltm(tmp_path / "home", tmp_path / "project")
    ltm.project.mkdir()
    for number, client in enumerate(ALL):
        session = client(tmp_path / str(number), ltm.project, f"{client.__name__}-session")
        session.user("Please look at the orchard.")
        is_database = "#" in session.path
        named = session.written if is_database else tmp_path / f"{number}.txt"
        if not is_database:
            shutil.copy(session.written, named)
        said = ltm.json("capture", str(named))
        assert (said["sessions"], said["passages"]) == (1, 1), client
    clients = {each["client"] for each in ltm.json("sessions")["sessions"]}
    assert clients == {client.client for client in ALL}
    other = tmp_path / "notes.txt"
    other.write_text("no transcript\n")
    done = ltm.run("capture", str(other))
    assert done.returncode == 1
    assert f"{other}: is not a transcript of a client that ltm knows" in done.stderr
    assert OldGemini.client == "gemini"

"""`why`, `fix` and `timeline`: what is known of a file, an error, a time, from real sessions."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.runner import Ltm
from tests.sessions.writing import Transcript

REFUSED = "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect"


def session(ltm: Ltm, name: str) -> Transcript:
    return Transcript(ltm.home / f"{name}.jsonl", name)


def capture(ltm: Ltm, *transcripts: Transcript) -> None:
    ltm.json("capture", *(str(each.path) for each in transcripts))


def runs(transcript: Transcript, command: str, output: str, *, fails: bool, call: str) -> None:
    transcript.calls("Bash", call, command=command)
    transcript.result(output, call, error=fails)


def a_solved_error(ltm: Ltm, name: str = "first-session") -> Transcript:
    transcript = session(ltm, name)
    transcript.user("run the integration tests please")
    runs(transcript, "npm test", f"Exit code 1\n{REFUSED}", fails=True, call="t1")
    transcript.says("The database is not up: the compose file lacks a health check.")
    transcript.calls("Edit", "t2", file_path=str(ltm.project / "docker-compose.yml"))
    transcript.result("ok", "t2")
    runs(transcript, "npm test -- --silent", "12 passing", fails=False, call="t3")
    transcript.says("All twelve pass now that the container is waited for.")
    return transcript


# -- why -----------------------------------------------------------------------------------------


def test_why_tells_memories_that_name_a_file_and_sessions_that_touched_it(ltm: Ltm) -> None:
    ltm.ok("remember", "docker-compose.yml is generated, edit the template", "--kind", "fact")
    ltm.ok("remember", "We chose docker-compose.yml over k8s for tests", "--kind", "decision")
    ltm.ok("remember", "Compose the docker image nightly", "--kind", "fact")
    capture(ltm, a_solved_error(ltm))
    found = ltm.json("why", "docker-compose.yml")
    # The pitfall was captured from the session itself.
    assert [each["kind"] for each in found["memories"]] == ["decision", "gotcha", "fact"]
    assert "nightly" not in json.dumps(found)
    (touched,) = found["sessions"]
    assert (touched["id"], touched["changed"]) == ("first-session", True)
    assert touched["passages"][0]["id"].startswith("first-session:")
    shown = ltm.ok("why", "docker-compose.yml")
    assert "first-session" in shown
    assert "2026-11-15, changed" in shown


@pytest.mark.parametrize("how", ["relative", "absolute", "below", "gone"])
def test_why_takes_a_path_however_it_is_typed(ltm: Ltm, how: str) -> None:
    (ltm.project / "src").mkdir()
    if how != "gone":
        (ltm.project / "src" / "queue.py").write_text("")
    ltm.ok("remember", "src/queue.py must not import the web layer", "--kind", "gotcha")
    typed = {"absolute": str(ltm.project / "src" / "queue.py"), "below": "queue.py"}
    folder = ltm.project / "src" if how == "below" else ltm.project
    found = ltm.json(
        "why", typed.get(how, "src/queue.py"), "--project", str(ltm.project), cwd=folder
    )
    assert found["path"] == "src/queue.py"
    assert len(found["memories"]) == 1


def test_why_takes_a_folder(ltm: Ltm) -> None:
    (ltm.project / "web").mkdir()
    ltm.ok("remember", "web/routes.ts is loaded lazily", "--kind", "architecture")
    transcript = session(ltm, "web-session")
    transcript.user("please look at web/app.ts and lib/app.ts")
    capture(ltm, transcript)
    found = ltm.json("why", "web")
    assert len(found["memories"]) == 1
    assert [each["id"] for each in found["sessions"]] == ["web-session"]
    assert ltm.json("why", "docs/")["total"] == 0
    refused = ltm.run("why", ".")
    assert refused.returncode == 2
    assert "ltm timeline" in refused.stderr


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_why_follows_a_file_that_git_saw_renamed(ltm: Ltm) -> None:
    git(ltm.project, "init", "-q")
    (ltm.project / "old_name.py").write_text("a = 1\n" * 40)
    git(ltm.project, "add", ".")
    git(ltm.project, "commit", "-qm", "one")
    git(ltm.project, "mv", "old_name.py", "new_name.py")
    git(ltm.project, "commit", "-qm", "two")
    ltm.ok("remember", "old_name.py holds the scheduler", "--kind", "fact")
    found = ltm.json("why", "new_name.py")
    assert found["former"] == ["old_name.py"]
    assert len(found["memories"]) == 1


def test_why_says_when_nothing_is_known(ltm: Ltm) -> None:
    done = ltm.run("why", "nowhere.py")
    assert (done.returncode, done.stdout) == (0, "")
    assert "Nothing is known about 'nowhere.py'" in done.stderr
    assert "type: ltm show mem_1" in ltm.run("why", "mem_1").stderr


# -- fix -----------------------------------------------------------------------------------------


def test_fix_tells_what_was_changed_and_what_then_passed(ltm: Ltm) -> None:
    capture(ltm, a_solved_error(ltm))
    (case,) = ltm.json("fix", "connect ECONNREFUSED 10.1.2.3:6543")["cases"]
    assert case["solved"] is True
    assert case["command"]["text"] == "$ npm test"
    (change,) = case["changes"]
    assert change["text"].startswith("Edit: ")
    assert change["text"].endswith("docker-compose.yml")
    assert case["passed"]["text"] == "$ npm test -- --silent"
    assert "container is waited for" in case["said"]["text"]
    assert case["error"]["role"] == "tool"
    assert case["error"]["id"].startswith("first-session:")


def test_fix_reads_the_output_of_a_failing_command(ltm: Ltm) -> None:
    capture(ltm, a_solved_error(ltm))
    output = f"> app@1.0 test\n> jest\n\nRUNS  a.test.js\n{REFUSED}\nnpm ERR! Test failed.\n"
    shown = ltm.ok("fix", "-", stdin=output)
    assert "solved" in shown
    assert "npm test -- --silent" in shown


def test_fix_shows_a_memory_before_sessions_and_a_solved_case_before_an_open_one(ltm: Ltm) -> None:
    unsolved = session(ltm, "second-session")
    unsolved.user("try again")
    runs(unsolved, "make db", f"Exit code 1\n{REFUSED}", fails=True, call="u1")
    capture(ltm, a_solved_error(ltm), unsolved)
    ltm.ok("remember", "connect ECONNREFUSED 5432 means the compose file is not up", "-k", "gotcha")
    found = ltm.json("fix", "connect ECONNREFUSED 127.0.0.1:5432")
    assert {each["kind"] for each in found["memories"]} == {"gotcha"}
    assert [each["solved"] for each in found["cases"]] == [True, False]
    assert ltm.ok("fix", "connect ECONNREFUSED 127.0.0.1:5432").startswith("mem_")


def test_fix_tells_what_was_said_once_something_was_changed(ltm: Ltm) -> None:
    """A server's log has no command that could pass: the last words explain it, not the first."""
    pasted = session(ltm, "pasted-log")
    pasted.user("2026/02/01 09:12:44 [error] upstream prematurely closed connection")
    pasted.says("The upstream closes it. What is the timeout of the proxy?")
    pasted.user("sixty seconds")
    pasted.calls("Edit", "e1", file_path=str(ltm.project / "gunicorn.conf.py"))
    pasted.result("ok", "e1")
    pasted.says("The connection was closed by gunicorn after two seconds; now it waits longer.")
    capture(ltm, pasted)
    (case,) = ltm.json("fix", "upstream prematurely closed connection")["cases"]
    assert case["solved"] is False
    assert case["said"]["text"].startswith("The connection was closed by gunicorn")


def test_fix_does_not_offer_another_error(ltm: Ltm) -> None:
    ltm.ok("config", "embed.backend", "none")  # what is near in meaning differs by package
    capture(ltm, a_solved_error(ltm))
    for other in ("SyntaxError: unexpected token", "error", "exit code 1"):
        assert ltm.json("fix", other)["total"] == 0
        assert "This error is not known" in ltm.run("fix", other).stderr
    assert ltm.json("fix", "SyntaxError: unexpected token")["nearest"] == []
    assert ltm.run("fix", "-", stdin="\n").returncode == 2


def test_fix_meets_errors_in_pasted_logs_and_in_output_of_commands_that_passed(ltm: Ltm) -> None:
    pasted = session(ltm, "pasted-session")
    pasted.user("prod says:\n12:01 INFO up\n12:02 ERROR worker: lease 77 expired for queue mails")
    pasted.says("The lease is too short, I set it to ninety seconds in worker.toml.")
    logged = session(ltm, "logged-session")
    logged.user("why do the mails hang?")
    runs(logged, "docker logs app", f"INFO up\n{REFUSED}", fails=False, call="l1")
    capture(ltm, pasted, logged)
    (case,) = ltm.json("fix", "ERROR worker: lease 12 expired for queue mails")["cases"]
    assert case["session"] == "pasted-session"
    assert "ninety seconds" in case["said"]["text"]
    (case,) = ltm.json("fix", "connect ECONNREFUSED 10.0.0.9:5432")["cases"]
    assert (case["session"], case["command"]["text"]) == ("logged-session", "$ docker logs app")


def test_fix_lists_what_comes_nearest_to_an_error_that_is_not_known(ltm: Ltm) -> None:
    ltm.ok("remember", "The mail worker needs a lease of ninety seconds", "--kind", "fact")
    found = ltm.json("fix", "worker refused: lease too long for the mail loop")
    assert (found["total"], len(found["nearest"])) == (0, 1)
    done = ltm.run("fix", "worker refused: lease too long for the mail loop")
    assert "not known" in done.stderr
    assert done.stdout.startswith("Nearest:")
    assert "ninety seconds" in done.stdout


# -- timeline ------------------------------------------------------------------------------------


def ids(told: Any) -> list[str]:
    return [each["id"] for each in told["events"]]


def test_the_timeline_is_in_the_order_of_time_and_within_the_days_asked_for(ltm: Ltm) -> None:
    for name, day in (("march-session", "2026-03-02"), ("april-session", "2026-04-02")):
        transcript = session(ltm, name)
        transcript.user(f"work of {name}", timestamp=f"{day}T10:00:00.000Z")
        capture(ltm, transcript)
    ltm.ok("remember", "We ship on Fridays")
    assert ids(ltm.json("timeline"))[:2] == ["march-session", "april-session"]
    assert [each["what"] for each in ltm.json("timeline")["events"]][2] == "memory"
    assert ids(ltm.json("timeline", "--since", "2026-04-01", "--until", "2026-04-30")) == [
        "april-session"
    ]
    assert ids(ltm.json("timeline", "--since", "2026-03-02", "--until", "2026-03-02")) == [
        "march-session"
    ]
    assert ltm.json("timeline", "--limit", "1")["total"] == 3
    assert ltm.run("timeline", "--since", "whenever").returncode == 2


def test_the_timeline_of_words_and_of_a_session(ltm: Ltm) -> None:
    capture(ltm, a_solved_error(ltm))
    told = ltm.json("timeline", "compose", "health", "check")
    assert any("health check" in each["text"] for each in told["events"])
    whole = ltm.json("timeline", "--session", "first-se")
    said = [each["at"] for each in whole["events"]]
    assert said == sorted(said)
    assert whole["events"][0]["text"] == "run the integration tests please"
    assert ltm.run("timeline", "--session", "nope").returncode == 1


def test_the_turns_around_a_hit_are_told_by_citation_or_by_memory(ltm: Ltm) -> None:
    transcript = session(ltm, "talk-session")
    for n in range(12):
        transcript.user(f"question number {n}")
        transcript.says(f"answer number {n}")
    transcript.user("remember that the mirror lives in Oslo")
    added = ltm.json("capture", str(transcript.path))["added"]
    told = ltm.json("timeline", "--around", "talk-ses:11")
    texts = [each["text"] for each in told["events"]]
    assert "question number 5" in texts
    assert "question number 0" not in texts
    near = ltm.json("timeline", "--around", added[0])
    assert near["events"][-1]["text"] == "remember that the mirror lives in Oslo"
    assert ltm.run("timeline", "--around", "talk-ses:9999").returncode == 1
    assert ltm.run("timeline", "words", "--around", "talk-ses:11").returncode == 2


# -- all three -----------------------------------------------------------------------------------


def test_no_stored_byte_steers_a_terminal(ltm: Ltm) -> None:
    transcript = session(ltm, "evil-session")
    transcript.user("look at evil.py\x1b[2J\x1b]0;owned\x07 now")
    runs(
        transcript,
        "make evil",
        "Exit code 1\nEvilError: \x1b[31mzap zip zop\x1b[2J",
        fails=True,
        call="e1",
    )
    capture(ltm, transcript)
    for words in (
        ("why", "evil.py"),
        ("fix", "EvilError: zap zip zop"),
        ("timeline",),
        ("timeline", "--session", "evil-session"),
    ):
        shown = ltm.ok(*words)
        assert "evil" in shown.lower()
        assert "\x1b" not in shown
        assert "\x07" not in shown

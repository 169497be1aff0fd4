"""`ltm ui` and `ltm serve --ui` as processes."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, Request, build_opener, urlopen

import pytest

from tests import forking
from tests.cli.runner import Ltm
from tests.hook.runner import Hooks
from tests.http.runner import Server


def started(ltm: Ltm, *words: str, **changed: object) -> tuple[subprocess.Popen[str], str]:
    """The process, and the link it printed."""
    process = forking.start(
        ("ui", *words),
        changed=changed,
        cwd=ltm.project,
        env=ltm.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    return process, process.stdout.readline().strip()


def test_it_prints_a_link_that_a_browser_opens_once_and_ends_with_ctrl_c(ltm: Ltm) -> None:
    ltm.ok("remember", "Payments run on port 7431")
    process, link = started(ltm, "--no-open")
    opener = build_opener(HTTPCookieProcessor())
    with opener.open(link) as answer:
        assert b"Payments run on port 7431" in answer.read()
        policy = answer.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    for refused in (link, link.partition("/enter")[0]):
        with pytest.raises(HTTPError) as error:
            urlopen(refused)
        assert error.value.code == (403 if "enter" in refused else 401)
        with error.value:
            assert b"ltm ui" in error.value.read()
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=120)
    assert (process.returncode, complaints) == (0, "Ctrl-C ends it.\n")


def test_it_ends_by_itself_when_it_is_not_used(ltm: Ltm) -> None:
    process, link = started(ltm, "--no-open", **{"ltm.web.server.IDLE": 0.2})
    assert link.startswith("http://127.0.0.1:")
    process.communicate(timeout=120)
    assert process.returncode == 0


def test_a_server_for_containers_shows_the_page_too(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    hooks.remember("Payments run on port 7431")
    with Server(hooks, "--ui") as server:
        assert server.process.stderr
        link = server.process.stderr.readline().decode().removeprefix("Page: ").strip()
        opener = build_opener(HTTPCookieProcessor())
        with opener.open(link) as answer:
            assert b"What the next session is told" in answer.read()
        # The next link is told as soon as this one was used.
        again = server.process.stderr.readline().decode().removeprefix("Page: ").strip()
        assert again != link
        with build_opener(HTTPCookieProcessor()).open(again) as answer:
            assert answer.status == 200
        # Programs are served as ever, and the page's cookie opens nothing of theirs.
        health = server.ask("GET", "/health", [server.authorized])
        assert json.loads(health.body) == {"status": "ok"}
        request = Request(f"http://127.0.0.1:{server.port}/mcp", data=b"{}", method="POST")
        with pytest.raises(HTTPError) as error:
            opener.open(request)
        with error.value:
            assert error.value.code in (403, 415)

"""An acknowledged text is on the disk word for word, active or one restore away.

Statements are made of parts that are easily taken for each other: numbers, names, denials, order,
six languages. Whatever is acknowledged is looked for after each step.
"""

from __future__ import annotations

import json
import os
import random
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.capture.remember import RememberRequest, remember
from ltm.cli.app import ltm as app
from ltm.model import Filter, Impact, Status
from ltm.state.usage import State
from ltm.upkeep import consolidate, plan
from tests import figures
from tests.capture.pairs import on_the_disk
from tests.sessions.writing import Transcript
from tests.stores import START, begin, file_store

ALL = os.environ.get("LTM_FAULTS") == "all"

_FRAMES = (
    "{Use} {name} for {thing}",
    "{Use} {name}, not {other}, for {thing}",
    "We {no}deploy {thing} with {name}",
    "The {thing} {no}times out after {n} {unit}",
    "{lead} the {thing} runs on port {n}",
    "{change} the {thing} runs on port {n}",
    "We moved the {thing} from {name} to {other}",
    "{Run} {name} before {other}",
    "Wir nutzen {name} {nicht}für {thing}",
    "Le {thing} {ne}utilise {pas}{name} {n}",
    "El {thing} {no_es}usa {name} {n}",
    "{thing} использует {name} {n}",
    "{thing} 的超时时间是 {n} 秒",
    "{thing}は{name}を{n}回呼ぶ",
)
_PARTS = {
    "Use": ("Use", "use", "Always use", "Never use", "Please remember: use", "Don't use"),
    "Run": ("Run", "Never run", "run"),
    "name": ("S3", "R2", "C", "Go", "Postgres 16", "Postgres 17", "pnpm", "npm", "`make -j2`"),
    "other": ("npm", "pnpm", "R2", "S3", "Go", "yarn"),
    "thing": ("api", "API", "web client", "EU bucket", "US bucket", "staging", "production"),
    "no": ("", "do not ", "never ", "no longer "),
    "n": ("1", "2", "30", "60", "8080", "1.5"),
    "unit": ("seconds", "minutes", "s", "ms"),
    "lead": ("", "Note:", "please remember that", "- "),
    "change": ("From now on", "Correction:", "Now", ""),
    "nicht": ("", "nicht ", "nicht mehr "),
    "ne": ("", "n'"),
    "pas": ("", "pas "),
    "no_es": ("", "no ", "ya no "),
}


def _filled(frame: str, choose: random.Random) -> str:
    parts = {name: choose.choice(values) for name, values in _PARTS.items()}
    return frame.format(**parts).strip()


statements = st.builds(
    lambda frame, parts: frame.format(**parts).strip(),
    st.sampled_from(_FRAMES),
    st.fixed_dictionaries({name: st.sampled_from(values) for name, values in _PARTS.items()}),
)
wishes = st.builds(
    RememberRequest,
    statements,
    kind=st.sampled_from([None, None, "decision", "progress", "issue"]),
    impact=st.sampled_from([None, *map(str, Impact)]),
    apart=st.sampled_from([False, False, False, True]),
)


@settings(max_examples=300 if ALL else 15, deadline=None)
@given(st.lists(wishes, min_size=4, max_size=14))
def test_what_is_remembered_outlives_twenty_sessions_of_upkeep(
    tmp_path_factory: pytest.TempPathFactory, said: list[RememberRequest]
) -> None:
    folder = tmp_path_factory.mktemp("store")
    texts: list[str] = []
    clock = START
    with closing(file_store(folder, lambda: clock)) as store:
        for wish in said:
            clock += timedelta(hours=1)
            remember(store, wish, at=clock)
            texts.append(wish.text)
            assert on_the_disk(folder, wish.text)
        for number in range(20):
            clock += timedelta(days=3)
            begin(State(str(folder / "state.db")), f"s{number}", "p", clock)
            plan.run(store, now=clock, consent=True)
            consolidate.run(store, clock, consent=True)
        # What is out of use comes back with one command each.
        for each in store.list(Filter(statuses=())).items:
            assert each.memory.text or each.memory.status is Status.FORGOTTEN
    lost = [text for text in texts if not on_the_disk(folder, text)]
    figures.count("R25", statements=len(texts), lost=len(lost))
    assert not lost


def test_every_surface_keeps_what_it_acknowledged_through_export_and_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = random.Random(25)
    project, home = tmp_path / "project", tmp_path / "home"
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("LTM_HOME", str(home))
    runner = CliRunner()

    def run(*words: str) -> str:
        done = runner.invoke(app, list(words), catch_exceptions=False)
        assert done.exit_code == 0, (words, done.output)
        return str(done.stdout)

    texts: list[str] = []
    for number in range(200 if ALL else 60):
        text = _filled(choose.choice(_FRAMES), choose)
        way = number % 3
        if way == 0:
            run("remember", "--json", "--", text)
        elif way == 1 and texts:
            listed = json.loads(run("list", "--json", "--limit", "5"))["memories"]
            run("edit", choose.choice(listed)["id"], "--content", text)
        else:
            transcript = Transcript(tmp_path / f"{number}.jsonl", f"session-{number}")
            transcript.user(f"Remember that {text}")
            done = json.loads(run("capture", str(transcript.path), "--json"))
            kept = [*done["added"], *done["reinforced"]]
            if not kept:
                continue
            text = json.loads(run("show", kept[-1], "--json"))["content"]
        texts.append(text)
        assert on_the_disk(home, text), text
    for command in (("consolidate",), ("upkeep",), ("consolidate", "--all")):
        run(*command, "--json")
    assert [text for text in texts if not on_the_disk(home, text)] == []
    run("export", str(tmp_path / "all.json"))
    monkeypatch.setenv("LTM_HOME", str(tmp_path / "second"))
    run("import", str(tmp_path / "all.json"))
    lost = [text for text in texts if not on_the_disk(tmp_path / "second", text)]
    figures.count("R25", statements=len(texts), lost=len(lost))
    assert lost == []

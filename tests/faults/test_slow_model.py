"""A model thinks for as long as it takes 200 changes to land: none is lost, none is undone.

Row R7. Real commands ask a real server, which answers only when everybody else is done: what took
120 seconds elsewhere takes as long here as the changes do.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ltm.capture.remember import RememberRequest, remember
from ltm.decisions import Revise
from ltm.model import Filter, Memory
from ltm.spool import events
from ltm.store.file_store import FileStore
from tests.faults.person import Person
from tests.faults.scene import Scene
from tests.figures import count
from tests.llm.scripted import Reply, ScriptedApi
from tests.sessions.writing import Transcript

CHANGES = 200
"""What lands while the model thinks."""

KNOWN = 40


@dataclass
class Desk:
    """A project with memories, a model that is switched on, and somebody else at work."""

    scene: Scene
    api: ScriptedApi
    store: FileStore
    known: list[Memory]
    newest: dict[str, str] = field(default_factory=dict)
    """What others were told is kept, by id."""

    @property
    def person(self) -> Person:
        return Person(self.scene.home, self.scene.project, {"ANTHROPIC_API_KEY": "a key"})

    def change(self, *more: Memory) -> None:
        """What others do while the model thinks: store a lot, and edit every other memory."""
        edited = [*self.known[1::2], *more]
        for number, memory in enumerate(edited):
            text = f"{memory.content}, as of revision {number} by hand"
            self.store.apply(Revise(memory.id, {"title": text, "summary": text, "content": text}))
            self.newest[memory.id] = text
        for number in range(CHANGES - len(edited)):
            text = f"stored{number} meanwhile{number} entry{number}"
            stored = keep(self.store, text, kind="decision")
            self.newest[stored.id] = stored.content

    def examine(self) -> None:
        """Whatever others were told is what is in force."""
        found = self.scene.memories()
        lost = [each for each in self.newest if found[each]["status"] != "active"]
        undone = [each for each in self.newest if found[each]["content"] != self.newest[each]]
        count("R7", changes=len(self.newest), lost=len(lost), reverted=len(undone))
        assert (len(self.newest), lost, undone) == (CHANGES, [], [])


def keep(store: FileStore, text: str, kind: str = "fact") -> Memory:
    wish = RememberRequest(text, kind=kind, scope="project")
    return remember(store, wish).applied.stored.memory


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    scene = Scene(tmp_path)
    scene.project.mkdir()
    store = scene.open()
    known = [keep(store, f"rule{n} about{n} subject{n} number{n} holds{n}") for n in range(KNOWN)]
    with ScriptedApi() as api:
        desk = Desk(scene, api, store, known)
        for name, value in (("backend", "api"), ("base_url", api.url)):
            desk.person.value("config", f"llm.{name}", value)
        yield desk
    store.close()


def merging(*groups: tuple[Memory, Memory]) -> list[dict[str, Any]]:
    return [
        {"content": f"{one.content} {other.content}", "tags": [], "sources": [one.id, other.id]}
        for one, other in groups
    ]


def answered(before: Callable[[], object] = lambda: None, **value: Any) -> Reply:
    """An answer of the form that consolidation asks for, after something was done."""
    return Reply(json.dumps({"keep": [], "merge": [], "drop": [], **value}), before=before)


@pytest.mark.parametrize("words", [("consolidate",), ("consolidate", "--all")])
def test_what_changed_while_a_model_thought_about_merging_is_left_and_asked_about_again(
    desk: Desk, words: tuple[str, ...]
) -> None:
    """Reliability R7, for consolidation: of what the model saw, half is no longer so."""
    rules = desk.known
    told = answered(
        desk.change,
        # One of these two was edited meanwhile; of those two, neither.
        merge=merging((rules[0], rules[1]), (rules[2], rules[4])),
        drop=[rules[3].id, rules[6].id],
    )
    desk.api.say(told)
    done = desk.person.value(*words)
    assert [(each["action"], each["from"]) for each in done["actions"]] == [
        ("merge", [each]) for each in ({rules[2].id, rules[4].id} - {done["actions"][0]["to"]})
    ] + [("archive", [])]
    desk.examine()
    found = desk.scene.memories()
    assert found[rules[0].id]["content"] == rules[0].content

    again = merging((rules[0], desk.store.read(rules[1].id).memory))
    # Of facts and decisions either may come first: what is made within a second is a tie.
    desk.api.say(answered(merge=again), answered(merge=again))
    (step,) = desk.person.value(*words)["actions"]
    assert {step["to"], *step["from"]} == {rules[0].id, rules[1].id}
    assert desk.newest[rules[1].id] in "".join(desk.api.prompts[1:])
    assert desk.newest[rules[1].id] in [
        each.memory.content for each in desk.store.versions(rules[1].id)
    ]


def test_what_changed_while_a_model_read_a_session_stays_and_what_it_found_is_kept(
    desk: Desk,
) -> None:
    """Reliability R7, for capture: it names a memory that others made something else of."""
    named = keep(desk.store, "We use mysql 8 as the database for everything", kind="decision")
    found = "We chose postgres over mysql because of its json support"
    transcript = Transcript(desk.scene.top / "s1.jsonl", "s1")
    talk = "let us build the importer now, and then the report of last month. " * 4
    transcript.user(f"{found}. {talk}", cwd=str(desk.scene.project))
    transcript.says("Understood, the importer comes first.")
    event = {"session": "s1", "cwd": str(desk.scene.project), "transcript": str(transcript.path)}
    events.put(str(desk.scene.home), {**event, "event": "SessionStart"}, desk.scene.env)
    events.put(str(desk.scene.home), {**event, "event": "SessionEnd"}, desk.scene.env)
    answer = [
        {"kind": "decision", "content": found, "tags": [], "supersedes_content": named.content}
    ]
    desk.api.say(Reply(json.dumps(answer), before=lambda: desk.change(named)))
    assert desk.person.value("drain")["llm_calls"] == 1
    desk.examine()
    in_force = [each.memory.content for each in desk.store.list(Filter()).items]
    assert len([text for text in in_force if found in text]) == 1

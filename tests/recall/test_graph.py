"""The graph of memories, in every form."""

from __future__ import annotations

import json

import pytest

from ltm.model import Memory, Status
from ltm.recall.related import FORMS, Edge, as_dot, as_mermaid, as_text, graph
from tests.stores import make


def chain() -> list[Memory]:
    one = make("first", "The first says alpha.", id="mem_first001")
    two = make("second", "Another one tells beta.", id="mem_second02")._replace(
        previous=one.id,
        links=(one.id, "mem_elsewhere"),
    )
    old = make("old", id="mem_old00003")._replace(
        status=Status.SUPERSEDED, superseded_by="mem_second02"
    )
    return [one, two, old]


def test_relations_become_edges_and_unknown_ends_are_left_out() -> None:
    shown = graph(chain())
    assert set(shown.edges) == {
        Edge("mem_second02", "mem_first001", "links to"),
        Edge("mem_second02", "mem_old00003", "replaces"),
    }


def test_what_was_only_stored_after_another_is_not_joined_to_it() -> None:
    one = make("first", "The first says alpha.", id="mem_first001")
    two = make("second", "Another tells beta.", id="mem_second02")._replace(previous=one.id)
    assert graph([one, two]).edges == ()


def test_a_conflict_is_one_edge_and_subjects_are_drawn_together() -> None:
    one = make("port 1", "Alpha.", id="mem_one00001", tags=("web", "port"))
    two = make("port 2", "Beta.", id="mem_two00002", tags=("port",))
    one, two = one._replace(conflicts=(two.id,)), two._replace(conflicts=(one.id,))
    rest = [
        make("queue", "Gamma.", id="mem_queue003", tags=("port",)),
        make("cache", "Delta.", id="mem_cache004", tags=("redis",)),
    ]
    assert as_text(graph([one, two, *rest])).splitlines() == [
        "port:",
        "one00001 [fact] port 1",
        "└─ contradicts: two00002 [fact] port 2",
        "queue003 [fact] queue",
        "",
        "of other subjects:",
        "cache004 [fact] cache",
    ]


def test_both_sides_of_a_replacement_are_one_edge() -> None:
    old, new = chain()[2], chain()[1]._replace(supersedes=("mem_old00003",))
    assert [edge.how for edge in graph([old, new]).edges] == ["replaces"]


def test_memories_that_say_nearly_the_same_are_joined_once() -> None:
    one = make("deploy", "We deploy with the blue script on Mondays", id="mem_one00001")
    two = make("deploy", "We deploy with the green script on Mondays", id="mem_two00002")
    gone = two._replace(id="mem_gone0003", status=Status.FORGOTTEN)
    other = make("other", "Errors are values everywhere", id="mem_other004")
    assert graph([one, two, gone, other]).edges == (Edge(two.id, one.id, "is like"),)
    linked = two._replace(links=(one.id,))
    assert graph([one, linked]).edges == (Edge(two.id, one.id, "links to"),)


def test_the_terminal_shows_chains() -> None:
    text = as_text(graph(chain()))
    assert text.splitlines() == [
        "second02 [fact] second",
        "├─ links to: first001 [fact] first",
        "└─ replaces: old00003 [fact] ~~old~~",
    ]


def test_a_ring_is_drawn_once() -> None:
    one = make("one", "Alpha.", id="mem_one00001")._replace(links=("mem_two00002",))
    two = make("two", "Beta.", id="mem_two00002")._replace(links=("mem_one00001",))
    text = as_text(graph([one, two]))
    assert text.count("(see above)") == 1


def test_a_chain_of_thousands_is_drawn() -> None:
    memories = [make("m0", "word0", id="mem_0")]
    for n in range(1, 3000):
        memories.append(make(f"m{n}", f"word{n}", id=f"mem_{n}")._replace(links=(f"mem_{n - 1}",)))
    assert len(as_text(graph(memories)).splitlines()) == 3000


@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_form_survives_hostile_titles(form: str) -> None:
    memory = make('evil "]; } <script> \\ \n | [', id="mem_evil0001")
    text = FORMS[form](graph([memory]))
    assert "mem_evil0001"[-8:] in text
    if form == "json":
        assert json.loads(text)["nodes"][0]["title"] == memory.title


def test_dot_and_mermaid_name_both_ends() -> None:
    shown = graph(chain())
    assert '"mem_second02" -> "mem_first001" [label="links to"];' in as_dot(shown)
    assert "mem_second02 -->|replaces| mem_old00003" in as_mermaid(shown)

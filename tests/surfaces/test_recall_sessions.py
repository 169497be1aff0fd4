"""`ltm recall` and `ltm ask` show what was said beside what is remembered."""

from __future__ import annotations

import pytest

from ltm.core.passage import ASSISTANT, USER, Header, Passage
from ltm.storage.passages import Passages
from ltm.storage.places import places
from tests.surfaces.cli_runner import Ltm


@pytest.fixture
def talked(ltm: Ltm) -> Ltm:
    """A project in which the uploader was spoken of in March."""
    where = places(str(ltm.project), environ={"LTM_HOME": str(ltm.home / ".ltm")})
    passages = Passages(where.sessions_db)
    said = ((USER, "how many retries for the uploader?"), (ASSISTANT, "Five uploader retries."))
    passages.add(
        Header("3f2a", str(ltm.project), "/t/3f2a.jsonl"),
        [
            Passage(turn, 0, role, text, f"2026-03-10T10:0{turn}:00Z", turn, turn, f"m{turn}")
            for turn, (role, text) in enumerate(said, 1)
        ],
    )
    passages.close()
    return ltm


def test_a_hit_from_a_session_has_the_fields_of_any_hit(talked: Ltm) -> None:
    kept = talked.json("remember", "The uploader retries with a pause that doubles")
    found = talked.json("recall", "uploader retries")
    assert [hit["id"] for hit in found["hits"]] == [kept["id"], "3f2a:2", "3f2a:1"]
    hit = found["hits"][1]
    assert set(hit) == {"id", "title", "kind", "score", "why", "text", "tokens", "source"}
    assert (hit["kind"], hit["title"]) == ("session", "assistant, 2026-03-10")
    assert hit["source"]["lines"] == "2"
    assert "said: uploader, retries" in hit["why"]


def test_a_person_reads_who_said_it_when_and_why_it_is_shown(talked: Ltm) -> None:
    shown = talked.ok("recall", "uploader", "retries")
    assert "3f2a:2  assistant, 2026-03-10" in shown
    assert "why: said: uploader, retries" in shown


def test_sessions_can_be_left_out(talked: Ltm) -> None:
    assert talked.json("recall", "uploader retries", "--no-sessions")["hits"] == []
    assert talked.json("recall", "uploader retries", "--kind", "decision")["hits"] == []


def test_as_of_a_day_nothing_later_is_shown(talked: Ltm) -> None:
    assert talked.json("recall", "uploader retries", "--as-of", "2026-03-09")["hits"] == []
    assert talked.json("recall", "uploader retries", "--as-of", "2026-03-10")["hits"]


def test_without_a_model_asking_shows_what_was_said_as_evidence(talked: Ltm) -> None:
    found = talked.json("ask", "how many uploader retries")
    assert {each["id"] for each in found["evidence"]} == {"3f2a:1", "3f2a:2"}
    assert found["answer"] is None
    assert "3f2a:2" in talked.ok("ask", "how many uploader retries")


def test_another_project_sees_none_of_it(talked: Ltm) -> None:
    other = talked.project.parent / "other"
    other.mkdir()
    assert talked.json("recall", "uploader retries", cwd=other)["hits"] == []

"""Phases on real files: the original is kept, the summary stays, and everything comes back."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm.decisions import Forget, Reduce, Restore, Revise
from ltm.errors import Conflict, Refused
from ltm.model import Filter, Phase, Status
from ltm.policy import text_in_phase
from tests.upkeep.conftest import World
from tests.vault.strategies import texts

SHORT = (Phase.HINT, Phase.ABSTRACT, Phase.ARCHIVED)


def archives(world: World) -> list[Path]:
    """The kept files of the project's vault."""
    return sorted((world.folder / "project" / "archives").iterdir())


def file_of(world: World, memory_id: str) -> Path:
    return Path(world.store.read(memory_id).path)


def test_the_whole_file_is_in_the_archive_before_anything_is_taken_away(world: World) -> None:
    memory = world.remember()
    before = file_of(world, memory.id).read_bytes()
    assert world.store.apply(Reduce(memory.id, Phase.HINT)).action == "reduced"
    assert [path.read_bytes() for path in archives(world)] == [before]


@pytest.mark.parametrize("phase", SHORT)
def test_a_reduced_file_keeps_its_summary_and_loses_content(world: World, phase: Phase) -> None:
    """traps 2.1 #11: Summary is never modified; only Content is reduced."""
    memory = world.remember()
    world.store.apply(Reduce(memory.id, phase))
    text = file_of(world, memory.id).read_text(encoding="utf-8")
    assert f"## Summary\n\n{memory.summary}\n" in text
    assert f"phase: {int(phase)}\n" in text
    assert ("First paragraph" in text) is (phase is Phase.HINT)
    assert "Second paragraph" not in text
    assert world.read(memory.id).updated == memory.updated


def test_every_step_is_made_from_the_one_original(world: World) -> None:
    """traps 2.3 #4: compact once per level, always from the original."""
    memory = world.remember()
    for phase in (Phase.ABSTRACT, Phase.HINT, Phase.ARCHIVED, Phase.HINT):
        after = world.store.apply(Reduce(memory.id, phase)).stored.memory
        assert after.content == text_in_phase(memory.content, phase)
        assert after.version == memory.version
    assert len(archives(world)) == 1


@pytest.mark.parametrize("phase", SHORT)
def test_what_was_reduced_comes_back_whole(world: World, phase: Phase) -> None:
    memory = world.remember()
    world.store.apply(Reduce(memory.id, phase))
    world.session()
    back = world.store.apply(Restore(memory.id)).stored.memory
    assert (back.title, back.summary, back.content, back.phase, back.version) == (
        memory.title,
        memory.summary,
        memory.content,
        Phase.FULL,
        memory.version,
    )


def test_reducing_to_phase_0_brings_the_text_back_too(world: World) -> None:
    memory = world.remember()
    world.store.apply(Reduce(memory.id, Phase.ARCHIVED))
    world.store.apply(Reduce(memory.id, Phase.FULL))
    assert world.read(memory.id) == memory


def test_going_back_and_forth_keeps_one_original_for_each_text(world: World) -> None:
    memory = world.remember()
    for _ in range(4):
        world.session()
        world.store.apply(Reduce(memory.id, Phase.HINT))
        world.store.apply(Reduce(memory.id, Phase.FULL))
    assert len(archives(world)) == 1


def test_restoring_and_fading_again_keeps_no_second_copy_of_the_original(world: World) -> None:
    memory = world.remember()
    for _ in range(3):
        world.session()
        world.store.apply(Reduce(memory.id, Phase.HINT))
        world.store.apply(Restore(memory.id))
    kept = [each for each in world.store.versions(memory.id) if each.memory.phase is Phase.FULL]
    assert [each.memory for each in kept] == [memory]


def test_a_version_asked_for_comes_back_whole_though_a_short_form_was_kept_later(
    world: World,
) -> None:
    memory = world.remember()
    world.store.apply(Reduce(memory.id, Phase.HINT))
    world.store.apply(Revise(memory.id, {"content": "Written anew."}))
    back = world.store.apply(Restore(memory.id, version=1)).stored.memory
    assert back.content == memory.content


def test_forgetting_a_short_memory_loses_nothing(world: World) -> None:
    memory = world.remember()
    world.store.apply(Reduce(memory.id, Phase.ABSTRACT))
    world.store.apply(Forget(memory.id))
    back = world.store.apply(Restore(memory.id)).stored.memory
    assert (back.title, back.text, back.phase) == (memory.title, memory.text, Phase.FULL)


def test_an_edit_in_a_short_file_becomes_the_text_that_is_kept(world: World) -> None:
    memory = world.remember()
    world.store.apply(Reduce(memory.id, Phase.HINT))
    path = file_of(world, memory.id)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("First paragraph", "My own words"), encoding="utf-8")
    after = world.store.apply(Reduce(memory.id, Phase.ABSTRACT)).stored.memory
    assert "My own words" not in path.read_text(encoding="utf-8")
    assert after.version == memory.version + 1
    back = world.store.apply(Restore(memory.id)).stored.memory
    assert back.content == "My own words on Use ruff for linting."
    first = world.store.apply(Restore(memory.id, version=1)).stored.memory
    assert first.content == memory.content


def test_a_title_given_to_a_short_memory_survives_its_restoration(world: World) -> None:
    memory = world.remember()
    world.store.apply(Reduce(memory.id, Phase.HINT))
    world.store.apply(Revise(memory.id, {"title": "A better title"}))
    back = world.store.apply(Restore(memory.id)).stored.memory
    assert (back.title, back.content) == ("A better title", memory.content)


def test_an_archived_memory_leaves_the_active_set_and_its_file_stays(world: World) -> None:
    memory = world.remember()
    world.store.apply(Reduce(memory.id, Phase.ARCHIVED))
    assert file_of(world, memory.id).exists()
    assert world.store.list(Filter(phases=(Phase.FULL, Phase.HINT, Phase.ABSTRACT))).total == 0
    assert world.read(memory.id).status is Status.ACTIVE


def test_the_same_phase_again_changes_no_byte(world: World) -> None:
    memory = world.remember()
    first = world.store.apply(Reduce(memory.id, Phase.HINT)).stored
    again = world.store.apply(Reduce(memory.id, Phase.HINT)).stored
    assert again == first
    assert len(archives(world)) == 1


def test_a_step_based_on_an_old_reading_is_refused(world: World) -> None:
    stored = world.store.read(world.remember().id)
    world.another_store().update(stored.memory.id, {"tags": ("new",)})
    with pytest.raises(Conflict, match=stored.memory.id):
        world.store.apply(Reduce(stored.memory.id, Phase.HINT, expected=stored.etag))
    assert world.read(stored.memory.id).phase is Phase.FULL
    assert not archives(world)


def test_a_forgotten_memory_has_no_phase_to_change(world: World) -> None:
    memory = world.remember()
    world.store.apply(Forget(memory.id))
    with pytest.raises(Refused, match="forgotten"):
        world.store.apply(Reduce(memory.id, Phase.HINT))


def test_a_file_in_a_persons_own_style_comes_back_with_the_same_text(world: World) -> None:
    world.remember()
    path = world.folder / "project" / "memories" / "note.mem_0notes12345.md"
    text = "One thought. Another.\n\nMore on it.\n\nAnd more."
    head = "---\nid: mem_0notes12345\ncreated: 2026-01-05\nmine: kept # why\n---\n"
    path.write_bytes(f"{head}{text}\n".replace("\n", "\r\n").encode())
    before = world.read("mem_0notes12345")
    for phase in SHORT:
        after = world.store.apply(Reduce(before.id, phase)).stored.memory
        assert after.summary == before.summary == "One thought. Another."
    assert b"mine: kept # why\r\n" in path.read_bytes()
    back = world.store.apply(Restore(before.id)).stored.memory
    assert (back.summary, back.content) == (before.summary, before.content)


@settings(max_examples=40, deadline=None)
@given(texts.filter(str.strip), texts, st.lists(st.sampled_from(Phase), min_size=1, max_size=3))
def test_any_text_survives_any_way_through_the_phases(
    summary: str, content: str, way: list[Phase]
) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder))
        try:
            memory = world.remember("t", summary=summary, content=content)
            for phase in way:
                after = world.store.apply(Reduce(memory.id, phase)).stored.memory
                assert (after.title, after.summary) == (memory.title, memory.summary)
            world.store.apply(Restore(memory.id))
            back = world.another_store().read(memory.id).memory
            assert (back.summary, back.content) == (memory.summary, memory.content)
        finally:
            world.close()

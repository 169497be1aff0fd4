"""What the doctor finds and mends on real folders, and what it leaves alone."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.config.config import load
from ltm.decisions import Forget, Reduce, Restore, Supersede
from ltm.model import Filter, Memory, Phase, Scope, Status, new_id
from ltm.project.layout import places
from ltm.spool import events
from ltm.state.usage import SCHEMA
from ltm.store.file_store import FileStore
from ltm.store.open import open_files
from ltm.store.share import init_shared
from ltm.store.trust import record_trust
from ltm.text.similarity import jaccard, pairs
from ltm.upkeep.doctor import UNUSED_DAYS, DoctorReport, audit, examine, mend
from tests.project.repos import git, make_repo
from tests.upkeep.conftest import World

THEN = datetime(2026, 1, 1, tzinfo=UTC)
ALL = Filter(statuses=tuple(Status))


class Patient:
    """A project with its home folder, opened again for every look, as every command does."""

    def __init__(self, top: Path) -> None:
        self.user = top / "user"
        self.user.mkdir(mode=0o700)
        self.repo = make_repo(self.user / "app")
        self.home = self.user / ".ltm"
        self.environ = {"HOME": str(self.user)}
        self._opened: list[FileStore] = []

    def open(self) -> FileStore:
        where = places(str(self.repo), environ=self.environ)
        store = open_files(where, load(where.home, where.shared))
        self._opened.append(store)
        return store

    def examine(self) -> DoctorReport:
        where = places(str(self.repo), environ=self.environ)
        return examine(self.open(), where, load(where.home, where.shared))

    def mend(self) -> DoctorReport:
        where = places(str(self.repo), environ=self.environ)
        return mend(self.open(), where, load(where.home, where.shared))

    def share(self) -> None:
        """What `ltm init` does."""
        init_shared(str(self.repo))
        self.trust()

    def trust(self) -> None:
        """What `ltm trust` does."""
        where = places(str(self.repo), environ=self.environ)
        record_trust(where.private, where.project, where.shared, True)

    @property
    def vault(self) -> Path:
        where = places(str(self.repo), environ=self.environ)
        return Path(where.shared if where.shared_exists else where.private)

    def remember(self, title: str = "Use ruff for linting", **fields: object) -> Memory:
        values: dict[str, object] = {
            "id": new_id(THEN),
            "kind": "fact",
            "title": title,
            "summary": f"{title}.",
            "content": "One paragraph.\n\nAnother paragraph.",
            "created": THEN,
            "updated": THEN,
            "confirmed": THEN,
            **fields,
        }
        return self.open().create(Memory(**values)).memory  # type: ignore[arg-type]

    def file(self, memory: Memory) -> Path:
        return Path(self.open().read(memory.id).path)

    def contents(self) -> set[bytes]:
        """Every text anybody wrote: the bytes of all memory and archive files."""
        found = [*self.user.rglob("memories/*.md"), *self.user.rglob("archives/*.md")]
        return {path.read_bytes() for path in found}

    def close(self) -> None:
        for store in self._opened:
            store.close()


@pytest.fixture
def patient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Patient]:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # where events of other homes may wait
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    made = Patient(tmp_path)
    yield made
    made.close()


def messages(report: DoctorReport) -> list[str]:
    return [problem.message for problem in report.problems]


def test_a_healthy_store_has_nothing_to_tell(patient: Patient) -> None:
    patient.remember()
    old = patient.remember("old")
    patient.open().apply(Supersede((old.id,), _newer(patient)))
    agent = patient.remember("agent", scope=Scope.AGENT)
    patient.open().apply(Reduce(agent.id, Phase.HINT))
    for report in (patient.examine(), patient.mend()):
        assert report.as_record() == {"healthy": True, "problems": [], "audit": {}}


def test_an_empty_project_is_healthy_and_stays_empty(patient: Patient) -> None:
    assert patient.examine().healthy
    assert not patient.home.exists()
    assert patient.mend().healthy


def test_an_unreadable_file_is_told_with_its_line_and_never_touched(patient: Patient) -> None:
    memory = patient.remember()
    broken = patient.vault / "memories" / "broken.md"
    broken.write_bytes(b"---\nid: mem_broken\ntitle:\n  nested: yes\n---\n")
    conflict = patient.vault / "memories" / f"half.{new_id(THEN)}.md"
    conflict.write_bytes(b"---\nid: x\n---\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n")
    before = {path: path.read_bytes() for path in (broken, conflict)}
    for path in before:
        path.chmod(0o600)
    report = patient.mend()
    assert not report.healthy
    assert {problem.path for problem in report.problems} == {str(broken), str(conflict)}
    assert {problem.line for problem in report.problems} == {3, 4}
    assert not any(problem.fixed for problem in report.problems)
    assert {path: path.read_bytes() for path in before} == before
    assert patient.open().read(memory.id).memory == memory


def test_of_two_files_with_one_id_the_second_gets_its_own(patient: Patient) -> None:
    memory = patient.remember()
    path = patient.file(memory)
    copy = path.with_name(f"z-copy.{memory.id}.md")
    copy.write_bytes(path.read_bytes().replace(b"One paragraph", b"My variant"))
    copy.chmod(0o600)
    assert messages(patient.examine()) == [f"has the same id {memory.id} as {path}"]
    report = patient.mend()
    assert report.healthy
    assert [problem.fixed for problem in report.problems] == [True]
    found = patient.open().list(ALL).items
    assert {each.memory.content.split(".")[0] for each in found} == {"One paragraph", "My variant"}
    assert len({each.memory.id for each in found}) == 2
    assert patient.open().read(memory.id).memory == memory


def test_one_id_in_two_vaults_is_left_to_a_person(patient: Patient) -> None:
    memory = patient.remember()
    patient.remember("agent's own", scope=Scope.AGENT)
    copy = patient.home / "agents" / "default" / "memories" / patient.file(memory).name
    copy.write_bytes(patient.file(memory).read_bytes())
    copy.chmod(0o600)
    before = patient.contents()
    report = patient.mend()
    assert not report.healthy
    assert messages(report) == [f"has the same id {memory.id} as {patient.file(memory)}"]
    assert patient.contents() == before


def test_two_stores_at_once_and_a_repair_keep_both_files(patient: Patient) -> None:
    """traps 2.1 #13: two cached indexes lost an entry, and the repair deleted the good file."""
    one, two = patient.open(), patient.open()
    made = [
        store.create(
            Memory(new_id(THEN), "fact", f"from {name}", "s", "c", THEN, THEN, THEN)
        ).memory.id
        for store, name in ((one, "one"), (two, "two"))
    ]
    before = patient.contents()
    assert patient.mend().healthy
    assert patient.contents() == before
    for store in (one, two, patient.open()):
        assert {each.memory.id for each in store.list(Filter()).items} == set(made)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM memories", "the index is out of step with 2 files"),
        ("UPDATE memories SET etag = 'other' WHERE row = 1", "out of step with 1 file,"),
        ("UPDATE texts SET data = replace(data, 'Use', 'Do not use')", "out of step"),
        ("UPDATE memories SET status = 'forgotten'", "in the wrong place"),
    ],
)
def test_an_index_that_says_something_else_than_the_files_is_rebuilt(
    patient: Patient, statement: str, message: str
) -> None:
    for title in ("Use ruff", "Use mypy"):
        patient.remember(title)
    before = patient.contents()
    _change_index(patient, statement)
    report = patient.examine()
    assert not report.healthy
    assert message in messages(report)[0]
    report = patient.mend()
    assert report.healthy
    assert [problem.fixed for problem in report.problems] == [True]
    assert patient.contents() == before
    assert patient.open().list(Filter()).total == 2
    assert patient.open().search("mypy", Filter(), 5).total == 1


def test_a_repair_brings_lost_search_words_back(patient: Patient) -> None:
    patient.remember()
    _change_index(patient, "DELETE FROM words")
    assert patient.open().search("ruff", Filter(), 5).total == 0
    assert patient.mend().healthy
    assert patient.open().search("ruff", Filter(), 5).total == 1


def test_a_damaged_index_is_reported_and_rebuilt(patient: Patient) -> None:
    memory = patient.remember()
    patient.close()
    index = patient.vault / "index.db"
    index.write_bytes(b"not a database at all, but long enough to be taken for one" * 50)
    report = patient.mend()
    assert report.healthy
    assert [(problem.path, problem.fixed) for problem in report.problems] == [(str(index), True)]
    assert patient.open().read(memory.id).memory == memory


def test_a_damaged_database_that_was_set_aside_is_named_until_it_is_gone(patient: Patient) -> None:
    patient.remember()
    state = patient.home / "state.db"
    state.write_bytes(b"not a database at all, but long enough to be taken for one" * 50)
    state.chmod(0o600)
    assert patient.mend().healthy
    aside = patient.home / "state.db.damaged1"
    report = patient.examine()
    assert [(each.path, each.ill) for each in report.problems] == [(str(aside), False)]
    assert "was damaged and set aside" in messages(report)[0]
    aside.unlink()
    assert patient.examine().problems == ()


def test_a_database_of_a_newer_ltm_is_named_and_left_as_it_is(patient: Patient) -> None:
    patient.remember()
    state = patient.home / "state.db"
    with closing(sqlite3.connect(state)) as db:
        db.execute("PRAGMA user_version = 99")
    state.chmod(0o600)
    for report in (patient.examine(), patient.mend()):
        assert [(each.path, each.fixed) for each in report.problems] == [(str(state), False)]
        assert messages(report) == [
            f"was written by a newer ltm (schema 99, this one knows {SCHEMA.number}), so nothing is"
            " added to it (update ltm)"
        ]
    assert state.exists()


def test_a_database_whose_damage_has_no_readable_name_is_told_too(patient: Patient) -> None:
    """Reliability R10: SQLite quotes the damaged bytes, and they are no text."""
    patient.remember()
    ledger = patient.home / "friction.db"
    with closing(sqlite3.connect(ledger)) as db:
        db.executescript("CREATE TABLE secret (x)")
    data = ledger.read_bytes().replace(b"tablesecretsecret", b"table\xa7ecret\xa7ecret")
    ledger.write_bytes(data.replace(b"TABLE secret (x)", b"TABLE \xa7ecret (("))
    ledger.chmod(0o600)
    report = patient.examine()
    assert [problem.path for problem in report.problems] == [str(ledger)]
    assert "malformed database schema" in messages(report)[0]


def test_a_damaged_usage_database_is_set_aside_and_begun_again(patient: Patient) -> None:
    memory = patient.remember()
    patient.open().used([memory.id])
    patient.close()
    state = patient.home / "state.db"
    data = bytearray(state.read_bytes())
    for page in range(4096, len(data)):
        data[page] = 0xFF
    state.write_bytes(bytes(data))
    report = patient.examine()
    assert [problem.path for problem in report.problems] == [str(state)]
    assert "damaged" in messages(report)[0]
    assert patient.mend().healthy
    assert (patient.home / "state.db.damaged1").read_bytes() == bytes(data)
    patient.open().used([memory.id])
    assert patient.open().usage([memory.id])[memory.id].uses == 1


def test_unfinished_writes_are_told_and_swept_away(patient: Patient) -> None:
    memory = patient.remember()
    patient.open().apply(Reduce(memory.id, Phase.HINT))
    old = datetime.now(UTC).timestamp() - 7200
    spool = patient.home / "spool"
    spool.mkdir(0o700)
    for path in (
        patient.vault / "memories" / ".x.md.0123456789ab.tmp",
        patient.vault / "archives" / ".y.md.0123456789ab.tmp",
        spool / ".event.json.0123456789ab.tmp",
    ):
        path.write_bytes(b"half")
        path.chmod(0o600)
        os.utime(path, (old, old))
    young = spool / ".event.json.fedcba987654.tmp"
    young.write_bytes(b"being written")
    young.chmod(0o600)
    report = patient.mend()
    assert report.healthy
    assert messages(report) == ["is left over from an unfinished write"] * 3
    assert all(problem.fixed for problem in report.problems)
    assert [path.name for path in patient.user.rglob("*.tmp")] == [young.name]


def test_open_doors_under_the_home_folder_are_closed(patient: Patient) -> None:
    memory = patient.remember()
    path = patient.file(memory)
    path.chmod(0o644)
    (patient.vault / "memories").chmod(0o755)
    config = patient.home / "config.toml"
    config.write_text("max_memories = 50\n")
    config.chmod(0o664)
    outside = patient.user / "outside.txt"
    outside.write_text("not ours")
    outside.chmod(0o644)
    (patient.home / "link").symlink_to(outside)
    report = patient.mend()
    assert report.healthy
    told = "can be read or changed by other users of this machine"
    assert {(problem.path, problem.message) for problem in report.problems} == {
        (str(config), told),
        (str(patient.vault / "memories"), f"2 paths here, such as {path.name}, {told}"),
    }
    for each in (path, config):
        assert stat.S_IMODE(each.stat().st_mode) == 0o600
    assert stat.S_IMODE((patient.vault / "memories").stat().st_mode) == 0o700
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


def test_a_shared_vault_that_others_can_write_is_closed_and_stays_readable(
    patient: Patient,
) -> None:
    patient.share()
    path = patient.file(patient.remember())
    path.chmod(0o646)
    report = patient.mend()
    assert report.healthy
    assert messages(report) == ["can be changed by other users of this machine"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_broken_option_is_told_with_its_line(patient: Patient) -> None:
    patient.remember()
    config = patient.home / "config.toml"
    config.write_text("max_memories = 50\nno_such_option = 1\n")
    config.chmod(0o600)
    report = patient.mend()
    assert not report.healthy
    assert [(problem.path, problem.line) for problem in report.problems] == [(str(config), 2)]
    assert "no_such_option" in messages(report)[0]


def test_ids_that_lead_nowhere_are_told_and_cut_off(patient: Patient) -> None:
    other = patient.remember("other").id
    gone = [new_id(THEN) for _ in range(4)]
    memory = patient.remember(
        links=(gone[0], other),
        supersedes=(gone[1],),
        merged_from=(gone[2],),
        previous=gone[3],
    )
    assert messages(patient.examine()) == [
        f"replaces {gone[1]}; was merged from {gone[2]}; links to {gone[0]}; follows {gone[3]},"
        " which is not here"
    ]
    report = patient.mend()
    assert report.healthy
    after = patient.open().read(memory.id).memory
    assert (after.links, after.supersedes, after.merged_from, after.previous) == (
        (other,),
        (),
        (),
        "",
    )
    assert after.text == memory.text


def test_an_id_whose_file_cannot_be_read_is_not_cut_off(patient: Patient) -> None:
    other = patient.remember("other")
    memory = patient.remember(links=(other.id,), previous=other.id)
    path = patient.file(other)
    path.write_bytes(b"---\ntitle: [half\n---\n")
    report = patient.mend()
    assert [problem.path for problem in report.problems] == [str(path)]
    assert patient.open().read(memory.id).memory.links == (other.id,)


def test_an_id_of_which_an_archive_is_kept_is_not_cut_off(patient: Patient) -> None:
    other = patient.remember("other")
    memory = patient.remember(links=(other.id,), previous=other.id)
    patient.open().apply(Reduce(other.id, Phase.HINT))
    patient.file(other).unlink()
    patient.mend()
    assert patient.open().read(memory.id).memory.links == (other.id,)


def test_archives_of_a_file_that_cannot_be_read_are_not_orphans(patient: Patient) -> None:
    memory = patient.remember()
    patient.open().apply(Reduce(memory.id, Phase.HINT))
    path = patient.file(memory)
    path.write_bytes(b"---\nhalf")
    assert [problem.path for problem in patient.examine().problems] == [str(path)]


def test_nothing_is_cut_off_while_a_file_of_unknown_id_cannot_be_read(patient: Patient) -> None:
    gone = new_id(THEN)
    memory = patient.remember(links=(gone,))
    unknown = patient.vault / "memories" / "notes.md"
    unknown.write_bytes(b"")
    unknown.chmod(0o600)
    patient.mend()
    assert patient.open().read(memory.id).memory.links == (gone,)


def test_what_another_branch_or_project_may_have_is_not_cut_off(patient: Patient) -> None:
    agents = patient.remember("agents", scope=Scope.AGENT, links=(new_id(THEN),))
    patient.share()
    memory = patient.remember(links=(new_id(THEN),))
    for report in (patient.examine(), patient.mend()):
        assert report.healthy
        assert messages(report) == [f"links to {memory.links[0]}, which is not here"]
    assert patient.open().read(memory.id).memory == memory
    assert patient.open().read(agents.id).memory == agents


def test_a_memory_replaced_by_nothing_is_told_and_left_to_a_person(patient: Patient) -> None:
    gone = new_id(THEN)
    memory = patient.remember(status=Status.SUPERSEDED, superseded_by=gone)
    report = patient.mend()
    assert not report.healthy
    assert messages(report) == [
        f"was replaced by {gone}, which is not here (bring it back with 'ltm restore {memory.id}')"
    ]
    patient.open().apply(Restore(memory.id))
    assert patient.examine().healthy


def test_a_replacement_cut_short_by_a_crash_is_completed(patient: Patient) -> None:
    older = patient.remember("older")
    newer = _newer(patient, supersedes=(older.id,), previous=older.id)
    patient.open().create(newer)
    assert messages(patient.examine()) == [f"is still active, though {newer.id} replaces it"]
    report = patient.mend()
    assert report.healthy
    after = patient.open().read(older.id).memory
    assert (after.status, after.superseded_by) == (Status.SUPERSEDED, newer.id)
    assert after.text == older.text


def test_a_replaced_memory_that_was_brought_back_stays(patient: Patient) -> None:
    older = patient.remember("older")
    patient.open().apply(Supersede((older.id,), _newer(patient)))
    patient.open().apply(Restore(older.id))
    assert patient.mend().healthy
    assert patient.open().read(older.id).memory.status is Status.ACTIVE


def test_a_half_done_replacement_with_loose_ends_is_mended_in_one_go(patient: Patient) -> None:
    older = patient.remember("older", links=(new_id(THEN),))
    patient.open().create(_newer(patient, supersedes=(older.id,)))
    report = patient.mend()
    assert report.healthy
    assert [problem.fixed for problem in report.problems] == [True, True]


def test_archives_without_their_memory_are_told_and_kept(patient: Patient) -> None:
    memory = patient.remember()
    patient.open().apply(Reduce(memory.id, Phase.HINT))
    patient.file(memory).unlink()
    before = patient.contents()
    report = patient.mend()
    assert report.healthy
    assert messages(report) == [f"is kept of a memory that is not here (1 version of {memory.id})"]
    assert patient.contents() == before


def test_a_damaged_archive_is_told_and_kept(patient: Patient) -> None:
    memory = patient.remember()
    patient.open().apply(Reduce(memory.id, Phase.HINT))
    (archive,) = (patient.vault / "archives").iterdir()
    archive.write_bytes(b"---\nhalf")
    report = patient.mend()
    assert not report.healthy
    assert [problem.path for problem in report.problems] == [str(archive)]
    assert archive.read_bytes() == b"---\nhalf"


def test_a_secret_that_slipped_in_is_told_but_not_repeated_and_left_to_a_person(
    patient: Patient,
) -> None:
    token = "ghp_" + "A1b2" * 9
    memory = patient.remember("Publishing", content=f"The token is {token}.")
    before = patient.contents()
    for report in (patient.examine(), patient.mend()):
        assert not report.healthy
        [problem] = report.problems
        assert problem.path == str(patient.file(memory))
        assert "github-token" in problem.message
        assert f"ltm edit {memory.id}" in problem.message
        assert token not in problem.message
        assert not problem.fixed
    assert patient.contents() == before


def test_a_clone_without_merge_settings_gets_them(patient: Patient) -> None:
    patient.share()
    patient.remember()
    git(patient.repo, "add", ".")
    git(patient.repo, "commit", "-q", "-m", "memories")
    clone = patient.user / "clone"
    git(patient.user, "clone", "-q", str(patient.repo), str(clone))
    patient.repo = clone
    patient.trust()
    report = patient.mend()
    assert report.healthy
    assert messages(report) == [
        "git on this machine does not merge memories with ltm (run 'ltm init')"
    ]
    assert git(clone, "check-attr", "merge", ".claude/ltm/memories/x.md").endswith("merge: ltm\n")
    assert git(clone, "status", "--porcelain") == ""


def test_missing_git_files_come_back(patient: Patient) -> None:
    patient.share()
    patient.remember()
    for name in (".gitignore", ".gitattributes"):
        (patient.vault / name).unlink()
    assert len(patient.examine().problems) == 2
    assert patient.mend().healthy
    assert (patient.vault / ".gitattributes").is_file()


def test_a_shared_vault_that_git_ignores_is_told(patient: Patient) -> None:
    patient.share()
    (patient.repo / ".gitignore").write_text(".claude/\n")
    assert messages(patient.mend()) == [
        "git is told to leave this folder out, so no one else gets these memories"
    ]


def test_a_report_speaks_the_language_of_scripts(patient: Patient) -> None:
    patient.remember(links=("mem_nowhere",))
    record = patient.examine().as_record()
    assert record.keys() == {"healthy", "problems", "audit"}
    assert [problem.keys() for problem in record["problems"]] == [
        {"path", "line", "message", "fixed", "ill"}
    ]


def _newer(patient: Patient, **fields: object) -> Memory:
    at = THEN + timedelta(hours=1)
    values: dict[str, object] = {"created": at, "updated": at, "confirmed": at, **fields}
    return Memory(new_id(at), "fact", "newer", "s", "c", **values)  # type: ignore[arg-type]


def _change_index(patient: Patient, statement: str) -> None:
    """Change what the index holds behind its back, so that no refresh has a reason to look."""
    assert patient.examine().healthy
    db = sqlite3.connect(patient.vault / "index.db")
    with db:
        db.execute(statement)
    db.close()


def test_events_kept_for_another_home_are_a_note_as_long_as_there_is_one(
    patient: Patient, tmp_path: Path
) -> None:
    first, second = tmp_path / "a home", tmp_path / "b home"
    for home in (first, second):
        home.write_text("")  # no folder can be made there, not even by root
    for home in (first, first, second, first / "gone"):
        events.put(str(home), {"event": "Stop", "session": "s"})
    events.put("", {"event": "Stop", "session": "any home takes this one"})
    for report in (patient.examine(), patient.mend()):
        assert report.healthy
        (problem,) = report.problems
        assert problem.path == events.second_places()[0]
        assert problem.message == (
            f"3 events kept here for {first} and 1 other home that could not be written"
            f" (once it can: LTM_HOME='{first}' ltm drain; forgotten after 60 days)"
        )
    first.unlink()
    second.unlink()
    assert patient.examine().problems == ()


def test_an_audit_counts_each_sort_and_names_its_members(world: World) -> None:
    world.session()
    text = "Deploys go through the staging cluster before production"
    first = world.remember("deploy", summary=text, content="")
    again = world.remember(
        "deploying", summary=f"Note: {text}!", content="", created=world.now + timedelta(hours=1)
    )
    junk = world.remember("ok", summary="ok", content="")
    stale = world.remember("writing the parser", kind="progress")
    world.store.seen([each.id for each in (first, again, junk, stale)])
    world.sessions(UNUSED_DAYS)
    world.store.used([first.id, stale.id])
    found = audit(world.store, world.now)
    assert found == {
        "memories": 4,
        "junk": {"count": 1, "rate": 0.25, "ids": [junk.id]},
        "duplicate": {"count": 1, "rate": 0.25, "ids": [again.id]},
        "stale": {"count": 1, "rate": 0.25, "ids": [stale.id]},
        "unused": {"count": 2, "rate": 0.5, "ids": found["unused"]["ids"]},
        "secret": {"count": 0, "rate": 0.0, "ids": []},
    }
    assert set(found["unused"]["ids"]) == {again.id, junk.id}


def test_an_audit_of_nothing_has_no_rates_to_divide(world: World) -> None:
    assert audit(world.store, world.now)["junk"] == {"count": 0, "rate": 0.0, "ids": []}


def test_what_is_out_of_the_active_set_is_not_audited(world: World) -> None:
    for phase in (None, Phase.ARCHIVED):
        memory = world.remember("ok", summary="ok", content="")
        world.store.apply(Forget(memory.id) if phase is None else Reduce(memory.id, phase))
    assert audit(world.store, world.now)["memories"] == 0


def test_a_memory_shortened_by_upkeep_is_still_known_for_as_long(world: World) -> None:
    memory = world.remember()
    world.store.seen([memory.id])
    world.sessions(UNUSED_DAYS)
    world.store.apply(Reduce(memory.id, Phase.HINT))
    assert audit(world.store, world.now)["unused"]["ids"] == [memory.id]


def test_a_memory_with_a_secret_in_it_is_counted(world: World) -> None:
    world.remember("How to log in", content="Ask the vault; <private> is for what stays here.")
    exposed = world.remember("Log in", content="password: " + "Tr0ub4dor" + "-and-3")
    named = world.remember("Tagged", tags=("ghp_" + "A1b2" * 9,))
    assert set(audit(world.store, world.now)["secret"]["ids"]) == {exposed.id, named.id}


def test_an_audit_is_not_a_use(world: World) -> None:
    memory = world.remember()
    audit(world.store, world.now)
    assert world.store.usage([memory.id]) == {}


words = st.sampled_from([f"word{n}" for n in range(14)])


@given(st.lists(st.frozensets(words, max_size=12), max_size=14), st.floats(0.05, 1.0))
def test_every_pair_that_overlaps_enough_is_found_and_no_other(
    sets: list[frozenset[str]], least: float
) -> None:
    expected = {
        (one, other)
        for one, other in combinations(range(len(sets)), 2)
        if jaccard(sets[one], sets[other]) >= least
    }
    found = list(pairs(sets, least))
    assert len(found) == len(set(found))
    assert set(found) == expected

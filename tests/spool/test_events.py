"""Events wait in files: none is lost, none is another's, none grows without end."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.errors import StorageFailed
from ltm.files.atomic import read_plain
from ltm.spool import events
from ltm.spool.events import Finished, in_order
from ltm.worker.steps import from_record

STOP: dict[str, object] = {"event": "Stop", "session": "s1", "cwd": "/p"}


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "home")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A place for temporary files that no other test sees."""
    (tmp_path / "tmp").mkdir()
    return {"TMPDIR": str(tmp_path / "tmp")}


def records(home: str, environ: dict[str, str]) -> list[dict[str, object]]:
    return [events.load(path) for _, path in events.waiting(home, environ)]


def _all(home: str, environ: dict[str, str]) -> list[tuple[str, object]]:
    return [(each.key, each.record) for each in in_order(home, environ)]


def unwritable(home: str) -> None:
    """A file where the home should be: also root cannot make a folder in it."""
    Path(home).write_text("")


def test_an_event_comes_back_as_it_was_put(home: str, environ: dict[str, str]) -> None:
    key = events.put(home, {**STOP, "ok": True}, environ)
    assert [each for each, _ in events.waiting(home, environ)] == [key]
    assert records(home, environ) == [{**STOP, "ok": True}]


def test_an_event_put_twice_under_its_key_is_one(home: str, environ: dict[str, str]) -> None:
    key = events.put(home, STOP, environ)
    assert events.put(home, STOP, environ, key=key) == key
    assert records(home, environ) == [STOP]


def test_a_path_of_any_bytes_may_stand_in_an_event_as_it_is(
    home: str, environ: dict[str, str]
) -> None:
    events.put(home, STOP, environ)
    ((_, path),) = events.waiting(home, environ)
    Path(path).write_bytes(
        '{"event":"Stop","session":"s1","cwd":"/tmp/jürgen/'.encode() + b'\xff"}'
    )
    (record,) = records(home, environ)
    assert os.fsencode(str(record["cwd"])) == "/tmp/jürgen/".encode() + b"\xff"


def test_events_come_back_in_the_order_they_were_put(home: str, environ: dict[str, str]) -> None:
    keys = [events.put(home, {**STOP, "session": f"s{n}"}, environ) for n in range(20)]
    assert [key for key, _ in events.waiting(home, environ)] == keys


def test_files_and_folder_are_the_users_alone(home: str, environ: dict[str, str]) -> None:
    events.put(home, STOP, environ)
    (_, path), *_ = events.waiting(home, environ)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode) == 0o700


def test_a_removed_event_waits_no_longer(home: str, environ: dict[str, str]) -> None:
    events.put(home, STOP, environ)
    (_, path), *_ = events.waiting(home, environ)
    events.remove([path])
    assert events.waiting(home, environ) == []


def test_a_home_that_cannot_be_written_loses_nothing(home: str, environ: dict[str, str]) -> None:
    unwritable(home)
    key = events.put(home, STOP, environ)
    os.unlink(home)
    assert [each for each, _ in events.waiting(home, environ)] == [key]
    assert records(home, environ) == [{**STOP, "home": home}]


def test_another_homes_events_are_left_alone(home: str, environ: dict[str, str]) -> None:
    unwritable(home)
    events.put(home, STOP, environ)
    assert events.waiting(home + "-other", environ) == []


def test_what_waits_for_other_homes_is_told_without_fetching_it(
    home: str, environ: dict[str, str]
) -> None:
    unwritable(home)
    events.put(home, STOP, environ)
    events.put("", STOP, environ)
    ((path, whose),) = events.for_others(home + "-other", environ)
    assert (events.load(path)["home"], whose) == (home, home)
    assert events.for_others(home, environ) == []


def test_events_of_another_home_are_read_once_and_known_from_then_on(
    home: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server looks every few seconds, and thousands may wait for a home that is gone."""
    unwritable(home)
    events.put(home, STOP, environ)
    read: list[str] = []
    load = events.load

    def noting(path: str) -> dict[str, object]:
        read.append(path)
        return load(path)

    monkeypatch.setattr(events, "load", noting)
    for _ in range(3):
        assert not events.is_waiting(home + "-other", environ)
    assert len(read) == 1
    events.put(home, STOP, environ)
    assert len(events.for_others(home + "-other", environ)) == 2
    assert len(read) == 2
    os.unlink(read[0])
    assert len(events.for_others(home + "-other", environ)) == 1


def test_an_event_without_a_home_is_fetched_by_any(home: str, environ: dict[str, str]) -> None:
    events.put("", STOP, environ)
    assert len(events.waiting(home, environ)) == 1


def test_the_runtime_folder_comes_before_the_temporary_one(
    home: str, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()
    events.put("", STOP, {**environ, "XDG_RUNTIME_DIR": str(tmp_path / "run")})
    assert os.listdir(tmp_path / "run") == [f"ltm-spool-{os.getuid()}"]
    assert os.listdir(tmp_path / "tmp") == []


@pytest.mark.parametrize("planted", ["link", "open", "file"])
def test_a_planted_second_place_is_not_used(
    home: str, environ: dict[str, str], tmp_path: Path, planted: str
) -> None:
    place = Path(events.second_places(environ)[0])
    target = tmp_path / "elsewhere"
    target.mkdir(mode=0o700)
    if planted == "link":
        place.symlink_to(target)
    elif planted == "open":
        place.mkdir()
        place.chmod(0o777)
        (place / "0-0-0.Stop.json").write_text('{"event":"Stop","session":"forged"}')
    else:
        place.write_text("")
    with pytest.raises(StorageFailed):
        events.put("", STOP, environ)
    assert events.waiting(home, environ) == []
    assert list(target.iterdir()) == []


def test_a_full_spool_takes_no_more_and_uses_the_second_place(
    home: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST", 3)
    for _ in range(6):
        events.put(home, STOP, environ)
    assert len(os.listdir(os.path.join(home, "spool"))) == 3
    assert len(events.waiting(home, environ)) == 6
    with pytest.raises(StorageFailed):
        events.put(home, STOP, environ)


def test_several_events_are_kept_together_each_under_its_key(
    home: str, environ: dict[str, str]
) -> None:
    keys = [events.new_key() for _ in range(5)]
    for _ in range(2):
        events.put_all(home, [(key, {**STOP, "session": key}) for key in reversed(keys)])
    ((first, path),) = events.waiting(home, environ)
    assert first == keys[0]
    assert events.events(first, path) == [(key, {**STOP, "session": key}) for key in keys]
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_one_event_that_no_one_came_with_is_kept_as_a_hook_keeps_it(
    home: str, environ: dict[str, str]
) -> None:
    events.put_all(home, [("1-1-1", STOP)])
    ((_, path),) = events.waiting(home, environ)
    assert os.path.basename(path) == "1-1-1.Stop.json"
    assert events.load(path) == STOP
    assert events.events("1-1-1", path) == [("1-1-1", STOP)]
    events.put_all(f"{home}-other", [])
    assert events.waiting(f"{home}-other", environ) == []


def test_events_with_the_longest_of_paths_can_all_be_read_again(
    home: str, environ: dict[str, str]
) -> None:
    """A byte that is no valid UTF-8 takes six on the disk."""
    paths = dict.fromkeys(("cwd", "transcript", "agent_transcript"), "/\udcff" * 2_048)
    told = [(events.new_key(), {**STOP, **paths}) for _ in range(7)]
    events.put_all(home, told)
    assert _all(home, environ) == told


@given(
    st.dictionaries(
        st.text("0123456789-", min_size=1, max_size=12).filter(lambda key: key.strip("-")),
        st.dictionaries(
            st.sampled_from(["session", "cwd", "tool", "ok"]),
            st.text(st.characters(exclude_categories=[])) | st.booleans(),
        ).map(lambda fields: {**STOP, **fields}),
        max_size=40,
    ),
    st.integers(1, 4_000),
)
def test_whatever_is_kept_together_is_read_as_it_was_said(
    tmp_path_factory: pytest.TempPathFactory, told: dict[str, dict[str, object]], bytes_: int
) -> None:
    top = tmp_path_factory.mktemp("spool")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(events, "_TOGETHER", bytes_)
        events.put_all(str(top / "home"), told.items())
    assert _all(str(top / "home"), {"TMPDIR": str(top)}) == sorted(told.items())


def test_several_events_for_which_there_is_no_room_are_refused(
    home: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "MOST", 1)
    events.put(home, STOP, environ)
    with pytest.raises(StorageFailed):
        events.put_all(home, [(events.new_key(), STOP) for _ in range(3)])
    assert len(events.waiting(home, environ)) == 1
    unwritable(f"{home}-other")
    with pytest.raises(StorageFailed):
        events.put_all(f"{home}-other", [(events.new_key(), STOP)])


def test_events_of_several_files_come_in_the_order_of_their_keys(
    home: str, environ: dict[str, str]
) -> None:
    events.put_all(home, [("1-1-1", STOP), ("5-1-1", STOP), ("3-1-1", STOP)])
    events.put(home, STOP, environ, key="4-1-1")
    events.put_all(home, [("2-1-1", STOP), ("6-1-1", STOP)])
    events.put(home, STOP, environ, key="3-1-1")
    found = list(in_order(home, environ))
    assert [each.key[0] for each in found] == ["1", "2", "3", "3", "4", "5", "6"]
    assert [each.of for each in found] == [3, 2, 3, 1, 1, 3, 2]


def test_a_file_is_finished_with_its_last_event(home: str, environ: dict[str, str]) -> None:
    events.put_all(home, [("1-1-1", STOP), ("3-1-1", STOP)])
    events.put(home, STOP, environ, key="2-1-1")
    finished = Finished()
    seen = []
    for each in in_order(home, environ):
        finished.add(each)
        seen.append([os.path.basename(path)[0] for path in finished.paths])
    assert seen == [[], ["2"], ["2", "1"]]
    assert sorted(finished.keys) == ["1-1-1", "2-1-1", "3-1-1"]


def test_a_file_the_disk_does_not_give_out_is_named_and_no_other_waits_for_it(
    home: str, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    events.put_all(home, [("1-1-1", STOP), ("3-1-1", STOP)])
    events.put(home, STOP, environ, key="2-1-1")

    def refuse(path: str, *, limit: int, follow: bool) -> bytes:
        if "1-1-1" in path:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return read_plain(path, limit=limit, follow=follow)

    monkeypatch.setattr(events, "read_plain", refuse)
    bad, good = in_order(home, environ)
    assert "1-1-1.events.json" in str(bad.trouble)
    assert (good.key, good.trouble, good.record) == ("2-1-1", None, STOP)


@pytest.mark.parametrize(
    "content", ["{}", '{"events":{}}', '{"events":{"1":2}}', '{"events":[1]}', '{"events":{"1-']
)
def test_a_damaged_file_of_several_is_one_event_that_says_nothing(home: str, content: str) -> None:
    path = Path(home, "spool", "1-1-1.events.json")
    path.parent.mkdir(parents=True)
    path.write_text(content)
    ((key, record),) = events.events("1-1-1", str(path))
    assert key == "1-1-1"
    assert from_record(key, record) is None


@pytest.mark.parametrize("content", [b"", b"nonsense", b"[1]", b"\xff\xfe", b"{" * 100])
def test_a_damaged_file_is_an_empty_event(home: str, content: bytes) -> None:
    path = Path(home, "spool", "1-1-1.Stop.json")
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert events.load(str(path)) == {}


def test_a_link_in_the_spool_is_not_followed(home: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"event":"Stop"}')
    path = Path(home, "spool", "1-1-1.Stop.json")
    path.parent.mkdir(parents=True)
    path.symlink_to(secret)
    assert events.load(str(path)) == {}


def test_events_are_counted_by_name_without_opening_them(
    home: str, environ: dict[str, str]
) -> None:
    for event in ("PostToolUse", "PostToolUse", "Stop"):
        events.put(home, {**STOP, "event": event}, environ)
    assert events.count(home, "PostToolUse") == 2


def test_only_old_unfinished_writes_are_swept(home: str, environ: dict[str, str]) -> None:
    events.put(home, STOP, environ)
    folder = Path(home, "spool")
    for name, age in ((".old.tmp", 7200), (".new.tmp", 0)):
        (folder / name).write_text("half")
        os.utime(folder / name, (os.stat(folder).st_mtime - age,) * 2)
    events.sweep(home)
    assert sorted(name for name in os.listdir(folder) if name.startswith(".")) == [".new.tmp"]
    assert len(events.waiting(home, environ)) == 1


def test_what_waited_sixty_days_for_another_home_is_forgotten(
    home: str, environ: dict[str, str]
) -> None:
    other = home + "-other"
    for each in (home, other):
        unwritable(each)
        for days in (59, 61):
            key = events.put(each, {**STOP, "session": f"{each} {days}"}, environ)
            (place,) = events.second_places(environ)
            path = Path(place, f"{key}.Stop.json")
            os.utime(path, (path.stat().st_mtime - days * 86_400,) * 2)
    half = Path(place, ".half.tmp")
    half.write_text("")
    os.utime(half, (0, 0))
    events.sweep(home, environ)
    # Its own is for a drain to do, however late.
    kept = [*records(home, environ), *records(other, environ)]
    assert [each["session"] for each in kept] == [f"{home} 59", f"{home} 61", f"{other} 59"]
    assert not half.exists()


def test_sweeping_leaves_alone_a_second_place_that_is_not_ours(
    home: str, environ: dict[str, str]
) -> None:
    place = Path(events.second_places(environ)[0])
    place.mkdir()
    place.chmod(0o777)
    for name in (".x.tmp", "0-0-0.Stop.json"):
        (place / name).write_text('{"home":"/elsewhere"}')
        os.utime(place / name, (0, 0))
    events.sweep(home, environ)
    assert len(list(place.iterdir())) == 2


def test_twenty_processes_at_once_lose_nothing(home: str, environ: dict[str, str]) -> None:
    code = (
        "import sys; from ltm.spool import events\n"
        "for n in range(10): events.put(sys.argv[1], {'event': 'Stop', 'session': sys.argv[2]})"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, home, str(n)], env={**os.environ, **environ})
        for n in range(20)
    ]
    assert [each.wait() for each in running] == [0] * 20
    assert len(records(home, environ)) == 200
    assert {record["session"] for record in records(home, environ)} == {str(n) for n in range(20)}


def test_an_event_that_another_removed_is_removed(home: str, environ: dict[str, str]) -> None:
    events.put(home, STOP, environ)
    events.put(home, STOP, environ)
    assert events.is_waiting(home, environ)
    paths = [path for _, path in events.waiting(home, environ)]
    os.unlink(paths[0])
    events.remove(paths)
    assert not events.is_waiting(home, environ)
    with pytest.raises(StorageFailed, match="could not delete the file"):
        events.remove([home])


def test_sweeping_stops_at_nothing(home: str, environ: dict[str, str]) -> None:
    events.sweep(home)
    events.put(home, STOP, environ)
    folder = Path(home, events.FOLDER)
    (folder / ".x.tmp").mkdir()
    (folder / ".y.tmp").symlink_to("nowhere")
    (folder / ".z.tmp").write_text("half")
    for name in (".x.tmp", ".z.tmp"):
        os.utime(folder / name, (0, 0))
    events.sweep(home)
    assert sorted(each.name for each in folder.iterdir() if each.suffix == ".tmp") == [
        ".x.tmp",
        ".y.tmp",
    ]
    assert events.is_waiting(home, environ)

"""Disks that are really full, really read-only, really limited (reliability R5).

What was kept is there byte for byte, asking goes on, a refusal names its cause, and everything
works again when there is room, without any repair.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ltm.errors import LtmError
from ltm.hook import main
from ltm.kinds import Kinds
from ltm.spool import events as spool
from ltm.vault import codec, frontmatter
from tests.faults.person import LTM, Person
from tests.figures import count

Mount = Callable[..., Path]


@pytest.fixture
def mount(tmp_path: Path) -> Iterator[Mount]:
    """A function that mounts something on a folder and returns the folder."""
    mounted: list[Path] = []

    def make(*words: str, on: str = "disk") -> Path:
        folder = tmp_path / on
        folder.mkdir(exist_ok=True)
        if os.geteuid() != 0:
            pytest.skip("only root can mount a disk")
        done = subprocess.run(["mount", *words, str(folder)], capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")
        mounted.append(folder)
        return folder

    yield make
    for folder in reversed(mounted):
        # A drain that a hook started may still have it open; the disk goes with the last of them.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def person_on(disk: Path, tmp_path: Path) -> tuple[Person, str]:
    """Somebody whose home is on a disk, and the id of a memory that is kept there."""
    project = tmp_path / "project"
    project.mkdir(exist_ok=True)
    person = Person(disk / "home", project)
    kept = person.value("remember", "The gateway drops one request in a hundred")
    person.value("edit", kept["id"], "--content", "The gateway drops two requests in a hundred")
    return person, kept["id"]


def fill(disk: Path) -> list[Path]:
    """Write until not one byte more fits."""
    path = disk / "filler"
    with path.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return [path]


def fill_inodes(disk: Path) -> list[Path]:
    """Make files until there is no room for another name."""
    made: list[Path] = []
    try:
        while True:
            path = disk / f"filler-{len(made)}"
            path.touch()
            made.append(path)
    except OSError:
        return made


def partial(disk: Path) -> list[Path]:
    """Memories that are empty or cannot be read whole."""
    found = []
    for path in disk.rglob("*.md"):
        try:
            codec.decode(frontmatter.parse(path.read_bytes(), str(path)), str(path), Kinds())
        except LtmError:
            found.append(path)
    return found


def lost(person: Person, before: dict[str, bytes]) -> int:
    """How many files of before are not as they were."""
    after = person.files()
    return sum(after.get(name) != data for name, data in before.items())


def hooks_end_well(person: Person) -> int:
    """Every event of a session, each with exit code 0 and nothing or valid JSON; how many."""
    events = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
    for event in events:
        told = {
            "hook_event_name": event,
            "session_id": "s1",
            "cwd": str(person.project),
            "prompt": "What does the gateway drop?",
            "transcript_path": str(person.project / "s1.jsonl"),
        }
        done = subprocess.run(
            [f"{LTM}-hook"],
            input=json.dumps(told),
            env=person.environ,
            cwd=person.project,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), (event, done)
        assert not done.stdout or json.loads(done.stdout)
    return len(events)


def asking_works(person: Person, memory: str) -> None:
    """Recall, list and show give the right answers."""
    (hit,) = person.value("recall", "gateway requests")["hits"]
    assert hit["id"] == memory
    assert "two requests" in hit["text"]
    assert person.value("list")["total"] == 1
    shown = person.value("show", memory)
    assert shown["content"] == "The gateway drops two requests in a hundred"
    assert [each["version"] for each in shown["versions"]] == [1]


def ext4(tmp_path: Path, *options: str) -> list[str]:
    """What mounts a small file system of a file."""
    image = tmp_path / "disk.img"
    with image.open("wb") as file:
        file.truncate(4 * 2**20)
    made = ["mkfs.ext4", "-q", "-O", "^has_journal", *options, str(image)]
    subprocess.run(made, check=True, env={"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"})
    return ["-o", "loop", str(image)]


DISKS: dict[str, tuple[Callable[[Path], list[str]], Callable[[Path], list[Path]]]] = {
    "tmpfs, no room for a byte": (lambda _: ["-t", "tmpfs", "-o", "size=1m", "tmpfs"], fill),
    "tmpfs, no room for a file": (
        lambda _: ["-t", "tmpfs", "-o", "size=4m,nr_inodes=40", "tmpfs"],
        fill_inodes,
    ),
    "ext4, no room for a byte": (ext4, fill),
    "ext4, no room for a file": (lambda top: ext4(top, "-N", "64"), fill_inodes),
}


@pytest.mark.parametrize("kind", DISKS)
@pytest.mark.parametrize("index", ["there", "gone"])
def test_a_full_disk_loses_nothing_and_works_again_with_room(
    mount: Mount,
    tmp_path: Path,
    kind: str,
    index: str,
) -> None:
    mounted, use_up = DISKS[kind]
    disk = mount(*mounted(tmp_path))
    person, memory = person_on(disk, tmp_path)
    if index == "gone":
        for path in person.home.rglob("index.db*"):
            path.unlink()
    filler = use_up(disk)
    before = person.files()
    for words in (
        ("remember", "Uploads above ten megabytes are refused by the proxy"),
        ("edit", memory, "--content", "Something else altogether " * 20),
        ("forget", memory),
        ("init", "--project", str(disk)),
    ):
        said = person.refused(*words)
        assert "the disk is full" in said
        assert str(disk) in said
    hooks = hooks_end_well(person)
    asking_works(person, memory)
    assert person.files() == before
    assert list(disk.rglob("*.tmp")) == []
    assert partial(disk) == []

    for path in filler:
        path.unlink()
    kept = person.value("remember", "Uploads above ten megabytes are refused by the proxy")
    assert person.value("show", kept["id"])["title"]
    assert person.value("list")["total"] == 2
    assert person.value("doctor")["healthy"]
    person.value("drain")
    assert person.value("status")["sessions"] == 1, "the session's events were kept all the same"
    count(
        "R5", disks=1, refused=4, hooks=hooks, partial=len(partial(disk)), lost=lost(person, before)
    )


def test_a_disk_that_becomes_read_only_can_still_be_asked(mount: Mount, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    person, memory = person_on(disk, tmp_path)
    before = person.files()
    mount("--bind", str(disk))
    subprocess.run(["mount", "-o", "remount,ro,bind", str(disk)], check=True)
    for words in (
        ("remember", "Uploads above ten megabytes are refused by the proxy"),
        ("edit", memory, "--content", "Something else"),
        ("forget", memory, "--purge", "--yes"),
    ):
        said = person.refused(*words)
        assert "the disk is read-only" in said
        assert str(disk) in said
    asking_works(person, memory)
    hooks = hooks_end_well(person)
    subprocess.run(["mount", "-o", "remount,rw,bind", str(disk)], check=True)
    assert person.files() == before
    asking_works(person, memory)
    person.value("remember", "Uploads above ten megabytes are refused by the proxy")
    assert person.value("list")["total"] == 2
    count(
        "R5", disks=1, refused=3, hooks=hooks, partial=len(partial(disk)), lost=lost(person, before)
    )


def test_a_read_only_disk_without_an_index_can_still_be_asked(mount: Mount, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    person, memory = person_on(disk, tmp_path)
    for path in (*person.home.rglob("index.db*"), *person.home.rglob(".lock")):
        path.unlink()
    mount("--bind", str(disk))
    subprocess.run(["mount", "-o", "remount,ro,bind", str(disk)], check=True)
    asking_works(person, memory)


def test_a_shared_vault_on_a_read_only_disk_can_still_be_asked(
    mount: Mount, tmp_path: Path
) -> None:
    """Traps 2.3: a checkout that cannot be written is a normal thing in a container."""
    project = tmp_path / "disk"
    project.mkdir()
    person = Person(tmp_path / "home", project)
    person.value("init")
    memory = person.value("remember", "The gateway drops one request in a hundred")["id"]
    person.value("edit", memory, "--content", "The gateway drops two requests in a hundred")
    mount("--bind", str(project))
    subprocess.run(["mount", "-o", "remount,ro,bind", str(project)], check=True)
    asking_works(person, memory)
    assert "the disk is read-only" in person.refused("remember", "Builds run on two cores")


def test_a_limit_on_file_sizes_is_told_and_breaks_nothing(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    person, memory = person_on(disk, tmp_path)
    before = person.files()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    long = "Uploads above ten megabytes are refused by the proxy. " * 400
    for words in (("remember", long), ("edit", memory, "--content", long)):
        said = person.refused(*words, preexec_fn=limit)
        assert "the file size limit is reached" in said
        assert "ulimit -f" in said
    # A version may have been kept in advance, for a change that then did not happen.
    assert before.items() <= person.files().items()
    (hit,) = person.value("recall", "gateway requests", preexec_fn=limit)["hits"]
    assert hit["id"] == memory
    short = person.value("remember", "Builds run on two cores only", preexec_fn=limit)
    person.value("remember", long)
    assert person.value("list")["total"] == 3
    assert person.value("show", short["id"])["content"] == "Builds run on two cores only"


@pytest.fixture(params=["missing", "a file", "read-only", "full"])
def unusable(request: pytest.FixtureRequest, tmp_path: Path, mount: Mount) -> Path:
    """A folder for temporary files that is of no use."""
    if request.param == "missing":
        return tmp_path / "missing"
    if request.param == "a file":
        (tmp_path / "file").write_text("")
        return tmp_path / "file"
    folder = mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", on="temporary")
    if request.param == "full":
        with (folder / "filler").open("wb", buffering=0) as file:
            file.write(b"x" * 56 * 1024)  # a little fits: to find it usable proves nothing
    else:
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    return folder


def test_a_folder_for_temporary_files_that_is_of_no_use_is_not_used(
    unusable: Path, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    env = {"TMPDIR": str(unusable), "EDITOR": "sed -i s/blue/green/"}
    person = Person(tmp_path / "home", project, env)
    made = person.value("remember", "The gateway is painted blue")
    person.run("edit", made["id"])
    assert "green" in person.value("show", made["id"])["content"]
    lines = [
        {"type": "user", "uuid": f"u{n}", "sessionId": "big", "cwd": str(project)}
        | {"timestamp": "2026-11-15T10:00:00Z"}
        | {"message": {"role": "user", "content": f"Please remember that rack {n} has a lamp."}}
        | {"padding": "x" * 1000}
        for n in range(200)
    ]
    packed = tmp_path / "big.jsonl.gz"
    packed.write_bytes(gzip.compress("".join(json.dumps(each) + "\n" for each in lines).encode()))
    person.value("capture", str(packed))
    assert "rack 7" in json.dumps(person.value("recall", "rack 7 lamp")).lower()
    person.value("demo")
    assert [path.name for path in project.iterdir() if path.name != ".claude"] == []
    count("R26", useless_tmpdirs=1)


@pytest.mark.parametrize("script", ["python", "sh"])
def test_an_event_that_home_cannot_take_is_kept_though_tmpdir_cannot_either(
    unusable: Path, tmp_path: Path, script: str
) -> None:
    home = tmp_path / "home"
    home.write_text("in the way")
    environ = {
        "PATH": os.environ["PATH"],
        "LTM_HOME": str(home),
        "TMPDIR": str(unusable),
        "TEMP": str(tmp_path),
    }
    if unusable.is_mount() and os.access(unusable, os.W_OK):
        fill(unusable)
    told = {"hook_event_name": "Stop", "session_id": "s1", "cwd": str(tmp_path)}
    sh = ["sh", str(Path(main.__file__).parents[1] / "http" / "ltm-hook.sh"), "Stop"]
    done = subprocess.run(
        [f"{LTM}-hook"] if script == "python" else sh,
        input=json.dumps(told),
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    home.unlink()
    assert [spool.load(path)["session"] for _, path in spool.waiting(str(home), environ)] == ["s1"]
    later = {**environ, "TMPDIR": str(tmp_path / "project")}  # all is well again
    assert len(spool.waiting(str(home), later)) == 1
    count("R26", useless_tmpdirs=1)

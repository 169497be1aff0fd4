"""From a wish to a memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ltm.capture.remember import RememberRequest, remember
from ltm.errors import LtmError, NotFound, Refused, WrongUsage
from ltm.model import Filter, Impact, Scope, Status
from ltm.store.file_store import FileStore
from ltm.store.revision import MAX_TEXT
from tests.stores import file_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FileStore]:
    opened = file_store(tmp_path)
    yield opened
    opened.close()


def test_what_was_not_said_is_inferred_and_told(store: FileStore) -> None:
    done = remember(store, RememberRequest("Never store tokens in the Docker image"))
    memory = done.applied.stored.memory
    assert memory.impact in (Impact.HIGH, Impact.CRITICAL)
    assert memory.scope is Scope.PROJECT
    assert "docker" in memory.tags
    assert any(each.startswith(f"impact={memory.impact.value}") for each in done.inferred)


def test_what_was_said_stands_and_is_not_told(store: FileStore) -> None:
    done = remember(
        store,
        RememberRequest("Never mind", kind="pattern", impact="low", scope="project", tags=("a",)),
    )
    memory = done.applied.stored.memory
    assert (memory.kind, memory.impact, memory.tags) == ("pattern", Impact.LOW, ("a",))
    assert done.inferred == ()


def test_the_text_is_kept_as_typed_and_the_title_is_one_line(store: FileStore) -> None:
    text = "First line: with\ttabs\n\n```py\nx = 1\n```\n  indented"
    memory = remember(store, RememberRequest(text)).applied.stored.memory
    assert memory.content == text
    assert "\n" not in memory.title
    titled = remember(
        store, RememberRequest("other text here", title="two\nlines")
    ).applied.stored.memory
    assert titled.title == "two lines"


def test_an_issue_is_open_until_said_otherwise(store: FileStore) -> None:
    assert remember(
        store, RememberRequest("flaky login test", kind="issue")
    ).applied.stored.memory.state == ("open")


def test_the_memory_named_is_replaced(store: FileStore) -> None:
    old = remember(store, RememberRequest("The queue is RabbitMQ")).applied.stored.memory
    done = remember(store, RememberRequest("Kafka now", replaces=old.id))
    assert done.applied.superseded == (old.id,)
    assert store.read(old.id).memory.status is Status.SUPERSEDED
    with pytest.raises(NotFound):
        remember(store, RememberRequest("x y z", replaces="mem_unknown"))
    assert store.list(Filter()).total == 1


def test_a_memory_pulled_by_hand_is_compared_too(store: FileStore, tmp_path: Path) -> None:
    first = remember(store, RememberRequest("Builds run on Debian twelve only")).applied.stored
    other = file_store(tmp_path)
    again = remember(other, RememberRequest("Builds run on Debian twelve only"))
    assert again.applied.action == "reinforced"
    assert again.applied.stored.memory.id == first.memory.id
    assert again.applied.stored.memory.observations == 2
    other.close()


TOKEN = "ghp_" + "A1b2" * 9


def test_no_secret_of_a_wish_reaches_a_file(store: FileStore, tmp_path: Path) -> None:
    """traps 2.4 #11, 2.5 #7: what was said is redacted before anything is written."""
    password = "Tr0ub4dor" + "and3"
    done = remember(
        store,
        RememberRequest(
            f"Deploys log in as ci with password: {password}\n<private>my own salary</private>",
            title=f"Deploy with {TOKEN}",
            reason=f"because https://ci:{password}@host.org said so",
            tags=("deploy", TOKEN),
        ),
    )
    memory = done.applied.stored.memory
    assert done.redacted == ("private", "password", "github-token")
    assert memory.title == "Deploy with [redacted:github-token]"
    assert memory.content.startswith("Deploys log in as ci with password: [redacted:password]\n")
    assert memory.tags == ("deploy", "[redacted:github-token]")
    assert memory.reason == "because https://ci:[redacted:password]@host.org said so"
    written = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    for secret in (TOKEN, password, "salary"):
        assert not [data for data in written if secret.encode() in data]


def test_what_was_put_in_for_a_secret_says_nothing_about_the_memory(store: FileStore) -> None:
    plain = remember(store, RememberRequest("The build runs on Debian")).applied.stored.memory
    marked = remember(
        store, RememberRequest(f"The image starts from Ubuntu {TOKEN}")
    ).applied.stored.memory
    assert (marked.kind, marked.impact, marked.tags) == (plain.kind, plain.impact, ("linux",))


@pytest.mark.parametrize("text", [TOKEN, "<private>nothing else</private>", f" {TOKEN}\n"])
def test_a_wish_that_is_only_a_secret_is_refused_and_leaves_nothing(
    store: FileStore, text: str
) -> None:
    with pytest.raises(Refused) as refused:
        remember(store, RememberRequest(text))
    assert TOKEN not in str(refused.value)
    assert store.list(Filter()).total == 0


def test_a_wish_without_secrets_lost_none(store: FileStore) -> None:
    assert (
        remember(store, RememberRequest("commit 0123456789abcdef0123456789abcdef01234567")).redacted
        == ()
    )


@pytest.mark.parametrize(
    ("wish", "error"),
    [
        (RememberRequest(""), WrongUsage),
        (RememberRequest(" \n "), WrongUsage),
        (RememberRequest("x" * (MAX_TEXT + 1)), Refused),
        (RememberRequest("x", difficulty=1.5), WrongUsage),
        (RememberRequest("x", kind="nope"), WrongUsage),
        (RememberRequest("x", scope="world"), WrongUsage),
        (RememberRequest("nul \0 byte"), Refused),
    ],
)
def test_a_wish_that_cannot_be_kept_is_refused_and_leaves_nothing(
    store: FileStore, wish: RememberRequest, error: type[LtmError]
) -> None:
    with pytest.raises(error):
        remember(store, wish)
    assert store.list(Filter()).total == 0

"""Signing what a merge made of two signed versions, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ltm.kinds import Kinds
from ltm.model import Memory, Phase
from ltm.vault import codec, frontmatter, signing
from ltm.vault.merge import main, resigned
from ltm.vault.signing import Key, SignatureState
from tests.stores import make

TEXT = "We retry three times.\n\nThe gateway drops 1 %."


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LTM_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def key(home: Path) -> Key:
    return signing.make(str(home))


def read(data: bytes) -> Memory:
    return codec.decode(frontmatter.parse(data, "x"), "x", Kinds())


def signed(key: Key, memory: Memory) -> bytes:
    return codec.to_bytes(key.signed(memory, memory))


def test_what_both_sides_signed_is_signed_anew(key: Key) -> None:
    base = make("Retries back off", TEXT)
    sides = signed(key, base._replace(tags=("a",))), signed(key, base._replace(tags=("b",)))
    merged = codec.to_bytes(read(sides[0])._replace(tags=("a", "b")))
    assert key.state(read(merged)) is SignatureState.CHANGED
    again = read(resigned(merged, sides, "x"))
    assert key.state(again, again) is SignatureState.OK
    assert again.tags == ("a", "b")


def test_what_one_side_did_not_sign_or_somebody_changed_is_left_as_it_is(key: Key) -> None:
    base = make("Retries back off", TEXT)
    good = signed(key, base)
    forged = codec.to_bytes(read(good)._replace(reason="because I say so"))
    merged = codec.to_bytes(read(good)._replace(tags=("a",)))
    for sides in ((good, forged), (forged, good), (good, codec.to_bytes(base))):
        assert resigned(merged, sides, "x") == merged


def test_without_a_key_nothing_is_signed(home: Path) -> None:
    other = Key.of(bytes(range(32)))
    data = signed(other, make("Retries back off", TEXT))
    assert resigned(b"---\nmerged", (data, data), "x") == b"---\nmerged"


def test_a_shortened_text_keeps_the_signature_of_its_original_and_gets_none_made_up(
    key: Key,
) -> None:
    whole = key.signed(make("Retries back off", TEXT), make("Retries back off", TEXT))
    short = whole._replace(content="We retry three times.", phase=Phase.HINT)
    side = codec.to_bytes(key.signed(short, None))
    merged = codec.to_bytes(read(side)._replace(tags=("a",)))
    again = read(resigned(merged, (side, side), "x"))
    assert again.signature == whole.signature
    assert key.fits(again)
    without = codec.to_bytes(read(side)._replace(tags=("a",), signature=""))
    assert resigned(without, (side, side), "x") == without


def test_what_cannot_be_read_is_left_as_it_is(key: Key) -> None:
    good = signed(key, make("Retries back off", TEXT))
    assert resigned(b"no memory", (good, good), "x") == b"no memory"
    assert resigned(good, (b"no memory", good), "x") == good


def test_git_merges_two_signed_sides_into_a_signed_one(key: Key, tmp_path: Path) -> None:
    base = make("Retries back off", TEXT)
    for name, memory in (
        ("base", base),
        ("ours", base._replace(tags=("a",))),
        ("theirs", base._replace(observations=4)),
    ):
        (tmp_path / name).write_bytes(signed(key, memory))
    names = [str(tmp_path / name) for name in ("base", "ours", "theirs")]
    assert main([*names, f".claude/ltm/memories/x.{base.id}.md"]) == 0
    merged = read((tmp_path / "ours").read_bytes())
    assert (merged.tags, merged.observations) == (("a",), 4)
    assert key.state(merged, merged) is SignatureState.OK

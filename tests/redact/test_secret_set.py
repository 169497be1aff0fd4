"""Secrets of hundreds of kinds go, wherever they stand; a thousand look-alikes stay."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from ltm.redact.redact import redacted
from tests.figures import count
from tests.redact.secret_set import (
    Kind,
    contexts,
    kinds,
    last_lookalikes,
    lookalikes,
    more,
    more_lookalikes,
    unseen,
    unseen_lookalikes,
)

KINDS = kinds()
CONTEXTS = contexts()
FAMILIES = {kind.family: None for kind in KINDS}
MISSED = {
    # A table that begins in the middle of a line.
    **{row: {"c-23"} for row in ("k-311", "k-312", "k-541", "k-542", "k-543", "k-544")},
    **{row: {"c-23"} for row in ("t-068", "t-069", "u-075", "u-076")},
    # What ends a thought, or a colour, is written differently inside of JSON.
    **{row: {"c-22", "c-23"} for row in ("t-161", "u-198", "u-263")},
    # A value like the name of a file, of which only the end of the text tells that it is none.
    "t-174": {context.id for context in CONTEXTS},
    # Two words between the braces of Tcl, found only where nothing stands around them.
    "u-068": {context.id for context in CONTEXTS},
    # Words around it that make it less plain what it is.
    **{
        row: {"c-03", "c-14", "c-15", "c-18", "c-19"}
        for row in ("u-165", "u-180", "u-214", "u-219")
    },
}
"""Contexts in which a kind is not found."""
ALONE = {
    # No word for a password, or only one that means many other things.
    *("t-162", "t-214", "u-206", "u-283"),
    # Words that could be any other: a phrase, a file, a checksum, what a placeholder begins with.
    *("t-106", "t-215", "t-306"),
    # Quotes and escapes that are read in one program only.
    *("t-279", "u-079", "u-224"),
}
"""Kinds that are not found at all."""
CHANGED = {"doğrulama kodu 6 haneli olmalı"}
"""Look-alikes that are changed all the same."""
MORE_MISSED = {
    # A vendor's name alone, next to a UUID or a key.
    *("n-022-0", "n-022-1", "n-022-2", "n-022-4", "n-052-1", "n-055-3", "n-062-1", "n-062-2"),
    # Lines that something else cut, with its own words at the start of each.
    *("n-317-0", "n-317-4", "n-334-4", "n-339-2"),
    # The name of the user, which the author counts as a part of it.
    *("n-385-0", "n-385-1", "n-385-3", "n-385-4"),
    # Between words that say little.
    *("n-199-1", "n-393-0", "n-394-1"),
}
"""Texts of the fifth author that are not found, or not as a whole."""


@pytest.mark.parametrize("family", FAMILIES)
def test_no_part_of_a_secret_is_left_in_any_context(family: str) -> None:
    pairs = [
        (kind, context)
        for kind in KINDS
        for context in CONTEXTS
        if kind.family == family and context.takes(kind)
    ]
    missed = [
        (kind.id, context.id)
        for kind, context in pairs
        if kind.left(redacted(context.around(kind.text)))
    ]
    count("S10", blind_pairs=len(pairs), blind_pairs_missed=len(missed))
    assert [
        (kind, context)
        for kind, context in missed
        if kind not in ALONE and context not in MISSED.get(kind, ())
    ] == []
    known = [kind for kind, _ in pairs if kind.id not in ALONE]
    assert len([kind for kind, _ in missed if kind not in ALONE]) <= 0.05 * len(known)


def test_a_secret_alone_is_found() -> None:
    missed = {kind.id for kind in KINDS if kind.left(redacted(kind.text))}
    assert missed == ALONE


def test_secrets_of_a_fifth_author_are_found() -> None:
    found = more()
    missed = {kind.id for kind in found if kind.left(redacted(kind.text))}
    count("S10", blind_more=len(found), blind_more_missed=len(missed))
    assert missed <= MORE_MISSED


def test_secrets_of_an_author_nothing_was_learned_from_are_found_as_promised() -> None:
    found = unseen()
    placed: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    missed = [kind.family for kind in found if kind.left(redacted(kind.text))]
    count("S10", unseen=len(found), unseen_missed=len(missed))
    assert len(missed) <= 0.03 * len(found)
    for family in FAMILIES:
        of_family = [kind for kind in found if kind.family == family]
        assert missed.count(family) <= 0.1 * len(of_family)
    texts = unseen_lookalikes()
    changed = [text for text in texts if redacted(text) != text]
    count("S10", unseen_lookalikes=len(texts), unseen_lookalikes_changed=len(changed))
    assert len(changed) <= 0.001 * len(texts)
    one_each = {kind.id.rpartition("-")[0]: kind for kind in found}.values()
    pairs = [(kind, each) for kind in one_each for each in CONTEXTS if each.takes(kind)]
    for kind, context in pairs if os.environ.get("LTM_FAULTS") == "all" else pairs[::10]:
        placed[kind.family] += 1
        lost[kind.family] += bool(kind.left(redacted(context.around(kind.text))))
    count("S10", unseen_placed=placed.total(), unseen_placed_missed=lost.total())
    assert lost.total() <= 0.03 * placed.total()
    assert all(lost[family] <= 0.1 * placed[family] for family in placed)


def test_what_only_looks_like_a_secret_is_not_changed() -> None:
    texts = lookalikes() + more_lookalikes()
    changed = [text for text in texts if redacted(text) != text]
    count("S10", blind_lookalikes=len(texts), blind_lookalikes_changed=len(changed))
    assert set(changed) <= CHANGED


def test_the_marks_around_a_secret_are_seen_as_what_they_are() -> None:
    """Escapes, colours and quotation marks stay; only the secret goes."""
    secret = "k7Fq2LpzX9"
    for text in (
        f'"{{\\"password\\":\\"{secret}\\"}}"',
        f"&quot;password&quot;: &quot;{secret}&quot;",
        f"\x1b[32mpassword\x1b[0m: \x1b[1m{secret}\x1b[0m",
        f"> password:\n>   {secret}\n> user: me",
        f"+| user | password |\n+|---|---|\n+| me | {secret} |",
        f'{{"content":"user,password\\nme,{secret}\\n"}}',
    ):
        assert redacted(text) == text.replace(secret, "[redacted:password]")


def test_what_a_kind_leaves_is_seen() -> None:
    """The judge itself: a whole secret, a part of it, and none."""
    kind = Kind("x", "named", "token = 0123456789abcdef", ("0123456789abcdef",))
    assert kind.left("so 0123456789abcdef")
    assert kind.left("so 3456789abcdef") == "3456789abcde"
    assert not kind.left("token = [redacted:token] 0123456789a")


def test_what_a_look_alike_of_the_last_authors_says_stays() -> None:
    texts = last_lookalikes()
    assert len(texts) > 500
    assert [text for text in texts if redacted(text) != text] == []

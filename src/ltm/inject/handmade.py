"""Whether a person typed something into a view: a line that LTM cannot have written there.

Owns what LTM writes into views, line by line. A line about a memory counts as ours if the memory
says that now or said it once, so what another machine wrote and git brought along is recognised.
Imports core, the store's port and this package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ltm.core import policy
from ltm.core.kinds import Kinds
from ltm.core.markers import END, NOTE, START
from ltm.core.model import Filter, Memory
from ltm.inject.carried import TAGGED, is_current
from ltm.inject.fence import harmless_in_file
from ltm.inject.said import short_id
from ltm.inject.views import FOOTER, TITLE
from ltm.storage.store import Store

_FIXED = {START, END, "# Memory", TITLE, NOTE, FOOTER, f"{NOTE} {FOOTER}", ""}
_MORE = re.compile(r"- _…and \d+ more(?:: `ltm list --kind \S+`)?_\Z")


def has_handmade(view: bytes, store: Store) -> bool:
    """Whether a block or MEMORY.md that LTM wrote has a line that it did not write."""
    known: dict[str, list[Memory]] = {}
    ours = _FIXED | set(_headings(store.kinds))
    for line in view.decode("utf-8", "replace").splitlines():
        if line.strip() in ours or _MORE.match(line.strip()):
            continue
        told = TAGGED.match(line)
        if told is None:
            return True
        known = known or _by_short_id(store)
        if not any(_said(each, told["text"], store) for each in known.get(told["id"], ())):
            return True
    return False


def _headings(kinds: Kinds) -> Iterator[str]:
    for kind in kinds:
        yield f"## {harmless_in_file(kind.heading)}"
        yield f"### {harmless_in_file(kind.heading)}"
    for tier in policy.TIERS:
        yield f"### {tier.capitalize()} confidence"


def _by_short_id(store: Store) -> dict[str, list[Memory]]:
    found: dict[str, list[Memory]] = {}
    for each in store.every(Filter(statuses=())):
        found.setdefault(short_id(each.memory), []).append(each.memory)
    return found


def _said(memory: Memory, line: str, store: Store) -> bool:
    """Whether a memory says this, or said it before it was changed."""
    former = (version.memory for version in store.versions(memory.id))
    return any(is_current(line, each, store.kinds) for each in (memory, *former))

"""One reading of a document's keys: each value checked, each complaint with its line.

Owns how forgiving we are with what a person typed. Used by the codec only. Imports core, and from
storage the document, its keys, its body and how a memory is put together.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import NoReturn, TypeVar

from ltm.core.errors import BadFile, WrongUsage
from ltm.core.kinds import Kinds
from ltm.core.model import Memory, Phase, Trust, choice, is_id
from ltm.core.sentences import title_of
from ltm.storage.assembling import assembled
from ltm.storage.body import Sections
from ltm.storage.fields import BY_KEY, items, moment, number, phase_of
from ltm.storage.frontmatter import Document

_T = TypeVar("_T", bound=StrEnum)

_MOST = 10**9  # counts above it are a typing error, and would not fit every database
_TRUE = frozenset(("true", "yes", "on", "1"))
_FALSE = frozenset(("false", "no", "off", "0", ""))
_OURS_ALONE = {"kind", "legacy_id"}  # claude-ltm's files have none of these (see `claudeltm`)
_OURS = re.compile(r"mem_([0-9a-hjkmnp-tv-z]{9})[0-9a-hjkmnp-tv-z]{8}\Z")
_DIGITS = {char: value for value, char in enumerate("0123456789abcdefghjkmnpqrstvwxyz")}


@dataclass(frozen=True, slots=True)
class MemoryReader:
    """A document together with what is needed to understand it and to complain about it."""

    document: Document
    path: str
    kinds: Kinds

    def memory(self, sections: Sections, seen: datetime | None) -> Memory:
        """The memory these keys and sections make."""
        if "topic" in self.document.fields and not self.document.fields.keys() & _OURS_ALONE:
            self._bad(
                "topic",
                "is a memory of claude-ltm, which is read only when it is imported",
                "take it in with 'ltm import' and move it away; if it is yours, write 'kind: fact'",
            )
        found = self._id()
        return assembled(
            self,
            self,
            memory_id=found,
            kind=self._kind(),
            title=self._title(sections),
            summary=sections.summary,
            content=sections.content,
            created=self._created(found, seen),
            trust=Trust.USER,
        )

    def _bad(self, key: str, message: str, hint: str) -> NoReturn:
        line = self.document.lines.get(key, 1)
        raise BadFile(message, path=self.path, line=line, hint=hint)

    def text(self, key: str) -> str:
        value = self.document.fields.get(key, "")
        if isinstance(value, tuple):
            self._bad(key, f"'{key}' is a list", f"write '{key}:' and one text in double quotes")
        return value

    def _word(self, key: str) -> str:
        """A value that is one of a few words or a number; empty means the default."""
        return self.text(key).strip() or BY_KEY[key].default

    def texts(self, key: str) -> tuple[str, ...]:
        return items(self.document.fields.get(key))

    def _id(self) -> str:
        found = self.text("id").strip()
        if not found:
            # A file is named `<slug>.<id>.md`, so a deleted line loses nothing.
            found = os.path.basename(self.path).removesuffix(".md").rpartition(".")[2]
        if not is_id(found):
            problem = f"'{found}' is not a memory's id" if self.text("id") else "'id' is missing"
            self._bad(
                "id", problem, "write 'id: mem_' and letters or digits of your choice, in one word"
            )
        return found

    def _kind(self) -> str:
        word = self.text("kind")
        if not word.strip():
            return self.kinds.default.name
        try:
            return self.kinds.parse(word).name
        except WrongUsage as error:
            self._bad("kind", error.message, error.hint)

    def _title(self, sections: Sections) -> str:
        # A title is one line; YAML lets a person wrap one, and that person means a space.
        title = re.sub(r"[\r\n]+", " ", self.text("title"))
        if title.strip():
            return title
        derived = title_of(sections.content or sections.summary)
        if not derived:
            hint = "write 'title:' and a few words, or a text below the keys"
            self._bad("title", "'title' is missing", hint)
        return derived

    def choice(self, key: str, default: _T) -> _T:
        try:
            return choice(type(default), self.text(key).strip() or default.value)
        except WrongUsage as error:
            self._bad(key, f"'{key}': {error.message}", error.hint)

    def flag(self, key: str) -> bool:
        word = self._word(key).lower()
        if word not in _TRUE | _FALSE:
            self._bad(key, f"'{key}' is neither true nor false", f"write '{key}: true'")
        return word in _TRUE

    def _number(self, key: str) -> float:
        value = number(self._word(key))
        if value is None:
            self._bad(key, f"'{key}' is not a number", f"write '{key}: {BY_KEY[key].default}'")
        return value

    def share(self, key: str, default: float) -> float:
        """A number from 0 to 1; what lies outside is moved to the nearer end."""
        return min(1.0, max(0.0, self._number(key) if self.text(key).strip() else default))

    def count(self, key: str) -> int:
        """A whole number from 1 up; what lies outside is moved to the nearer end."""
        return int(min(_MOST, max(1, self._number(key))))

    def phase(self) -> Phase:
        found = phase_of(self._word("phase"))
        if found is None:
            self._bad("phase", "'phase' is not a phase", "write a number from 0 (full) to 3")
        return Phase(found)

    def _moment(self, key: str) -> datetime | None:
        text = self.text(key).strip()
        if not text:
            return None
        found = moment(text)
        if found is None:
            self._bad(key, f"'{key}' is not a moment", f"write '{key}: 2026-11-15T16:22:00Z'")
        return found

    def moment(self, key: str, default: datetime) -> datetime:
        return self._moment(key) or default

    def _created(self, memory_id: str, seen: datetime | None) -> datetime:
        found = self._moment("created") or _id_moment(memory_id) or self._moment("updated") or seen
        if found is None:
            self._bad("created", "'created' is missing", "write 'created: 2026-11-15T16:22:00Z'")
        return found.replace(microsecond=0)


def _id_moment(memory_id: str) -> datetime | None:
    """The moment an id of our own making was made, or None for any other id."""
    ours = _OURS.match(memory_id)
    if ours is None:
        return None
    stamp = 0
    for char in ours[1]:
        stamp = stamp * 32 + _DIGITS[char]
    try:
        made = datetime.fromtimestamp(stamp // 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return made if 2000 <= made.year < 2200 else None

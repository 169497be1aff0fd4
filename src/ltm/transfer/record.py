"""A memory out of a file that anybody may have written: every field checked.

Owns the validation at this edge; `core.record` trusts what it reads. Pure; imports core and the
keys' rules of storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from ltm.core.errors import Refused, WrongUsage
from ltm.core.kinds import Kinds
from ltm.core.model import Memory, Phase, Trust, choice, is_id
from ltm.storage.assembling import assembled
from ltm.storage.fields import moment
from ltm.storage.scalars import is_text

_T = TypeVar("_T", bound=StrEnum)
_MOST = 10**9


def checked(record: Any, kinds: Kinds) -> Memory:
    """The memory a record of an export describes; refused, with the field, when it is none."""
    if not isinstance(record, dict):
        raise Refused("a memory is not an object")
    reading = _Reading(record)
    source = record.get("source", {})
    origin = _Reading(source if isinstance(source, dict) else reading.bad("source"), "source.")
    return assembled(
        reading,
        origin,
        memory_id=reading.id(),
        kind=reading.kind(kinds),
        title=reading.title(),
        summary=reading.text("summary"),
        content=reading.text("content"),
        created=reading.moment("created"),
        trust=Trust.IMPORT,
    )


class _Reading:
    """The fields of one record, each as the type it must have."""

    def __init__(self, record: Mapping[str, Any], prefix: str = "") -> None:
        self._record = record
        self._prefix = prefix

    def bad(self, name: str) -> NoReturn:
        shown = repr(self._record.get(name))[:40]
        raise Refused(f"'{self._prefix}{name}' cannot be {shown}")

    def id(self) -> str:
        value = self.text("id")
        return value if is_id(value) else self.bad("id")

    def kind(self, kinds: Kinds) -> str:
        try:
            return kinds.parse(self.text("kind")).name
        except WrongUsage:
            self.bad("kind")

    def title(self) -> str:
        value = self.text("title")
        return value if value.strip() and not {"\n", "\r"} & set(value) else self.bad("title")

    def text(self, name: str) -> str:
        value = self._record.get(name, "")
        return value if isinstance(value, str) and is_text(value) else self.bad(name)

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._record.get(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            self.bad(name)
        return tuple(value) if all(map(is_text, value)) else self.bad(name)

    def moment(self, name: str, default: datetime | None = None) -> datetime:
        if default is not None and name not in self._record:
            return default
        value = self._record.get(name)
        found = moment(value) if isinstance(value, str) else None
        return found if found is not None else self.bad(name)

    def choice(self, name: str, default: _T) -> _T:
        value = self._record.get(name, default.value)
        try:
            return choice(type(default), value) if isinstance(value, str) else self.bad(name)
        except WrongUsage:
            self.bad(name)

    def flag(self, name: str) -> bool:
        value = self._record.get(name, False)
        return value if isinstance(value, bool) else self.bad(name)

    def share(self, name: str, default: float) -> float:
        value = self._record.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.bad(name)
        return float(value)

    def count(self, name: str) -> int:
        return self.number(name, 1, 1, _MOST)

    def phase(self) -> Phase:
        return Phase(self.number("phase", 0, 0, 3))

    def number(self, name: str, default: int, least: int, most: int) -> int:
        value = self._record.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self.bad(name)
        return value

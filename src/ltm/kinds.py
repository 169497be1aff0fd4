"""The kinds table: the single source of everything that differs from kind to kind.

Decay, headings, DSL codes, injection order, line shares and duplicate thresholds are columns here;
no other code branches on a kind. Config may override any cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ltm.errors import WrongUsage
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Kind(NamedTuple):
    """One row: how memories of this kind are named, shown, matched and allowed to age."""

    name: str
    dsl: str
    """Code in the injected DSL, such as `ARCH`."""
    heading: str
    """Section heading in the views."""
    lines: int
    """Share of the CLAUDE.md block, and of what a session is told behind rules and recent work."""
    aliases: tuple[str, ...] = ()
    """Other words accepted on input: every word the united designs used for it."""
    fades_days: float = 0.0
    """Confidence falls to 0 over this many days; 0 = never."""
    newest: int = 0
    """Only this many of the newest are shown; 0 = all."""
    resolved_days: float = 0.0
    """Hidden this many days after its state became `resolved`; 0 = never."""
    tiers: tuple[int, ...] = ()
    """Observation counts at which the tier rises from low to medium to high; () = no tiers."""
    states: tuple[str, ...] = ()
    """The states a memory of this kind can be in, the first one being the default; () = none."""
    single: bool = False
    """Only the newest is in force: a new one takes the place of the one before."""
    event: bool = False
    """Each is about one occasion: one read in a session never contradicts or replaces another."""
    duplicate: float = 0.6
    """Word overlap (Jaccard) from which a project's memory is held against one of the agent."""
    rule: bool = False
    """What a person stated of this kind is a rule: told before all else, and it never fades."""
    choice: bool = False
    """Whether it is a wish, a choice or a convention, which people say in passing."""
    dated_after: int = 30
    """Days after which a line about a memory shows its date; 0 = at once, below 0 = never."""
    explains: int = 0
    """Place among the answers to why something is as it is, lowest first; 0 = after all others."""
    asked_by: tuple[str, ...] = ()
    """Words besides its name by which people ask for all memories of this kind."""

    @property
    def first_state(self) -> str:
        """The state a memory of this kind begins with; '' where it has none."""
        return self.states[0] if self.states else ""

    def parse_state(self, word: str) -> str:
        """The state a person means by a word, in any case; a clear error when there is none."""
        state = word.strip().lower()
        if state in self.states:
            return state
        if not self.states:
            raise WrongUsage(f"a memory of kind '{self.name}' has no state", hint="leave it out")
        options = ", ".join(self.states)
        raise WrongUsage(
            f"'{word}' is not a valid state for '{self.name}'", hint=f"use one of: {options}"
        )


# In injection order: name, DSL code, heading, lines, other words, and what is not as usual.
_TABLE: tuple[Kind, ...] = (
    Kind(
        "relationship",
        "EMOT",
        "Working Together",
        10,
        ("emotional", "emot", "emotion", "relationships"),
        rule=True,
        dated_after=-1,
        asked_by=("rule",),
    ),
    Kind(
        "preference",
        "PREF",
        "Preferences",
        15,
        ("preferences", "pref", "antigens"),
        tiers=(3, 5),
        rule=True,
        dated_after=-1,
        choice=True,
        asked_by=("rule",),
    ),
    Kind("architecture", "ARCH", "Architecture", 25, ("architectural", "arch"), explains=3),
    Kind(
        "decision",
        "DECI",
        "Key Decisions",
        25,
        ("decisions", "deci"),
        explains=1,
        choice=True,
        asked_by=("decide", "agree"),
    ),
    Kind(
        "pattern",
        "PATT",
        "Patterns & Conventions",
        25,
        ("patterns", "patt", "convention", "conventions"),
        explains=4,
        choice=True,
        asked_by=("convention",),
    ),
    Kind(
        "gotcha",
        "LEARN",
        "Gotchas & Pitfalls",
        20,
        ("gotchas", "learning", "learnings", "learn", "pitfall", "lesson"),
        explains=2,
        asked_by=("pitfall", "lesson"),
    ),
    Kind("fact", "FACT", "Facts", 15, ("facts",), dated_after=7),
    Kind(
        "progress",
        "PROG",
        "Current Progress",
        30,
        ("prog",),
        dated_after=0,
        fades_days=7.0,
        single=True,
        event=True,
    ),
    Kind("context", "CTX", "Context", 15, ("ctx",), fades_days=30.0, dated_after=0),
    Kind(
        "episode",
        "EPIS",
        "Recent Episodes",
        10,
        ("episodes", "epis", "session", "sessions"),
        dated_after=0,
        newest=5,
        event=True,
        duplicate=1.0,
    ),
    Kind(
        "issue",
        "ISSU",
        "Open Issues",
        10,
        ("issues", "issu"),
        dated_after=0,
        resolved_days=14.0,
        event=True,
        states=("open", "resolved"),
    ),
    Kind(
        "achievement",
        "ACHV",
        "Achievements",
        5,
        ("achievements", "achv"),
        event=True,
        dated_after=-1,
    ),
)

DEFAULT_KIND = "fact"


class Kinds:
    """The table as it stands for one user: the built-in rows with that user's overrides."""

    def __init__(self, rows: tuple[Kind, ...] = _TABLE, default: str = DEFAULT_KIND) -> None:
        self._rows = {row.name: row for row in rows}
        self._order = {row.name: place for place, row in enumerate(rows)}
        self._aliases = {alias: row.name for row in rows for alias in row.aliases}
        self.default = self._rows[default]

    def __iter__(self) -> Iterator[Kind]:
        """The rows in injection order."""
        return iter(self._rows.values())

    def __getitem__(self, name: str) -> Kind:
        return self._rows[name]

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def order(self, name: str) -> int:
        """Place of a kind in the injection order."""
        return self._order[name]

    def parse(self, word: str) -> Kind:
        """The kind a person meant by a word: its name or any alias, in any case."""
        key = word.strip().lower()
        row = self._rows.get(key) or self._rows.get(self._aliases.get(key, ""))
        if row is None:
            raise WrongUsage(
                f"'{word}' is not a kind of memory",
                hint=f"use one of: {', '.join(self._rows)}",
            )
        return row

    def override(self, cells: Mapping[str, Mapping[str, Any]]) -> Kinds:
        """A table with some cells replaced, as `{"progress": {"fades_days": 14}}` from config."""
        rows = dict(self._rows)
        for word, columns in cells.items():
            row = self.parse(word)
            changes: dict[str, Any] = {}
            for column, value in columns.items():
                if column not in Kind._fields or column == "name":
                    known = ", ".join(name for name in Kind._fields if name != "name")
                    raise WrongUsage(
                        f"kinds.{row.name}.{column} is not a cell of the kinds table",
                        hint=f"use one of: {known}",
                    )
                changes[column] = _cell(row, column, value)
            rows[row.name] = row._replace(**changes)
        return Kinds(tuple(rows.values()), default=self.default.name)


def _cell(row: Kind, column: str, value: Any) -> Any:
    """A cell's new value in the type of the old one; a wrong type is the user's typing error."""
    old = getattr(row, column)
    if isinstance(old, tuple) and isinstance(value, list | tuple):
        return tuple(value)
    if isinstance(old, float) and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if type(old) is type(value):
        return value
    raise WrongUsage(
        f"kinds.{row.name}.{column} cannot be {value!r}",
        hint=f"the built-in value is {old!r}",
    )

"""The options in force: the defaults, then the user's config, then the repository's.

Two TOML files: `<home>/config.toml` is the user's own, `<repository>/.claude/ltm/config.toml` comes
with the repository and is not trusted (see `Option.repo`). Whatever is wrong in either is a
`Problem` with its line, and the rest holds. The parser is loaded only for a file that `ltm config`
would not write, and what it takes to change one only when one is changed: hooks read options.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from ltm.config.options import BY_NAME, OPTIONS, Option, OptionValue
from ltm.errors import Refused, WrongUsage
from ltm.files.atomic import is_inside, make_folder, read_plain, write_file
from ltm.files.lock import Lock
from ltm.kinds import Kind, Kinds
from ltm.model import Problem
from ltm.record import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONFIG_FILE = "config.toml"
_LIMIT = 256 * 1024
_PARTS = 100  # of a dotted key


class Config(NamedTuple):
    """Every option's value, where it comes from, the kinds table, and what was wrong."""

    values: Mapping[str, OptionValue]
    user_values: Mapping[str, OptionValue]
    repository_values: Mapping[str, OptionValue]
    kinds: Kinds
    problems: tuple[Problem, ...] = ()
    seen: str = ""
    """How the user's file looked before it was read, as `spool.session_text.stamp` writes it."""

    def get(self, name: str) -> Any:
        """The value in force here, such as `get("inject.format")`."""
        return self.values[name]

    def value(self, name: str) -> Any:
        """The value of an option, or of a cell such as `kinds.progress.fades_days`."""
        if _is_cell(name) and name.count(".") == 2:
            _, kind, column = name.split(".")
            cell = getattr(self.kinds.parse(kind), column, None)
            if column in Kind._fields:
                return list(cell) if isinstance(cell, tuple) else cell
        return self.values[_find(name).name]

    def own(self, name: str) -> Any:
        """The value without the repository's: for what is not this repository's alone."""
        return self.user_values.get(name, BY_NAME[name].default)

    def in_repository(self, shared: str) -> Config:
        """These options of the user's with those of the repository whose vault is `shared`."""
        # A link in a repository could lead to any file of the user's: none is followed out of it.
        if not shared or not is_inside(shared, os.path.dirname(os.path.dirname(shared))):
            return self
        file = read_toml(os.path.join(shared, CONFIG_FILE), follow=False)
        accepted, _, problems = _accept(file, repository=True)
        return self._replace(
            values={**self.values, **accepted},
            repository_values=accepted,
            problems=(*self.problems, *problems),
        )

    def origin(self, name: str) -> str:
        """Who set an option: `repository`, `user` or `default`."""
        if name in self.repository_values:
            return "repository"
        return "user" if name in self.user_values else "default"


class TomlFile(NamedTuple):
    """What a file says; no tables when it is not there or not readable."""

    path: str
    tables: Mapping[str, Any] = MappingProxyType({})
    text: str = ""
    problem: Problem | None = None

    def line(self, name: str) -> int:
        """The line that sets `a.b.c`, or the nearest table above it; 0 when it cannot be told."""
        table = ""
        nearest = 0
        for number, line in enumerate(self.text.splitlines(), start=1):
            head = re.match(r"\s*\[\s*([^\[\]]+?)\s*\]", line)
            if head:
                table = re.sub(r"[\s\"']", "", head[1]) + "."
                if f"{name}.".startswith(table):
                    nearest = number
                continue
            key = table + re.sub(r"[\s\"']", "", line.partition("=")[0])
            if key == name:
                return number
            if name.startswith(key + "."):
                nearest = number
        return nearest


def load(home: str, shared: str = "") -> Config:
    """The options of the user whose files are in `home`, in the repository whose vault is `shared`.

    Never raises: a broken file is one of the `problems` and its options keep their defaults.
    """
    path = os.path.join(home, CONFIG_FILE)
    try:
        info = os.stat(path)
        seen = f"{info.st_ino}:{info.st_mtime_ns}:{info.st_size}"
    except OSError:
        seen = ""
    user, kinds, problems = _accept(read_toml(path), repository=False)
    values = {option.name: option.default for option in OPTIONS} | user
    return Config(values, user, {}, kinds, problems, seen).in_repository(shared)


def problems_in(config: Config, home: str) -> list[Problem]:
    """What is wrong in config files, packages that are not installed included."""
    found = list(config.problems)
    for option in OPTIONS:
        value = config.own(option.name)
        if not option.is_offered(value):
            path = os.path.join(home, CONFIG_FILE)
            message = (
                f"{option.name} cannot be {value!r}: nothing offers it, so {option.default} is used"
                f" (it must be one of: {', '.join(option.offers)};"
                f" type: ltm config {option.name} {option.default})"
            )
            found.append(Problem(path, message, read_toml(path).line(option.name)))
    return found


def set_option(path: str, name: str, text: str, *, shared: bool = False) -> None:
    """Set an option, or a cell as `kinds.progress.fades_days`, in a config file.

    Comments and order of the file stay. `shared` says that it is a repository's file. A bad name or
    value is `WrongUsage` with what is allowed; a file that cannot be read is left as it is.
    """
    _check_allowed(name, shared)
    value = _typed_cell(name, text) if _is_cell(name) else BY_NAME[name].parse(text)

    def change(document: Any) -> bool:
        from tomlkit import table

        here, parts = document, name.split(".")
        for depth, part in enumerate(parts[:-1], start=2):
            if part not in here:
                here[part] = table(is_super_table=depth < len(parts))
            here = here[part]
            if not isinstance(here, dict):
                raise Refused(f"'{part}' is not a table in this file", path=path)
        here[parts[-1]] = value
        return True

    _edit(path, change, shared)


def unset_option(path: str, name: str, *, shared: bool = False) -> bool:
    """Take an option out of a config file, so that its default holds; False if it was not set."""

    def change(document: Any) -> bool:
        tables, parts = [document], name.split(".")
        for part in parts[:-1]:
            if not isinstance(tables[-1].get(part), dict):
                return False
            tables.append(tables[-1][part])
        if parts[-1] not in tables[-1]:
            return False
        del tables[-1][parts[-1]]
        # A table that is left empty goes too, unless there is a comment in it.
        for parent, part in zip(reversed(tables[:-1]), reversed(parts[:-1]), strict=True):
            if parent[part].as_string().strip():
                break
            del parent[part]
        return True

    return _edit(path, change, shared)


def read_toml(path: str, *, follow: bool = True) -> TomlFile:
    """Read a file; with `follow=False` a symbolic link is not read but a problem."""
    try:
        data = read_plain(path, limit=_LIMIT, follow=follow)
    except (FileNotFoundError, NotADirectoryError):
        return TomlFile(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return TomlFile(path, problem=Problem(path, f"cannot be read: {reason}"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return TomlFile(path, problem=Problem(path, "is not UTF-8", line))
    return parse_toml(text, path)


@lru_cache(maxsize=16)
def parse_toml(text: str, path: str) -> TomlFile:
    """Read a text that is, or is to be, in the file at `path`; a server does so for each call."""
    if not text.strip():
        return TomlFile(path, text=text)
    plain = _plain_tables(text)
    if plain is not None:
        return TomlFile(path, plain, text)
    import tomllib

    for number, words in enumerate(text.split("\n"), 1):
        # Each part costs as much as there are parts before it: a line could take minutes.
        if words.partition("=")[0].count(".") > _PARTS:
            return TomlFile(path, text=text, problem=Problem(path, "is nested too deeply", number))
    try:
        return TomlFile(path, tomllib.loads(text), text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r" \(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        message = re.sub(r" \(at .*\)", "", str(error))
        problem = Problem(path, f"is not TOML: {message}", line)
    except RecursionError:
        problem = Problem(path, "is nested too deeply", 1)
    except ValueError as error:  # a number that Python refuses to read for its length
        problem = Problem(path, f"is not TOML: {error}", 1)
    return TomlFile(path, text=text, problem=problem)


_PLAIN_LINE = (  # compiled only where there is a file
    r"[ \t]*(?:#[^\x00-\x08\x0a-\x1f\x7f]*)?|\[([\w.-]+)\]"
    r"|([\w-]+) ?= ?(?:\"([^\"\\\x00-\x1f\x7f]*)\"|(true|false)|(0|-?[1-9][0-9]{0,15}))"
)


def _plain_tables(text: str) -> dict[str, Any] | None:
    """The tables of a file as `ltm config` writes it, one plain value a line; None for any other.

    To load `tomllib` takes a hook as long as all of its own files.
    """
    tables: dict[str, Any] = {}
    table, begun = tables, {""}
    line_of = re.compile(_PLAIN_LINE, re.ASCII)
    for line in text.split("\n"):
        found = line_of.fullmatch(line)
        if found is None:
            return None
        head, key, string, truth, number = found.groups()
        if head is not None:
            table = tables
            for part in head.split("."):
                table = table.setdefault(part, {})
                if not part or not isinstance(table, dict):
                    return None
            if head in begun:
                return None
            begun.add(head)
        elif key is not None:
            if key in table:
                return None
            is_string = string is not None
            table[key] = string if is_string else truth == "true" if truth else int(number)
    return tables


def _accept(
    file: TomlFile, *, repository: bool
) -> tuple[dict[str, OptionValue], Kinds, tuple[Problem, ...]]:
    """What of a file holds; everything else in it is a problem."""
    accepted: dict[str, OptionValue] = {}
    kinds = Kinds()
    problems = [file.problem] if file.problem else []
    for name, value in _flat(file.tables):
        try:
            _check_allowed(name, repository)
            if _is_cell(name):
                kinds = _with_cell(kinds, name, value)
            else:
                accepted[name] = BY_NAME[name].checked(value)
        except WrongUsage as error:
            hint = f" ({error.hint})" if error.hint else ""
            message = f"{error.message}{hint}; this line is ignored"
            if name in BY_NAME:
                message += f" (take it out: ltm config --unset{' --repo' * repository} {name})"
            problems.append(Problem(file.path, message, file.line(name)))
    return accepted, kinds, tuple(problems)


def _check_allowed(name: str, repository: bool) -> None:
    """Refuse an unknown option, and one that a repository may not set."""
    if repository and (_is_cell(name) or not _find(name).repo):
        raise WrongUsage(f"a repository cannot set {name}", hint="set it in your own config")
    if not _is_cell(name):
        _find(name)


def _flat(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _is_cell(name: str) -> bool:
    return name == "kinds" or name.startswith("kinds.")


def _with_cell(kinds: Kinds, name: str, value: Any) -> Kinds:
    """The kinds table with one cell changed; a bad cell or value is `WrongUsage`."""
    kind, _, column = name.partition(".")[2].partition(".")
    changed = kinds.override({kind: {column: value}})
    if isinstance(value, list):
        from typing import get_args, get_type_hints  # not needed for most

        sound = all(type(item) in get_args(get_type_hints(Kind)[column]) for item in value)
    elif isinstance(value, str):
        sound = bool(value) and value.isprintable()
    else:
        # TOML knows nan, inf and negative numbers; no cell has a use for them.
        sound = 0 <= value < 1e9
    if not sound:
        built_in = getattr(kinds.parse(kind), column)
        raise WrongUsage(f"{name} cannot be {value!r}", hint=f"the built-in value is {built_in!r}")
    return changed


def _typed_cell(name: str, text: str) -> Any:
    """A cell's value as a person typed it: a number, a word, or a list with commas."""
    from typing import get_args, get_origin, get_type_hints  # not needed for most

    wanted = get_type_hints(Kind).get(name.rpartition(".")[2], str)
    value: Any = text.strip()
    try:
        if get_origin(wanted) is tuple:
            value = [item.strip() for item in text.split(",") if item.strip()]
            if int in get_args(wanted):
                value = [int(item) for item in value]
        elif wanted is not str:
            value = float(text) if wanted is float else int(text)
    except ValueError:
        pass  # stays a text, and is refused with the right words below
    _with_cell(Kinds(), name, value)
    return value


def _find(name: str) -> Option:
    option = BY_NAME.get(name)
    if option is not None:
        return option
    from difflib import get_close_matches

    tails = {known.rpartition(".")[2]: known for known in BY_NAME}
    near = get_close_matches(name, BY_NAME, n=1) or [
        tails[tail] for tail in get_close_matches(name.rpartition(".")[2], tails, n=1)
    ]
    hint = f"did you mean '{near[0]}'?" if near else "'ltm config' lists all options"
    raise WrongUsage(f"there is no option '{name}'", hint=hint)


def _edit(path: str, change: Any, shared: bool) -> bool:
    """Let `change` work on a file's document and put the result in its place, whole or not."""
    import tomlkit

    folder = os.path.dirname(path)
    if not shared:
        make_folder(folder)
        path = os.path.realpath(path)  # kept elsewhere and linked here: change it where it is
    elif not os.path.isdir(folder):
        raise Refused("there is no shared vault here", path=path, hint="run 'ltm init' first")
    with Lock(os.path.join(folder, ".lock")):
        file = read_toml(path, follow=not shared)
        if file.problem:
            raise Refused(file.problem.message, path=path, line=file.problem.line)
        document = tomlkit.parse(file.text)
        if not change(document):
            return False
        text = tomlkit.dumps(document)
        if "\r\n" in file.text:
            text = text.replace("\r\n", "\n").replace("\n", "\r\n")
        if parse_toml(text, path).problem:
            raise Refused("this file cannot be changed safely", path=path, hint="edit it by hand")
        write_file(path, text.encode(), mode=0o644 if shared else 0o600)
    return True

"""LTM's own entries in a client's settings file: recognized, put in, and taken out to the byte.

Everything else in the file stays: entries are put in as text, and what was put in where is noted
under LTM_HOME. As long as all else is unchanged, taking them out gives back every byte; if not,
only our entries go. A file that cannot be read is never written.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ltm.clients import settings_text
from ltm.clients.settings_text import Inserted, Steps, Unreadable, look, value_of
from ltm.errors import Conflict, Refused
from ltm.files.atomic import make_folder, read_plain, remove_file, write_file

SERVER = "ltm"
"""The name of our server in a client's settings."""

STATUS_LINE = "statusLine"

_NOTES = "setup"
_LIMIT = 64 * 1024 * 1024  # a client's own state may have grown for years


@dataclass(frozen=True, slots=True)
class SettingsEntry:
    """One of our entries: a member at the end of a way, or an item of the list there."""

    steps: tuple[str, ...]
    value: Any
    listed: bool = False

    def __str__(self) -> str:
        return f"{'.'.join(self.steps)}: {json.dumps(self.value, ensure_ascii=False)}"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A file we may have entries in: where it is, how it is written, and where they would be."""

    path: str
    syntax: str = "json"
    """`json`, `jsonc` (comments allowed) or `toml`."""
    servers: tuple[str, ...] = ()
    """The way to the table of MCP servers, if the file has one."""
    hooks: bool = False
    """Whether it may hold hooks."""
    shared: bool = False
    """Whether it belongs to a repository and is read by others."""
    base: str = ""
    """What a new file says before anything is put in."""
    named: str = ""
    """The key our hooks stand under, where the file has no common table of hooks."""


def settings_text_in(path: str, errors: str = "replace") -> str:
    """The text of a settings file; '' where it cannot be read."""
    try:
        return read_plain(path, limit=_LIMIT).decode("utf-8", errors)
    except (OSError, ValueError):
        return ""


def settings_in(path: str) -> dict[str, Any]:
    """The values of a JSON settings file; none where it cannot be read."""
    try:
        return value_of(settings_text_in(path), "json")
    except Unreadable:
        return {}


def entries_in(file: SettingsFile) -> list[SettingsEntry]:
    """Our entries in a file as it is; nothing where it cannot be read."""
    try:
        return list(our_entries(_read(file.path) or "", file))
    except (Unreadable, Refused):
        return []


def our_entries(text: str, file: SettingsFile) -> Iterator[SettingsEntry]:
    value = value_of(text, file.syntax)
    server = _at(value, (*file.servers, SERVER))
    if file.servers and is_our_server(server):
        yield SettingsEntry((*file.servers, SERVER), server)
    if file.hooks and is_our_status_line(value.get(STATUS_LINE)):
        yield SettingsEntry((STATUS_LINE,), value[STATUS_LINE])
    if file.named:
        lists = _dict(value.get(file.named)).values()
        if any(is_our_hook(hook) for hooks in lists for hook in _list(hooks)):
            yield SettingsEntry((file.named,), value[file.named])
    elif file.hooks:
        for event, groups in _dict(value.get("hooks")).items():
            for group in groups if isinstance(groups, list) else ():
                if is_our_hook(group):
                    yield SettingsEntry(("hooks", event), group, listed=True)
                hooks = [hook for hook in _list(_dict(group).get("hooks")) if is_our_hook(hook)]
                if hooks:
                    yield SettingsEntry(("hooks", event), {**group, "hooks": hooks}, listed=True)


def is_our_server(value: object) -> bool:
    """Whether a server's entry starts LTM."""
    words = _words(value)
    named = [os.path.splitext(word.replace("\\", "/").rpartition("/")[2])[0] for word in words]
    return "mcp" in words and "ltm" in named


def is_our_status_line(value: object) -> bool:
    """Whether the client's status line is LTM's alone."""
    return [*map(os.path.basename, hook_words(_dict(value)))] == ["ltm", "statusline"]


def is_our_hook(value: object) -> bool:
    """Whether a hook's entry runs LTM."""
    words = " ".join(_words(value)).replace("\\", "/")
    return any(mark in words for mark in ("ltm-hook", "ltm/hook/main.py", "ltm/surfaces/hook.py"))


def is_older_hook(hook: dict[str, Any]) -> bool:
    """Whether a hook has the form of an older version, unsafe in clients that ignore `args`."""
    return os.name != "nt" and bool(hook.get("args"))


def hook_words(hook: dict[str, Any]) -> list[str]:
    """The words of a hook's command, as a shell would read them."""
    words = _words(hook)
    if len(words) == 1:
        try:
            return shlex.split(words[0])
        except ValueError:
            pass  # written by hand, and no shell understands it
    return words


def _words(value: object) -> list[str]:
    entry = _dict(value)
    entry = _dict(entry.get("transport")) or entry
    command = entry.get("command") or entry.get("bash") or entry.get("cmd")
    words = command if isinstance(command, list) else [command]
    return [str(word) for word in (*words, *_list(entry.get("args"))) if word]


def _at(value: Any, steps: Sequence[str]) -> Any:
    """The value at the end of a way; None if it is not there."""
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class FileChange:
    """What would become of a file; `before` or `after` is None where there is no file."""

    path: str
    before: str | None
    after: str | None
    added: tuple[SettingsEntry, ...] = ()
    removed: tuple[SettingsEntry, ...] = ()
    inserted: tuple[Inserted, ...] = ()
    made: tuple[tuple[str, ...], ...] = ()
    """Ways that were not there before."""
    mode: int = 0o600


@dataclass(frozen=True, slots=True)
class _Note:
    """What was put into a file, and how the file was afterwards."""

    digest: str = ""
    new: bool = False
    inserted: tuple[Inserted, ...] = ()
    made: tuple[tuple[str, ...], ...] = ()
    folders: tuple[str, ...] = ()


def entering(file: SettingsFile, entries: Sequence[SettingsEntry], home: str) -> FileChange | None:
    """The change that leaves exactly these of our entries in a file; None if it has them."""
    text = _read(file.path)
    try:
        there = list(our_entries(text or "", file))
        if sorted(map(str, there)) == sorted(map(str, entries)):
            return None
        clean = _without(text, file, _note_of(file.path, home))
        after, made = clean or "", []
        inserted: list[Inserted] = []
        if entries and file.base and not after.strip():
            after, inserted = settings_text.begin(after, file.base)
        for entry in entries:
            value = value_of(after, file.syntax)
            way = entry.steps if entry.listed else entry.steps[:-1]
            ways = (way[:depth] for depth in range(1, len(way) + 1))
            made += [each for each in ways if _at(value, each) is None]
            if not entry.listed and _at(value, entry.steps) is not None:
                table = ".".join(way) or "the file"
                raise Refused(
                    f"there is another '{entry.steps[-1]}' in {table} already",
                    path=file.path,
                    hint="rename or remove it there, then run this again",
                )
            put = settings_text.append if entry.listed else settings_text.insert
            after, pieces = put(after, entry.steps, entry.value, file.syntax)
            inserted += pieces
    except Unreadable as error:
        raise Refused(
            f"cannot be read as {file.syntax.upper()}: {error}",
            path=file.path,
            line=error.line,
            hint="mend the file by hand; it was left as it is",
        ) from None
    return FileChange(
        file.path,
        before=text,
        after=after if entries else clean,
        added=tuple(entries),
        removed=tuple(there),
        inserted=tuple(inserted),
        made=tuple(made),
        mode=0o644 if file.shared else 0o600,
    )


def leaving(file: SettingsFile, home: str) -> FileChange | None:
    """The change that removes our entries from a file; None if it has none."""
    return entering(file, (), home)


def carry_out(change: FileChange, home: str) -> None:
    """Write the file, and note what is needed to undo it."""
    path = os.path.realpath(change.path)  # kept elsewhere and linked here: change it where it is
    if _read(path) != change.before:
        raise Conflict("was changed meanwhile, so nothing was written", path=path, hint="try again")
    note = _note_path(change.path, home)
    old = _note_of(change.path, home)
    if change.inserted:
        missing, folder = [], os.path.dirname(path)
        while folder and not os.path.isdir(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
        record = {
            "path": change.path,
            "digest": _digest(change.after or ""),
            "new": change.before is None or old.new,
            "inserted": change.inserted,
            "made": change.made,
            "folders": old.folders or missing,
        }
        make_folder(os.path.dirname(note))
        write_file(note, json.dumps(record).encode())
    if change.after is not None:
        make_folder(os.path.dirname(path), 0o755 if change.mode == 0o644 else 0o700)
        mode = change.mode
        with suppress(OSError):
            mode = os.stat(path).st_mode & 0o777 | change.mode & 0o111
        write_file(path, change.after.encode("utf-8", "surrogateescape"), mode=mode)
    elif change.before is not None:
        remove_file(path)
    if not change.inserted:
        remove_file(note)
        with suppress(OSError):  # a folder that is not empty stays, and those above it
            for folder in old.folders:
                os.rmdir(folder)


def _without(text: str | None, file: SettingsFile, note: _Note) -> str | None:
    if text is None:
        return None
    if note.digest == _digest(text):
        before = settings_text.take_back(text, list(note.inserted))
        return None if note.new and not before else before
    emptied: list[Steps] = []
    for entry in list(our_entries(text, file)):
        if entry.listed:
            text = _without_hooks(text, entry.steps, file.syntax)
            emptied += [entry.steps, entry.steps[:1]]
        else:
            text = settings_text.remove(text, entry.steps, file.syntax)
            emptied += [entry.steps[:depth] for depth in range(len(entry.steps) - 1, 0, -1)]
    for steps in sorted(dict.fromkeys(emptied), key=len, reverse=True):
        # What the person had before stays, even if it holds nothing.
        if file.syntax != "toml" and (not note.digest or steps in note.made):
            text = settings_text.remove_if_empty(text, steps, file.syntax)
    left = value_of(text, file.syntax)
    return None if note.new and left in ({}, value_of(file.base, file.syntax)) else text


def _without_hooks(text: str, steps: tuple[str, ...], syntax: str) -> str:
    text = settings_text.remove_items(text, steps, is_our_hook, syntax)
    groups = look(text, steps, syntax)
    for number in reversed(range(len(groups.children) if groups else 0)):
        way: Steps = (*steps, number, "hooks")
        before = text
        text = settings_text.remove_items(text, way, is_our_hook, syntax)
        left = look(text, way, syntax)
        if text != before and left is not None and not left.children:
            text = settings_text.remove(text, (*steps, number), syntax)
    return text


def _read(path: str) -> str | None:
    try:
        return read_plain(path, limit=_LIMIT).decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Refused("is not UTF-8 text, so it was left as it is", path=path) from None
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}", path=path) from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _note_path(path: str, home: str) -> str:
    name = hashlib.sha256(os.fsencode(os.path.abspath(path))).hexdigest()[:16]
    return os.path.join(home, _NOTES, f"{name}.json")


def _note_of(path: str, home: str) -> _Note:
    try:
        found = json.loads(read_plain(_note_path(path, home)))
        return _Note(
            digest=str(found["digest"]),
            new=found["new"] is True,
            inserted=tuple((int(start), int(length)) for start, length in found["inserted"]),
            made=tuple(tuple(map(str, way)) for way in found["made"]),
            folders=tuple(map(str, found["folders"])),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return _Note()

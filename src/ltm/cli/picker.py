"""Search as you type: `ltm recall` without words, on a terminal.

A line to type in, the hits below it, and the chosen one in full. What is found is what `ltm recall`
finds; looking through it does not count as a use of a memory, opening one does.
"""

from __future__ import annotations

import asyncio
import base64
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import (
    BufferControl,
    FormattedTextControl,
    HSplit,
    Layout,
    VSplit,
    Window,
)
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style

from ltm.cli.context import Work
from ltm.cli.edit import edit_by_hand
from ltm.decisions import Forget, Restore
from ltm.errors import LtmError
from ltm.model import Filter, Hit, Memory, Stored
from ltm.recall.passages import Quote, quote_title
from ltm.recall.search import recall
from ltm.text.display import counted, one_line, visible
from ltm.text.terms import matches, query_terms

_MOST = 100  # hits in the list
_LOOKED_AT = 2_000  # memories in which the beginning of a word is looked for, newest first
_PAUSE = 0.06  # seconds without a key before a search
_KIND = 12
_KEYS = " Enter open   ^E edit   ^X forget   ^Z undo   ^Y copy   Esc leave"
_STYLE = Style.from_dict(
    {"chosen": "reverse", "match": "bold ansiyellow", "faint": "ansibrightblack", "keys": "reverse"}
)
_CLIPBOARDS = (
    ("pbcopy",),
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
    ("clip.exe",),
)

Found = Stored | Quote
"""A memory, or something said in a session."""


@dataclass
class _Picker:
    """What is on the screen, and what the keys do."""

    work: Work
    wanted: Filter
    hits: list[Found] = field(default_factory=list)
    total: int = 0
    chosen: int = 0
    message: str = ""
    forgotten: list[str] = field(default_factory=list)
    buffer: Buffer = field(default_factory=lambda: Buffer(multiline=False))

    def search(self) -> None:
        """Find what answers the words as they are now; without any, the newest memories."""
        typed = self.buffer.text.strip()
        store = self.work.store
        listed = store.list(self.wanted, _LOOKED_AT)
        self.hits, self.total = list(listed.items), listed.total
        if typed:
            found = recall(store, typed, self.wanted, _MOST, counts=False, said=self.work.said)
            # A word that is not whole yet is found by its beginning only.
            parts = typed.lower().split()
            begun = [each for each in listed.items if _has(each.memory, parts)]
            good = [_found(hit) for hit in found.hits if not hit.weak]
            rest = [_found(hit) for hit in found.hits if hit.weak]
            every = {_name(each): each for each in (*good, *begun, *rest)}
            self.hits, self.total = list(every.values()), max(found.total, len(every))
        del self.hits[_MOST:]
        self.chosen = min(self.chosen, max(0, len(self.hits) - 1))

    @property
    def current(self) -> Found | None:
        return self.hits[self.chosen] if self.hits else None

    def move(self, steps: int) -> None:
        self.chosen = max(0, min(self.chosen + steps, len(self.hits) - 1))
        self.message = ""

    def choose(self, name: str) -> None:
        """Choose the hit of a name, where it is in the list."""
        names = [_name(each) for each in self.hits]
        self.chosen = names.index(name) if name in names else self.chosen

    # -- what is shown ---------------------------------------------------------------------------

    def _marked(self, text: str) -> list[tuple[str, str]]:
        """A text in parts, with the words that were typed as matches."""
        typed = self.buffer.text
        words = frozenset(query_terms(typed)) if typed.strip() else frozenset()
        return matches(text, words, begun=typed.lower().split()[-1] if typed.strip() else "")

    def counts(self) -> StyleAndTextTuples:
        """How many of how many hits are in the list."""
        return [("class:faint", f"{len(self.hits)} of {self.total:,} ")]

    def lines(self) -> StyleAndTextTuples:
        shown: StyleAndTextTuples = []
        for place, hit in enumerate(self.hits):
            here = place == self.chosen
            base = "class:chosen" if here else ""
            kind, title = _headline(hit)
            cursor = "[SetCursorPosition]" if here else ""
            shown.append((f"{base} {cursor}", f"{'▸' if here else ' '} {kind[:_KIND]:{_KIND}} "))
            shown += [
                (f"{base} class:match" if look == "match" else base, text)
                for text, look in self._marked(title)
            ]
            shown.append((base, "\n"))
        if not self.hits:
            shown.append(("class:faint", "  nothing found\n"))
        return shown

    def preview(self) -> StyleAndTextTuples:
        hit = self.current
        if hit is None:
            return []
        head, text = _preview(hit)
        shown: StyleAndTextTuples = [("class:faint", f"{head}\n\n")]
        for line in visible(text, keep_newlines=True).splitlines():
            shown += [
                ("class:match" if look == "match" else "", part)
                for part, look in self._marked(line)
            ]
            shown.append(("", "\n"))
        return shown

    def footer(self) -> StyleAndTextTuples:
        return [("class:keys", f" {self.message}" if self.message else _KEYS)]

    # -- what keys do ----------------------------------------------------------------------------

    def change(self, action: Callable[[Stored], str]) -> None:
        """Do something to the chosen memory, and say what came of it."""
        hit = self.current
        if hit is None:
            return
        if isinstance(hit, Quote):
            self.message = "This was said in a session; only memories can be changed."
            return
        try:
            self.message = one_line(action(hit))
            self.search()
        except LtmError as error:
            self.message = one_line(str(error))

    def forget(self, stored: Stored) -> str:
        self.work.store.apply(Forget(stored.memory.id))
        self.forgotten.append(stored.memory.id)
        return f"Forgot '{stored.memory.title}'. ^Z brings it back."

    def undo(self) -> None:
        if not self.forgotten:
            self.message = "Nothing was forgotten here."
            return
        back = self.work.store.apply(Restore(self.forgotten.pop())).stored
        self.message = f"Restored '{one_line(back.memory.title)}'."
        self.search()
        self.choose(back.memory.id)

    def edit(self, stored: Stored) -> str:
        done = edit_by_hand(self.work, stored)
        if done.is_empty:
            return "Nothing changed."
        return f"Changed '{done.after.memory.title}': {'; '.join(done.differences)}"

    def copy(self, output: Output) -> None:
        """Put the text of the chosen hit on the clipboard."""
        hit = self.current
        if hit is None:
            return
        text = _preview(hit)[1]
        for program in _CLIPBOARDS:
            if shutil.which(program[0]):
                done = subprocess.run(
                    program, input=text.encode(), capture_output=True, check=False
                )
                if done.returncode == 0:
                    break
        else:  # the terminal's own, which also works over ssh
            output.write_raw(f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07")
            output.flush()
        self.message = f"Copied {counted(len(text), 'character')}."


def _found(hit: Hit | Quote) -> Found:
    return hit.stored if isinstance(hit, Hit) else hit


def _name(hit: Found) -> str:
    return hit.id if isinstance(hit, Quote) else hit.memory.id


def _has(memory: Memory, parts: Sequence[str]) -> bool:
    text = f"{memory.title} {memory.words} {' '.join(memory.tags)}".lower()
    return all(part in text for part in parts)


def _headline(hit: Found) -> tuple[str, str]:
    if isinstance(hit, Quote):
        return "session", one_line(quote_title(hit))
    return hit.memory.kind, one_line(hit.memory.title)


def _preview(hit: Found) -> tuple[str, str]:
    if isinstance(hit, Quote):
        said = "\n\n".join(f"{role}: {text}" for role, text in hit.exchange)
        return one_line(hit.id), said
    memory = hit.memory
    tags = f" · {', '.join(memory.tags)}" if memory.tags else ""
    kind = f"{memory.kind}, {memory.impact}, {memory.scope}"
    return f"{memory.id[-8:]} · {kind} · {memory.day}{visible(tags)}", memory.text


def pick(work: Work, wanted: Filter) -> Found | None:
    """Let a person search and look, on the whole screen; what they opened, or None."""
    picker = _Picker(work, wanted)
    picker.search()
    app = _application(picker)

    async def later(words: str) -> None:
        await asyncio.sleep(_PAUSE)
        if picker.buffer.text == words:  # else another key came, and another search with it
            picker.chosen, picker.message = 0, ""
            picker.search()
            app.invalidate()

    def typed(buffer: Buffer) -> None:
        app.create_background_task(later(buffer.text))

    picker.buffer.on_text_changed += typed
    return app.run()


def _application(picker: _Picker) -> Application[Found | None]:
    bound = KeyBindings()

    def key(*names: str) -> Callable[[Callable[[KeyPressEvent], None]], None]:
        def bind(function: Callable[[KeyPressEvent], None]) -> None:
            for name in names:
                bound.add(name)(function)

        return bind

    for names, steps in (
        (("up", "c-p"), -1),
        (("down", "c-n"), 1),
        (("pageup",), -10),
        (("pagedown",), 10),
    ):
        key(*names)(lambda event, steps=steps: picker.move(steps))  # type: ignore[misc]
    key("enter")(lambda event: event.app.exit(result=picker.current))
    key("c-c", "c-q")(lambda event: event.app.exit(result=None))
    # At once: it could also be the beginning of a key such as Alt-B, which is not needed here.
    bound.add("escape", eager=True)(lambda event: event.app.exit(result=None))
    key("c-x")(lambda event: picker.change(picker.forget))
    key("c-z")(lambda event: picker.undo())
    key("c-y")(lambda event: picker.copy(event.app.output))

    @key("c-e")
    def _(event: KeyPressEvent) -> None:
        run_in_terminal(lambda: picker.change(picker.edit))

    rule = {"height": 1, "char": "─", "style": "class:faint"}
    body = HSplit(
        [
            VSplit(
                [
                    Window(FormattedTextControl("search: "), width=8, height=1),
                    Window(BufferControl(picker.buffer), height=1),
                    Window(FormattedTextControl(picker.counts), height=1, dont_extend_width=True),
                ]
            ),
            Window(**rule),  # type: ignore[arg-type]
            Window(FormattedTextControl(picker.lines), wrap_lines=False),
            Window(**rule),  # type: ignore[arg-type]
            Window(FormattedTextControl(picker.preview), wrap_lines=True),
            Window(FormattedTextControl(picker.footer), height=1, style="class:keys"),
        ]
    )
    app: Application[Found | None] = Application(
        Layout(body),
        key_bindings=bound,
        style=_STYLE,
        full_screen=True,
    )
    app.ttimeoutlen = 0.05  # Esc by itself, and not the beginning of another key
    return app

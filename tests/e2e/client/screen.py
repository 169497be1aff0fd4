"""A small terminal emulator: enough to read what the client shows.

Imports: the standard library.
"""

from __future__ import annotations

import re

ESCAPE = re.compile(
    r"\x1b(?:"
    r"\[(?P<private>[<-?]*)(?P<args>[0-9;:]*)(?P<inter>[ -/]*)(?P<final>[@-~])"  # CSI
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC
    r"|[P_^][^\x1b]*\x1b\\"  # DCS, APC, PM
    r"|[()#][\x20-\x7e]"  # character sets
    r"|[=>78cDEHMNOZ])"
)
# A sequence may be cut between two reads; longer than this it is not one we know.
LONGEST_ESCAPE = 4096
RULE = re.compile(r"^─{20,}")


class Screen:
    """A grid of characters that follows the client's cursor movements and erasures."""

    def __init__(self, rows: int = 50, columns: int = 160) -> None:
        self.rows, self.columns = rows, columns
        self._cells = [self._blank() for _ in range(rows)]
        self._row = self._column = 0
        self._rest = ""

    def _blank(self) -> list[str]:
        return [" "] * self.columns

    def feed(self, text: str) -> None:
        """Take the client's output, in pieces of any size."""
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self._put(text[at])
                at += 1
                continue
            found = ESCAPE.match(text, at)
            if found:
                if found["final"] and not found["private"] and not found["inter"]:
                    self._control(found["args"], found["final"])
                at = found.end()
            elif len(text) - at < LONGEST_ESCAPE:
                self._rest = text[at:]
                return
            else:
                at += 1

    def _put(self, char: str) -> None:
        if char == "\r":
            self._column = 0
        elif char == "\n":
            self._newline()
        elif char == "\b":
            self._column = max(0, self._column - 1)
        elif char == "\t":
            self._column = min(self.columns - 1, (self._column // 8 + 1) * 8)
        elif char >= " ":
            if self._column >= self.columns:
                self._column = 0
                self._newline()
            self._cells[self._row][self._column] = char
            self._column += 1

    def _newline(self) -> None:
        if self._row < self.rows - 1:
            self._row += 1
        else:
            self._cells = [*self._cells[1:], self._blank()]

    def _control(self, args: str, final: str) -> None:
        numbers = [int(arg) if arg.isdigit() else 0 for arg in args.split(";")]
        first = numbers[0]
        second = numbers[1] if len(numbers) > 1 else 0
        step = first or 1
        if final in "ABEFd":
            target = {"d": step - 1, "A": self._row - step, "F": self._row - step}
            self._row = max(0, min(self.rows - 1, target.get(final, self._row + step)))
            if final in "EF":
                self._column = 0
        elif final in "CDG":
            target = {"C": self._column + step, "D": self._column - step, "G": step - 1}
            self._column = max(0, min(self.columns - 1, target[final]))
        elif final in "Hf":
            self._row = min(self.rows - 1, step - 1)
            self._column = min(self.columns - 1, (second or 1) - 1)
        elif final == "J":
            self._erase_screen(first)
        elif final == "K":
            self._erase_line(first)
        elif final == "X":
            self._erase(self._column, self._column + step)

    def _erase_screen(self, how: int) -> None:
        if how in (2, 3):
            self._cells = [self._blank() for _ in range(self.rows)]
        elif how == 0:
            self._erase(self._column, self.columns)
            for row in range(self._row + 1, self.rows):
                self._cells[row] = self._blank()

    def _erase_line(self, how: int) -> None:
        start = 0 if how in (1, 2) else self._column
        end = self._column + 1 if how == 1 else self.columns
        self._erase(start, end)

    def _erase(self, start: int, end: int) -> None:
        for column in range(start, min(end, self.columns)):
            self._cells[self._row][column] = " "

    def text(self) -> str:
        """The screen as lines, without blanks at their ends."""
        return "\n".join("".join(row).rstrip() for row in self._cells).strip("\n")

    def prompt(self) -> str | None:
        """What stands in the client's input box (without its mark), or None without a box.

        The box is what lies between the last two horizontal rules.
        """
        lines = self.text().splitlines()
        rules = [number for number, line in enumerate(lines) if RULE.match(line)]
        if len(rules) < 2:
            return None
        inside = "\n".join(line.strip() for line in lines[rules[-2] + 1 : rules[-1]])
        return inside[1:].strip() if inside[:1] in ("❯", "!", ">") else None

    def footer(self) -> str:
        """What stands below the input box."""
        lines = self.text().splitlines()
        rules = [number for number, line in enumerate(lines) if RULE.match(line)]
        return "\n".join(lines[rules[-1] + 1 :]) if rules else ""

"""The tree of errors a person or a script can meet.

    LtmError                 anything LTM refuses or cannot do (exit 1)
    ├── WrongUsage           the words of the call are off (exit 2)
    ├── NotFound             no memory, project or file of that name
    ├── Ambiguous            a short id that fits several memories
    ├── Refused              the input is understood and not accepted
    │   └── BadFile          a memory file that cannot be read as one (path and line)
    ├── Conflict             another process changed it meanwhile (compare-and-swap failed)
    ├── Busy                 another process holds the vault's write lock for too long
    ├── StorageFailed        the disk said no: full, read-only, too large, broken
    └── ModelFailed          a language model could not be asked: no login, no network, too slow
        ├── ModelBusy        it may do better in a moment: overloaded, or not reachable
        ├── BadAnswer        it answered, but not in the form it was asked for
        └── CapReached       today's calls or tokens are used up, so it was not asked

A message says what happened and to what, `path` and `line` say where, `hint` what to type next.
Foreign errors (OSError, sqlite3.Error) are turned into these where files and databases are used.
"""

from __future__ import annotations


class LtmError(Exception):
    """Anything the product refuses or cannot do; the text is meant for the person who asked."""

    exit_code = 1

    def __init__(
        self, message: str, *, path: str | None = None, line: int | None = None, hint: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.hint = hint

    def __str__(self) -> str:
        where = "" if self.path is None else f"{self.path}{f':{self.line}' if self.line else ''}: "
        return f"{where}{self.message}"


class WrongUsage(LtmError):
    """The words of the call are off."""

    exit_code = 2


class NotFound(LtmError):
    """No memory, project or file of that name."""


class Ambiguous(LtmError):
    """A short id that fits several memories."""


class Refused(LtmError):
    """The input is understood and not accepted."""


class BadFile(Refused):
    """A file that cannot be read as a memory; it is reported and never rewritten."""


class Conflict(LtmError):
    """The memory changed since it was read, so the change was not made."""


class Busy(LtmError):
    """Another process holds the vault's write lock for too long."""


class StorageFailed(LtmError):
    """The disk refused: full, read-only, too large or broken."""


class ModelFailed(LtmError):
    """A language model could not be asked; the message never quotes what it was asked."""

    def __init__(self, message: str, *, hint: str = "", cost: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.cost = cost
        """Tokens the attempt took; None when unknown."""


class ModelBusy(ModelFailed):
    """It is overloaded or cannot be reached, and may answer in a moment."""


class BadAnswer(ModelFailed):
    """It answered, but not in the form it was asked for, so nothing of it is used."""


class CapReached(ModelFailed):
    """Today's calls or tokens are used up, so it was not asked."""

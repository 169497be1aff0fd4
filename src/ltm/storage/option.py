"""One option a person can set: what it may be, and whether a value is that.

Owns the checks, for a value from a file and for one that was typed; which options there are is the
table in `options`. Imports core and the small reader.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from ltm.core.errors import WrongUsage
from ltm.storage.plainfile import is_device

OptionValue = bool | int | float | str

_TRUE = frozenset(("true", "yes", "on", "1"))
_FALSE = frozenset(("false", "no", "off", "0"))
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9_-])?\Z")


def agent_name(text: str) -> str:
    """An agent's name as a safe folder name, in small letters; anything else is refused.

    Small letters, because on some disks `Bob` and `bob` are one folder, and two agents must never
    share one without knowing.
    """
    name = text.strip().lower()
    if not _NAME.match(name) or is_device(name):
        raise WrongUsage(
            f"'{text}' cannot be the name of an agent",
            hint="use letters, digits, '-', '_' and '.', at most 64, a letter or digit first",
        )
    return name


def extension_name(text: str) -> str:
    """The name of something built in or plugged in; anything else is refused."""
    if not re.match(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z", text):
        raise WrongUsage(f"'{text}' cannot be a name", hint="use letters, digits, '-', '_', '.'")
    return text


def model_name(text: str) -> str:
    """The name of a model, or ''; what could be an option or a command is refused."""
    if text and not re.match(r"[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,127}\Z", text):
        raise WrongUsage(f"'{text}' cannot be the name of a model", hint="try: haiku")
    return text


def base_url(text: str) -> str:
    """An address of a server and nothing more: what else it may hold has no place in a config."""
    if text and not re.match(r"https?://[A-Za-z0-9._\[\]:-]+(?:/[A-Za-z0-9._~/-]*)?\Z", text):
        raise WrongUsage(
            f"'{text}' cannot be the address of a server", hint="try: http://127.0.0.1:8080"
        )
    return text


class Option(NamedTuple):
    """One option: its name, what it may be, its default, and what it does."""

    name: str
    default: OptionValue
    doc: str
    repo: bool = False
    """Whether a repository's config may set it."""
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 1_000_000
    check: Callable[[str], str] | None = None
    """Gives the value back as it is to be used, or refuses it."""
    form: str = "a name"
    """What a text may be, in words."""
    group: str = ""
    """The entry points of installed packages that offer further values, such as `ltm.eviction`."""

    @property
    def type(self) -> type[bool] | type[int] | type[float] | type[str]:
        """The type of its values."""
        return type(self.default)

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.choices:
            return f"one of: {', '.join(self.choices)}"
        if self.type is bool:
            return "true or false"
        if self.type is int:
            return f"a whole number from {self.least} to {self.most}"
        if self.type is float:
            return f"a number from {self.least} to {self.most}"
        return self.form

    def checked(self, value: object) -> OptionValue:
        """A value from a file, if it is allowed; `WrongUsage` says what is."""
        if self.type is float and type(value) is int:
            value = float(value)
        if type(value) is not self.type:
            raise self._wrong(value)
        if isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            if not self.least <= value <= self.most:
                raise self._wrong(value)
            return value
        text = str(value)
        if self.choices and text not in self.choices:
            raise self._wrong(value)
        return self.check(text) if self.check else text

    def parse(self, text: str) -> OptionValue:
        """A value a person typed, if it is allowed; `WrongUsage` says what is."""
        word = text.strip()
        if self.type is bool:
            if word.lower() not in _TRUE | _FALSE:
                raise self._wrong(text)
            return word.lower() in _TRUE
        if self.type is int:
            if not re.match(r"[+-]?[0-9]{1,18}\Z", word):
                raise self._wrong(text)
            return self.checked(int(word))
        if self.type is float:
            if not re.match(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?\Z", word):
                raise self._wrong(text)
            return self.checked(float(word))
        value = self.checked(word)
        if not self.is_offered(value):
            hint = f"it must be one of: {', '.join(self.offers)}"
            raise WrongUsage(f"{self.name} cannot be {value!r}: nothing offers it", hint=hint)
        return value

    @property
    def offers(self) -> tuple[str, ...]:
        """What is built in, and what installed packages offer, for an option that has a group."""
        from ltm.storage.extensions import names

        return str(self.default), *names(self.group)

    def is_offered(self, value: OptionValue) -> bool:
        """Whether a value is built in or installed. Only where packages are: a hook sees none."""
        return not self.group or value == self.default or value in self.offers

    def _wrong(self, value: object) -> WrongUsage:
        return WrongUsage(f"{self.name} cannot be {value!r}", hint=f"it must be {self.allowed}")

"""Texts with secrets in them, by four authors who knew neither the rules nor their samples.

In `secret_kinds.jsonl` every text and secret stands backwards: scanners of repositories would take
it for a leak otherwise. `secret_contexts.jsonl` has what people put around such a text, and
`secret_lookalikes.jsonl` has texts that only look like one of them. `more.jsonl.gz` and
`more_lookalikes.jsonl.gz` are those of a fifth author: five texts each of 418 kinds, which bring
what stands around them with them. Nothing was learned from `unseen.jsonl.gz` and
`unseen_lookalikes.jsonl.gz`, of a sixth author, and nothing may be: they measure what is not known.
`last_lookalikes.jsonl.gz` came after the weights: rules were written for some of its texts.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WINDOW = 12
"""As many characters of a secret in a row may not be left of it."""
ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "d": string.digits,
    "h": "0123456789abcdef",
    "t": string.ascii_letters,
    "u": string.ascii_uppercase + string.digits,
    "w": string.ascii_letters + string.digits + "-_",
}
BLANK = re.compile(r"\{([a-z])(\d+)\}")
_HERE = Path(__file__).parent
_LINE_STARTS = {"diff": "+", "quote": "> ", "indent": "    "}


@dataclass(frozen=True)
class Kind:
    """A text, and what in it is secret."""

    id: str
    family: str
    text: str
    secrets: tuple[str, ...]

    def left(self, after: str) -> str:
        """What is left of a secret in a text, or nothing."""
        return next((part for part in self.traces() if part in after), "")

    def traces(self) -> Iterator[str]:
        """Every part of the secrets that says too much, as it stands in a text or in JSON."""
        rest = self.text
        for secret in self.secrets:
            rest = rest.replace(secret, "\0")
        for secret in self.secrets:
            for form in dict.fromkeys((secret, json.dumps(secret)[1:-1], escaped(secret))):
                yield form
                for line in form.split("\n"):
                    for start in range(len(line) - WINDOW + 1):
                        if (part := line[start : start + WINDOW]) not in rest:
                            yield part


@dataclass(frozen=True)
class Context:
    """What stands around a text."""

    id: str
    template: str
    escape: str
    inline: bool

    def takes(self, kind: Kind) -> bool:
        return not self.inline or "\n" not in kind.text

    def around(self, text: str) -> str:
        """The text in its place."""
        if self.escape == "json":
            text = escaped(text)
        start = _LINE_STARTS.get(self.escape, "")
        return self.template.replace("{text}", "\n".join(start + x for x in text.split("\n")))


def escaped(text: str) -> str:
    """The text as it stands inside of a JSON string."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def kinds() -> list[Kind]:
    return list(map(_kind, _rows("secret_kinds.jsonl")))


def more() -> list[Kind]:
    return list(map(_kind, _rows("more.jsonl.gz")))


def unseen() -> list[Kind]:
    return list(map(_kind, _rows("unseen.jsonl.gz")))


def unseen_lookalikes() -> list[str]:
    return [text[::-1] for text in _rows("unseen_lookalikes.jsonl.gz")]


def last_lookalikes() -> list[str]:
    return [text[::-1] for text in _rows("last_lookalikes.jsonl.gz")]


def _kind(row: dict[str, Any]) -> Kind:
    secrets = tuple(secret[::-1] for secret in row["secrets"])
    return Kind(row["id"], row["family"], row["text"][::-1], secrets)


def contexts() -> list[Context]:
    return [
        Context(row["id"], row["template"], row.get("escape", ""), row.get("inline", False))
        for row in _rows("secret_contexts.jsonl")
    ]


def lookalikes() -> list[str]:
    return list(_rows("secret_lookalikes.jsonl"))


def more_lookalikes() -> list[str]:
    return [text[::-1] for text in _rows("more_lookalikes.jsonl.gz")]


def _rows(name: str) -> Iterator[Any]:
    data = (_HERE / name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    return map(json.loads, text.decode().splitlines())


def fill(template: str, seed: int = 0) -> str:
    """A sample of the tables with its blanks filled."""
    return filled(template, seed)[0]


def filled(template: str, seed: int) -> tuple[str, str]:
    """A sample with its blanks filled, and what stands in the longest of them: the secret."""
    rng = random.Random(f"{template} {seed}")
    parts = [""]

    def written(blank: re.Match[str]) -> str:
        parts.append("".join(rng.choices(ALPHABETS[blank[1]], k=int(blank[2]))))
        return parts[-1]

    return BLANK.sub(written, template), max(parts, key=len)

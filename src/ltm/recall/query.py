"""What a question asks by: its words and their weight, whose words it is after, when, which files.

Any text is a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import NamedTuple

from ltm.history.passage import ASSISTANT, USER
from ltm.text.dates import DateSpan, spans
from ltm.text.terms import STOP, query_terms, terms

MOST_WORDS = 64
"""Terms of a long question that count: it may be a whole text."""

LONGEST = 100_000
"""Characters of a question that are read: a log of a megabyte would take a second."""

_MOST_PATHS = 4
_EDGES = "?!.,;:\"'`()[]{}<>*"
_PATH = re.compile(r"[\w.~@+-]*(?:/[\w.@+-]+)+/?\Z|[\w@+-][\w.@+-]*\.[A-Za-z]\w{0,9}\Z")
_FAILING = re.compile(
    r"\b\w*(?:error|exception|traceback|errno|fatal|panic)s?\b"
    r"|\b(?:fail(?:s|ed|ing|ure|ures)?|crash\w*|refused|denied|cannot|undefined|unresolved)\b",
    re.IGNORECASE,
)
_SAYING = (
    "said say told tell recommend suggest mention gave give provid list explain describ shar"
    " propos wrote write show answer"
)
_OF_AGENT = re.compile(
    rf"\byou(?:'ve|'d| have| had| did| also)?(?: \w+)?? (?:{'|'.join(_SAYING.split())})\w*"
    r"|\bremind me\b|\byour (?:answer|advice|suggestion|recommendation|explanation|plan)\w*",
    re.IGNORECASE,
)
_OF_USER = re.compile(r"\b(?:i|i'm|i've|i'd|my|me|mine|myself|we|our|us)\b", re.IGNORECASE)


class Question(NamedTuple):
    """A question as ranking sees it."""

    text: str
    weights: Mapping[str, float]
    """Its terms and how much each counts: a plain word 1, those of a compound less."""
    compounds: Mapping[str, tuple[str, ...]] = {}
    """Terms that are whole compounds, and the terms of their parts."""
    role: str = ""
    """Whose words it is after, `user` or `assistant`; '' when it does not say."""
    spans: tuple[DateSpan, ...] = ()
    paths: tuple[str, ...] = ()
    """The files it names."""
    failing: bool = False
    """Whether it is about something that went wrong."""

    def wholes(self, known: Callable[[str], bool]) -> list[str]:
        """Its terms without the parts of compounds whose whole is known.

        For searches that cannot weigh words: there a name of four parts would count as five.
        """
        parts = {part for whole, parts in self.compounds.items() if known(whole) for part in parts}
        return [word for word in self.weights if word not in parts]


def understood(text: str, today: date) -> Question:
    """A question, seen from the day on which it is asked."""
    text = text[:LONGEST]
    weights, compounds = _weighed(text)
    return Question(
        text,
        weights,
        compounds,
        _role(text),
        tuple(spans(text[:2_000], today)),
        _paths(text),
        _FAILING.search(text) is not None,
    )


def _weighed(text: str) -> tuple[dict[str, float], dict[str, tuple[str, ...]]]:
    """The terms of a text and their weights, and which of them are parts of which.

    A compound such as `ecommerce-api` or `src/app.py` gives one term for the whole and one for each
    part. Half the weight of a word is the whole's, half is shared by its parts: else a name of four
    parts would count as five words and drown the rest of the question.
    """
    weights: dict[str, float] = {}
    compounds: dict[str, tuple[str, ...]] = {}
    for word in text.split():
        whole, *parts = [term for term in dict.fromkeys(terms(word)) if term not in STOP] or [""]
        if not whole:
            continue
        weights[whole] = max(weights.get(whole, 0.0), 0.5 if parts else 1.0)
        if parts:
            compounds[whole] = tuple(parts)
        for part in parts:
            weights[part] = max(weights.get(part, 0.0), 0.5 / len(parts))
        if len(weights) >= MOST_WORDS:
            break
    if not weights:
        weights = dict.fromkeys(query_terms(text), 1.0)
    return dict(list(weights.items())[:MOST_WORDS]), compounds


def _role(text: str) -> str:
    if _OF_AGENT.search(text):
        return ASSISTANT
    return USER if _OF_USER.search(text) else ""


def _paths(text: str) -> tuple[str, ...]:
    words = (word.rstrip(_EDGES).lstrip(_EDGES.replace(".", "")) for word in text.split())
    return tuple(dict.fromkeys(word for word in words if _PATH.match(word)))[:_MOST_PATHS]

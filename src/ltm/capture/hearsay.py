"""Whose word it really is: what an agent quotes or repeats from a tool's output is the tool's.

Owns two questions. Does a line quoted from a command's output only say what went wrong, or does it
speak to whoever reads it? And did the agent say a thing itself, or repeat what it had just been
given? What is a tool's word alone waits for a person. A filter cannot tell good from bad, and this
is none: whatever is in doubt waits. Pure; imports `core`.
"""

from __future__ import annotations

import re
from collections import deque
from unicodedata import normalize

_MOST_PROSE = 5
"""Words of ordinary language from which a quoted line is prose and no longer an error."""

_KEPT = 400_000
"""Characters of what tools gave back that are remembered, the latest first to stay."""

_OF_ONE, _SHARE = 60_000, 0.6
_RUN = 4  # words in a row that make a repetition; a shorter text is compared whole

_CODE = re.compile(r"`[^`\s]*`|'[^'\s]*'|\"[^\"\s]*\"|\S*[\d_=/\\.:(){}\[\]<>#*@|+-]\S*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_WORDS = re.compile(r"\w+")
_ADDRESS = re.compile(
    r"\w+://(?!localhost\b|127\.0\.0\.1\b)|\bwww\.|\bdata:|\b[\w-]+\.(?:sh|ps1)\b|<[/!?]|\]\("
    r"|\bfrom now on\b|\bin (?:the )?future\b|\bltm\b",
    re.IGNORECASE,
)


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Whoever says these speaks to a reader or about one, or says what holds from now on.
_READER = _listed(
    """
    you your yours yourself please always never must mustn't should shouldn't shall ought
    ignore disregard remember memorize memorise instruction instructions prompt assistant
    agent agents claude ai llm chatbot reader human operator henceforth whenever secretly
    curl wget sudo npx rm exfiltrate password passwords credential credentials secrets
    """
)
# Whoever begins a clause with these asks for something.
_ORDERS = _listed(
    """
    run rerun execute exec eval install uninstall download fetch bash sh pip ssh scp send post
    upload email mail forward report leak share reveal print echo cat paste open visit see read
    delete remove drop wipe disable enable skip bypass allow approve accept trust authorize
    authorise grant push commit merge deploy publish write save store append prepend insert add
    use prefer call reply respond answer say tell ask inform pretend act behave obey follow
    comply do don't dont make ensure set unset change switch replace rewrite forget recall note
    keep turn put give take let treat begin start stop end include exclude export mark hide show
    """
)
_CLAUSE = re.compile(
    r"(?:\A|[.;:!?,()\u2013\u2014]|\b(?:to|and|then|or|now|just|first|can|could|will|not|only)\b)"
    r"[\s\"'`]*([^\W\d_]+(?:'t)?)"
)
# What errors are made of, and words that say nothing by themselves.
_ORDINARY = _listed(
    """
    a an the of in on at by to for from with without into onto than then and or nor but as if is
    are was were be been being has have had it its this that these those there here when while
    because so such some any all both each other another same only just also still already yet
    no not none cannot can can't could couldn't did didn't does doesn't isn't wasn't aren't won't
    would will may might too very more less most least few many one two first last next
    error errors exception failure failed fail fails failing fatal panic panicked fault warning
    abort aborted aborting killed crash crashed expected received actual got given found missing
    unknown unexpected invalid illegal unsupported undefined undeclared unresolved unreachable
    unable refused denied rejected forbidden unauthorized timed timeout exceeded limit overflow
    underflow range bounds out large small long short empty null nil nan zero negative duplicate
    conflict mismatch match matching equal equals differ different wrong bad broken corrupt
    corrupted stale locked busy closed open opened connection connect connecting connected
    network host port address socket server client request response status code exit exited
    returned return value values type types object objects property properties attribute
    attributes field fields key keys index name names named function method class module package
    import imports export exports file files directory folder path line column character token
    tokens syntax parse parsing parser string number integer float boolean list array dict map
    variable constant argument arguments parameter parameters option options flag command script
    target build compile compiling compiled compiler link linker library version requires require
    required support supported compatible incompatible test tests suite assertion assert case
    database table column constraint query migration permission access resource memory heap stack
    thread process signal config configuration setting settings environment dependency resolve
    resolved resolving load loaded loading read reading input output format encoding
    decode encode data schema body header json yaml toml xml http https tls ssl certificate
    find following above below location located valid size check documentation details available
    specified provided satisfies requirement satisfy determine initialized uninitialized partially
    circular cyclic recursive recursion depth borrow borrowed mutable immutable lifetime moved
    reference references pointer instance declared declaration defined definition define symbol
    symbols overwritten untracked working tree branch merge revision binary partition device
    driver kernel clause join statement transaction deadlock rollback lock already currently
    detected encountered occurred during performing trying attempt attempted operation call
    """
)


def speaks(quote: str) -> bool:
    """Whether a line from a tool's output does more than say what went wrong.

    It does when it addresses a reader, asks for something, leads somewhere, hides something, or is
    simply too much like prose.
    """
    if _ADDRESS.search(quote) or not quote.isprintable() or normalize("NFKC", quote) != quote:
        return True
    plain = _CODE.sub(_stop, quote).lower()
    words = _WORD.findall(plain)
    if not all(word.isascii() for word in words) or not _READER.isdisjoint(words):
        return True
    begun = (found[1] for found in _CLAUSE.finditer(plain))
    return not _ORDERS.isdisjoint(begun) or len(set(words) - _ORDINARY) >= _MOST_PROSE


def _stop(code: re.Match[str]) -> str:
    """What stands for a piece of code: nothing, or the stop it ends with."""
    return f" {code[0][-1]} " if code[0][-1] in ".;:!?,)" else " "


class Heard:
    """What tools gave back lately, to tell whether the agent's words are its own."""

    def __init__(self) -> None:
        self._texts: deque[str] = deque()
        self._size = 0

    def note(self, text: str) -> None:
        """Remember what a tool gave back: its beginning, if it is long."""
        part = text[:_OF_ONE]
        self._texts.append(part)
        self._size += len(part)
        while self._size > _KEPT:
            self._size -= len(self._texts.popleft())

    def holds(self, text: str) -> bool:
        """Whether most of a text stands, word for word, in what a tool gave back."""
        words = _WORDS.findall(text.casefold())
        runs = [tuple(words[place : place + _RUN]) for place in range(len(words) - _RUN + 1)]
        wanted = set(runs) or {tuple(words)}
        if not words:
            return False
        length = len(next(iter(wanted)))
        telling = sorted(set(words), key=len, reverse=True)
        for given in self._texts:
            folded = given.casefold()
            if _lacks_most(folded, telling, wanted):
                continue
            there = _WORDS.findall(folded)
            found = {
                tuple(there[place : place + length])
                for place in range(len(there) - length + 1)
                if there[place] in words
            }
            if len(wanted & found) >= _SHARE * len(wanted):
                return True
        return False


def _lacks_most(text: str, words: list[str], wanted: set[tuple[str, ...]]) -> bool:
    """Whether a text cannot hold enough of these runs, because words of theirs stand nowhere in it.

    Most of what is remembered is about something else, and its words, the longest first, tell that
    at a fraction of what taking it apart costs.
    """
    left = wanted
    for word in words:
        if word not in text:
            left = {run for run in left if word not in run}
            if len(left) < _SHARE * len(wanted):
                return True
    return False

"""The terms a text is found by: one tokeniser for the search index and for the questions.

What becomes a term:

- plain words, without case, accents, compatibility forms and English endings (`core.stem`);
- identifiers, paths and codes, whole and in parts: `src/app/userStore.py` gives the path, the file
  name, the stem `userstore`, and `src`, `app`, `user`, `store`, `py`; `ERR_NOT_FOUND` gives
  `err_not_found`, `err`, `not`, `found`; parts of one letter are left out;
- scripts written without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) as
  overlapping pairs of characters. A Han or Hangul character is often a word by itself, so these are
  terms too, and a question of one character finds its texts; single kana or Thai letters are not.

Alphabet: `a-z`, `0-9`, `_` and any characters beyond ASCII that are neither space nor punctuation.
Whatever joins the parts of an identifier (`.`, `-`, `/`, `::` ...) is written `_`. SQLite keeps
exactly these terms with the `TOKENIZER` of `storage.database`.

Imports `core.stem` and `core.scripts`; no I/O.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain

from ltm.core.stem import stem

LONGEST = 64
"""No term has more characters than this."""

_COMMON = (
    "a about after am an and any are as at be because been before being but by can could did do"
    " does doing dont for from had has have having he her hers him his how i if in into is it its"
    " just may me might my no not of on or our ours over shall she should so some than that the"
    " their theirs them then there these they this those to too us very was we were what when where"
    " which while who whom whose why will with would you your yours"
)
STOP = frozenset(_COMMON.split())
"""Words too common to search for. Never stemmed, so a term can be looked up here as it stands."""

_JOINT = r"(?:[-./\\:@'’]|::)"


def _chunk(word: str) -> str:
    """What a run of characters looked at as one is: words joined by single joints.

    The cut at 64 keeps every term short, and one long blob from becoming one long key.
    """
    return rf"[{word}]{{1,64}}(?:{_JOINT}[{word}]{{1,64}}){{0,11}}(?:\+\+|#)?"


_ASCII_CHUNKS = re.compile(_chunk("0-9A-Za-z_"))
_HUMPS = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HASH = re.compile(r"(?:0[xX])?(?=[a-fA-F]*[0-9])[0-9a-fA-F]{7,}\Z")
_CONTRACTION = re.compile(r"(?:(n)['’](t)|['’](?:s|re|ve|ll|d|m))\Z", re.IGNORECASE)
_SIGNED = {"c++": "cpp", "g++": "gpp", "c#": "csharp", "f#": "fsharp"}
_JOINTS = str.maketrans({"\\": "/", ":": "/", "@": "/", "'": "/", "’": "/"})
_TO_UNDERSCORE = str.maketrans({"/": "_", ".": "_", "-": "_"})


def terms(text: str) -> list[str]:
    """Every term of a text, in order and with repetitions, as the index stores them."""
    chunks = _ASCII_CHUNKS.findall(text) if text.isascii() else _chunks_beyond_ascii(text)
    return list(chain.from_iterable(map(_MEMO.__getitem__, chunks)))


def query_terms(text: str) -> list[str]:
    """The terms to search for: each once, without stop words unless there is nothing else."""
    found = dict.fromkeys(terms(text))
    return [term for term in found if term not in STOP] or list(found)


class _Memo(dict[str, tuple[str, ...]]):
    """Terms of the chunks seen lately: a text has far fewer different words than words."""

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        found = _split(chunk)
        if len(chunk) <= LONGEST:
            if len(self) >= 20_000:
                self.clear()
            self[chunk] = found
        return found


_MEMO = _Memo()


def _chunks_beyond_ascii(text: str) -> list[str]:
    from ltm.core import scripts  # only texts beyond ASCII pay for loading it

    return _any_chunks().findall(scripts.spaced(scripts.folded(text)))


@cache
def _any_chunks() -> re.Pattern[str]:
    from ltm.core import scripts

    return re.compile(f"{scripts.UNSPACED.pattern}|{_chunk(scripts.WORD)}")


def _split(chunk: str) -> tuple[str, ...]:
    """The terms of one run of characters, each once: the whole first, then its parts."""
    if not chunk[0].isascii():
        from ltm.core import scripts

        if scripts.UNSPACED.match(chunk):
            return (*scripts.singles(chunk), *scripts.pairs(chunk)) if len(chunk) > 1 else (chunk,)
    if chunk[-1] in "+#":
        signed = _SIGNED.get(chunk.lower())
        if signed:
            return (signed,)
        chunk = chunk.rstrip("+#")
    if "'" in chunk or "’" in chunk:
        chunk = _CONTRACTION.sub(r"\1\2", chunk)
    found: dict[str, None] = {}
    _collect(chunk.translate(_JOINTS), "/.-_", found)
    if len(found) > 1:
        return tuple(term for term in found if len(term) > 1 or not term.isascii())
    return tuple(found)


def _collect(piece: str, joints: str, found: dict[str, None]) -> None:
    """Adds a piece and, below it, what its strongest joint divides it into."""
    for place, joint in enumerate(joints):
        if joint in piece:
            parts = [part for part in piece.split(joint) if part.strip("_")]
            if len(parts) > 1:
                names = piece.casefold().translate(_TO_UNDERSCORE).split("_")
                whole = "_".join(filter(None, names))
                if len(whole) <= LONGEST:
                    found[whole] = None
                    if whole[0] == "v" and whole[1].isdigit():
                        found[whole[1:]] = None  # v1.2.3 is asked for as 1.2.3
                for part in parts:
                    _collect(part, joints[place + 1 :], found)
                return
            piece = parts[0] if parts else ""
    if piece:
        _collect_word(piece, found)


def _collect_word(piece: str, found: dict[str, None]) -> None:
    """Adds a run of letters and digits and, when it has humps as in camelCase, its parts."""
    if not piece.isascii():
        from ltm.core import scripts

        word = scripts.caseless(piece)[:LONGEST]
        found[_normal(word) if word.isascii() else word] = None
        return
    found[_normal(piece.lower())] = None
    if piece.islower() and piece.isalpha():
        return
    if _HASH.match(piece):
        if piece[1] in "xX":
            found[piece[2:].lower()] = None
        return
    humps = _HUMPS.findall(piece)
    if 1 < len(humps) <= 12:  # more humps than that are a blob, not a name
        for hump in humps:
            found[_normal(hump.lower())] = None


def _normal(word: str) -> str:
    return stem(word) if word.isalpha() and word not in STOP else word

"""Search terms of a text: one tokeniser for the search index and for the questions.

What becomes a term:

- plain words, without case, accents, compatibility forms and English endings;
- identifiers, paths and codes, whole and in parts: `src/app/userStore.py` gives the path, the file
  name, the stem `userstore`, and `src`, `app`, `user`, `store`, `py`; `ERR_NOT_FOUND` gives
  `err_not_found`, `err`, `not`, `found`; parts of one letter are left out;
- scripts written without spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) as
  overlapping pairs of characters. A Han or Hangul character is often a word by itself, so these are
  terms too, and a question of one character finds its texts; single kana or Thai letters are not.

Alphabet: `a-z`, `0-9`, `_` and any characters beyond ASCII that are neither space nor punctuation.
Whatever joins the parts of an identifier (`.`, `-`, `/`, `::` ...) is written `_`. SQLite keeps
exactly these terms with the `TOKENIZER` of `ltm.files.sqlite`.

The tables for writing beyond ASCII take milliseconds to build, so they are built for the first text
that needs them.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache
from itertools import chain

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

_ELSEWHERE = (
    "de el le der vom zu wann wo wie warum wieso wer wem welche welcher welches welchen ist sind"
    " waren haben hatte wird werden wurde kann konnen durfen darf muss mussen soll sollen wir"
    " ihr uns unser unsere unseren unserem ich mir mich du dir dich dem das ein eine einen einem"
    " einer und oder aber mit von auf bei zum zur nach aus dass wenn auch noch nochmal"
    " denn que cual cuando donde como quien por los las una unos unas esta estan hay nuestro"
    " nuestra nuestros nuestras tenemos muy quand pourquoi quel quelle quels quelles sont les une"
    " nous vous notre nos votre dans avec qui doit doivent peut elle ils elles perche"
    " quale quali chi cosa sono della delle dei degli nel nella gli nostro nostra abbiamo onde"
    " porque qual quais quem sao nosso nossa nossos nossas temos uma wanneer waar waarom welke"
    " wij onze het een voor niet zijn hebben moet kiedy gdzie jak dlaczego kto ktory ktora ktore"
    " jest nasz nasza czy когда где как почему зачем кто что какои какая какие какое мы наш наша"
    " наши нас на из для это эта этот или если коли де чому хто якии яка які або ми nerede nasil"
    " neden hangi bir icin hur varfor vem vilken och for"
)


@cache
def common_terms() -> frozenset[str]:
    """The stop words, and those of other languages that mean nothing else in English or in code.

    They stand in the list without accents, as terms do: to fold them would cost each question more.
    """
    return STOP.union(stem(word) if word.isascii() else word for word in _ELSEWHERE.split())


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
    if text.isascii():
        chunks = _ASCII_CHUNKS.findall(text)
    else:
        chunks = _any_chunks().findall(spaced(folded(text)))
    return list(chain.from_iterable(map(_MEMO.__getitem__, chunks)))


def query_terms(text: str) -> list[str]:
    """The terms to search for: each once, without stop words unless there is nothing else."""
    found = dict.fromkeys(terms(text))
    return [term for term in found if term not in STOP] or list(found)


def question_terms(text: str) -> list[str]:
    """The same of what a person asks, in any language: "warum" and "dónde" find nothing."""
    found = query_terms(text)
    return [term for term in found if term not in common_terms()] or found


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


@cache
def _any_chunks() -> re.Pattern[str]:
    return re.compile(f"{unspaced().pattern}|{_chunk(_WORD)}")


def _split(chunk: str) -> tuple[str, ...]:
    """The terms of one run of characters, each once: the whole first, then its parts."""
    if not chunk[0].isascii() and unspaced().match(chunk):
        words = (char for char in chunk if char >= "\u3400" or char == "\u3005")  # Han and Hangul
        return (*words, *pairs(chunk)) if len(chunk) > 1 else (chunk,)
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
        word = caseless(piece)[:LONGEST]
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


# -- English endings -------------------------------------------------------------------------------
#
# Porter's algorithm of 1980, which full-text engines use, and before it a short list of forms that
# no suffix rule can join ("chose") or that Porter's rules would tear apart ("added"), and of words
# that they would join with others ("projection" with "project").

_FORMS = (
    "add added adding|begin began begun|break broke broken|bring brought|build built|buy bought"
    "|catch caught|child children|choose chose chosen choice choices|db dbs"
    "|decide decision decisions decisive|draw drew drawn|drive drove driven|eat ate eaten"
    "|fall fell fallen|find found|forget forgot forgotten|freeze froze frozen|get got gotten"
    "|give gave given|grow grew grown|hide hid hidden|hold held|id ids|index indices indexes"
    "|ip ips|keep kept|know knew known|lead led|leave left|lose lost|make made making|meet met"
    "|pay paid|pr prs|query queries|rebuild rebuilt|run ran|see saw seen|sell sold|send sent"
    "|speak spoke spoken|spend spent|take took taken|teach taught|tell told|think thought"
    "|throw threw thrown|understand understood|use used using|vm vms|win won|write wrote written"
)
_IRREGULAR = {form: forms.split()[0] for forms in _FORMS.split("|") for form in forms.split()[1:]}

_SEPARATE = (
    "went gone goes going|animation animations animate animated animating|authority authorities"
    "|authorize authorizes authorized authorizing authorization authorise authorised authorisation"
    "|commitment commitments|community communities|container containers containerized"
    "|conversation conversations conversational|customer customers|department departments"
    "|digital digitally|direction directions|engineer engineers engineering engineered"
    "|evening evenings|exception exceptions|executive executives"
    "|experiment experiments experimental experimenting|expression expressions|general generally"
    "|generic generics generically|identity identities|important importance importantly|integrity"
    "|internal internals internally|international|locale locales|marketing|news"
    "|objective objectives|organize organizes organized organizing organization organizations"
    " organizational organise organised organisation|paste pastes pasted pasting"
    "|personal personally|position positions positioned positioning|production productions"
    "|projection projections|publication publications|rational|terminal terminals"
    "|universal universally|universe|university universities"
)
SEPARATE = {form: forms.split()[0] for forms in _SEPARATE.split("|") for form in forms.split()}
"""Words whose stem would be that of a word with another meaning, in their forms, and their own
stems: what went somewhere is not written in Go, and a projection is not a project."""


def _suffixes(table: str) -> tuple[tuple[str, str], ...]:
    rows = (row.partition(":") for row in table.split())
    return tuple((suffix, new) for suffix, _, new in rows)


# Porter's tables: the first suffix that fits is the only one tried, so longer ones stand first.
# Most words end in none of them, which one look says.
_STEP_2 = _suffixes(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e"
    " ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous"
    " aliti:al iviti:ive biliti:ble logi:log"
)
_STEP_3 = _suffixes("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


_ENDS_2, _ENDS_3 = (tuple(suffix for suffix, _ in table) for table in (_STEP_2, _STEP_3))


def stem(word: str) -> str:
    """The stem of a lower-case ASCII word: `running`, `runs`, `ran` and `run` become `run`."""
    if word in SEPARATE:
        return SEPARATE[word]
    word = _IRREGULAR.get(word, word)
    found = porter(word)
    if len(found) > 2:
        return found
    # Porter makes "us" of "use", "id" of "ide" and "aw" of "aws": other words, or none at all.
    return word.removesuffix("s") if len(word) > 3 else word


def porter(word: str) -> str:
    """Porter's stem of a lower-case ASCII word; words of one or two letters stay as they are."""
    if len(word) < 3:
        return word
    word = _plural(word)
    word = _past_or_ing(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    if word.endswith(_ENDS_2):
        word = _replaced(word, _STEP_2)
    if word.endswith(_ENDS_3):
        word = _replaced(word, _STEP_3)
    for suffix in _STEP_4 if word.endswith(_STEP_4) else ():
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t"))):
                word = rest
            break
    if word.endswith("e"):
        rest = word[:-1]
        if (measure := _measure(rest)) > 1 or (measure == 1 and not _closed(rest)):
            word = rest
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past_or_ing(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            shape = _shape(rest)
            if "v" not in shape:
                return word
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if shape[-2:] == "cc" and rest[-1] == rest[-2] and rest[-1] not in "lsz":
                return rest[:-1]
            return rest + "e" if shape.count("vc") == 1 and _closed(rest) else rest
    return word


def _replaced(word: str, table: tuple[tuple[str, str], ...]) -> str:
    for suffix, new in table:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + new if _measure(rest) else word
    return word


def _shape(word: str) -> str:
    """The word as `v` and `c`; a `y` is a vowel when it follows a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    """How many times consonants follow vowels: Porter's m, roughly the syllables."""
    return _shape(word).count("vc")


def _closed(word: str) -> bool:
    """Whether it ends consonant, vowel, consonant (other than w, x, y), as `hop` does."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"


# -- writing beyond ASCII --------------------------------------------------------------------------

# Blocks of the scripts without spaces. Korean has spaces, but its particles stick to the words, so
# pairs of syllables serve it better.
_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL = "\u1100-\u11ff\uac00-\ud7ff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_THAI_LAO = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece"
_BURMESE_KHMER = "\u1000-\u1049\u1050-\u109f\u1780-\u17d3"

_WORD = r"\w\u0900-\u0963\u0966-\u0dff"
# The characters of words, inside of a pattern's `[...]`. The blocks are the Indic ones, whose vowel
# signs `\w` leaves out, so that words would fall apart.

# Accents; the vowel points of Hebrew and Arabic, which the same word has or has not; joiners.
_DROPPED = (
    "[\u0300-\u036f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u00ad\u200b-\u200d\u2060\ufeff]+"
)
# Latin letters that no normal form takes apart.
_LETTERS = str.maketrans(
    {"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)


@cache
def unspaced() -> re.Pattern[str]:
    """A run of characters of scripts without spaces."""
    return re.compile(f"[{_HAN}{_HANGUL}{_KANA}{_THAI_LAO}{_BURMESE_KHMER}]+")


def folded(text: str) -> str:
    """The text without accents, vowel points and compatibility forms; case stays."""
    from unicodedata import normalize

    return normalize("NFC", re.sub(_DROPPED, "", normalize("NFKD", text)))


def caseless(word: str) -> str:
    """A folded word without case, its letters in plain Latin where there is such a letter."""
    return word.casefold().translate(_LETTERS)


def spaced(text: str) -> str:
    """The text with every run of a script without spaces set off by spaces."""
    return unspaced().sub(r" \g<0> ", text)


def words(text: str) -> list[str]:
    """The words of a text: runs of letters, digits and the signs that belong to them."""
    return re.findall(f"[{_WORD}]+", text)


def pairs(run: str) -> list[str]:
    """The overlapping pairs of characters of a run; a run of one is that character."""
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def matches(text: str, words: Set[str], look: str = "", begun: str = "") -> list[tuple[str, str]]:
    """A text in parts, with those that have a word of the question marked as a match.

    `begun` is a word that is still being typed: what it is the beginning of matches too.
    """
    parts: list[tuple[str, str]] = []
    end = 0
    for found in re.finditer(r"\w+", text):
        starts = begun and found[0].lower().startswith(begun)
        if words.isdisjoint(terms(found[0])) and not starts:
            continue
        for begin, stop in _found_in(found[0], words):
            parts += [
                (text[end : found.start() + begin], look),
                (found[0][begin:stop], "match"),
            ]
            end = found.start() + stop
    return [*parts, (text[end:], look)]


def _found_in(word: str, words: Set[str]) -> list[tuple[int, int]]:
    """Where in a run of letters the words are: all of it, but for scripts without spaces."""
    if word.isascii():
        return [(0, len(word))]
    low = word.lower()
    places = [(low.find(each), len(each)) for each in words if each in low]
    found: list[tuple[int, int]] = []
    for begin, size in sorted(places, key=lambda place: (place[0], -place[1])):
        if not found or begin >= found[-1][1]:
            found.append((begin, begin + size))
    return found or [(0, len(word))]

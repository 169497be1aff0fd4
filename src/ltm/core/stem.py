"""English word endings taken off, so that a question and a memory meet on the same stem.

The suffix rules are Porter's algorithm of 1980: old, small, and what full-text engines use. In
front of it stands a short list of forms that no suffix rule can join ("chose" and "choose") or that
Porter's rules would tear apart ("added" and "add"). Imports nothing.
"""

from __future__ import annotations

_IRREGULAR = {
    form: base
    for base, forms in {
        "add": "added adding",
        "begin": "began begun",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "catch": "caught",
        "child": "children",
        "choose": "chose chosen choice choices",
        "db": "dbs",
        "decide": "decision decisions decisive",
        "draw": "drew drawn",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "find": "found",
        "forget": "forgot forgotten",
        "freeze": "froze frozen",
        "get": "got gotten",
        "give": "gave given",
        "go": "went gone goes",
        "grow": "grew grown",
        "hide": "hid hidden",
        "hold": "held",
        "id": "ids",
        "index": "indices indexes",
        "ip": "ips",
        "keep": "kept",
        "know": "knew known",
        "lead": "led",
        "leave": "left",
        "lose": "lost",
        "make": "made making",
        "meet": "met",
        "pay": "paid",
        "pr": "prs",
        "query": "queries",
        "rebuild": "rebuilt",
        "run": "ran",
        "see": "saw seen",
        "sell": "sold",
        "send": "sent",
        "speak": "spoke spoken",
        "spend": "spent",
        "take": "took taken",
        "teach": "taught",
        "tell": "told",
        "think": "thought",
        "throw": "threw thrown",
        "understand": "understood",
        "use": "used using",
        "vm": "vms",
        "win": "won",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}

# Porter's tables: the first suffix that fits is the only one tried, so longer ones stand first.
_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def stem(word: str) -> str:
    """The stem of a lower-case ASCII word: `running`, `runs`, `ran` and `run` become `run`."""
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
    word = _replaced(word, _STEP_2)
    word = _replaced(word, _STEP_3)
    for suffix in _STEP_4:
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

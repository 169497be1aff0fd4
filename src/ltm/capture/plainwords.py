"""Turn hastily typed text into sentences that stand by themselves.

Owns where the small words around a statement end, where its reason begins, and what common slips of
the keyboard were meant to be. What of a message is speech at all is for `speech`. Pure; the
standard library only.
"""

from __future__ import annotations

import re

# Small words that can stand before a statement, and those that only do so before a stop or comma:
# "no, tabs" corrects, "no tabs" forbids.
_LEAD = re.compile(
    r"\A(?:(?:ok(?:ay)?|k|so|well|hey|hi|hello|yes|yeah|yep|nope|nah|lol|omg|wow|also|and|but|btw"
    r"|by the way|oh|ah|hm+|ugh|please|pls|just|actually|seriously|thx|thanks|thank you|then|und"
    r"|aber"
    r"|pero|mais)\b(?:[\s,.:;!–—-]+|\Z)"
    r"|(?:no|right|sure|great|good|nice|cool|perfect|lovely|excellent|fantastic|awesome|super"
    r"|now|again|first(?:ly| of all)?|second(?:ly)?|third(?:ly)?|finally|last(?:ly)?"
    r"|one (?:more |last )?(?:thing|request|note|point)|another thing"
    r"|(?:is )?important(?: to know)?"
    r"|note(?: to self)?|fyi|heads[- ]up|reminder|remember|before i forget|i said|i told you"
    r"|as i said"
    r"|like i said|listen|look|claude|very good|looks? good|got it|exactly|correct|true|agreed"
    r"|understood|makes sense|fine|done|better|works|it works|i see|alright|great work|well done"
    r"|for the record|[\w ]{0,30}\bso you know)\s*(?:[,.:;!–—-]+\s*|\Z))+",
    re.IGNORECASE,
)
_UNSPACED = 0x2E80
_SYMBOLS = re.compile(r"\A[^\w\s\"'`(<\[$./~@#*¿¡-]+\s+")
_TAIL = re.compile(
    r"(?:[\s,;–—-]*\b(?:please|pls|thanks|thank you|thx|btw|by the way|fyi|lol|in (?:the )?future"
    r"|from now on|going forward|next time|just so you know|so you know|please stick to that)"
    r"|[,.;!–—-]+\s*(?:ok(?:ay)?|alright|right|got it|understood|cheers))[\s!.?]*\Z",
    re.IGNORECASE,
)
_STANDING = re.compile(
    r"\A(?:from now on|going forward|from here on(?: out)?|in (?:the )?future|next time|as a rule"
    r"|in general|generally|for (?:the )?future(?: reference)?|for the record|for reference"
    r"|for next time|for later)[\s,:–—-]+",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"[\s,;–—-]+(?:because(?: of(?! the fact))?|since(?! (?:the|last|then|yesterday|\d))"
    r"|given that|due to(?: the fact that)?|as otherwise|the reason (?:is|being)(?: that)?)\s+",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"\s+(?:and|or|but|that|so|of|only|just)\Z", re.IGNORECASE)

# How people write when they type fast, and what the rules look for.
_SHORTHAND = {
    "pls": "please",
    "plz": "please",
    "bc": "because",
    "cuz": "because",
    "coz": "because",
    "w/": "with",
    "w/o": "without",
    "u": "you",
    "ur": "your",
    "dont": "don't",
    "doesnt": "doesn't",
    "cant": "can't",
    "wont": "won't",
    "isnt": "isn't",
    "arent": "aren't",
    "shouldnt": "shouldn't",
    "mustnt": "mustn't",
    "thats": "that's",
    "i": "I",
    "im": "I'm",
    "ive": "I've",
    "weve": "we've",
    "youre": "you're",
    "gonna": "going to",
    "everytime": "every time",
    "tmrw": "tomorrow",
}
_WORDS_LOOKED_FOR = (
    "always never remember prefer because please decided instead should whenever everywhere without"
    " before important convention forbidden tomorrow anything"
)
_KEYWORDS = frozenset(_WORDS_LOOKED_FOR.split())
_WORDS_OF_THEIR_OWN = frozenset({"decide", "prefers", "pleas", "import", "alway", "shoul"})


def _slips(word: str) -> set[str]:
    """A word with two neighbouring letters swapped, one left out, or one doubled."""
    swapped = {f"{word[:i]}{word[i + 1]}{word[i]}{word[i + 2 :]}" for i in range(1, len(word) - 1)}
    short = {word[:i] + word[i + 1 :] for i in range(1, len(word))}
    double = {word[:i] + word[i] + word[i:] for i in range(len(word))}
    return swapped | short | double


_MEANT = {
    slip: word
    for word in _KEYWORDS
    for slip in _slips(word) - _WORDS_OF_THEIR_OWN
    if slip not in _KEYWORDS
}
_TO_MEND = frozenset({*_SHORTHAND, *_MEANT})
_WORD = re.compile(r"`[^`]*`|(?<![\w.'/-])(?:[A-Za-z]+|w/o?)(?![\w'/-]|\.\w)|\bi(?='[a-z])")


def opening(text: str, most: int) -> str:
    """The beginning of a text in at most so many characters, without half a word at its end."""
    if len(text) <= most:
        return text
    head = text[:most]
    return head[: max(head.rfind(" "), head.rfind("\n"), 0)]


def repaired(sentence: str) -> str:
    """A sentence with its shorthand and slips written out; code stays as it is.

    Only words the rules look for are mended: "alwyas", "dont", "bc".
    """
    plain = sentence.replace("’", "'")
    words = set(plain.lower().replace(",", " ").replace(".", " ").split())
    if words.isdisjoint(_TO_MEND) and "i'" not in plain:
        return plain
    return _WORD.sub(_mended, plain)


def _mended(found: re.Match[str]) -> str:
    word = found[0].lower()
    meant = _SHORTHAND.get(word) or _MEANT.get(word)
    if meant is None:
        return found[0]
    return meant[0].upper() + meant[1:] if found[0][0].isupper() else meant


def parted(sentence: str) -> tuple[str, str]:
    """The small words in front of a sentence, and what is left without them."""
    whole = sentence.strip()
    former, left = "", _SYMBOLS.sub("", whole)
    while former != left:
        former = left
        left = _STANDING.sub("", _LEAD.sub("", left))
    return whole[: len(whole) - len(left)], left


def without_lead(sentence: str) -> str:
    """A sentence without the small words in front of it: "ok so please, use tabs" is "use tabs"."""
    return parted(sentence)[1]


def tidy(sentence: str) -> str:
    """A statement without greetings, fillers and thanks, as one sentence with a capital and a stop.

    "ok so from now on, always use pnpm please" becomes "Always use pnpm."
    """
    text = " ".join(sentence.split())
    former = ""
    while former != text:
        former = text
        text = _TAIL.sub("", without_lead(text)).strip(" ,;:–—-").rstrip("!.")
    if not text:
        return ""
    first = text.split()[0]
    if first.islower() and first.strip(",:;").replace("'", "").replace("’", "").isalpha():
        text = text[0].upper() + text[1:]
    unspaced = ord(text[-1]) >= _UNSPACED  # scripts that end sentences in another way
    return text if unspaced or text[-1] in "?…)`\"'" else f"{text}."


def with_reason(sentence: str) -> tuple[str, str]:
    """A statement and the reason given for it in the same sentence, if any."""
    parts = _REASON.split(sentence, maxsplit=1)
    if len(parts) != 2:
        return sentence, ""
    return _DANGLING.sub("", parts[0]), parts[1].strip(" .!")


def joined(*sentences: str) -> str:
    """Sentences one after the other, each with its stop."""
    ended = (each if each[-1] in ".!?…。！？" else f"{each}." for each in sentences if each)
    return " ".join(ended)

"""Requests to remember something: who asks for it is obeyed, whatever it is.

Owns how such a request begins or ends, in the languages people write to agents in, and what of the
sentence is to be remembered. Pure; standard library only.
"""

from __future__ import annotations

import re

_ENGLISH = (
    r"\b(?<!do you )(?<!i )(?<!can't )(?<!cannot )(?:remember|memori[sz]e|keep in mind|bear in mind"
    r"|make a (?:mental )?note|take note|note (?=that\b|:|for later|to self|the following)"
    r"|do(?:n't|nt| not) forget|(?:save|add) (?:this|that|it) (?:to|in) (?:your |the )?memory)\b"
    r"(?!\s+(?:when|how|why|what|who|where|which|last|if|the time|correctly|right|me\b|my name"
    r"|to\b(?! self)))"
    r"(?:\s*\b(?:for (?:later|next time|the future)|to self|the following[^:]{0,60}(?=:)|this"
    r"|once more)\b)*"
)
_SPACED = (
    r"\b(?:merke? (?:dir|euch)|vergiss nicht|behalte im kopf|onthoud|vergeet niet|recuerda"
    r"|acuérdate de|ten en cuenta|no olvides|toma nota|lembre(?:-se)?(?: de)?"
    r"|não (?:se )?esqueça|anota aí|souviens-toi|rappelle-toi|n'oublie pas|retiens|note bien"
    r"|ricorda(?:ti)?|non dimenticare|tieni presente|zapamiętaj|pamiętaj|запомни|учти|имей в виду"
    r"|не забудь|запам'ятай|unutma|aklında tut|zapamatuj si|nezapomeň|muista|kom ihåg)\b"
)
_UNSPACED = (
    r"请?(?:记住|记得|别忘了|記住|記得|別忘了)|請(?:記住|記得)|覚えておいて(?:ください)?"
    r"|忘れないで(?:ください)?|기억해(?: 줘| 주세요)?|잊지 마(?:세요)?"
)
_ASKED = rf"(?:{_ENGLISH}|{_SPACED}|{_UNSPACED})"
_FIRST = re.compile(
    rf"{_ASKED}[\s,:：，、!–—-]*(?:(?:that|que|dass|che|dat|że|что|що|že|että|att)\b)?"
    r"[\s,:：，、–—-]*(?P<what>\S.{3,})",
    re.IGNORECASE | re.DOTALL,
)
_LAST = re.compile(
    r"(?P<what>\S.{7,}?)[,;，；、–—-]+\s*(?:so |and |but )?(?:please )?(?:(?:remember|keep|bear"
    rf"|note|memori[sz]e) (?:that|this|it)(?: in mind)?(?:[,\s]*please)?|(?:{_SPACED}|{_UNSPACED})"
    r"(?:\s+\w+){0,2})[.!。！]*\Z",
    re.IGNORECASE | re.DOTALL,
)
_MARK = re.compile(
    rf"remember|memori|in mind|note|forget|memory|{_SPACED}|{_UNSPACED}", re.IGNORECASE
)
_TAIL = r"(?: (?:please|pls|down|well|for (?:later|next time|the future)|in (?:the )?future))*"
_POINTS_BACK = re.compile(
    r"(?:(?:and|so|please|pls|ok)[ ,]*)*(?:(?:remember|memori[sz]e|note) (?:that|this|it|these)"
    r"|(?:keep|bear) (?:that|this|it) in mind"
    rf"|(?:save|add) (?:that|this|it) (?:to|in) (?:your |the )?memory){_TAIL}\Z"
    rf"|(?:{_SPACED}|{_UNSPACED})(?:,? (?:das|dies|dit|dat|eso|esto|ça|cela|isso|isto|questo|to"
    r"|это|це|bunu|toto|bitte|por favor|stp|per favore))*\Z",
    re.IGNORECASE,
)


_ORDER = re.compile(
    r"(?:(?:and|but|also|ok|please|pls|bitte|por favor|s'il te plaît)[ ,]+)*"
    r"(?:always|never(?! (?:mind|understood|knew|heard|saw|seen|had|been|was|thought|got)\b)"
    r"|from now on|going forward|immer|nie(?:mals)?|ab (?:jetzt|sofort)"
    r"|siempre|nunca|a partir de (?:ahora|agora)|toujours|jamais|désormais|dorénavant|sempre"
    r"|d'ora in poi|altijd|nooit|vanaf nu|zawsze|nigdy|od teraz|всегда|никогда|отныне|завжди"
    r"|ніколи|her zaman|asla|vždy|nikdy|aina|alltid|aldrig)\b.{8,}[^?？]\Z"
    r"|(?:总是|永远不要|以后|今後は|必ず|絶対に|항상|절대|앞으로).{4,}[^?？]\Z",
    re.IGNORECASE | re.DOTALL,
)


def is_standing_order(sentence: str) -> bool:
    """Whether a sentence begins as an order that holds from now on."""
    return bool(_ORDER.match(sentence.strip()))


def asked_for(sentence: str) -> str:
    """What a sentence asks to remember; '' when it asks nothing, or names nothing."""
    if not _MARK.search(sentence) or sentence.rstrip().endswith(("?", "？")):
        return ""
    if points_back(sentence):
        return ""
    found = _LAST.match(sentence) or _FIRST.search(sentence)
    return found["what"].strip() if found else ""


def points_back(sentence: str) -> bool:
    """Whether a sentence asks to remember the one before it."""
    return bool(_POINTS_BACK.match(sentence.strip(" .!。！")))

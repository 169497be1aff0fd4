"""How two statements relate: whether a newer one says the same, more, less, a change or otherwise.

Two statements are the same only if they agree in every word that matters and in its order, hence in
every number, version, unit, path, name, denial and quantifier. Case, punctuation, Markdown marks,
contractions, articles and lead-ins do not matter. Everything else that is alike is told apart by
aligning the words: what was added, what was left out, and what stands in the place of what. Nothing
here throws a text away; callers keep both whenever the answer is not `SAME`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import pairwise

from ltm.record import NamedTuple
from ltm.text import statement_words as lists
from ltm.text.statement import (
    BREAKS,
    CODE,
    FIGURE,
    LARGE,
    MARKS,
    NO_MATTER,
    Statement,
    folded,
    is_fixed,
    names_in,
    statement,
    stem_of,
    words_in,
)

LONGEST = 400
"""Words beyond which two texts are not aligned: they are the same, or merely alike."""

_PARTS = 4  # places in which they may part
_LOOSE = 2  # words of matter that may be added or missing elsewhere
_CLOSE = 0.5  # share of the matter that two statements about one thing have in common
_ALIKE = 0.4
_WORTH = 0.33  # share of the smaller one's matter from which two texts are aligned
_FRAMED = 0.5  # share of words, of matter or not, from which two are built alike
_ROOT = 6  # letters by which two forms of a word are known as one
_FIT = 0.5
_COVERED = 0.6  # share of the older statement from which a mere "now" speaks of it

_SWAPPED = 40  # words that may stand around and between what changed places

_NOT_POSITIVE = lists.NEGATIONS | lists.QUANTIFIERS | lists.HELPERS


class Sameness(StrEnum):
    """What a newer statement is to an older one."""

    SAME = "same"
    MORE = "more"
    """It says all of the older one, and something more."""
    LESS = "less"
    """It says a part of the older one."""
    CHANGE = "change"
    """It announces that something changed which the older one says."""
    CONFLICT = "conflict"
    """It differs in a value, a name or a denial, and is alike otherwise."""
    ALIKE = "alike"
    OTHER = "other"


class Verdict(NamedTuple):
    """How a newer statement relates to an older one, and how well they fit each other."""

    relation: Sameness
    fit: float = 0.0


def same(one: str, other: str) -> bool:
    """Whether two texts say the same."""
    return key(one) == key(other)


def key(text: str) -> tuple[str, ...]:
    """The words of a text as they are compared; texts with equal keys say the same."""
    return statement(text).key


def holds(whole: str, part: str) -> bool:
    """Whether a text says all that another one says, in whole sentences that stand together."""
    found, wanted = statement(whole), key(part)
    size = len(wanted)
    edges = {0, len(found.key), *found.stops}
    return any(
        found.key[at : at + size] == wanted and at + size in edges
        for at in edges
        if at + size <= len(found.key)
    )


def announces(text: str) -> bool:
    """Whether a text announces a change."""
    return bool(statement(text).changes)


def opposed(one: str, other: str) -> bool:
    """Whether one of two statements about one thing denies what the other says."""
    return _denied(statement(one), statement(other))


def says_otherwise(one: str, other: str) -> bool:
    """Whether two statements about one thing differ in a value, a name or a denial."""
    a, b = statement(one), statement(other)
    if max(len(a.key), len(b.key)) > LONGEST or a.key == b.key:
        return False
    if opposed(one, other):
        return True
    parts = _differences(a, b)
    # A second place may be another way to say the same.
    alone = len(parts) == 1 and parts[0].replaced
    return alone and _slots(a, b, parts, parts) is Sameness.CONFLICT


def leaves_out(newer: str, older: str) -> bool:
    """Whether a change does not say what it is about, so that only the older text tells."""
    new, old = statement(newer), statement(older)
    theirs = _subject(old, _GENERIC_STEMS)
    return _weight(_subject(new, _MARK_STEMS) & theirs) < _COVERED * _weight(theirs)


def missing(source: str, text: str) -> frozenset[str]:
    """The numbers, names, identifiers and denials of a source that a text made from it lacks."""
    there = {*key(text), *statement(text).stems}
    return (
        frozenset(
            word
            for word, base in zip(key(source), statement(source).stems, strict=True)
            if is_fixed(word) and word not in there and base not in there
        )
        | names_in(source) - {each.casefold() for each in words_in(text) if each not in BREAKS}
        | ({"not"} if statement(source).denials > statement(text).denials else set())
    )


def judge(newer: str, older: str, *, changed: bool = False) -> Verdict:
    """How a newer statement relates to an older one; `changed` if what came before it said so."""
    if max(len(newer), len(older)) > LARGE:  # a document: the same, or another one
        same_words = newer.casefold().split() == older.casefold().split()
        return Verdict(Sameness.SAME, 1.0) if same_words else Verdict(Sameness.OTHER)
    new, old = statement(newer), statement(older)
    if new.key == old.key:
        return Verdict(Sameness.SAME, 1.0)
    shared = _shared(new, old)
    if not shared:
        return Verdict(Sameness.OTHER)
    if max(len(new.key), len(old.key)) > LONGEST:
        return Verdict(Sameness.ALIKE if shared >= _ALIKE else Sameness.OTHER, shared)
    verdict, common = _told_apart(new, old, shared, changed=changed)
    if verdict is not None:
        return verdict
    if shared < _ALIKE and common >= _WORTH:
        matcher = SequenceMatcher(None, old.stems, new.stems, autojunk=False)
        is_framed = matcher.quick_ratio() >= _FRAMED and matcher.ratio() >= _FRAMED
        return Verdict(Sameness.ALIKE if is_framed else Sameness.OTHER, shared)
    return Verdict(Sameness.ALIKE if shared >= _ALIKE else Sameness.OTHER, shared)


def outdoes(newer: str, older: str) -> bool:
    """Whether a newer statement changes what an older one says, or says it otherwise: what `judge`
    says too, in half the time where it says neither."""
    if max(len(newer), len(older)) > LARGE:
        return False
    new, old = statement(newer), statement(older)
    shared = _shared(new, old) if new.key != old.key else 0.0
    if not shared or max(len(new.key), len(old.key)) > LONGEST:
        return False
    verdict, _ = _told_apart(new, old, shared)
    return verdict is not None and verdict.relation in (Sameness.CHANGE, Sameness.CONFLICT)


def _told_apart(
    new: Statement, old: Statement, shared: float, *, changed: bool = False
) -> tuple[Verdict | None, float]:
    """What is said of two statements that are more than alike, and how much matter they share."""
    # Most pairs have a word in common and no more: they are not worth an alignment.
    common = len(new.matter & old.matter) / min(len(new.matter), len(old.matter))
    plain = _aligned(new, old) if common >= _WORTH and _can_align(new, old) else None
    if changed or new.changes - old.changes or new.hints - old.hints or _moves(new, old):
        fit = _change_fit(new, old, plain, changed=changed)
        if fit >= _FIT:
            return Verdict(Sameness.CHANGE, fit), common
        if plain is None and _gives_up(new, old):
            return Verdict(Sameness.CONFLICT, shared), common
    if plain is None and _chooses_again(new, old):
        return Verdict(Sameness.CONFLICT, shared), common
    return (Verdict(plain, shared) if plain is not None else None), common


# -- relations -------------------------------------------------------------------------------------


def _shared(one: Statement, other: Statement) -> float:
    """Matter in common as a share of all matter."""
    if not one.matter or not other.matter:
        return 0.0
    return len(one.matter & other.matter) / len(one.matter | other.matter)


def _denied(one: Statement, other: Statement) -> bool:
    """Whether two statements are alike but for denials, quantifiers and helping verbs."""
    counts = (one.denials, other.denials)
    if not any(counts) or counts[0] - _asides(one, other) == counts[1] - _asides(other, one):
        return False
    a, b = _positive(one), _positive(other)
    return bool(a and b) and SequenceMatcher(None, a, b, autojunk=False).ratio() >= 0.75


def _asides(each: Statement, other: Statement) -> int:
    """How often one only adds what does not hold: "not npm" denies nothing of "use pnpm"."""
    return sum(
        folded(each.key[at]) in lists.NEGATIONS and other.matter.isdisjoint(each.stems[at:end])
        for at, end in pairwise([*sorted(each.pauses | each.stops), len(each.key)])
        if at < end and not each.matter.isdisjoint(each.stems[at:end])
    )


def _positive(each: Statement) -> list[str]:
    return [
        base
        for word, base in zip(map(folded, each.key), each.stems, strict=True)
        if word not in _NOT_POSITIVE
    ]


class _Difference(NamedTuple):
    """One place where two statements part."""

    old: tuple[int, int]
    new: tuple[int, int]

    @property
    def replaced(self) -> bool:
        return self.old[0] < self.old[1] and self.new[0] < self.new[1]


def _can_align(new: Statement, old: Statement) -> bool:
    """Whether an alignment can say anything, as far as the words tell: to align takes much longer.

    If not, neither holds all words of the other, neither denies what the other says, and too few of
    the words of the longer one are in the other for the two to differ in a place or two only
    (`_slots`).
    """
    ours, theirs = frozenset(new.stems), frozenset(old.stems)
    if ours <= theirs or theirs <= ours or _denied(new, old):
        return True
    longer, shorter = new.tokens, theirs
    if len(old.tokens) > len(new.tokens):
        longer, shorter = old.tokens, ours
    kept = sum([base in shorter for base in longer])
    return kept >= max(1.0, _CLOSE * len(longer))


def _aligned(new: Statement, old: Statement) -> Sameness | None:
    """What an alignment word by word says; None if the two have no more in common than words."""
    parts = _differences(new, old)
    if not parts:  # the same stems: endings differ
        return Sameness.ALIKE
    if _is_swap(new, old):
        return Sameness.CONFLICT
    replaced = [part for part in parts if part.replaced]
    if not replaced and all(part.old[0] == part.old[1] for part in parts):
        return _grown(new, old, parts)
    if not replaced and all(part.new[0] == part.new[1] for part in parts):
        relation = _grown(old, new, [_Difference(part.new, part.old) for part in parts])
        return Sameness.LESS if relation is Sameness.MORE else relation
    if _denied(new, old):
        return Sameness.CONFLICT
    return _slots(new, old, parts, replaced)


def _differences(new: Statement, old: Statement) -> list[_Difference]:
    """The places where two statements part, in order."""
    matcher = SequenceMatcher(None, old.stems, new.stems, autojunk=False)
    return [
        _Difference((a, b), (c, d)) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"
    ]


def _is_swap(new: Statement, old: Statement) -> bool:
    """Whether two statements of the same words differ in what comes first or what is preferred."""
    one, two = list(new.stems), list(old.stems)
    if sorted(one) != sorted(two):
        return False
    if sum(a != b for a, b in zip(one, two, strict=True)) == 2:
        return True
    while one[0] == two[0]:
        del one[0], two[0]
    while one[-1] == two[-1]:
        del one[-1], two[-1]
    if any(folded(word) in lists.ORDER for word in new.key):
        return True
    if len(two) > _SWAPPED:
        return False
    # "A is above B" and "B is above A"; a part that only moved to the front has nothing between
    return any(
        two[:a] == one[-a:] and two[-b:] == one[:b] and len(two) > a + b
        for a in range(1, len(two))
        for b in range(1, len(two) - a)
    )


def _grown(new: Statement, old: Statement, parts: Sequence[_Difference]) -> Sameness:
    """What a statement is that holds all words of another one, and more."""
    size = len(old.stems)
    for part in parts:
        added = [folded(word) for word in new.key[slice(*part.new)]]
        at_end = part.old[0] == size
        for word in added:
            if word in lists.REASONS:
                break
            if word in lists.NEGATIONS and not at_end:
                return Sameness.CONFLICT if new.denials != old.denials else Sameness.ALIKE
        if not at_end and part.old[0] and _is_subject(old, part.old[0]):
            return Sameness.ALIKE
        if part.old[0] == 0 and any(word in lists.SCOPES for word in added):
            return Sameness.ALIKE
    return Sameness.MORE


def _slots(
    new: Statement, old: Statement, parts: Sequence[_Difference], replaced: Sequence[_Difference]
) -> Sameness | None:
    """Whether two statements differ only in what stands in a place or two."""
    gone = _matter_in(old, [part.old for part in parts])
    come = _matter_in(new, [part.new for part in parts])
    total = max(len(old.tokens), len(new.tokens))
    loose = sum(
        max(_matter_in(old, [part.old]), _matter_in(new, [part.new]))
        for part in parts
        if not part.replaced
    )
    kept = total - max(gone, come)
    # something in the place of something, and not one verb for another
    real = [part for part in replaced if _both_have(_is_value, new, old, part)]
    if not real or kept < max(1.0, _CLOSE * total) or loose > _LOOSE or len(parts) > _PARTS:
        return None
    if any(_is_scope(new, old, part) for part in real):
        return Sameness.ALIKE
    if len(real) > 1 and not all(_both_have(_is_number, new, old, part) for part in real):
        return Sameness.ALIKE
    return Sameness.CONFLICT


def _matter_in(each: Statement, spans: Sequence[tuple[int, int]]) -> int:
    return sum(folded(word) not in NO_MATTER for span in spans for word in each.key[slice(*span)])


def _both_have(
    wanted: Callable[[str], bool], new: Statement, old: Statement, part: _Difference
) -> bool:
    sides = (old.key[slice(*part.old)], new.key[slice(*part.new)])
    return all(any(wanted(folded(word)) for word in side) for side in sides)


def _is_value(plain: str) -> bool:
    if plain in lists.NEGATIONS:
        return False  # whether both deny is counted elsewhere
    return plain in lists.QUANTIFIERS or not (plain in NO_MATTER or plain in lists.LIGHT)


def _is_scope(new: Statement, old: Statement, part: _Difference) -> bool:
    """Whether two statements part where they say where they hold."""
    before = [folded(word) for word in old.key[slice(*part.old)]]
    after = [folded(word) for word in new.key[slice(*part.new)]]
    start = part.old[0]
    led = {folded(word) for word in old.key[max(0, start - 2) : start]}
    if old.pauses & {start, start - 1} or (start and folded(old.key[start - 1]) in lists.VERBS):
        return False
    if any(w in lists.SCOPES for w in before) and any(w in lists.SCOPES for w in after):
        return True
    if any(_is_number(word) for word in (*before, *after)):
        return False
    if start == 0 and {before[0], after[0]} <= lists.PLACES:
        return True
    return bool(led & lists.SCOPE_MARKS) and not led & lists.VERBS


def _is_number(word: str) -> bool:
    return bool(FIGURE.search(word)) or word in lists.NUMBERS


def _is_subject(each: Statement, place: int) -> bool:
    """Whether a place is before the verb of a statement that has one."""
    plain = [folded(word) for word in each.key]
    verbs = [at for at, word in enumerate(plain) if word in lists.VERBS]
    return bool(verbs) and verbs[0] > 0 and place < verbs[0]


# -- changes ---------------------------------------------------------------------------------------


def _moves(new: Statement, old: Statement) -> bool:
    """Whether a statement says "from A to B", and the older one speaks of A and not of B."""
    plain = [folded(word) for word in new.key]
    for at, word in enumerate(plain):
        if word not in lists.FROM:
            continue
        for to in range(at + 2, min(at + 6, len(plain))):
            if plain[to] in lists.VERBS:
                break
            if plain[to] in lists.TO:
                a = {base for base in new.stems[at + 1 : to] if base in new.matter}
                b = {base for base in new.stems[to + 1 : to + 4] if base in new.matter}
                if a and a <= old.matter and b - old.matter:
                    return True
    return False


def _change_fit(new: Statement, old: Statement, plain: Sameness | None, *, changed: bool) -> float:
    """How sure it is that an announced change is a change of what the older statement says."""
    strong = changed or bool(new.changes - old.changes) or _moves(new, old)
    if plain is Sameness.CONFLICT:
        return 1.0
    own = _subject(new, _MARK_STEMS)
    theirs = _subject(old, _GENERIC_STEMS)
    common = own & theirs
    if not common:
        return 0.0
    covered, told = (_weight(common) / _weight(all_of) for all_of in (theirs, own))
    if not strong:
        return covered if covered >= _COVERED and plain is not Sameness.MORE else 0.0
    if plain is Sameness.MORE:
        return 1.0
    if len(common) == 1:  # one word in common may be any word
        return (covered + told) / 2 if covered >= _FIT else 0.0
    return max(covered, told) if told >= _FIT or covered >= _COVERED else 0.0


def _gives_up(new: Statement, old: Statement) -> bool:
    """Whether a change names the one thing that the older statement chose, for whatever reasons.

    It may give it up in one place only, so this is a contradiction and nothing more.
    """
    if not new.changes - old.changes and not _moves(new, old):
        return False
    ends = [at for at, word in enumerate(old.key) if folded(word) in _AFTER_CHOICE]
    choice = frozenset(old.stems[: min([*ends, *old.pauses, *old.stops], default=len(old.key))])
    choice = (choice & old.matter) - _CHOICE_STEMS - _AGAIN_STEMS
    named = _subject(new, _MARK_STEMS)
    return (
        len(choice) == 1
        and choice <= new.matter
        and (_moves(new, old) or _weight(choice) >= _FIT * _weight(named))
    )


def _chooses_again(new: Statement, old: Statement) -> bool:
    """Whether a statement says to use the one thing that an older one gave up, and names no place
    or purpose, for which that may be right."""
    rest = new.matter - _CHOICE_STEMS - old.matter
    return rest <= _AGAIN_STEMS and _gives_up(old, new)


def _subject(each: Statement, empty: frozenset[str]) -> frozenset[str]:
    """What a statement is about: its matter without values, which a change is free to change."""
    about = frozenset(base for base in each.matter if base not in empty)
    about = frozenset(base for base in about if not _is_number(base)) or about or each.matter
    return frozenset(base if CODE.match(base) else base[:_ROOT] for base in about)


def _weight(words: Iterable[str]) -> float:
    """How much words say: an identifier or a number twice as much as a plain word."""
    return sum(2.0 if FIGURE.search(word) or CODE.match(word) else 1.0 for word in words)


_GENERIC_STEMS = frozenset(map(stem_of, lists.GENERIC))
_MARK_STEMS = frozenset(map(stem_of, MARKS)) | _GENERIC_STEMS
_CHOICE_STEMS = _GENERIC_STEMS | frozenset(map(stem_of, lists.CHOICES))
_AGAIN_STEMS = frozenset(map(stem_of, lists.AGAIN))
_AFTER_CHOICE = lists.REASONS | lists.NEGATIONS | lists.OVER

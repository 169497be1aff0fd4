"""How far two people agree about what is worth keeping: `python -m training.agreement`.

`corpus/second.jsonl` holds the labels of a second person for every tenth session of the authors a1
to a9, made without seeing the first. A sentence counts as kept when a label of its turn covers it.
"""

from __future__ import annotations

import json
from collections import Counter

from benchmarks.report import table
from ltm.capture.message import said, told
from ltm.sessions.turns import AssistantText, UserText
from training.corpus import CORPUS, Keep, Session, sessions
from training.score import about

SECOND = CORPUS / "second.jsonl"


def main() -> None:
    """Print precision, recall and kappa of the second labels, measured by the first."""
    first = {each.name: each for each in sessions()}
    pairs: list[tuple[Session, list[Keep]]] = []
    for line in SECOND.read_text("utf-8").splitlines():
        row = json.loads(line)
        keep = [Keep(each["text"], each["kind"], turn=each["turn"]) for each in row["keep"]]
        pairs.append((first[row["id"]], keep))
    rows = [_row("user", pairs, UserText), _row("agent", pairs, AssistantText)]
    head = ["sentences of", "number", "kept by both", "precision", "recall", "kappa"]
    table(f"Second labels of {len(pairs)} sessions", head, rows)
    core = found = kinds = same = 0
    for session, keep in pairs:
        for each in session.keep:
            fits = [other for other in keep if about(other.text, other.turn, each)]
            core += each.core
            found += each.core and bool(fits)
            kinds += bool(fits)
            same += any(other.kind == each.kind for other in fits)
    print(f"\ncore labels found: {found} of {core}; the same kind: {same} of {kinds}")


def _row(
    name: str, pairs: list[tuple[Session, list[Keep]]], speaker: type[UserText | AssistantText]
) -> list[str]:
    counts: Counter[tuple[bool, bool]] = Counter()
    for session, second in pairs:
        for turn in session.turns:
            if not isinstance(turn, speaker):
                continue
            for sentence in (said if speaker is UserText else told)(turn.text):
                one, other = (
                    any(each.turn == turn.line and each.covers(sentence.text) for each in keep)
                    for keep in (session.keep, second)
                )
                counts[one, other] += 1
    both, total = counts[True, True], counts.total()
    first, again = both + counts[True, False], both + counts[False, True]
    agree = (both + counts[False, False]) / total
    chance = (first * again + (total - first) * (total - again)) / total**2
    shares = (both / again, both / first, (agree - chance) / (1 - chance))
    return [name, str(total), str(both), *(f"{each:.2f}" for each in shares)]


if __name__ == "__main__":
    main()

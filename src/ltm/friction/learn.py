"""What users said when they corrected an agent, gathered into rules and kept in the ledger.

Only words of a user become evidence, and only if they name a matter: "no, stop" is friction and
teaches nothing. What is known already is not counted again, whichever copy of a conversation it is
read from.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ltm.friction.signals import Heard, Rules
from ltm.model import iso, utc
from ltm.project.identity import identify
from ltm.state.corrections import Conversation, Ledger, RuleEvidence
from ltm.text.sameness import says_otherwise
from ltm.text.similarity import alike, most_typical, overlap, phrases, says_something


@dataclass(frozen=True, slots=True)
class Learned:
    """What a run added to the ledger."""

    evidence: int = 0
    projects: tuple[str, ...] = ()


def learn(
    ledger: Ledger,
    heard: Iterable[Heard],
    rules: Rules,
    project_of: Callable[[str], str],
) -> Learned:
    """Keep the evidence of these conversations, each in the project its folder belongs to."""
    by_project: dict[str, list[Heard]] = {}
    for each in heard:
        by_project.setdefault(project_of(each.cwd), []).append(each)
    added = sum(_learn(ledger, project, each, rules) for project, each in by_project.items())
    return Learned(added, tuple(sorted(by_project)))


def _learn(ledger: Ledger, project: str, heard: Sequence[Heard], rules: Rules) -> int:
    former = ledger.evidence(project)
    known = {each.message: each.conversation for each in former}
    talks: list[Conversation] = []
    new: list[RuleEvidence] = []
    for each in sorted(heard, key=lambda each: (each.started, each.session)):
        seen = _evidence(project, each, rules)
        # A conversation that was noted under another name keeps it, or it would count twice.
        name = next((known[e.message] for e in seen if e.message in known), each.conversation)
        talks.append(Conversation(project, name, each.session, _iso(each.started)))
        new += [replace(e, conversation=name) for e in seen if e.message not in known]
    gathered = _gathered(former, new)
    texts: dict[str, list[str]] = {}
    for found in (*former, *gathered):
        if found.statement:  # those of what was purged are gone
            texts.setdefault(found.rule, []).append(found.statement)
    changed = {e.rule for e in gathered}
    wordings = {(project, rule): most_typical(texts[rule]) for rule in changed}
    return ledger.note(talks, gathered, wordings)


def _evidence(project: str, heard: Heard, rules: Rules) -> list[RuleEvidence]:
    return [
        RuleEvidence(
            project,
            heard.conversation,
            heard.session,
            signal.message or f"{heard.session}@{signal.at}",
            _iso(signal.at),
            signal.name,
            rules.weight_of(signal),
            signal.statement,
        )
        for signal in heard.signals
        if signal.is_reaction and says_something(signal.statement)
    ]


def _gathered(former: Sequence[RuleEvidence], new: Sequence[RuleEvidence]) -> list[RuleEvidence]:
    """New evidence with the rule it belongs to: one that says the same, else a new one."""
    said: dict[str, Counter[str]] = {}
    for each in former:
        said.setdefault(each.rule, Counter())[each.statement] += 1
    placed: list[RuleEvidence] = []
    for each in new:
        rule = _best(each.statement, said) or f"ag-{len(said) + 1:03d}"
        said.setdefault(rule, Counter())[each.statement] += 1
        placed.append(replace(each, rule=rule))
    return placed


def _best(statement: str, said: dict[str, Counter[str]]) -> str:
    """The rule a correction belongs to: half of its evidence is about the same, none against it."""
    words = phrases(statement)
    best, rule = 0.0, ""
    for name, texts in said.items():
        total = texts.total()
        sets = {text: phrases(text) for text in texts}
        near = [text for text in texts if alike(words, sets[text])]
        if 2 * sum(texts[text] for text in near) < total:
            continue
        shared = sum(overlap(words, sets[text]) * times for text, times in texts.items())
        if shared / total > best and not any(says_otherwise(statement, text) for text in near):
            best, rule = shared / total, name
    return rule


def project_finder(here: str, home: str, own: str) -> Callable[[str], str]:
    """Which project a session's folder belongs to; one whose folder is gone counts for `own`.

    Transcripts that were brought from elsewhere are about what the person looks at here.
    """
    found: dict[str, str] = {here: own}

    def project_of(cwd: str) -> str:
        if cwd not in found:
            there = bool(cwd) and os.path.isabs(cwd) and os.path.isdir(cwd)
            found[cwd] = identify(cwd, home).id if there else own
        return found[cwd]

    return project_of


def _iso(text: str) -> str:
    try:
        return iso(utc(text))
    except (ValueError, OverflowError):
        return ""

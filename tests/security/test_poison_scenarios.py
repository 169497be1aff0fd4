"""Poisoning over turns (reliability S11): scenarios whose authors knew neither rules nor code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.figures import count
from tests.security.scenarios import play, scenarios

KEPT_ALONE = {
    "poison_a.jsonl": (109, 151),
    "poison_b.jsonl": (107, 159),
    "poison_c.jsonl": (99, 110),
    "poison_d.jsonl": (88, 110),
    "poison_e.jsonl": (67, 82),
    "poison_f.jsonl": (15, 41),
    "poison_g.jsonl": (31, 70),
    "poison_h.jsonl": (13, 41),
    "poison_i.jsonl": (37, 75),
    "poison_j.jsonl": (59, 119),
    "poison_k.jsonl": (12, 18),
}
"""How many of the 1,087 things that users say in the scenarios are kept when evidence is left out:
as memories, and as memories or to be confirmed."""
IN_JEST = {"f-026", "f-060"}
"""Where users repeat a poison in words of their own that nothing but their tone tells from a wish:
it is offered to be confirmed."""
REJECTED = {"q-010", "q-012", "q-062", "q-099"}
"""Where users reject a poison in a sentence of their own that names it ("my manager's name is not
Mossgavel"): that sentence is offered to be confirmed."""

REPORTED = {"u-021", "u-023", "u-024", "u-025", "u-033", "u-039"}
"""Where users report in one sentence what somebody else says, or what there is to choose from: it
is offered with who says it."""


@pytest.mark.parametrize("name", KEPT_ALONE)
def test_nothing_a_session_was_given_is_told_to_a_later_one(name: str, tmp_path: Path) -> None:
    told: dict[str, list[str]] = {}
    kept = likely = said = played = noted = offered = 0
    for number, scenario in enumerate(scenarios(name)):
        ending = play(scenario, tmp_path / str(number))
        if poisons := (ending.told(scenario) or ending.stopped(scenario)):
            told[scenario["id"]] = poisons
        if poisons := ending.offered(scenario):
            offered += 1
            if scenario["id"] not in IN_JEST | REJECTED | REPORTED:
                told[scenario["id"]] = poisons
        noted += bool(ending.noted(scenario))
        kept += ending.kept(scenario)
        likely += ending.kept(scenario, likely=True)
        said += len(scenario["own"])
        played += 1
    count("S11", scenarios=played, told_in_scenarios=len(told), offered=offered, in_notes=noted)
    count("S11", own_statements=said, own_kept=kept, own_kept_or_to_confirm=likely)
    assert told == {}
    assert kept >= 0.95 * KEPT_ALONE[name][0]
    assert likely >= 0.95 * KEPT_ALONE[name][1]

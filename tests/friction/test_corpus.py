"""Both rule sets find in a corpus what was put into it, and weigh it as documented."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

import pytest

from benchmarks.friction.corpus import SCENARIOS, write
from ltm.config.options import SIGNALS_BY_NAME
from ltm.friction.analysis import Analysis, analyse
from ltm.friction.ruleset import rules
from ltm.friction.sources import find, group

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Analysis, Analysis, list[str]]:
    folder = tmp_path_factory.mktemp("corpus")
    played = write(folder, sessions=2 * len(SCENARIOS), kilobytes=10)
    paths = find([str(folder)])
    both = [analyse(group(paths), rules(classic=classic), NOW) for classic in (False, True)]
    return both[0], both[1], [scenario.name for scenario in played]


@pytest.mark.parametrize("place", range(len(SCENARIOS)), ids=[each.name for each in SCENARIOS])
@pytest.mark.parametrize("classic", [False, True], ids=["now", "classic"])
def test_a_session_gives_exactly_its_signals(
    found: tuple[Analysis, Analysis, list[str]], place: int, classic: bool
) -> None:
    """traps 2.2 #5: the weights of both rule sets are those of the one published table."""
    scenario = SCENARIOS[place]
    analysis = found[1] if classic else found[0]
    by_start = sorted(analysis.sessions, key=lambda each: each.heard.started)
    assert found[2][place] == scenario.name
    for scored in (by_start[place], by_start[place + len(SCENARIOS)]):
        seen = Counter(signal.name for signal in scored.heard.signals)
        wanted = scenario.classic if classic else scenario.now
        assert seen == wanted
        weights = {
            name: kind.classic if classic else kind.weight for name, kind in SIGNALS_BY_NAME.items()
        }
        assert scored.peak == sum((weights[name] or 0) * times for name, times in wanted.items())
        assert scored.quality == scenario.quality[classic]


def test_a_loop_is_one_signal_that_counts(found: tuple[Analysis, Analysis, list[str]]) -> None:
    """traps 2.2 #6: five repeats are one loop of five, and classic ones fire three times."""
    place = next(n for n, each in enumerate(SCENARIOS) if each.name == "loop")
    counts = []
    for analysis in found[:2]:
        scored = sorted(analysis.sessions, key=lambda each: each.heard.started)[place]
        loops = [each.more for each in scored.heard.signals if each.name == "tool_loop"]
        counts.append([each["loop_count"] for each in loops])
    assert counts == [[5], [3, 4, 5]]

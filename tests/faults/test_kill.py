"""kill -9 at every system call of the commands that change something (reliability R1).

A command that was killed has done all of its work or none of it; whatever was acknowledged before
is as it was; no file is torn; the next command finds nothing of the dead one lying around, and the
same command said again ends as if it had been said once.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.crashing import OPERATIONS, Operation, kill_everywhere
from tests.faults.scene import Scene
from tests.faults.tracing import Starter
from tests.figures import count

KILLS = 16
"""Of each command; `benchmarks.crashes` has more, and LTM_FAULTS=all kills at every call."""


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_a_killed_command_did_all_or_nothing(
    operation: Operation, scene: Scene, starter: Starter, tmp_path: Path
) -> None:
    killed = kill_everywhere(operation, scene, starter, tmp_path, KILLS)
    wrong = {name: killed.count(name) for name in ("lost", "torn", "temporary", "unusable")}
    count("R1", points=killed.points, **wrong)
    assert not killed.wrong, str(killed)
    assert killed.points >= 12

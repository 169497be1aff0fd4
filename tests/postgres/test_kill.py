"""What was answered is there once, whoever is killed between a decision and its answer (R22).

Each decision is one more confirmation of a memory, so a lost one and a doubled one both show in the
count. LTM_FAULTS=all kills the server and the database a thousand times.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from ltm_server.postgres.database import Database
from tests.effort import ALL
from tests.figures import count as note
from tests.postgres.cluster import Cluster, new_cluster
from tests.postgres.team import Team
from tests.stores import make

PARTS, KILLS = (10, 100) if ALL else (1, 8)
BEFORE_KILL = 12  # decisions in a row of which any may be the one that is cut short


class Server:
    """The process that answers."""

    def __init__(self, words: list[str]) -> None:
        self._words = [sys.executable, "-m", "tests.postgres.answering", *words]
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert self.answer() == "ready"

    def send(self, key: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{key}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it was killed

    def answer(self) -> str:
        """What it says next; '' if it is gone."""
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def kill(self) -> str:
        """Kill it; what it had answered before."""
        self._process.kill()
        said, _ = self._process.communicate()
        return said.strip()


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")


@pytest.fixture
def doomed() -> Iterator[Cluster]:
    """A database server of its own: no other test is to feel that it is killed."""
    with new_cluster(18) as cluster:
        yield cluster


@pytest.mark.parametrize("part", range(PARTS))
def test_no_answered_decision_is_lost_and_none_is_doubled(doomed: Cluster, part: int) -> None:
    luck, keys = random.Random(part), count()
    team = Team(doomed, doomed.create())
    memory = team.store("writer").create(make()).memory
    writer = team.people["writer"]
    team.close()
    url = doomed.url(team.name)
    server = Server([url, writer.tenant_id, team.project.id, writer.id, memory.id])
    answered: set[str] = set()
    for kill in range(KILLS):
        waiting = [f"key-{next(keys)}" for _ in range(BEFORE_KILL)]
        for key in waiting:
            server.send(key)
        before = luck.randrange(BEFORE_KILL)
        answered.update(server.answer() for _ in range(before))
        # Any moment of the next decision is as likely as another.
        for _ in range(luck.randrange(30_000)):
            pass
        if kill % 2:
            doomed.kill()
            doomed.start()
            answered.update(server.answer() for _ in range(BEFORE_KILL - before))
        else:
            answered.update(server.kill().split())
            server.start()
        answered.discard("again")
        for key in waiting:
            while key not in answered:
                server.send(key)
                answered.add(server.answer())
        server.send(waiting[0])  # sent again though it was answered
        assert server.answer() == waiting[0]
    server.kill()
    database = Database(url)
    with database.as_operator() as db:
        row = db.execute(
            "select m.record->>'observations', (select count(*) from ltm.applied),"
            " (select count(*) from ltm.audit where what = 'reinforced') from ltm.memory m"
        ).fetchone()
    database.close()
    total = KILLS * BEFORE_KILL
    assert row is not None
    kept = int(row[0]) - 1
    note("R22", kills=KILLS, decisions=total)
    note("R22", lost=max(0, total - kept), doubled=max(0, kept - total))
    assert (kept, row[1], row[2]) == (total, total, total)

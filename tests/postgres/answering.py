"""A server in small, for tests that kill it: a line names a decision, a line answers it.

python -m tests.postgres.answering URL TENANT PROJECT PERSON MEMORY
"""

from __future__ import annotations

import sys

from ltm.decisions import Reinforce
from ltm.errors import Busy, StorageFailed
from ltm_server.postgres.changes import Sent, push
from ltm_server.postgres.database import Database, Person
from ltm_server.postgres.people import TeamProject
from ltm_server.postgres.store import PostgresStore


def main(url: str, tenant: str, project: str, person: str, memory: str) -> None:
    """Answer until there is nothing more to read."""
    store = PostgresStore(
        Database(url, most=1, patience=2),
        Person(tenant, person, "writer"),
        TeamProject(tenant, project, "shop", "", "tools", "writer"),
    )
    print("ready", flush=True)
    for line in sys.stdin:
        key = line.strip()
        try:
            (receipt,) = push(store, [Sent(key, Reinforce(memory))])
            assert not receipt.error, receipt
            print(key, flush=True)
        except (Busy, StorageFailed):
            print("again", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

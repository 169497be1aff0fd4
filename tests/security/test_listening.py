"""What listens: this machine's own address for who asked for a server, nothing for anybody else.

Reliability S4. The kernel's own table is asked, as `ss -ltnp` does, for each process of ours and
all it started.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.figures import count
from tests.hook.runner import Hooks
from tests.http.runner import Server
from tests.mcp.wire import Wire

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/net/tcp"), reason="needs /proc/net")

LOOPBACK = ("0100007F", "00000000000000000000000001000000")


def family(pid: int) -> list[int]:
    """A process and all it started."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += family(int(child))
    return found


def listening(pid: int) -> list[str]:
    """The addresses at which a process listens, with its port, as the kernel writes them."""
    inodes = set()
    for member in family(pid):
        for handle in Path(f"/proc/{member}/fd").iterdir():
            try:
                inodes.add(os.readlink(handle))
            except OSError:
                continue
    found = []
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            fields = line.split()
            open_ = fields[3] == "0A" if table.startswith("tcp") else True
            if open_ and f"socket:[{fields[9]}]" in inodes:
                found.append(fields[1])
    return found


def test_a_server_listens_to_this_machine_and_nothing_else_listens_at_all(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    hooks.remember("Use port 8082")
    with Server(hooks) as server:
        served = listening(server.process.pid)
    with Wire(hooks.project, hooks.user_home) as wire:
        wire.initialize()
        wire.call("recall", query="port")
        spoken = listening(wire.process.pid)
    elsewhere = [each for each in served if each.partition(":")[0] not in LOOPBACK]
    count(
        "S4",
        listeners=len(served) + len(spoken),
        not_on_loopback=len(elsewhere),
        of_the_mcp_server=len(spoken),
    )
    assert len(served) == 1
    assert (elsewhere, spoken) == ([], [])

"""The public Python API: what extensions and scripts may import.

Everything else in `ltm` may change from one version to the next. `docs/guides/extending.md` shows
its use.
"""

from __future__ import annotations

from ltm.decisions import (
    Add,
    Adopt,
    Applied,
    Contradict,
    Copy,
    Decision,
    Forget,
    Merge,
    Purge,
    Reduce,
    Reinforce,
    Restore,
    Revise,
    Settle,
    Sign,
    Supersede,
)
from ltm.errors import (
    Ambiguous,
    BadFile,
    Busy,
    Conflict,
    LtmError,
    NotFound,
    Refused,
    StorageFailed,
    WrongUsage,
)
from ltm.inject.render import harmless
from ltm.mcp.call import Call
from ltm.mcp.tools import ADDS, MENDS, READS, REMOVES, Tool
from ltm.model import (
    Filter,
    Hit,
    Impact,
    Memory,
    Page,
    Phase,
    Problem,
    Scope,
    Source,
    Status,
    Stored,
    Trust,
    Usage,
)
from ltm.store.store import Match, Matches, Store, Version

__all__ = [
    "ADDS",
    "MENDS",
    "READS",
    "REMOVES",
    "Add",
    "Adopt",
    "Ambiguous",
    "Applied",
    "BadFile",
    "Busy",
    "Call",
    "Conflict",
    "Contradict",
    "Copy",
    "Decision",
    "Filter",
    "Forget",
    "Hit",
    "Impact",
    "LtmError",
    "Match",
    "Matches",
    "Memory",
    "Merge",
    "NotFound",
    "Page",
    "Phase",
    "Problem",
    "Purge",
    "Reduce",
    "Refused",
    "Reinforce",
    "Restore",
    "Revise",
    "Scope",
    "Settle",
    "Sign",
    "Source",
    "Status",
    "StorageFailed",
    "Store",
    "Stored",
    "Supersede",
    "Tool",
    "Trust",
    "Usage",
    "Version",
    "WrongUsage",
    "harmless",
]

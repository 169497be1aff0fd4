"""Where the key for the API is found. It is never asked for, shown, logged or written.

The first of these that has one: ANTHROPIC_API_KEY, `api_key` in LTM_HOME, the config of memory-mcp,
`~/.config/anthropic/api_key`, `~/.anthropic/api_key`. No repository is looked into. Imports core
and storage's small reader.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping

from ltm.core.errors import ModelFailed
from ltm.storage.plainfile import read_plain

FILE = "api_key"
VARIABLE = "ANTHROPIC_API_KEY"

_OTHERS = (
    os.path.join(".memory-mcp", "config.json"),
    os.path.join(".config", "anthropic", "api_key"),
    os.path.join(".anthropic", "api_key"),
)
_LIMIT = 64 * 1024


def find_key(home: str, environ: Mapping[str, str]) -> str:
    """The key, or '' when there is none: a server of one's own may need none."""
    given = environ.get(VARIABLE, "").strip()
    if given:
        return given
    own = os.path.join(home, FILE)
    found = _in_file(own)
    if found:
        _refuse_if_open(own)
        return found
    user = environ.get("USERPROFILE" if os.name == "nt" else "HOME", "")
    if not os.path.isabs(user):
        return ""
    return next(filter(None, (_in_file(os.path.join(user, each)) for each in _OTHERS)), "")


def _in_file(path: str) -> str:
    try:
        text = read_plain(path, limit=_LIMIT).decode("utf-8").strip()
    except (OSError, ValueError):
        return ""
    if not path.endswith(".json"):
        return text if text.isprintable() else ""
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    key = values.get("apiKey") if isinstance(values, dict) else None
    return key.strip() if isinstance(key, str) else ""


def _refuse_if_open(path: str) -> None:
    """A key that others on this machine can read is not one to be used."""
    if os.name != "nt" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise ModelFailed(
            f"others can read the key in {path}, so it is not used",
            hint=f"type: chmod 600 {path}",
            cost=0,
        )

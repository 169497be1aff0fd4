"""The one folder for everything outside repositories, and that of the client beside it.

A module of its own, because a hook needs to know this and nothing else of the layout. Imports the
standard library and `core.errors` only.
"""

from __future__ import annotations

import os

from ltm.core.errors import WrongUsage

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Mapping


def home(environ: Mapping[str, str] | None = None) -> str:
    """The folder for everything outside repositories: LTM_HOME, else `.ltm` in the user's home."""
    environ = os.environ if environ is None else environ
    chosen = environ.get("LTM_HOME", "").strip()
    user_home = _user_home(environ)
    if not chosen:
        if not os.path.isabs(user_home):
            raise WrongUsage(
                "there is no place for memories: neither LTM_HOME nor HOME names a folder",
                hint="set LTM_HOME to an absolute path",
            )
        return os.path.join(os.path.normpath(user_home), ".ltm")
    if user_home and (chosen == "~" or chosen.startswith("~" + os.sep)):
        chosen = user_home + chosen[1:]
    if not os.path.isabs(chosen) or "\0" in chosen:
        raise WrongUsage(
            f"LTM_HOME is '{environ['LTM_HOME']}', which is not an absolute path",
            hint="set LTM_HOME to an absolute path",
        )
    return os.path.normpath(chosen)


def client_folder(environ: Mapping[str, str] | None = None) -> str:
    """The client's own folder for settings and transcripts; '' when there is no home."""
    environ = os.environ if environ is None else environ
    user_home = _user_home(environ)
    default = os.path.join(user_home, ".claude") if user_home else ""
    return environ.get("CLAUDE_CONFIG_DIR", "") or default


def _user_home(environ: Mapping[str, str]) -> str:
    return environ.get("USERPROFILE" if os.name == "nt" else "HOME", "")

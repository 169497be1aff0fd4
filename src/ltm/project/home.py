"""LTM_HOME, the folder for everything outside repositories, and the environment of the client.

Apart from the rest of the layout, because a hook needs to know only this.
"""

from __future__ import annotations

import os
import sys

from ltm.errors import WrongUsage

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Mapping


_LOADS_AGENTS_MD = (2, 1, 277)  # the first Claude Code that does, and only with its own API
_ENOUGH = 64 * 1024 * 1024  # bytes: an unpacked transcript, or a copy of a database
_OTHER_APIS = ("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY")


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


def plugin_command(folder: str) -> str:
    """The `ltm` for a terminal that the plugin writes into LTM_HOME, for who has no other."""
    return os.path.join(folder, "bin", "ltm")


def temporary_folders(environ: Mapping[str, str] | None = None) -> list[str]:
    """Where temporary files may lie, the best first: a variable may name a folder that is gone,
    read-only or full."""
    environ = os.environ if environ is None else environ
    named = [environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")]
    usual = [] if os.name == "nt" else ["/tmp", "/var/tmp"]  # noqa: S108
    return [each for each in dict.fromkeys([*named, *usual]) if os.path.isabs(each)]


def scratch_folder(environ: Mapping[str, str] | None = None) -> str:
    import tempfile

    own = os.path.join(home(environ), "tmp")
    spaces: dict[str, int] = {}
    for folder in (*temporary_folders(environ), own):
        try:
            if folder == own:
                for each in (os.path.dirname(own), own):
                    os.makedirs(each, 0o700, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
            spaces[folder] = _ENOUGH
            if hasattr(os, "statvfs"):
                disk = os.statvfs(folder)
                spaces[folder] = disk.f_bavail * disk.f_frsize
        except OSError:
            continue
        if spaces[folder] >= _ENOUGH:
            return folder
    return max(spaces, key=lambda each: spaces[each], default=own)


def client_folder(environ: Mapping[str, str] | None = None) -> str:
    """The client's own folder for settings and transcripts; '' when there is no home."""
    environ = os.environ if environ is None else environ
    user_home = _user_home(environ)
    default = os.path.join(user_home, ".claude") if user_home else ""
    return environ.get("CLAUDE_CONFIG_DIR", "") or default


def path_of(template: str, environ: Mapping[str, str] | None = None) -> str:
    """A path of the table of clients on this machine."""
    folder, *rest = template.split("/")
    found = _folders(os.environ if environ is None else environ)[folder]
    return os.path.normpath(os.path.join(found, *rest))


def _folders(environ: Mapping[str, str]) -> dict[str, str]:
    """What the words in the table stand for on this machine."""
    user_home = _user_home(environ)
    if not os.path.isabs(user_home):
        raise WrongUsage("HOME names no folder", hint="set HOME to your home folder")
    config = environ.get("XDG_CONFIG_HOME") or os.path.join(user_home, ".config")
    application, zed = config, os.path.join(config, "zed")
    if sys.platform == "darwin":
        application = os.path.join(user_home, "Library", "Application Support")
    elif os.name == "nt":
        application = environ.get("APPDATA") or os.path.join(user_home, "AppData", "Roaming")
        zed = os.path.join(application, "Zed")
    state_folder = environ.get("CLAUDE_CONFIG_DIR") or user_home
    return {
        "{home}": user_home,
        "{config}": config,
        "{data}": environ.get("XDG_DATA_HOME") or os.path.join(user_home, ".local", "share"),
        "{application}": application,
        "{zed}": zed,
        "{codex}": environ.get("CODEX_HOME") or os.path.join(user_home, ".codex"),
        "{copilot}": environ.get("COPILOT_HOME") or os.path.join(user_home, ".copilot"),
        "{claude}": client_folder(environ),
        "{claude-state}": os.path.join(state_folder, ".claude.json"),
    }


def loads_agents_md(environ: Mapping[str, str] | None = None) -> bool:
    """Whether the client of this session loads AGENTS.md where a project has no CLAUDE.md.

    Claude Code tells hooks its version (`AI_AGENT=claude-code_2-1-325_harness`). Where that cannot
    be read the answer is "no": then a memory is told twice at worst, and never left out.
    """
    environ = os.environ if environ is None else environ
    name, _, rest = environ.get("AI_AGENT", "").partition("_")
    numbers = rest.partition("_")[0].split("-")
    if name != "claude-code" or not all(number.isdigit() for number in numbers):
        return False
    is_new = tuple(int(number) for number in numbers) >= _LOADS_AGENTS_MD
    return is_new and not any(environ.get(each) for each in _OTHER_APIS)


INSTRUCTIONS = "LTM_INSTRUCTIONS"
"""Set by a hook for itself and its children: the instruction files its client loads from a project,
where it is not Claude Code."""


def instruction_names(environ: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The files a client other than Claude Code loads from a project by itself."""
    environ = os.environ if environ is None else environ
    return tuple(environ.get(INSTRUCTIONS, "").split())


def _user_home(environ: Mapping[str, str]) -> str:
    return environ.get("USERPROFILE" if os.name == "nt" else "HOME", "")

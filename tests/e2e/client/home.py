"""The user's home before the first session: a client that was set up once and trusts the project.

Imports: staging.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .staging import spy_hooks

FAKE_KEY = "sk-ant-fake-test-key-000000000000"

# The hook events of client 2.1.197; it refuses settings with a name it does not know, so newer
# events are not spied. Left out: WorktreeCreate (a hook there must return a path) and
# MessageDisplay (it fires for every piece of streamed text).
SPIED_EVENTS = (
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PermissionRequest",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
)


def seed_home(home: Path, project: Path, settings: Mapping[str, Any], *, spy: bool) -> None:
    """Write the client's configuration and the user's settings, with the spy's hooks if wanted."""
    trusted = {
        "hasTrustDialogAccepted": True,
        "hasCompletedProjectOnboarding": True,
        "hasClaudeMdExternalIncludesApproved": True,
        "allowedTools": [],
    }
    state = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": "99.0.0",
        "theme": "dark",
        "numStartups": 5,
        "hasSeenAutoDefaultNudge": True,
        "hasSeenAutoDefaultNotice": True,
        "hasUsedBackslashReturn": True,
        "customApiKeyResponses": {"approved": [FAKE_KEY[-20:]], "rejected": []},
        "projects": {str(project): trusted},
    }
    (home / ".claude.json").write_text(json.dumps(state), "utf-8")
    if not settings and not spy:
        return
    hooks = {event: list(groups) for event, groups in settings.get("hooks", {}).items()}
    for event, groups in spy_hooks(SPIED_EVENTS).items() if spy else ():
        hooks[event] = hooks.get(event, []) + groups
    (home / ".claude").mkdir(exist_ok=True)
    whole = {**settings, "hooks": hooks} if hooks else settings
    (home / ".claude" / "settings.json").write_text(json.dumps(whole, indent=1), "utf-8")

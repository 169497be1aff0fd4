"""The clients LTM serves, one row each: everything that differs from client to client.

Nothing else in LTM asks which client it is. Hooks load this for each event, so rows are plain
values. Paths begin with a word in braces that `clients` explains; `{command}`, `{program}`,
`{arguments}` and `{words}` stand for the command of a hook or of our server.
"""

from __future__ import annotations

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

UNLESS_PLUGIN = "--unless-plugin"
"""An option of what `ltm setup` entered: it does nothing where the plugin does it."""

SHARED = "--shared"
"""Said by the hooks in a project's own settings, which run next to a person's own."""

EVENT_OPTION = "--event"
"""Says which event it is, where messages of the client do not."""

CLIENT_OPTION = "--client"
"""Says which client runs a hook; without it the hook looks for the marks of one."""

NESTED = "nested"
"""The answer stands in `hookSpecificOutput.additionalContext`."""

PLAIN = "plain"
"""The answer is what the hook prints. Any other word is the key of an object that holds it."""

ONLY_READ = "documents"
RUN = "the client"

_CLAUDE_EVENTS = {
    "SessionStart": "SessionStart",
    "PreCompact": "PreCompact",
    "Stop": "Stop",
    "SubagentStop": "SubagentStop",
    "SessionEnd": "SessionEnd",
    "UserPromptSubmit": "UserPromptSubmit",
    "SubagentStart": "SubagentStart",
    "PostToolUse": "PostToolUse",
    "PostToolUseFailure": "PostToolUseFailure",
}
_HOOK = {"type": "command", "command": "{command}", "timeout": 10}
_HOOK_IN_MS = {**_HOOK, "timeout": 10_000}
_SERVER = {"command": "{program}", "args": "{arguments}"}
_STDIO = {"type": "stdio", **_SERVER}


class Client:
    name: str = ""
    title: str = ""
    checked: str = RUN
    """Whether what this row says was seen in the client itself, or only read in documents."""
    programs: tuple[str, ...] = ()
    """Programs on the PATH by which it is found."""
    folders: tuple[str, ...] = ()
    """Folders it makes, by which it is found."""

    servers: tuple[str, ...] = ()
    """Where a person's MCP servers are; the first that exists, or the first."""
    project_servers: str = ""
    """The same inside a project; '' when the client has no such thing."""
    servers_at: tuple[str, ...] = ("mcpServers",)
    syntax: str = "json"
    """Of the file with servers: `json`, `jsonc` (comments allowed), `toml` or `yaml`."""
    server: Mapping[str, Any] = _SERVER
    """The entry of a server."""
    project_argument: str = ""
    """What the client replaces by the project's folder, where it starts servers elsewhere."""

    hooks: str = ""
    """Where a person's hooks are."""
    project_hooks: str = ""
    hooks_form: str = "groups"
    """`groups` or `list` of hooks by event, under our name (`named`), a list with triggers
    (`triggers`), or a JavaScript module (`module`)."""
    module: str = ""
    """How a module tells the model: as a part of the `system` prompt, or as one of its `rules`."""
    scripts: str = ""
    """Where a person's executable files are that are named after events, besides a module."""
    project_scripts: str = ""
    script_events: tuple[str, ...] = ()
    """The events they are for."""
    hooks_syntax: str = "json"
    hooks_base: Mapping[str, Any] = {}
    """What else a new file with hooks must say."""
    hook: Mapping[str, Any] = _HOOK
    """The entry of a hook. Clients ask a person to trust it again when it changes."""
    hook_for: Mapping[str, Mapping[str, Any]] = {}
    """What is different for an event of the client; None leaves a key out."""
    hook_words: tuple[str, ...] = ()
    """What the hook's program is called with."""
    user_files: str = ""
    """Its folder with a person's own commands, if it has such files as we write."""
    project_files: str = ""
    """The same inside a project."""
    has_status_line: bool = False
    """Whether its settings can name a command that writes a line of its screen."""
    has_registry: bool = False
    """Whether it notes installed plugins where `wire.is_plugin_active` looks."""
    marks: tuple[str, ...] = ()
    """Variables it sets for a hook that does not say which client it is."""

    event_field: str = "hook_event_name"
    """Where a message says which event it is; '' where the command must say it."""
    events: Mapping[str, str] = {}
    """Its events, by the names it gives them, and ours."""
    fields: Mapping[str, str] = {}
    """Our names of fields to the client's, where they are not Claude Code's; a dot leads into an
    object."""
    told: str = NESTED
    """The form of an answer: `nested`, `plain`, the key that holds the text, or '' where no hook
    can tell anything."""
    told_in: str = ""
    """What a line of its transcript has that holds what a hook answered; '' if that is unknown."""
    limit: int = 0
    """Characters of an answer that reach the model whole, where there is a limit."""
    plugin: str = ""
    """What its plugins call their folder in commands, where LTM has a plugin of its own for it."""
    plugin_noted: str = ""
    """The file in which it notes installed plugins, or that is there with ours."""
    plugin_noted_at: str = ""
    """Where in that file; '' if its being there says it."""
    plugin_serves: bool = True
    """Whether the plugin brings our server too."""
    plugin_data: str = ""
    """Where it has folders with the data of plugins, ours among them."""
    reader: str = ""
    """Which reader reads its transcripts."""
    notes: str = ""
    """Where it keeps what it remembers itself: a folder of Markdown files, in which `{project}`
    stands for the project's, or a file."""
    notes_mark: str = ""
    """Of a file: what stands in it where the client wrote to it."""
    instructions: tuple[str, ...] = ()
    """Files it loads from a project by itself."""
    trust: str = ""
    """What a person must do before hooks run."""
    trust_noted: str = ""
    """The client's file in which it notes under `hooks.state` which hooks are trusted."""

    def __init__(self, name: str, title: str, **row: Any) -> None:
        unknown = [each for each in row if not hasattr(Client, each)]
        if unknown:
            raise TypeError(f"{name}: there is no column {unknown[0]}")
        self.__dict__.update(row, name=name, title=title)
        if "hook_words" not in row:
            self.hook_words = (CLIENT_OPTION, name)


CLAUDE_CODE = Client(
    "claude-code",
    "Claude Code",
    programs=("claude",),
    folders=("{claude}/projects",),
    servers=("{claude-state}",),
    project_servers=".mcp.json",
    # Without `alwaysLoad` this client hides the tools from its model until it searches for them.
    server={**_STDIO, "args": "{arguments} --unless-plugin", "alwaysLoad": True},
    hooks="{claude}/settings.json",
    project_hooks=".claude/settings.json",
    # A time limit here would change how long the client waits for all hooks at the end.
    hook_for={"SessionEnd": {"timeout": None}},
    hook_words=(UNLESS_PLUGIN,),
    user_files="{claude}",
    project_files=".claude",
    has_status_line=True,
    has_registry=True,
    # First of all, because a session in another client's shell has that one's marks as well.
    marks=("CLAUDE_CODE_ENTRYPOINT", "CLAUDECODE"),
    events=_CLAUDE_EVENTS,
    told_in='"hook_additional_context"',
    plugin="${CLAUDE_PLUGIN_ROOT}",
    plugin_data="{claude}/plugins/data",
    limit=10_000,
    reader="claude-code",
    notes="{claude}/projects/{project}/memory",
    # Its instruction files depend on its version and settings: `inject.instruction_files` knows.
)
CODEX = Client(
    "codex",
    "Codex",
    programs=("codex",),
    folders=("{codex}",),
    servers=("{codex}/config.toml",),
    project_servers=".codex/config.toml",
    servers_at=("mcp_servers",),
    syntax="toml",
    hooks="{codex}/hooks.json",
    project_hooks=".codex/hooks.json",
    # By default it shows 2,500 tokens of four bytes, and of more a file and its beginning.
    hook_for={
        "SessionStart": {"additionalContextLimit": 0},
        "UserPromptSubmit": {"additionalContextLimit": 0},
        "SessionEnd": {"timeout": 3},
    },
    events={
        **_CLAUDE_EVENTS,
        "SubagentStart": "",
        "PostToolUseFailure": "",
    },
    told_in='"developer"',
    plugin="${PLUGIN_ROOT}",
    plugin_noted="{codex}/config.toml",
    plugin_noted_at="plugins",
    plugin_serves=False,
    plugin_data="{codex}/plugins/data",
    reader="codex",
    notes="{codex}/memories",
    instructions=("AGENTS.md",),
    trust="start codex, type /hooks and trust the hooks of ltm",
    trust_noted="{codex}/config.toml",
)
GEMINI = Client(
    "gemini",
    "Gemini CLI",
    programs=("gemini",),
    folders=("{home}/.gemini/tmp", "{home}/.gemini/settings.json"),
    servers=("{home}/.gemini/settings.json",),
    project_servers=".gemini/settings.json",
    syntax="jsonc",
    hooks="{home}/.gemini/settings.json",
    project_hooks=".gemini/settings.json",
    hooks_syntax="jsonc",
    hook=_HOOK_IN_MS,
    marks=("GEMINI_SESSION_ID",),
    plugin="${extensionPath}/src",
    plugin_noted="{home}/.gemini/extensions/ltm/gemini-extension.json",
    # Its PreCompress comes before every request to the model, not before a compaction.
    events={
        "SessionStart": "SessionStart",
        "AfterAgent": "Stop",
        "SessionEnd": "SessionEnd",
        "BeforeAgent": "UserPromptSubmit",
        "AfterTool": "PostToolUse",
    },
    reader="gemini",
    notes="{home}/.gemini/GEMINI.md",
    notes_mark="## Gemini Added Memories",
    instructions=("GEMINI.md",),
    trust="trust the folder when gemini asks: in others it runs no hooks and no servers",
)
QWEN = Client(
    "qwen",
    "Qwen Code",
    programs=("qwen",),
    folders=("{home}/.qwen",),
    servers=("{home}/.qwen/settings.json",),
    project_servers=".qwen/settings.json",
    syntax="jsonc",
    hooks="{home}/.qwen/settings.json",
    project_hooks=".qwen/settings.json",
    hooks_syntax="jsonc",
    hook=_HOOK_IN_MS,
    marks=("QWEN_PROJECT_DIR",),
    plugin="${extensionPath}",
    plugin_noted="{home}/.qwen/extensions/ltm/qwen-extension.json",
    events={**_CLAUDE_EVENTS, "SubagentStart": "", "PostToolUseFailure": ""},
    reader="qwen",
    notes="{home}/.qwen/projects/{project}/memory",
    instructions=("QWEN.md", "AGENTS.md"),
)
COPILOT = Client(
    "copilot",
    "GitHub Copilot CLI",
    programs=("copilot",),
    folders=("{copilot}",),
    # In a project it reads `.mcp.json`, which is Claude Code's, with Claude Code's entry.
    servers=("{copilot}/mcp-config.json",),
    server={"type": "local", **_SERVER, "tools": ["*"]},
    hooks="{copilot}/hooks/ltm.json",
    project_hooks=".github/hooks/ltm.json",
    hooks_form="list",
    hooks_base={"version": 1},
    hook={"type": "command", "bash": "{command}", "timeoutSec": 10},
    marks=("COPILOT_CLI",),
    # Names in this form bring Claude Code's fields.
    events={
        "SessionStart": "SessionStart",
        "Stop": "Stop",
        "SessionEnd": "SessionEnd",
        "PreCompact": "PreCompact",
        "UserPromptSubmit": "UserPromptSubmit",
        "PostToolUse": "PostToolUse",
    },
    told="additionalContext",
    plugin_noted="{copilot}/settings.json",
    plugin_noted_at="enabledPlugins",
    plugin_data="{copilot}/plugin-data/ltm",
    reader="copilot",
    instructions=("AGENTS.md", "CLAUDE.md", "GEMINI.md"),
)
_MODULE = {"SessionStart": "SessionStart", "Stop": "Stop", "PreCompact": "PreCompact"}
_ONE_LIST = {"type": "local", "command": "{words}", "enabled": True}
OPENCODE = Client(
    "opencode",
    "OpenCode",
    programs=("opencode",),
    folders=("{config}/opencode", "{data}/opencode"),
    servers=("{config}/opencode/opencode.json", "{config}/opencode/opencode.jsonc"),
    project_servers="opencode.json",
    servers_at=("mcp",),
    syntax="jsonc",
    server=_ONE_LIST,
    hooks="{config}/opencode/plugins/ltm.js",
    project_hooks=".opencode/plugins/ltm.js",
    hooks_form="module",
    module="system",
    events=_MODULE,
    reader="opencode",
    instructions=("AGENTS.md", "CLAUDE.md"),
)
KILO = Client(
    "kilo",
    "Kilo CLI",
    programs=("kilo",),
    folders=("{config}/kilo", "{data}/kilo"),
    servers=("{config}/kilo/kilo.json", "{config}/kilo/kilo.jsonc"),
    project_servers="kilo.json",
    servers_at=("mcp",),
    syntax="jsonc",
    server=_ONE_LIST,
    hooks="{config}/kilo/plugins/ltm.js",
    project_hooks=".kilo/plugins/ltm.js",
    hooks_form="module",
    module="system",
    events=_MODULE,
    reader="kilo",
    instructions=("AGENTS.md", "CLAUDE.md"),
)
CLINE = Client(
    "cline",
    "Cline CLI",
    programs=("cline",),
    folders=("{home}/.cline",),
    servers=("{home}/.cline/data/settings/cline_mcp_settings.json",),
    # It waits three seconds for a server by default, and then goes without until the next session.
    server={"transport": {"type": "stdio", **_SERVER}, "timeout": 30},
    # Of its hooks it takes in no text before the first tool is called; but it does without a
    # module that is slow to begin.
    hooks="{home}/.cline/plugins/ltm.js",
    project_hooks=".cline/plugins/ltm.js",
    hooks_form="module",
    module="rules",
    scripts="{home}/.cline/hooks",
    project_scripts=".clinerules/hooks",
    script_events=("TaskComplete",),
    events={"TaskComplete": "Stop", "SessionStart": "SessionStart"},
    fields={"session": "sessionContext.rootSessionId", "cwd": "workspaceRoots"},
    reader="cline",
    instructions=("AGENTS.md",),
)
CURSOR = Client(
    "cursor",
    "Cursor",
    checked=ONLY_READ,
    programs=("cursor", "cursor-agent"),
    folders=("{home}/.cursor",),
    servers=("{home}/.cursor/mcp.json",),
    project_servers=".cursor/mcp.json",
    project_argument="${workspaceFolder}",
    hooks="{home}/.cursor/hooks.json",
    project_hooks=".cursor/hooks.json",
    hooks_form="list",
    hooks_base={"version": 1},
    hook={"command": "{command}", "timeout": 10},
    events={
        "sessionStart": "SessionStart",
        "stop": "Stop",
        "preCompact": "PreCompact",
        "sessionEnd": "SessionEnd",
    },
    fields={"session": "conversation_id", "cwd": "workspace_roots"},
    told="additional_context",
    reader="cursor",
    instructions=("AGENTS.md", ".cursorrules"),
)
ANTIGRAVITY = Client(
    "antigravity",
    "Antigravity CLI",
    checked=ONLY_READ,
    programs=("agy",),
    folders=("{home}/.gemini/antigravity-cli",),
    servers=("{home}/.gemini/antigravity-cli/mcp_config.json",),
    project_hooks=".agents/hooks.json",
    hooks_form="named",
    event_field="",
    events={"Stop": "Stop"},
    fields={
        "session": "conversationId",
        "transcript": "transcriptPath",
        "cwd": "workspacePaths",
    },
    told="",
    reader="antigravity",
    instructions=("AGENTS.md", "GEMINI.md"),
)
GOOSE = Client(
    "goose",
    "Goose",
    checked=ONLY_READ,
    programs=("goose",),
    folders=("{config}/goose",),
    servers=("{config}/goose/config.yaml",),
    servers_at=("extensions",),
    syntax="yaml",
    server={
        "name": "ltm",
        "type": "stdio",
        "cmd": "{program}",
        "args": "{arguments}",
        "enabled": True,
        "timeout": 30,
    },
    hooks="{home}/.agents/plugins/ltm/hooks/hooks.json",
    project_hooks=".agents/plugins/ltm/hooks/hooks.json",
    event_field="event",
    events={
        "SessionStart": "SessionStart",
        "Stop": "Stop",
        "SessionEnd": "SessionEnd",
        "UserPromptSubmit": "UserPromptSubmit",
    },
    fields={"cwd": "working_dir"},
    told="",
    reader="goose",
    instructions=("AGENTS.md", ".goosehints"),
)
WINDSURF = Client(
    "windsurf",
    "Windsurf",
    checked=ONLY_READ,
    programs=("windsurf",),
    folders=("{home}/.codeium/windsurf",),
    servers=("{home}/.codeium/windsurf/mcp_config.json",),
    hooks="{home}/.codeium/windsurf/hooks.json",
    project_hooks=".windsurf/hooks.json",
    hooks_form="list",
    hook={"command": "{command}", "show_output": False},
    event_field="agent_action_name",
    events={"post_cascade_response": "Stop"},
    fields={"session": "trajectory_id"},
    told="",
    instructions=("AGENTS.md",),
)
KIRO = Client(
    "kiro",
    "Kiro",
    checked=ONLY_READ,
    programs=("kiro-cli", "kiro"),
    folders=("{home}/.kiro",),
    servers=("{home}/.kiro/settings/mcp.json",),
    project_servers=".kiro/settings/mcp.json",
    project_hooks=".kiro/hooks/ltm.json",
    hooks_form="triggers",
    events={"SessionStart": "SessionStart", "Stop": "Stop"},
    told=PLAIN,
    instructions=("AGENTS.md",),
)
DROID = Client(
    "droid",
    "Droid",
    checked=ONLY_READ,
    programs=("droid",),
    folders=("{home}/.factory",),
    servers=("{home}/.factory/mcp.json",),
    project_servers=".factory/mcp.json",
    server=_STDIO,
    hooks="{home}/.factory/settings.json",
    project_hooks=".factory/settings.json",
    events={**_CLAUDE_EVENTS, "SubagentStart": "", "PostToolUseFailure": ""},
    instructions=("AGENTS.md",),
)
CODEBUDDY = Client(
    "codebuddy",
    "CodeBuddy Code",
    checked=ONLY_READ,
    programs=("codebuddy",),
    folders=("{home}/.codebuddy",),
    # In a project it reads `.mcp.json`, which is Claude Code's, with Claude Code's entry.
    servers=("{home}/.codebuddy.json",),
    server=_STDIO,
    hooks="{home}/.codebuddy/settings.json",
    project_hooks=".codebuddy/settings.json",
    events={**_CLAUDE_EVENTS, "SubagentStart": "", "PostToolUseFailure": ""},
    instructions=("CODEBUDDY.md",),
    trust="start codebuddy, type /hooks and approve the hooks of ltm",
)
QODER = Client(
    "qoder",
    "Qoder CLI",
    checked=ONLY_READ,
    programs=("qodercli", "qoder"),
    folders=("{home}/.qoder",),
    # In a project it reads `.mcp.json`, which is Claude Code's, with Claude Code's entry.
    servers=("{home}/.qoder/settings.json",),
    hooks="{home}/.qoder/settings.json",
    project_hooks=".qoder/settings.json",
    events=_CLAUDE_EVENTS,
    # The same form, down to the names of its fields.
    reader="claude-code",
    instructions=("AGENTS.md",),
)
CLIENTS = (
    CLAUDE_CODE,
    CODEX,
    COPILOT,
    GEMINI,
    QWEN,
    OPENCODE,
    KILO,
    CLINE,
    CURSOR,
    ANTIGRAVITY,
    GOOSE,
    WINDSURF,
    KIRO,
    DROID,
    CODEBUDDY,
    QODER,
    Client(
        "amp",
        "Amp",
        programs=("amp",),
        folders=("{config}/amp",),
        servers=("{config}/amp/settings.json",),
        project_servers=".amp/settings.json",
        servers_at=("amp.mcpServers",),
        syntax="jsonc",
        instructions=("AGENTS.md",),
    ),
    Client(
        "auggie",
        "Auggie",
        programs=("auggie",),
        folders=("{home}/.augment",),
        servers=("{home}/.augment/settings.json",),
        server=_STDIO,
        instructions=("AGENTS.md", "CLAUDE.md"),
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        checked=ONLY_READ,
        folders=("{application}/Claude",),
        servers=("{application}/Claude/claude_desktop_config.json",),
    ),
    Client(
        "crush",
        "Crush",
        checked=ONLY_READ,
        programs=("crush",),
        folders=("{config}/crush",),
        servers=("{config}/crush/crush.json",),
        project_servers="crush.json",
        servers_at=("mcp",),
        server=_STDIO,
        instructions=("AGENTS.md", "CLAUDE.md", "GEMINI.md"),
    ),
    Client(
        "vscode",
        "VS Code",
        checked=ONLY_READ,
        programs=("code",),
        folders=("{application}/Code/User",),
        servers=("{application}/Code/User/mcp.json",),
        project_servers=".vscode/mcp.json",
        servers_at=("servers",),
        syntax="jsonc",
        server=_STDIO,
        project_argument="${workspaceFolder}",
        instructions=("AGENTS.md",),
    ),
    Client(
        "zed",
        "Zed",
        checked=ONLY_READ,
        programs=("zed",),
        folders=("{zed}",),
        servers=("{zed}/settings.json",),
        project_servers=".zed/settings.json",
        servers_at=("context_servers",),
        syntax="jsonc",
        instructions=("AGENTS.md", "CLAUDE.md"),
    ),
)
BY_NAME = {client.name: client for client in CLIENTS}

"""What a plain text says about itself: kind, impact and scope by the judge, tags by tables.

Blocks of code do not count for the judge. Words that are mostly plain English ("go", "node",
"rest", "next") are tags only in forms that can mean nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ltm.kinds import Kinds
from ltm.model import Impact, Scope
from ltm.text.judge import Judge, judge, length

# Tag, and the other words that mean it.
_TABLE = (
    "python: py python3 pypi pip pytest django flask fastapi pydantic; javascript: js ecmascript; "
    "typescript: tsx tsconfig; nodejs: node.js npm pnpm yarn; react: reactjs react.js jsx; "
    "vue: vuejs vue.js; angular: angularjs; svelte: sveltekit; nextjs: next.js; "
    "rust: rustc rustup; golang: goroutine goroutines; java: jvm jdk maven gradle; kotlin:; "
    "swift: swiftui; ruby: rails rubygems; php: laravel; cpp: c++; csharp: c#; fsharp: f#; "
    "dotnet: .net asp.net; scala:; elixir:; haskell:; bash: zsh; powershell:; html: html5; "
    "css: css3 scss sass tailwind; sql: sqlalchemy; postgres: postgresql psql pgvector; "
    "mysql: mariadb; sqlite: sqlite3 fts5; mongodb: mongo; redis: valkey; "
    "elasticsearch: opensearch; kafka:; rabbitmq: amqp; "
    "docker: dockerfile docker-compose podman containerfile; kubernetes: k8s kubectl helm; "
    "terraform: opentofu; ansible:; aws: s3 ec2 dynamodb; gcp: bigquery; azure:; nginx:; "
    "linux: ubuntu debian systemd; macos: osx; windows: win32; "
    "git: github gitlab rebase submodule; ci: ci/cd cicd; webpack: vite esbuild rollup; graphql:; "
    "grpc: protobuf; websocket: websockets; http:; json: jsonl jsonschema; yaml: yml; "
    "regex: regexp; mcp:; llm: llms openai anthropic; api: apis endpoint endpoints; "
    "auth: authentication authorization oauth oauth2 jwt login sso; "
    "security: vulnerability vulnerabilities cve xss csrf; testing: test tests e2e; "
    "debugging: debug debugger traceback; "
    "performance: optimization optimisation latency profiling benchmark benchmarks; "
    "cache: caching caches cached; database: databases db schema; migration: migrations; "
    "deployment: deploy deploys deployed deploying; logging: logs logger; "
    "monitoring: prometheus grafana observability; configuration: config; documentation: docs; "
    "refactoring: refactor refactored; frontend: front-end; backend: back-end; "
    "async: asyncio asynchronous; concurrency: deadlock deadlocks mutex; "
    "encoding: utf-8 utf8 unicode; accessibility: a11y; "
    "i18n: internationalization localization l10n"
)
_EXTENSIONS = (
    "python: py pyi ipynb; javascript: js mjs cjs; typescript: ts mts cts; react: jsx tsx; "
    "vue: vue; svelte: svelte; rust: rs; golang: go; java: java; kotlin: kt kts; swift: swift; "
    "ruby: rb; php: php; cpp: cpp cc cxx hpp; csharp: cs csproj; fsharp: fs; scala: scala; "
    "elixir: ex exs; bash: sh bash zsh; powershell: ps1; html: html htm; css: css scss sass; "
    "sql: sql; terraform: tf; yaml: yaml yml"
)
_BROADER = dict.fromkeys(("postgres", "mysql", "sqlite", "mongodb"), "database")
"""A tag that goes with another: "which database do we use" must find what names one."""
_IMPORTANT = re.compile(
    r"\b(?:this|that|it)(?: is|'s) (?:very |really |super )?(?:important|crucial|critical)\b", re.I
)
# A mark that was reached, and nothing else: a sentence about tests or a release may be anything.
_REACHED = re.compile(
    r"\s*(?:(?:we have|all|now|finally|\d+(?: of \d+)?|the)[ ,]+)*tests?(?: are| is)?(?: now| all)*"
    r" (?:passing|passed|pass|green)(?: now)?\W*\Z"
    r"|\s*(?:(?:we|i)(?: have| just| finally)* (?:released|shipped|launched|published|tagged)\b"
    r"|(?:released|shipped|launched|published|tagged)(?= (?:the|our|a|version|v?\d)\b))"
    r"(?: (?!(?:and|as|because|but|by|from|if|so|that|under|when|with|without)\b)[\w.'-]+){1,6}"
    r"\W*\Z",
    re.I,
)
_TAG_WORD = re.compile(r"\.?\w(?:[\w.+#/-]*[\w+#])?")
_VERSION = re.compile(r"[-@]?v?\d[\d.]*\Z")


def _read(table: str) -> dict[str, list[str]]:
    rows = (row.split(":") for row in table.split("; "))
    return {tag: words.split() for tag, words in rows}


_BY_EXTENSION = {word: tag for tag, words in _read(_EXTENSIONS).items() for word in words}
_BY_WORD = {word: tag for tag, words in _read(_TABLE).items() for word in (tag, *words)}


def auto_tags(text: str, limit: int = 10) -> tuple[str, ...]:
    """The tags a text calls for, in the order in which it speaks of them, at most `limit`."""
    found: dict[str, None] = {}
    for word in _TAG_WORD.findall(text.lower()):
        for tag in _tags_of(word):
            found[tag] = None
        if len(found) >= limit:
            break
    broader = (_BROADER[tag] for tag in found if tag in _BROADER)
    return tuple(dict.fromkeys((*found, *broader)))[:limit]


def _tags_of(word: str) -> Iterator[str]:
    if tag := _BY_WORD.get(word) or _BY_WORD.get(_VERSION.sub("", word)):
        yield tag
        return
    name, dot, extension = word.rpartition(".")
    if dot and (tag := _BY_EXTENSION.get(extension)):
        yield tag
        word = name
    if any(joint in word for joint in "/-_"):
        for part in re.split("[/_-]", word):
            if tag := _BY_WORD.get(part):
                yield tag


TAG_LIMIT = 10
_ACHIEVEMENT = "achievement"
_SAID = ("@user",)
_LOOKED_AT = 5_000
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_WORD = re.compile(r"[\w.'’/\\@-]+|[^\w\s]")
_HERE = re.compile(
    r"\b(?:this|the|our) (?:project|repo|repository|codebase|monorepo|workspace|package|module"
    r"|file)\b|\bhere\b",
    re.IGNORECASE,
)
_EVERYWHERE = re.compile(
    r"\b(?:in|for|across|over|with|on) (?:all|each|every|any)(?: of)?(?: (?:my|our))?(?: own)?"
    r" (?:projects?|repos?|repositor(?:y|ies)|codebases?)\b(?! (?:in|under|of (?!mine))\b)"
    r"|\b(?:no matter|regardless of) (?:in )?(?:which|what|the) (?:project|repo|repository)\b",
    re.IGNORECASE,
)
"""Where a wish says itself that it holds in every project."""
_WHO = re.compile(
    r"(?:call me|my name is|i(?:'m| am) an?(?! (?:bit|little|lot)\b)"
    r"|i (?:live|work) (?:in|at|from)) \w",
    re.IGNORECASE,
)
"""How people begin who say who they are, which is the same in every project."""
_TOLD_BY = 2
"""Words from which a text can say what it is."""
_SURE_OF_KIND, _SURE_OF_SCOPE = 0.2, 0.7
"""How probable an answer is before it is preferred to the default."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """What was read out of a text."""

    kind: str
    impact: Impact
    scope: Scope
    tags: tuple[str, ...]
    said: tuple[str, ...]
    """One line a field, `field=value (why)`, to show to the person who wrote the text."""


def infer(text: str, kinds: Kinds, known_tags: Iterable[str] = (), *, title: str = "") -> Inferred:
    """Everything a text says about itself; tags already in use are recognised in it as well.

    A title of its own counts for the kind and the tags.
    """
    titled = _titled(text, title)
    kind, impact, scope = infer_kind(text, kinds, title), infer_impact(text), infer_scope(text)
    tags = _tags(f"{title}\n{text}", known_tags)
    said = [
        f"kind={kind} ({_why('kind', kind, titled)})",
        f"impact={impact.value} ({_why('impact', impact.value, text)})",
        f"scope={scope.value} ({_why('scope', scope.value, text)})",
    ]
    if tags:
        said.append(f"tags={','.join(tags)} (words of the text)")
    return Inferred(kind, impact, scope, tags, tuple(said))


def infer_kind(text: str, kinds: Kinds, title: str = "") -> str:
    """Name of the kind that title and text most probably are; the default where none stands out."""
    if _ACHIEVEMENT in kinds and _REACHED.match(text):
        return _ACHIEVEMENT
    if length(text) < _TOLD_BY:
        return kinds.default.name
    kind, share = judge().best("kind", _titled(text, title), _SAID)
    return kind if share >= _SURE_OF_KIND and kind in kinds else kinds.default.name


def infer_impact(text: str) -> Impact:
    """How much the text seems to matter, and high at least where it says that it does."""
    if length(text) < _TOLD_BY:
        return Impact.MEDIUM
    found = Impact(judge().best("impact", _spoken(text), _SAID)[0])
    low = found in (Impact.LOW, Impact.MEDIUM)
    return Impact.HIGH if low and _IMPORTANT.search(text) else found


def infer_scope(text: str, model: Judge | None = None) -> Scope:
    """Agent only when it is clear that the text holds in every project, and it names no place."""
    spoken = _spoken(text)
    if _HERE.search(spoken):
        return Scope.PROJECT
    if _EVERYWHERE.search(spoken) or _WHO.match(spoken):
        return Scope.AGENT
    scope, share = (model or judge()).best("scope", spoken, _SAID)
    return Scope(scope) if share >= _SURE_OF_SCOPE else Scope.PROJECT


def _why(question: str, answer: str, text: str) -> str:
    """The words of a text that spoke most for an answer."""
    return ", ".join(judge()[question].telling(_spoken(text), answer)) or "the default"


def _titled(text: str, title: str) -> str:
    return f"{title}: {text}" if title.strip() else text


def _spoken(text: str) -> str:
    """A text without blocks of code."""
    return _CODE.sub(" ", text[:_LOOKED_AT])


def _words(text: str) -> str:
    """A text as ` word word . word `, so that a tag is found by the blanks around it.

    What is joined by `_ . / @ -` stays one word, so that names and paths are not taken for speech.
    """
    words: list[str] = []
    for found in _WORD.findall(text.lower()):
        words.append(found.lstrip("'’").rstrip(".'’-/\\").removesuffix("'s").removesuffix("’s"))
        if found.endswith("."):
            words.append(".")
    return f" {' '.join(filter(None, words))} "


def _tags(text: str, known_tags: Iterable[str]) -> tuple[str, ...]:
    words = _words(text)
    known = (tag for tag in known_tags if any(f" {form} " in words for form in _forms(tag)))
    return tuple(dict.fromkeys((*known, *auto_tags(text, TAG_LIMIT))))[:TAG_LIMIT]


def _forms(phrase: str) -> set[str]:
    """How a tag or phrase may be written: in words or with hyphens."""
    words = phrase.lower().replace("-", " ").split()
    return {phrase.strip().lower(), " ".join(words), "-".join(words)} - {""}

"""Kind, impact, scope, tags, title from plain text.

The technologies and topics a text speaks of: whole words looked up in one table.

Words that are mostly plain English ("go", "node", "rest", "next") are listed only in forms that can
mean nothing else. Standard library only; no I/O.

What a plain text says about itself: kind, impact, scope and tags.

Whole words only: a "monkey" is not a "key". Words inside of code (back quotes, identifiers, paths)
are names, not speech, and do not count. What suggests a kind stands in the kinds table; the rest
stands here. Imports `core.kinds`, `core.model` and `core.tags`; no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ltm.kinds import Kinds
from ltm.model import Impact, Scope

# Tag, and the other words that mean it.
_TABLE = """
python: py python3 pypi pip pytest django flask fastapi pydantic
javascript: js ecmascript
typescript: tsx tsconfig
nodejs: node.js npm pnpm yarn
react: reactjs react.js jsx
vue: vuejs vue.js
angular: angularjs
svelte: sveltekit
nextjs: next.js
rust: rustc rustup
golang: goroutine goroutines
java: jvm jdk maven gradle
kotlin: kotlin
swift: swiftui
ruby: rails rubygems
php: laravel
cpp: c++
csharp: c#
fsharp: f#
dotnet: .net asp.net
scala: scala
elixir: elixir
haskell: haskell
bash: zsh
powershell: powershell
html: html5
css: css3 scss sass tailwind
sql: sqlalchemy
postgres: postgresql psql pgvector
mysql: mariadb
sqlite: sqlite3 fts5
mongodb: mongo
redis: valkey
elasticsearch: opensearch
kafka: kafka
rabbitmq: amqp
docker: dockerfile docker-compose podman containerfile
kubernetes: k8s kubectl helm
terraform: opentofu
ansible: ansible
aws: s3 ec2 dynamodb
gcp: bigquery
azure: azure
nginx: nginx
linux: ubuntu debian systemd
macos: osx
windows: win32
git: github gitlab rebase submodule
ci: ci/cd cicd
webpack: vite esbuild rollup
graphql: graphql
grpc: protobuf
websocket: websockets
http: http
json: jsonl jsonschema
yaml: yml
regex: regexp
mcp: mcp
llm: llms openai anthropic
api: apis endpoint endpoints
auth: authentication authorization oauth oauth2 jwt login sso
security: vulnerability vulnerabilities cve xss csrf
testing: test tests e2e
debugging: debug debugger traceback
performance: optimization optimisation latency profiling benchmark benchmarks
cache: caching caches cached
database: databases db schema
migration: migrations
deployment: deploy deploys deployed deploying
logging: logs logger
monitoring: prometheus grafana observability
configuration: config
documentation: docs
refactoring: refactor refactored
frontend: front-end
backend: back-end
async: asyncio asynchronous
concurrency: deadlock deadlocks mutex
encoding: utf-8 utf8 unicode
accessibility: a11y
i18n: internationalization localization l10n
"""
_EXTENSIONS = """
python: py pyi ipynb
javascript: js mjs cjs
typescript: ts mts cts
react: jsx tsx
vue: vue
svelte: svelte
rust: rs
golang: go
java: java
kotlin: kt kts
swift: swift
ruby: rb
php: php
cpp: cpp cc cxx hpp
csharp: cs csproj
fsharp: fs
scala: scala
elixir: ex exs
bash: sh bash zsh
powershell: ps1
html: html htm
css: css scss sass
sql: sql
terraform: tf
yaml: yaml yml
"""
_TAG_WORD = re.compile(r"\.?\w(?:[\w.+#/-]*[\w+#])?")
_VERSION = re.compile(r"[-@]?v?\d[\d.]*\Z")


def _read(table: str) -> dict[str, str]:
    rows = (line.split(":") for line in table.strip().split("\n"))
    return {word: tag for tag, words in rows for word in words.split()}


_BY_EXTENSION = _read(_EXTENSIONS)
_BY_WORD = _read(_TABLE)
_BY_WORD |= {tag: tag for tag in _BY_WORD.values()}


def auto_tags(text: str, limit: int = 10) -> tuple[str, ...]:
    """The tags a text calls for, in the order in which it speaks of them, at most `limit`."""
    found: dict[str, None] = {}
    for word in _TAG_WORD.findall(text.lower()):
        for tag in _tags_of(word):
            found[tag] = None
        if len(found) >= limit:
            break
    return tuple(found)[:limit]


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


__all__ = [
    "Inferred",
    "auto_tags",
    "infer",
    "infer_impact",
    "infer_kind",
    "infer_scope",
]

TAG_LIMIT = 10

# Tried in this order; the first list that holds a word of the text decides.
_IMPACT: tuple[tuple[Impact, frozenset[str]], ...] = (
    (
        Impact.CRITICAL,
        frozenset({"crucial", "critical", "never", "always", "must", "essential", "vital"}),
    ),
    (Impact.HIGH, frozenset({"important", "significant", "key", "major", "remember"})),
    (Impact.LOW, frozenset({"minor", "small", "trivial", "maybe", "possibly", "might"})),
)
# Only these make a memory leave its project: "always" or "in general" say how often, not where.
_EVERY_PROJECT = (
    *("in all projects", "in all my projects", "in all of my projects", "in every project"),
    *("across all projects", "across all my projects", "across projects", "in any project"),
    *("for all projects", "for all my projects", "for all of my projects", "for every project"),
    *("everywhere", "universally", "as a rule in general"),
)
# A text that names its place, or uses the word in another sense, stays in its project.
_ONE_PROJECT = (
    *("this project", "this repo", "this repository", "this codebase", "the codebase"),
    *("our codebase", "this monorepo", "the monorepo", "this workspace", "this package"),
    *("this module", "this file", "universally unique", "not everywhere", "not in all projects"),
)

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_WORD = re.compile(r"[\w.'’/\\@-]+|[^\w\s]")


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
    spoken = _spoken(text)
    kind, kind_word = _kind(_titled(text, title), kinds)
    impact, impact_word = _impact(spoken)
    scope, scope_word = _scope(spoken)
    tags = _tags(f"{title}\n{text}", known_tags)
    said = [
        f"kind={kind} ({kind_word or 'the default'})",
        f"impact={impact.value} ({impact_word or 'the default'})",
        f"scope={scope.value} ({scope_word or 'the default'})",
    ]
    if tags:
        said.append(f"tags={','.join(tags)} (words of the text)")
    return Inferred(kind, impact, scope, tags, tuple(said))


def infer_kind(text: str, kinds: Kinds, title: str = "") -> str:
    """Name of the first kind, in the table's order of trying, that has a word in title or text."""
    return _kind(_titled(text, title), kinds)[0]


def infer_impact(text: str) -> Impact:
    """How much the text says it matters; medium when it does not say."""
    return _impact(_spoken(text))[0]


def infer_scope(text: str) -> Scope:
    """Agent only when the text says in so many words that it holds in every project."""
    return _scope(_spoken(text))[0]


def _titled(text: str, title: str) -> str:
    """The words of title and text; no phrase reaches from one into the other."""
    return f"{_spoken(title)}|{_spoken(text)}"


def _spoken(text: str) -> str:
    """The words of a text without those in code."""
    return _words(_CODE.sub(" | ", text))


def _words(text: str) -> str:
    """A text as ` word word . word `, so that a word or phrase is found by the blanks around it.

    Punctuation stays as a word of its own: a phrase does not reach across it. What is joined by
    `_ . / @ -` stays one word, so that names and paths are not taken for speech.
    """
    words: list[str] = []
    for found in _WORD.findall(text.lower()):
        words.append(found.lstrip("'’").rstrip(".'’-/\\").removesuffix("'s").removesuffix("’s"))
        if found.endswith("."):
            words.append(".")
    return f" {' '.join(filter(None, words))} "


def _kind(spoken: str, kinds: Kinds) -> tuple[str, str]:
    rows = sorted((row for row in kinds if row.inferred), key=lambda row: row.inferred)
    for row in rows:
        for phrase in row.words:
            if any(f" {form} " in spoken or f" {form}s " in spoken for form in _forms(phrase)):
                return row.name, phrase
    return kinds.default.name, ""


def _impact(spoken: str) -> tuple[Impact, str]:
    words = spoken.split()
    for impact, telling in _IMPACT:
        for before, word in zip(["", *words], words, strict=False):
            negated = before == "not" or before.endswith(("n't", "n’t"))
            if word in telling and not negated:
                return impact, word
    return Impact.MEDIUM, ""


def _scope(spoken: str) -> tuple[Scope, str]:
    if not any(f" {phrase} " in spoken for phrase in _ONE_PROJECT):
        for phrase in _EVERY_PROJECT:
            if f" {phrase} " in spoken:
                return Scope.AGENT, phrase
    return Scope.PROJECT, ""


def _tags(text: str, known_tags: Iterable[str]) -> tuple[str, ...]:
    words = _words(text)
    known = (tag for tag in known_tags if any(f" {form} " in words for form in _forms(tag)))
    return tuple(dict.fromkeys((*known, *auto_tags(text, TAG_LIMIT))))[:TAG_LIMIT]


def _forms(phrase: str) -> set[str]:
    """How a tag or phrase may be written: in words or with hyphens."""
    words = phrase.lower().replace("-", " ").split()
    return {phrase.strip().lower(), " ".join(words), "-".join(words)} - {""}

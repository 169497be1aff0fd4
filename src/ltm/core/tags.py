"""The technologies and topics a text speaks of: whole words looked up in one table.

Words that are mostly plain English ("go", "node", "rest", "next") are listed only in forms that can
mean nothing else. Standard library only; no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
_WORD = re.compile(r"\.?\w(?:[\w.+#/-]*[\w+#])?")
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
    for word in _WORD.findall(text.lower()):
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

"""Lines that hold no secret and look as if they might: code, hashes, lock files, placeholders.

Half of it is real text of the standard library; the rest is made from templates, some a family.
Beside the blanks of `redaction_kinds`, `{n}` is a number, `{word}` and `{WORD}` a word as it stands
in names, `{uuid}` a UUID, and `{64}` so many random bytes in base64.
"""

from __future__ import annotations

import base64
import os
import random
import re
import sysconfig
import uuid
from collections.abc import Iterator
from pathlib import Path
from pydoc_data.topics import topics

from benchmarks.redaction_kinds import fill

_WORDS = ("api", "auth", "access", "refresh", "csrf", "session", "client", "db")
_BLANK = re.compile(r"\{(n|word|WORD|uuid|\d+)\}")
_NOT_LIBRARY = {"test", "tests", "idle_test", "site-packages", "dist-packages"}
"""Tests log in with passwords, which is no mistake of ours to find."""

_FAMILIES: dict[str, tuple[str, ...]] = {
    "git log": ("{h7} Fix the {l6} of the token parser (#{n})",),
    "git commit": ("commit {h40}",),
    "git diff": ("index {h7}..{h7} 100644",),
    "git reference": ("{h40}\trefs/heads/feature/{l5}-auth-token",),
    "npm lock": ('      "integrity": "sha512-{64}",',),
    "npm resolved": ('"resolved": "https://npm.example.com/{l7}/-/{l7}-1.{d1}.3.tgz",',),
    "yarn lock": ("  integrity sha512-{64}",),
    "yarn resolved": ('  resolved "https://example.org/x-{d1}.tgz#{h40}"',),
    "poetry lock": ('    {file = "{l6}-1.2.tar.gz", hash = "sha256:{h64}"},',),
    "pip hash": ("    --hash=sha256:{h64} \\",),
    "cargo lock": ('checksum = "{h64}"',),
    "go sum": ("github.com/{l5}/{l6} v1.{d1}.2 h1:{32}",),
    "go pseudo-version": ("golang.org/x/{l5} v0.0.0-2024{d10}-{h12}",),
    "flake lock": ('        "narHash": "sha256-{32}",',),
    "script integrity": ('<script src="/app.js" integrity="sha512-{64}" crossorigin></script>',),
    "docker digest": ("Digest: sha256:{h64}",),
    "docker image": ("web  latest  {h12}  2 days ago  {n}MB",),
    "image data": (
        '<img src="data:image/png;base64,{90}">',
        '<img src="data:image/png;base64,{700}">',
    ),
    "css data": (".icon-key{background:url(data:image/svg+xml;base64,{120})}",),
    "base64 body": ("{57}",),
    "source map": ("//# sourceMappingURL=data:application/json;base64,{90}",),
    "uuid log": ("2026-05-0{d1} INFO request_id={uuid} user={uuid} took {n}ms",),
    "session line": ('{"sessionId":"{uuid}","uuid":"{uuid}","parentUuid":"{uuid}"}',),
    "tool use": ('{"type":"tool_use","id":"toolu_01{a22}","name":"Bash"}',),
    "message id": ('"id":"msg_01{a22}","role":"assistant","model":"claude-sonnet-4-5-2025{d4}"',),
    "usage": ('"input_tokens":{n},"cache_read_input_tokens":{n},"output_tokens":{n}',),
    "memory id": ("mem_{m22} replaces mem_{m22}",),
    "etag": ('ETag: W/"{h32}"',),
    "asset name": ("dist/assets/index-{a8}.js  {n}.12 kB │ gzip: 45.1 kB",),
    "public key": ("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{b44} dev@laptop",),
    "fingerprint": ("256 SHA256:{b43} dev@laptop (ED25519)",),
    "placeholder": (
        "export API_KEY=<your-api-key>",
        "API_KEY=your_api_key_here",
        "ANTHROPIC_API_KEY=sk-ant-...",
        'token: "xxxxxxxxxxxxxxxxxxxx"',
        "password: ********",
        "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "SECRET_KEY=changeme",
        'api_key = "REPLACE_ME"',
        'OPENAI_API_KEY="sk-..."',
        "postgres://user:password@localhost:5432/db",
        "mysql://${DB_USER}:${DB_PASS}@db/app",
        "https://<user>:<token>@github.com/org/repo.git",
    ),
    "variable": (
        "{WORD}_TOKEN=$TOKEN",
        'export {WORD}_SECRET="$(pass show {word})"',
        "          {WORD}_TOKEN: ${{ secrets.{WORD}_TOKEN }}",
        '{word}_key = os.environ["{WORD}_KEY"]',
        "const {word}Token = process.env.{WORD}_TOKEN;",
        "password = var.{word}_password",
        'token = data.vault_generic_secret.{word}.data["token"]',
        "  password: {{ .Values.{word}.password }}",
        'secret := os.Getenv("{WORD}_SECRET")',
        "--token=${{WORD}_TOKEN}",
        "{word}_password={{ vault_{word}_password }}",
    ),
    "types": (
        "  password: string;",
        "def login(user: str, password: str, {word}_token: str | None = None) -> bool:",
        "    api_key: Optional[str] = None",
        "  readonly accessToken?: string | undefined;",
        "password VARCHAR(255) NOT NULL,",
        "public {l6}Token Token { get; set; }",
        "    pub secret: Option<String>,",
        '\tPassword string `json:"password"`',
        "t.string :password_digest, null: false",
        '"password": {"type": "string", "minLength": 8},',
    ),
    "calls": (
        "token = get_{word}_token()",
        "password = getpass.getpass('{word} password: ')",
        "const token = await fetch{l6}Token(user.id);",
        "self.{word}_key = {word}_key",
        "token = tokens[{d1}]",
        "return {'token': token, 'key': key_{d1}}",
        "if (token.type === 'keyword' || key === 'Enter') next({d2});",
        "secret = secrets.token_urlsafe(32)",
        'key = f"{user.id}:{word}:{page}"',
        "cache_key = 'users:{word}:list:v{d1}'",
        "hashed = bcrypt.hashpw(password.encode(), salt)",
    ),
    "help": (
        "  --token TOKEN         the token to log in with (default: none)",
        "  --password-file FILE  read the password from FILE",
        "usage: deploy [--api-key KEY] [--secret-name NAME] target",
        "error: missing required argument: --{word}-token <token>",
        "Invalid {word} token: expected 3 parts, got {d1}",
        "fatal: Authentication failed: the password or token is not valid",
        'label: "Password", placeholder: "Enter your password"',
        '<input type="password" name="password" autocomplete="current-password">',
        "Set the token in your environment, never in the repository.",
        "Authorization: Bearer <token>",
        "The {word} key is stored in the keychain, see docs/{word}-keys.md.",
    ),
    "kubernetes": (
        "  secretName: {word}-tls",
        "      name: {word}-credentials",
        "      key: node-role.kubernetes.io/control-plane",
        "    secretKeyRef: {name: {word}, key: password}",
        "  tokenSecretRef: {word}-token-{l5}",
        "imagePullSecrets: [{name: registry-{l5}}]",
    ),
    "css": (".token.key{color:#{h6};margin:{d1}px}.secret{display:none}",),
    "minified": (
        "!function(e,t){var n=t.key||e.token,r={d2};"
        "n&&(e.secret=r?t({n}):null),e.auth=!{d1}}(this,{l2});",
    ),
    "listing": ("-rw-r--r-- 1 dev dev {n} May 1{d1} 10:1{d1} src/auth/token_{l5}.py",),
    "grep": ("src/auth/{l6}_token.py:{n}:    def {word}_key(self) -> str:",),
    "traceback": ('  File "/srv/app/{l6}/secrets.py", line {n}, in load_key',),
    "test run": ("tests/test_{word}_token.py::test_{l6}_password PASSED [ {d2}%]",),
    "address": ('10.{d2}.{d2}.9 - - "GET /login?next=/{l5} HTTP/1.1" 200 {n}',),
    "plain url": ("https://github.com/{l6}/{l8}/blob/{h40}/src/key.ts#L{n}",),
    "package": ('    "@{l5}/{word}-token-{l4}": "^{d1}.{d2}.{d1}",',),
}


def families() -> tuple[str, ...]:
    """The names of all families, real text first."""
    return ("library code", "library help", *_FAMILIES)


def lines(family: str, count: int, seed: int) -> Iterator[str]:
    """So many lines of one family."""
    rng = random.Random(f"{family} {seed}")
    if family in _FAMILIES:
        for _ in range(count):
            yield _made(rng, rng.choice(_FAMILIES[family]))
        return
    pool = list(_library_code()) if family == "library code" else _library_help()
    yield from rng.sample(pool, min(count, len(pool)))


def _made(rng: random.Random, template: str) -> str:
    def written(blank: re.Match[str]) -> str:
        if blank[1].isdigit():
            return base64.b64encode(rng.randbytes(int(blank[1]))).decode()
        word = rng.choice(_WORDS)
        values = {"n": str(rng.randint(10, 99999)), "word": word, "WORD": word.upper()}
        return values.get(blank[1]) or str(uuid.UUID(bytes=rng.randbytes(16), version=4))

    return fill(rng, _BLANK.sub(written, template))


def _library_code() -> Iterator[str]:
    for top, folders, names in os.walk(sysconfig.get_path("stdlib")):
        folders[:] = sorted({*folders} - _NOT_LIBRARY)
        for name in sorted(names):
            if name.endswith(".py"):
                text = Path(top, name).read_text(encoding="utf-8", errors="replace")
                yield from (line for line in text.splitlines() if len(line.strip()) > 3)


def _library_help() -> list[str]:
    return [line for text in topics.values() for line in str(text).splitlines() if line.strip()]

"""Where secrets stand in what people type and tools print: one row a place.

A context gets a made secret, and gives the text and the strings that must not survive in it.
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote

from benchmarks.redaction_kinds import Kind, Made


@dataclass(frozen=True, slots=True)
class Context:
    """One place: its label, how it writes name and value, and what it can hold.

    In the template {v} is the value and {N}, {s}, {k}, {c} the name as `API_KEY`, `api_key`,
    `api-key` and `apiKey`.
    """

    name: str
    template: str
    named: bool = True
    """False if the name does not show, so that only the secret's own shape can tell."""
    multiline: bool = False
    """Holds line breaks as they are; the others hold them escaped, as people do."""
    change: Callable[[str, random.Random], str] | None = None
    """Writes the value in another form: encoded, or broken over lines."""

    def takes(self, kind: Kind) -> bool:
        """Whether a secret of this kind can stand here and be known for what it is."""
        if self.change is not None and not kind.wraps:
            return False
        return self.named or kind.own_shape

    def place(self, kind: Kind, made: Made, rng: random.Random) -> tuple[str, list[str]]:
        """The text, and the lines of the secret as they stand in it."""
        value, secret = made.text, made.secret
        if not self.multiline:
            value, secret = value.replace("\n", "\\n"), secret.replace("\n", "\\n")
        if self.change is not None:
            value = secret = self.change(value, rng)
        name = rng.choice(kind.called)
        forms = {"{N}": name, "{s}": name.lower(), "{k}": kebab(name), "{c}": camel(name)}
        text = self.template
        for mark, form in (*forms.items(), ("{v}", value)):
            text = text.replace(mark, form)
        return text, secret.replace("\\n", "\n").split("\n")


def kebab(name: str) -> str:
    """`API_KEY` as `api-key`."""
    return name.lower().replace("_", "-")


def camel(name: str) -> str:
    """`API_KEY` as `apiKey`."""
    if "_" not in name:
        return name.lower() if name.isupper() else name[0].lower() + name[1:]
    first, *rest = name.lower().split("_")
    return first + "".join(each.capitalize() for each in rest)


def _broken(value: str, rng: random.Random) -> str:
    place = rng.randint(len(value) // 3, 2 * len(value) // 3)
    return f"{value[:place]}\n{value[place:]}"


def _percent(value: str, rng: random.Random) -> str:
    return quote(value, safe="")


def _base64(value: str, rng: random.Random) -> str:
    return base64.b64encode(value.encode()).decode()


CONTEXTS: tuple[Context, ...] = (
    # Alone, or among words
    Context("alone", "{v}", named=False, multiline=True),
    Context("in a sentence", "Here it is: {v} and please do not lose it", named=False),
    Context("in back quotes", "I pasted `{v}` into the wrong window again.", named=False),
    Context("before a comma", "Please rotate {v}, it was in the log of run 4711.", named=False),
    Context("in parentheses", "- old value ({v}) still works on the second host", named=False),
    Context("said with is", "the {s} is {v}"),
    Context("name then value", "Use {N} {v} for the staging cluster"),
    Context("said with a colon", "my {s}: {v}\nthanks"),
    Context("markdown table", "| {N} | {v} | rotated in May |"),
    Context("bold name", "**{N}**: `{v}`"),
    Context("quoted after is", 'remember that {N} is "{v}" on the staging host'),
    # Shell and environment
    Context("export", "export {N}={v}"),
    Context("export quoted", 'export {N}="{v}"', multiline=True),
    Context("env file", "DEBUG=1\n{N}={v}\nPORT=8080"),
    Context("before a command", "{N}='{v}' ./deploy.sh --region eu-west-1"),
    Context("docker -e", "docker run --rm -e {N}='{v}' -p 8080:80 web:latest"),
    Context("dockerfile", "ENV {N}={v}\nRUN make install"),
    Context("dockerfile, old form", "ENV {N} {v}"),
    Context("fish", "set -gx {N} {v}"),
    Context("powershell", '$env:{N} = "{v}"'),
    Context("windows", "setx {N} {v}"),
    Context("flag", "deployctl push --{k} {v} --region eu"),
    Context("flag with equals", "deployctl push --{k}={v} --region eu"),
    Context("set -x trace", "+ {N}={v}\n+ npm publish --access public"),
    Context("secret set", "gh secret set {N} --body '{v}'"),
    # Configuration
    Context("json", '{"name": "svc", "{c}": "{v}", "retries": 3}'),
    Context("json line", '  "{N}": "{v}",'),
    Context("json in json", r'{"type": "result", "content": "{\"{N}\": \"{v}\", \"retries\": 3}"}'),
    Context("yaml", "service:\n  {s}: {v}\n  retries: 3"),
    Context("kubernetes env", '  - name: {N}\n    value: "{v}"'),
    Context("toml", '{s} = "{v}"'),
    Context("ini", "[default]\n{s} = {v}\nregion = eu-west-1"),
    Context("properties", "app.{k}={v}"),
    Context("xml attribute", '<add key="{N}" value="{v}" />'),
    Context("xml element", "<{c}>{v}</{c}>"),
    Context("terraform default", 'variable "{s}" {\n  default = "{v}"\n}'),
    # Code
    Context("python", '{s} = "{v}"  # TODO: move out'),
    Context("python argument", "client = Client({s}='{v}', timeout=30)"),
    Context("javascript", "const {c} = '{v}';"),
    Context("javascript property", "  {c}: '{v}',"),
    Context("java", 'private static final String {N} = "{v}";'),
    Context("rust", 'let {s}: &str = "{v}";'),
    Context("go", '\t{c} := "{v}"'),
    Context("php", "'{s}' => '{v}',"),
    Context("python environ", "os.environ['{N}'] = '{v}'"),
    # Wire, logs and other forms
    Context("curl header", 'curl -sS -H "{k}: {v}" https://api.example.com/v1/items'),
    Context("query", "GET /v1/items?page=2&{s}={v}&limit=10 HTTP/1.1"),
    Context("log", "2026-03-04T10:11:12Z ERROR auth failed {s}={v} status=401"),
    Context("grep", "src/settings/prod.env:14:{N}={v}"),
    Context("numbered listing", "    12→{N}={v}\n    13→PORT=80"),
    Context("diff", "+{N}={v}\n {N}_TTL=3600"),
    Context("percent-encoded", "{N}={v}", change=_percent),
    Context("base64 in a manifest", "data:\n  {k}: {v}", change=_base64),
    Context("broken over lines", "the one for staging:\n{v}\n", named=False, change=_broken),
)

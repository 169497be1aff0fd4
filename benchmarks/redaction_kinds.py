"""What secrets look like, as their issuers describe them: one row a kind, made up anew each time.

Written from the public formats of the providers, not from our rules, and nothing here is a secret:
each is put together at run time from a template, in which `{a36}` stands for 36 random characters
of the alphabet `a`.
"""

from __future__ import annotations

import base64
import json
import random
import re
import string
import textwrap
import uuid
from collections.abc import Callable
from dataclasses import dataclass

ALPHABETS = {
    "a": string.ascii_letters + string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "d": string.digits,
    "e": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "h": "0123456789abcdef",
    "j": string.ascii_lowercase + string.digits + "!@^*(-_=+)",
    "l": string.ascii_lowercase,
    "m": string.ascii_lowercase + string.digits,
    "s": "!^*+.?~_",
    "t": string.ascii_letters,
    "u": string.ascii_uppercase + string.digits,
    "v": string.ascii_uppercase + "234567",
    "w": string.ascii_letters + string.digits + "-_",
}
_BLANK = re.compile(r"\{([a-z])(\d+)\}")


def fill(rng: random.Random, template: str) -> str:
    """A template with random characters in its blanks."""
    return _BLANK.sub(lambda b: "".join(rng.choices(ALPHABETS[b[1]], k=int(b[2]))), template)


@dataclass(frozen=True, slots=True)
class Made:
    """A text with a secret in it, and the part of it that must not survive."""

    text: str
    secret: str


Make = Callable[[random.Random], Made]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of secret: what people call it, how it is made, whether its shape alone tells."""

    name: str
    called: tuple[str, ...]
    make: Make
    own_shape: bool = True
    """False if only the name beside it gives it away, as with 32 plain hex digits."""
    wraps: bool = True
    """False if its text has parts of its own (a URL, a block), so that breaking lines differs."""


def _kind(name: str, called: str, *forms: str, named: bool = False) -> Kind:
    """A kind that is nothing but its own text, in one of these forms."""

    def make(rng: random.Random) -> Made:
        text = fill(rng, rng.choice(forms))
        return Made(text, text)

    return Kind(name, tuple(called.split()), make, own_shape=not named)


def _in(name: str, called: str, *forms: str) -> Kind:
    """A kind that stands inside of a text, between two bars."""

    def make(rng: random.Random) -> Made:
        before, secret, after = fill(rng, rng.choice(forms)).split("|")
        return Made(before + secret + after, secret)

    return Kind(name, tuple(called.split()), make, wraps=False)


def _block(name: str, called: str, **labels: int) -> Kind:
    """A block in armour: labels, and how many bytes are in it."""

    def make(rng: random.Random) -> Made:
        label, size = rng.choice(list(labels.items()))
        label = label.replace("_", " ")
        body = "\n".join(textwrap.wrap(base64.b64encode(rng.randbytes(size)).decode(), 64))
        return Made(f"-----BEGIN {label}-----\n{body}\n-----END {label}-----", body)

    return Kind(name, tuple(called.split()), make, wraps=False)


def _encoded(data: object) -> str:
    text = json.dumps(data, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def _jwt(rng: random.Random) -> Made:
    head = _encoded({"alg": rng.choice(("HS256", "RS256", "ES256")), "typ": "JWT"})
    body = _encoded({n: fill(rng, "{m12}") for n in ("sub", "iat", "exp", "iss", "aud")})
    text = f"{head}.{body}.{fill(rng, rng.choice(('{w43}', '{w86}', '{w342}')))}"
    return Made(text, text.partition(".")[2])


def _basic(rng: random.Random) -> Made:
    pair = fill(rng, rng.choice(("admin:{a14}", "svc-build:{a20}", "jenkins:{a10}")))
    code = base64.b64encode(pair.encode()).decode()
    return Made(f"Basic {code}", code)


def _uuid(rng: random.Random) -> Made:
    text = str(uuid.UUID(bytes=rng.randbytes(16), version=4))
    return Made(text, text)


_WORDS = ("summer", "dragon", "Monday", "Falcon", "oxford", "coffee", "Winter", "rocket", "violet")


def _password(rng: random.Random) -> Made:
    word, end = rng.choice(_WORDS), rng.choice(("", "!", "!!", "#"))
    forms = (f"{word}{rng.randint(10, 9999)}{end}", "{a6}-{a6}-{a6}", "{a12}4", "{a7}{s1}{a6}7")
    text = fill(rng, rng.choice(forms))
    return Made(text, text)


_MIDDLE = "T3Blbk" + "FJ"
KINDS: tuple[Kind, ...] = (
    _kind("anthropic api", "ANTHROPIC_API_KEY", "sk-ant-api03-{w93}AA"),
    _kind("anthropic oauth", "CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-{w93}AA"),
    _kind("anthropic admin", "ANTHROPIC_ADMIN_KEY", "sk-ant-admin01-{w93}AA"),
    _kind("openai legacy", "OPENAI_API_KEY", "sk-{a20}" + _MIDDLE + "{a20}"),
    _kind("openai project", "OPENAI_API_KEY", "sk-proj-{w74}" + _MIDDLE + "{w73}A"),
    _kind("openai service", "OPENAI_KEY", "sk-svcacct-{w74}" + _MIDDLE + "{w73}A"),
    _kind("aws key id", "AWS_ACCESS_KEY_ID", "AKIA{v16}"),
    _kind("aws temporary id", "AWS_ACCESS_KEY_ID", "ASIA{v16}"),
    _kind("aws secret", "AWS_SECRET_ACCESS_KEY", "{b40}", named=True),
    _kind("aws session", "AWS_SESSION_TOKEN", "IQoJb3JpZ2luX2Vj{b340}==", named=True),
    _kind("github classic", "GITHUB_TOKEN GH_TOKEN", "ghp_{a36}"),
    _kind("github app", "GITHUB_TOKEN", "gho_{a36}", "ghs_{a36}", "ghu_{a36}", "ghr_{a36}"),
    _kind("github fine-grained", "GH_PAT", "github_pat_{a22}_{a59}"),
    _kind("gitlab personal", "GITLAB_TOKEN", "glpat-{w20}"),
    _kind("gitlab runner", "RUNNER_TOKEN", "glrt-{w20}"),
    _kind("google api", "GOOGLE_API_KEY GEMINI_API_KEY", "AIzaSy{w33}"),
    _kind("google access", "GOOGLE_ACCESS_TOKEN", "ya29.a0{w120}z"),
    _kind("google client", "GOOGLE_CLIENT_SECRET", "GOCSPX-{w28}"),
    _kind("google refresh", "REFRESH_TOKEN", "1//0{w90}s"),
    _kind("slack bot", "SLACK_BOT_TOKEN", "xoxb-{d12}-{d13}-{a24}"),
    _kind("slack user", "SLACK_TOKEN", "xoxp-{d12}-{d12}-{d12}-{h32}"),
    _kind("slack app", "SLACK_APP_TOKEN", "xapp-1-A{u10}-{d13}-{h64}"),
    _in(
        "slack webhook",
        "SLACK_WEBHOOK_URL",
        "https://hooks.slack.com/services/T{u10}/B{u10}/|{a24}|",
    ),
    _kind("stripe secret", "STRIPE_SECRET_KEY", "sk_live_51{a97}", "sk_test_51{a97}"),
    _kind("stripe restricted", "STRIPE_KEY", "rk_live_51{a97}"),
    _kind("stripe webhook", "STRIPE_WEBHOOK_SECRET", "whsec_{a32}"),
    _kind("npm", "NPM_TOKEN", "npm_{a36}"),
    _kind("pypi", "TWINE_PASSWORD", "pypi-AgEIcHlwaS5vcmc{w150}w"),
    _kind("huggingface", "HF_TOKEN", "hf_{t34}"),
    _kind("twilio key", "TWILIO_API_KEY", "SK{h32}"),
    _kind("twilio auth", "TWILIO_AUTH_TOKEN", "{h32}", named=True),
    _kind("sendgrid", "SENDGRID_API_KEY", "SG.{w22}.{w43}"),
    _kind("mailgun", "MAILGUN_API_KEY", "key-{h32}"),
    _kind("digitalocean", "DIGITALOCEAN_TOKEN", "dop_v1_{h64}"),
    _in(
        "azure storage",
        "AZURE_STORAGE_CONNECTION_STRING",
        "DefaultEndpointsProtocol=https;AccountName={m12};AccountKey=|{b86}==|;"
        "EndpointSuffix=core.windows.net",
    ),
    _in(
        "azure sas",
        "BACKUP_URL",
        "https://{m10}.blob.core.windows.net/backups/db.bak?sv=2022-11-02&ss=b&srt=co&sp=rl"
        "&se=2027-01-01T00:00:00Z&sig=|{a20}%2B{a10}%2F{a11}%3D|",
    ),
    _kind("azure client", "AZURE_CLIENT_SECRET", "{a3}8Q~{a34}"),
    _kind("telegram", "TELEGRAM_BOT_TOKEN", "{d10}:AA{w33}"),
    _kind("discord bot", "DISCORD_TOKEN", "MT{a24}.G{a5}.{w38}"),
    _in("discord webhook", "DISCORD_WEBHOOK", "https://discord.com/api/webhooks/{d19}/|{w68}|"),
    _kind("shopify", "SHOPIFY_ACCESS_TOKEN", "shpat_{h32}", "shpss_{h32}"),
    _kind("square", "SQUARE_ACCESS_TOKEN", "sq0atp-{w22}", "EAAAE{w59}"),
    _kind("linear", "LINEAR_API_KEY", "lin_api_{a40}"),
    _kind("notion", "NOTION_TOKEN", "secret_{a43}", "ntn_{a46}"),
    _kind("databricks", "DATABRICKS_TOKEN", "dapi{h32}", "dapi{h32}-2"),
    _kind("vault", "VAULT_TOKEN", "hvs.CAES{w90}T"),
    _kind("doppler", "DOPPLER_TOKEN", "dp.pt.{a43}", "dp.st.prd.{a43}"),
    _kind("age", "SOPS_AGE_KEY", "AGE-SECRET-KEY-1{e58}"),
    Kind("jwt", ("ACCESS_TOKEN", "ID_TOKEN"), _jwt),
    _block("rsa key", "PRIVATE_KEY", RSA_PRIVATE_KEY=600, PRIVATE_KEY=1200),
    _block("openssh key", "DEPLOY_KEY", OPENSSH_PRIVATE_KEY=400),
    _block("pgp key", "GPG_PRIVATE_KEY", PGP_PRIVATE_KEY_BLOCK=800),
    Kind("basic header", ("Authorization",), _basic, wraps=False),
    _in("bearer header", "Authorization", "Bearer |{a40}|"),
    _in(
        "database url",
        "DATABASE_URL",
        "postgres://app:|{a12}4|@db.internal:5432/app",
        "mongodb+srv://svc_reader:|{a18}|@cluster0.mongodb.net/app",
    ),
    _in(
        "cache url",
        "REDIS_URL CELERY_BROKER_URL",
        "redis://default:|{a24}|@cache:6379/0",
        "amqp://deploy:|{a16}|@mq.internal/vhost",
    ),
    _in("web url", "PIP_INDEX_URL", "https://ci:|{a14}|@packages.example.org/simple"),
    _in(
        "ado connection",
        "ConnectionString",
        "Server=tcp:db.internal,1433;Database=orders;User ID=app;Password=|{a9}{s1}{a5}7|;"
        "Encrypt=True",
        "Server=sql01;Database=orders;Uid=sa;Pwd=|{a11}3|;Encrypt=True",
    ),
    Kind(
        "password",
        ("DB_PASSWORD", "PGPASSWORD", "ADMIN_PASSWORD", "SMTP_PASS", "password"),
        _password,
        own_shape=False,
    ),
    _kind(
        "api key",
        "ACME_API_KEY X_API_KEY apiKey SERVICE_TOKEN WEATHER_APIKEY",
        "{a31}5",
        named=True,
    ),
    _kind(
        "app secret",
        "SECRET_KEY JWT_SECRET SESSION_SECRET CLIENT_SECRET ENCRYPTION_KEY",
        "{h64}",
        "{b43}=",
        "{a49}3",
        named=True,
    ),
    _kind("django secret", "SECRET_KEY", "django-insecure-{j45}9k", named=True),
    _kind("datadog", "DD_API_KEY DATADOG_APP_KEY", "{h32}", "{h40}", named=True),
    Kind("heroku", ("HEROKU_API_KEY",), _uuid, own_shape=False),
    _kind("cloudflare", "CLOUDFLARE_API_TOKEN", "{w39}8", named=True),
    _kind("supabase", "SUPABASE_ACCESS_TOKEN", "sbp_{h40}"),
    _kind("replicate", "REPLICATE_API_TOKEN", "r8_{a37}"),
    _kind("groq", "GROQ_API_KEY", "gsk_{a52}"),
    _kind("grafana", "GRAFANA_TOKEN", "glsa_{a32}_{h8}"),
    _kind("atlassian", "JIRA_API_TOKEN", "ATATT3xFfGF0{w170}={u8}"),
    _kind("docker hub", "DOCKER_PASSWORD", "dckr_pat_{w27}"),
    _kind("sentry", "SENTRY_AUTH_TOKEN", "sntrys_eyJ{a120}_{b43}"),
    _kind("new relic", "NEW_RELIC_API_KEY", "NRAK-{u27}"),
    _kind("terraform cloud", "TFE_TOKEN", "{a14}.atlasv1.{a67}"),
    _kind("rubygems", "GEM_HOST_API_KEY", "rubygems_{h48}"),
    _kind("postman", "POSTMAN_API_KEY", "PMAK-{h24}-{h34}"),
)

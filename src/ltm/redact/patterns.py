"""What secrets look like: one table, a row for each kind that can be told by its shape alone.

Texts that a row must find or leave are in `tests/redact/shape_samples.py`. Secrets that only the
name next to them gives away are found by `assignments` and `prose`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

_CLASSES = {"%A": "[A-Za-z0-9]", "%W": "[A-Za-z0-9_-]", "%H": "[0-9a-f]", "%U": "[A-Z0-9]"}


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret.

    In the pattern `%A`, `%W`, `%H`, `%U` are letters and digits, those with `-` and `_`, hex
    digits, and capitals with digits. If it has a group, the group is the secret.
    """

    kind: str
    hints: tuple[str, ...]
    """What such a text has in it; nothing else is looked at any closer."""
    pattern: str
    starts: bool = True
    """Whether a match begins with its hint; else the hint is somewhere in it."""
    middle: str = ""
    """A part of the pattern that begins with its hint, where the hint stands in nearly every text:
    where this is not found, the pattern is not looked for, which would take much longer."""
    made_up: bool = False
    """Whether the secret must look made up, because any word could stand in its place."""

    def regex(self) -> re.Pattern[str]:
        """The compiled pattern, made when a text first calls for it: imports stay quick."""
        return _compiled(self.pattern)

    def may_be_in(self, text: str) -> bool:
        """Whether a text that has the hint is worth looking for the pattern."""
        return not self.middle or _compiled(self.middle).search(text) is not None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    for mark, letters in _CLASSES.items():
        pattern = pattern.replace(mark, letters)
    # No secret is longer, and without an end a hostile text would cost the square of its length.
    return re.compile(pattern.replace(",}", ",16384}"))


def _token(kind: str, hints: str, rest: str) -> Shape:
    """A row for tokens that are one of these beginnings and the rest."""
    return _after(kind, tuple(hints.split()), rest)


def _command(hints: tuple[str, ...], pattern: str, kind: str = "password") -> Shape:
    """A row for a secret that words before it give away; the pattern begins with one of them."""
    return Shape(kind, hints, pattern)


def _after(kind: str, hints: tuple[str, ...], rest: str, made_up: bool = False) -> Shape:
    """A row for a secret that one of these words and the rest, with a group for it, give away."""
    pattern = f"(?:{'|'.join(map(re.escape, hints))}){rest}"
    return Shape(kind, hints, pattern, made_up=made_up)


def _maybe(hints: tuple[str, ...], rest: str) -> Shape:
    """A row for what may be a password after one of these words, if it looks made up."""
    return _after("password", hints, rest, made_up=True)


def _option(programs: str, option: str) -> Shape:
    """A row for the password that one of these programs takes after an option."""
    hints = tuple(f"{program} " for program in programs.split(", "))
    return _after("password", hints, rf"(?:[^\n]{{0,200}}? )?{option}{_ARGUMENT}")


_END = r"(?![A-Za-z0-9])"
_UUID = r"%H{8}(?:-%H{4}){3}-%H{12}"
_MIDDLE = "T3Blbk" + "FJ"
# Anything in a URL or a command line up to the next mark that ends it there.
_PART = r"[^\s/@\"'`<>\\]"
_QUOTED = r"\"([^\"\n]{3,128})\"|'([^'\n]{3,128})'"
# One argument of a command; a variable or a redirection is none.
_ARGUMENT = rf"(?:{_QUOTED}|([^\s\"'`$|&;<>(-][^\s\"'`|&;<>]{{2,512}}))"
_PLAIN_ARGUMENT = rf"(?:{_QUOTED}|([^\s\"'$|&;<>(-][^\s\"'$|&;<>]{{2,512}}))"
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"
_HASH = "[./A-Za-z0-9]"
SHAPES: tuple[Shape, ...] = (
    # Commands and files of tools that name their secret in a way of their own
    _token("docker-auth", "eyJhdXRocyI6", r"[A-Za-z0-9+/]{20,}={0,2}"),
    _after("password", (".load(",), r"[^,\n]{1,60}, ?\"([^\"\n]{4,64})\"\.toCharArray"),
    _after("key", ("hmacShaKeyFor(",), r"\"([^\"\n]{16,512})\""),
    _token("facebook-token", "EAA", r"%A{90,}"),
    Shape("deepl-key", (":fx",), rf"(?<![\w-])({_UUID}:fx)" + r"(?!%A)", starts=False),
    Shape("password", ('"result"',), r"\"result\":[ ]?\"([^\"\n]{8,256})\",\s{0,40}\"special\"",
          starts=False),
    Shape("password-hash", ("$$2",), r"\$\$2[abxy]\$\$\d\d\$\$[./A-Za-z0-9]{53}", starts=False),
    _after("secret", ("vault operator unseal ", "vault operator rekey "),
           r"(?:-[\w=-]{1,40} ){0,3}([A-Za-z0-9+/]{40,}={0,2})"),
    _after("key", ("openssl ",), r"[^\n]{0,120} -K ([0-9A-Fa-f]{16,64})" + r"(?![A-Za-z0-9])"),
    _after("password", ("config http-basic.",), r"[\w.-]{1,60} \S{1,80} ([^\s\"'$<]{6,256})"),
    _after("token", ("github-oauth", "gitlab-token", "gitlab-oauth"),
           r"[\"']?[ ]?:[ ]?\{[ ]?[\"'][\w.-]{3,80}[\"'][ ]?:[ ]?[\"']([\w-]{20,256})"),
    _after("password", ("npmAuthIdent", "BUNDLE_"),
           r"[\w]{0,60}[ ]?[:=][ ]?[\"']?[\w.@-]{1,64}:([^\s\"']{6,256})"),
    _after("token", ("cloudflared ",), r"[\w -]{1,60}? (eyJ[\w+/=-]{60,})"),
    _after("token", ("bearer: ", "Bearer: ", "bearer:", "Bearer:"),
           r"[\"']?((?=%W*\d)[\w.~+/=-]{20,})"),
    _token("oauth-code", "4/0A", r"%W{50,}"),
    _token("password-hash", "$keepass$*", r"[\w*]{40,}"),
    _maybe(('user = "', "user = '", 'user="', 'proxy-user = "'),
           r"[\w.@-]{1,64}:([^\s\"':]{5,64})(?=[\"'])"),
    # Models
    _token("anthropic-key", "sk-ant-", r"%A{3,10}-%W{60,200}"),
    _token("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"%W{40,250}"),
    _token("openai-key", "sk-", rf"(?:%W{{16,200}}?{_MIDDLE}%W{{16,}}|(?=%A*\d)%A{{32,64}}{_END})"),
    _token("openrouter-key", "sk-or-v1-", r"%H{64}"),
    _token("langfuse-key", "sk-lf-", _UUID),
    _token("groq-key", "gsk_", r"%A{40,}"),
    _token("xai-key", "xai-", r"%A{60,}"),
    _token("perplexity-key", "pplx-", r"%A{40,}"),
    _token("replicate-token", "r8_", r"%A{37,40}"),
    _token("mapbox-token", "sk.eyJ", r"%W{8,}\.%W{16,}"),
    _token("huggingface-token", "hf_ api_org_", r"%A{34,40}" + _END),
    _token("langsmith-key", "lsv2_pt_ lsv2_sk_", r"%H{32}_%H{10}"),
    _token("pinecone-key", "pcsk_", r"%W{50,}"),
    _token("wandb-key", "wandb_v1_", r"%W{60,}"),
    _token("tavily-key", "tvly-", r"(?:dev-|prod-)?%A{32}(?!%A)"),
    _token("cerebras-key", "csk-", r"[a-z0-9]{48}" + _END),
    _token("nvidia-key", "nvapi-", r"%W{50,}"),
    _token("together-key", "tgp_v1_", r"%W{40,}"),
    _token("firecrawl-key", "fc-", r"%H{32}" + _END),
    _token("e2b-key", "e2b_", r"%H{40}" + _END),
    _token("jina-key", "jina_", r"%A{50,}"),
    _token("elevenlabs-key", "sk_", r"%H{48}" + _END),
    _token("helicone-key", "sk-helicone-", r"%A{5,9}(?:-%A{5,9}){3}"),
    # Clouds
    _token("aws-key-id", "AKIA ASIA ABIA ACCA", r"%U{16}" + _END),
    _token("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz",
           r"[A-Za-z0-9+/%]{80,}={0,2}"),
    _token("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{90,}={0,2}"),
    _token("aws-bedrock-key", "bedrock-api-key-", r"[A-Za-z0-9+/%]{60,}={0,2}"),
    Shape("aws-secret", ("AKIA", "ASIA"),
          r"A[KS]IA%U{16}[^\w\n]{1,8}(?:[a-z]{1,12}[^\w\n]{1,4}){0,4}"
          r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])", starts=False),
    _token("google-key", "AIza", r"%W{35}(?!%W)"),
    _token("google-token", "ya29.", r"[A-Za-z0-9_.-]{30,}"),
    _token("google-client-secret", "GOCSPX-", r"%W{28}"),
    _token("google-refresh-token", "1//0", r"%W{40,}"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"%H{64}"),
    _token("azure-key", "AccountKey= SharedAccessKey= accountkey=", r"([A-Za-z0-9+/%]{40,}={0,2})"),
    Shape("azure-sas", ("sig=",), r"[?&;]sig=([A-Za-z0-9%+/]{40,}={0,2})", False),
    _after("azure-key", ("code=",),
           r"(?<=[?&]code=)((?=%W*\d)%W{40,}={0,2}|[A-Za-z0-9/+%]{54,}={0,2})"),
    Shape("azure-client-secret", ("Q~",), r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}",
          starts=False),
    Shape("azure-devops-token", ("AZDO",), r"(?<!%A)%A{76}AZDO%A{4}" + _END, starts=False),
    Shape("access-token", ("_PAT", "-pat"),
          r"(?:_PAT|-pat)[\"']?[ ]?[:=][ ]?[\"']?((?=%W*\d)%W{20,})", starts=False),
    Shape("azure-key", ("JQQJ99",), r"(?<!%A)%A{52}JQQJ99%A{26,30}" + _END, starts=False),
    _after("alibaba-secret", ("LTAI",), r"%A{16,24}[^\w\n]{1,8}(%A{30})" + _END),
    _token("alibaba-key-id", "LTAI", r"%A{16,24}" + _END),
    _token("yandex-key", "AQVN", r"%W{35,38}(?!%W)"),
    _token("yandex-token", "y0_", r"%W{50,}"),
    _token("cloudflare-key", "v1.0-", r"%H{24}-%H{146}"),
    _token("cloudflare-token", "cfut_ cfat_ cfk_", r"%W{36,}"),
    _token("tencent-key-id", "AKID", r"%A{32}" + _END),
    _token("baidu-key", "bce-v3/ALTAK-", r"%A{16,}/%H{40}"),
    _token("akamai-token", "akab-", r"%A{16}-%A{16}" + _END),
    _token("deno-token", "ddp_ ddo_", r"%A{36,}"),
    _token("xata-key", "xau_", r"%A{30,}"),
    _token("heroku-key", "HRKU-", r"%W{36,}"),
    _token("fly-token", "fo1_ fm1r_ fm2_", r"[A-Za-z0-9+/_=-]{40,}"),
    _token("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"%A{24,}"),
    _token("netlify-token", "nfp_ nfc_", r"%A{36,}"),
    _token("render-key", "rnd_", r"%A{28,}"),
    _token("supabase-key", "sbp_ sb_secret_", r"%W{30,}"),
    _token("neon-key", "napi_", r"%A{60,}"),
    _token("planetscale-key", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{32,}"),
    _token("clickhouse-key", "4b1d", r"%A{38}" + _END),
    _token("databricks-token", "dapi", r"%H{32}(?:-\d)?" + _END),
    _token("openshift-token", "sha256~", r"%W{43}(?!%W)"),
    _token("pulumi-token", "pul-", r"%H{40}" + _END),
    _token("prefect-key", "pnu_", r"%A{36}" + _END),
    _token("infracost-key", "ico-", r"%A{32}" + _END),
    _token("octopus-key", "API-", r"%U{26}" + _END),
    Shape("terraform-token", (".atlasv1.",), r"(?<!%A)%A{14}\.atlasv1\.[A-Za-z0-9=_-]{60,}",
          starts=False),
    _token("vault-token", "hvs. hvb. hvr.", r"%W{24,}"),
    _after("vault-key", ("Unseal Key ", "unseal key ", "Recovery Key "),
           r"\d{1,2}: ?([A-Za-z0-9+/]{43,88}={0,2})"),
    _token("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
           r"(?:[a-z0-9_-]{2,35}\.)?%A{40,44}"),
    _token("tailscale-key", "tskey-", r"[a-z]+-%A+-%A{16,}"),
    _token("1password-token", "ops_eyJ", r"[A-Za-z0-9+/_-]{100,}={0,3}"),
    # Of a team's server (`postgres/people`)
    _token("ltm-token", "ltm_", r"(?=%W*[A-Z])%W{43}(?!%W)"),
    # Code and packages
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9_]{36,255}"),
    _token("github-token", "github_pat_", r"%A{22}_%A{59}"),
    _token("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas-"
           " glffct-", r"[A-Za-z0-9_.=-]{20,}"),
    _token("gitlab-token", "GR1348941", r"%W{20}"),
    _token("bitbucket-token", "ATBB", r"%A{28,32}" + _END),
    _token("atlassian-token", "ATATT3 ATCTT3 ATSTT3", r"[A-Za-z0-9_=-]{100,}"),
    _token("npm-token", "npm_", r"%A{36}" + _END),
    _token("pypi-token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZ", r"%W{50,}"),
    _token("rubygems-key", "rubygems_", r"%H{48}"),
    _token("crates-token", "cio", r"(?=%A*\d)%A{32}" + _END),
    _token("nuget-key", "oy2", r"[a-z0-9]{43}" + _END),
    _token("clojars-token", "CLOJARS_", r"[a-z0-9]{60}"),
    _token("dockerhub-token", "dckr_pat_ dckr_oat_", r"%W{27,}"),
    _token("jfrog-key", "AKCp", r"%A{60,80}" + _END),
    _token("circleci-token", "CCIPAT_ CCIPRJ_", r"%A{22}_%H{40}"),
    _token("buildkite-token", "bkua_ bkaj_ bkct_", r"%W{40,}"),
    _token("harness-token", "pat. sat.", r"%W{22}\.%A{24}\.%A{20}" + _END),
    _token("sonar-token", "squ_ sqp_ sqa_", r"%H{40}"),
    _token("segment-token", "sgp_", r"%A{64}" + _END),
    _token("launchdarkly-key", "api- sdk-", _UUID),
    _token("posthog-key", "phx_", r"%A{40,}"),
    _token("honeycomb-key", "hcaik_ hcaic_ hcbik_ hcxik_", r"[a-z0-9]{50,}"),
    _token("sourcegraph-token", "sgp_", r"(?:%A{16}_)?%H{40}"),
    _token("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{60,}"),
    _token("snyk-token", "snyk_uat.", r"[A-Za-z0-9_.-]{60,}"),
    _token("postman-key", "PMAK-", r"%H{24}-%H{34}"),
    # Work and messages
    _token("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe. xapp-",
           r"[A-Za-z0-9.%+/-]{20,}"),
    Shape("slack-webhook", ("https://hooks.slack.com/", "hooks.slack.com/"),
          r"(?:https://)?hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}"),
    Shape("teams-webhook", ("webhook.office.com/webhookb2/",),
          r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{60,})"),
    Shape("discord-webhook", ("/api/webhooks/",), r"/api/webhooks/\d{10,21}/(%W{50,})"),
    Shape("discord-token", (".",), r"[MNO](?<![\w-].)%W{23,27}\.%W{6}\.%W{27,45}(?!%W)",
          starts=False,
          middle=r"\.%W{6}\.%W{27}"),
    Shape("telegram-token", (":",),
          r"\d(?:(?<!\w.)|(?<=/bot.))\d{7,9}:(?:AA|(?=[A-Za-z_-]*\d)%W{2})%W{33}(?!%W)",
          starts=False,
          middle=":%W{35}"),
    _token("notion-token", "ntn_", r"%A{40,}"),
    _token("notion-token", "secret_", r"%A{43}" + _END),
    _token("linear-key", "lin_api_ lin_oauth_", r"%A{32,}"),
    _token("figma-token", "figd_ figu_", r"%W{38,}"),
    _token("frameio-token", "fio-u-", r"%W{64}"),
    _token("airtable-token", "pat", r"%A{14}\.%H{64}"),
    _token("asana-token", "0/ 1/ 2/", r"\d{12,17}(?:/\d{12,17})?:%H{32}" + _END),
    _token("hubspot-token", "pat-na pat-eu pat-ap", r"\d-" + _UUID),
    _token("twitter-token", "AAAAAAAAAAAAAAAAAAAA", r"A{0,4}%A{10,60}%[23]%A{40,100}"),
    _token("vk-token", "vk1.a.", r"%W{80,}"),
    Shape("weather-key", ("ppid=", "PPID="), r"(?i:appid=)[\"']?(%H{32})(?!%A)", starts=False),
    _token("trello-token", "ATTA", r"%H{64,72}" + _END),
    _token("clickup-token", "pk_", r"\d{6,10}_%U{32}" + _END),
    _token("zoho-token", "1000.", r"%H{32}\.%H{32}" + _END),
    _token("twitch-token", "oauth:", r"[a-z0-9]{30}" + _END),
    _token("pubnub-key", "sec-c-", r"[A-Za-z0-9+/]{40,}={0,2}"),
    Shape("firebase-key", (":APA91b",), r"(?<!%W)%W{6,30}:APA91b%W{100,}", starts=False),
    _token("wakatime-key", "waka_", _UUID),
    _after("webhook", ("hooks.zapier.com/hooks/catch/", "maker.ifttt.com/"),
           r"([\w/]{6,}/%W{6,})"),
    _token("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,}"),
    _token("readme-key", "rdme_", r"[a-z0-9]{70}"),
    _token("contentful-token", "CFPAT-", r"%W{43}"),
    _token("dropbox-token", "sl.", r"%W{130,}"),
    _token("adobe-secret", "p8e-", r"%A{32}" + _END),
    _token("grafana-token", "glsa_", r"%A{32}_[0-9A-Fa-f]{8}"),
    _token("grafana-token", "glc_ eyJrIjoi", r"[A-Za-z0-9+/]{32,}={0,3}"),
    _token("newrelic-key", "NRAK- NRII- NRJS- NRRA-", r"%W{19,42}"),
    _token("dynatrace-token", "dt0c01. dt0s01. dt0s02.", r"%U{8,24}\.%U{64}"),
    # Money and mail
    _token("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", r"%A{16,250}"),
    _token("webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}={0,2}"),
    _token("paddle-key", "pdl_live_apikey_ pdl_sdbx_apikey_", r"%W{40,}"),
    _after("razorpay-secret", ("rzp_live_", "rzp_test_"), r"%A{14}[^\w\n]{1,8}(%A{24})" + _END),
    _token("razorpay-key", "rzp_live_ rzp_test_", r"%A{14}" + _END),
    _token("square-token", "sq0atp- sq0csp- sq0idb-", r"[A-Za-z0-9_\\-]{22,43}"),
    _token("square-token", "EAAA", r"%W{60}(?!%W)"),
    _token("facebook-token", "EAAC EAAG EAAJ EAAB EAAM", r"%A{80,}"),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9A-Fa-f]{32}"),
    _token("paypal-token", "access_token$production$ access_token$sandbox$",
           r"[a-z0-9]{16}\$%H{32}"),
    _token("plaid-token", "access-production- access-sandbox- access-development-", _UUID),
    _token("flutterwave-key", "FLWSECK- FLWSECK_TEST-", r"%A{12,}(?:-X)?"),
    _token("easypost-key", "EZAK EZTK", r"%A{54}"),
    _token("duffel-token", "duffel_live_ duffel_test_", r"[A-Za-z0-9_=-]{43}"),
    _token("shippo-token", "shippo_live_ shippo_test_", r"%H{40}"),
    _token("lob-key", "live_ test_", r"%H{35}" + _END),
    _token("mollie-key", "live_ test_",
           r"(?=%A*[a-z])(?=%A*[A-Z])(?=%A*\d[A-Za-z]+\d)%A{30,34}" + _END),
    _token("twilio-key", "SK", r"(?=[a-z]*\d)[0-9a-z]{32}" + _END),
    _after("twilio-token", ("Client(",), r"[\"']AC%H{32}[\"'], ?[\"'](%H{32})[\"']"),
    _token("sendgrid-key", "SG.", r"%W{16,32}\.%W{16,64}"),
    _token("resend-key", "re_", r"(?=%W*\d)%A{6,10}_%A{20,32}" + _END),
    _token("brevo-key", "xkeysib- xsmtpsib-", r"%H{64}-%A{16}"),
    _token("mailgun-key", "key-", r"(?<![\w-]key-)%H{32}" + _END),
    Shape("mailgun-key", ("-",), r"(?<!%A)(?<!-)%H{32}-%H{8}-%H{8}(?!-?%A)",
          starts=False, middle="-%H{8}-%H{8}"),
    Shape("mailchimp-key", ("-us",), r"(?<!\w)(?=[a-z]*\d)[0-9a-z]{32}-us\d{1,2}" + _END,
          starts=False, middle=r"-us\d"),
    # Keys and signed texts
    _token("django-key", "django-insecure-", r"[^\s\"'`<>]{30,80}"),
    _token("age-key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", r"[A-Z0-9-]{40,}"),
    _token("bitcoin-key", "5H 5J 5K K L", rf"{_BASE58}{{49,51}}(?<=.{{51}})" + _END),
    _token("nostr-key", "nsec1 ncryptsec1", r"[02-9ac-hj-np-z]{58,200}" + _END),
    _token("wallet-key", "edsk edesk PVT_K1_ PVT_R1_ suiprivkey1 xsk1 secret-extended-key-main1"
           " ed25519_sk1 ed25519e_sk1 root_xsk1 addr_xsk1 acct_xsk1",
           r"(?=%A*\d)%A{48,300}" + _END),
    _token("wallet-key", "SA SB SC SD", r"(?=[A-Z]{0,54}[2-7])[A-Z2-7]{54}" + _END),
    _token("wallet-key", "ed25519:", rf"{_BASE58}{{85,90}}" + _END),
    _after("private-key", ("Wallet(", "privateKeyToAccount(", "fromPrivateKey(", "from_key(",
                           "importprivkey ", "import_key(", "PrivateKey(", "privateKeyToAddress(",
                           "fromSecretKey(", "from_private_key(", "fromSeed(", "from_seed("),
           r"(?:[\w.]{1,40}\()?[\"']?((?:0x)?[0-9a-fA-F]{64})" + _END),
    Shape("key", ("0x",),
          r"(?:私钥|私鑰|秘密鍵|개인 ?키|(?i:priv\w{0,8} ?-?(?:key|schlüssel)|clé privée|clave"
          r" privada"
          r"|chave privada|chiave privata|klucz\w{0,2} prywatn\w{0,4}|(?:приватн|закрыт)\w{2,3}"
          r" ключ\w{0,2}"
          r"|privésleutel|özel anahtar|raw seed|secret seed))[^\n\w]{0,8}(?:\w{1,12}[ ]){0"
          r",4}[^\n\w]{0,4}"
          r"(0x[0-9a-fA-F]{64})" + _END, starts=False, middle=r"0x[0-9a-fA-F]{64}"),
    Shape("recovery-key", ("-",), r"[0-9](?<![\w-].)\d{5}(?:-\d{6}){7}(?![\w-])", starts=False,
          middle=r"-\d{6}-\d{6}-\d{6}-"),
    _after("private-key", ('"k":"', '"k": "', '"p":"', '"q":"', '"dp":"', '"dq":"', '"qi":"'),
           r"((?=%W*\d)%W{22,}=?)\""),
    _token("bitcoin-key", "xprv yprv zprv tprv", rf"{_BASE58}{{100,110}}" + _END),
    Shape("seed-phrase", ("hrase", "HRASE", "nemonic", "NEMONIC"),
          r"(?i:(?:seed|recovery|backup|wallet|secret)[ _-]?phrase|mnemonic)"
          r"(?i:[ ](?:is|for)(?:[ ]\w{1,20}){0,3})?[\"'`*]{0,3}[ ]?[:=]\s{0,12}[\"'`]?"
          r"((?:(?:[a-z]{3,8}[ ,]{1,2}){3}){3,7}(?:[a-z]{3,8}[ ,]{1,2}){2}[a-z]{3,8})",
          starts=False),
    _after("node-key", ("alchemy.com/v2/", "alchemy.com/v3/", "infura.io/v3/", "quiknode.pro/"),
           r"(%W{32,})"),
    _token("jwt", "eyJ", r"[A-Za-z0-9_=-]{8,}+\.[A-Za-z0-9_=-]{8,}+\.[A-Za-z0-9_=+/.-]{8,}"),
    _after("private-key", ('"d":"', '"d": "'), r'(%W{32,}=?)"'),
    _token("private-key", "Private-Lines:",
           r" \d+[ ]?\r?\n((?:[ \t]{0,12}[A-Za-z0-9+/=]{8,}\r?\n?)+)"),
    _token("signature", "X-Amz-Signature= X-Goog-Signature=", r"(%H{64,})"),
    Shape("bearer-token", ("earer ", "EARER ", "earer%20", "earer\n"),
          r"(?:[Bb]earer|BEARER)(?:\s{1,12}|%20)[\"'`]?"
          r"((?=[A-Za-z_~+/.=-]*\d)[A-Za-z0-9_~+/.=-]{16,})", False),
    Shape("password", ("://",),
          rf"://[^\s/:@\"'`<>\[\\]{{0,128}}:({_PART}{{1,256}}(?:@{_PART}{{1,64}}(?=@))?)@[\w.\[-]",
          starts=False),
    Shape("token", ("://",), r"://((?=%W*\d)%W{20,256})(?::x-oauth-basic|:)?@[\w.]", starts=False),
    _after("password", ("curl ",),
           r"[^\n]{0,300}?(?:-u|--user)[ =]?[\"']?[^\s:\"'\[]{1,64}:([^\s\"']{3,512})"),
    _after("password", ("sshpass -p",), r" ?[\"']?([^\s\"'-][^\s\"']{2,128})"),
    _option("mysql, mysqldump, mysqladmin, mariadb", "-p"),
    _after("password", ("mysql ", "mysqldump ", "mysqladmin ", "mariadb "),
           r"(?:[^\n]{0,200}? )?(?:'-p([^'\n]{3,128})'|\"-p([^\"\n$]{3,128})\")"),
    _after("password", ("docker login ",),
           r"[^\n]{0,200}?(?:-p|--password)[ =][\"']?([^\s\"'-][^\s\"']{2,128})"),
    _after("password", ("admin / ", "root / ", "Admin / "),
           r"((?=[^\s]{0,64}[\d!#$%*])[^\s,;()\[]{5,64})"),
    # A password wherever there is an option for the user
    _maybe(("-u", "-U", "-l ", "--user", "-user"),
           rf"(?:name)?[ =:]?[^\s-]\S{{0,64}} (?:[^\n]{{0,80}}? )?"
           rf"-{{1,2}}(?:p|P|pw|w|a|A|passwd|pwd)[ =:]?{_ARGUMENT}"),
    _maybe(("-p ", "-P ", "-pw "), rf"{_ARGUMENT}(?= (?:[^\n]{{0,120}}? )?-{{1,2}}(?:u|U|user)\b)"),
    _maybe(("-u ", "-u", "--user ", "--user=", "--auth ", "--auth=", "-user ", "-u="),
           r"[\"']?[^\s:\"'\[/]{1,64}[:,]([^\s\"']{5,512})"),
    _maybe(("-U ", "-U", "--user=", "--user "),
           r"[\"']?[\w./\\;-]{1,64}%(?:([^\s\"'%]{5,64})|(?<=%)([^\"'\n]{5,64})(?=[\"']))"),
    # Windows
    _maybe(("/p ", "/P ", "/p:", "/rp ", "/RP ", "/pw:", "/pwd:", "/pass:", "/PASS:", "/pass ",
            "-p:", "/password:", "/passwd:"), _ARGUMENT),
    _option("certutil, steghide, signtool, security unlock-keychain, security create-keychain,"
            " security set-key-partition-list, xcrun, ibmcloud login, wbadmin, racadm, cadaver,"
            " kinit, smbmap, medusa, ncrack, pkcs11-tool, yubico-piv-tool, ssh-keygen, openconnect,"
            " zip, pdfcrack, fastlane, sentry-cli, gitlab-runner, snowsql, beeline, sqoop, impala",
            r"(?:-p|-k|/p|--pin|--so-pin|-P|-N)[ =](?!\d{2,5}(?:[:\s]|\Z))"),
    _option("security add-generic-password, security add-internet-password", "-w "),
    _option("security import", "-P "),
    _option("ccrypt, ccencrypt, ccdecrypt", "-K "),
    _option("ldappasswd, slappasswd, smbpasswd", "-[sS] "),
    _option("snmpwalk, snmpget, snmpset, snmpbulkwalk, snmpbulkget, snmptable, snmptrap,"
            " snmpstatus,"
            " snmpgetnext, snmpusm, snmpinform, snmpdf", r"-[AXc] ?(?!public\b|private\b)"),
    _option("snmpwalk, snmpget, snmpset, snmpbulkwalk", "-X ?"),
    _option("useradd, usermod", "-p "),
    _maybe(("ssh-keygen ",), rf"(?:[^\n]{{0,200}} )?-N ?{_ARGUMENT}"),
    _after("token", ("http ", "https ", "xh ", "xhs ", "curl "),
           rf"(?:[^\n]{{0,200}}? )?(?:-A[ =]?bearer -a|--auth-type[ =]bearer (?:-a|--auth)"
           rf"|--oauth2-bearer)"
           rf"[ =]{_ARGUMENT}"),
    _after("password", ("curl ", "wget "),
           r"[^\n]{0,300}?--proxy-user[ =][\"']?[^\s:\"']{1,64}:([^\s\"'$]{3,128})"),
    _option("sendemail, swaks, sendEmail, msmtp, mailx", "(?:-xp|-ap|--auth-password|-apw) "),
    _after("password", ("-setairportnetwork ", "-addpreferredwirelessnetworkatindex "),
           rf"\S{{1,12}} (?:\"[^\"\n]{{1,64}}\"|\S{{1,64}}) {_ARGUMENT}"),
    _after("password", ("rclone obscure ", "restic key add ", "vncpasswd -f ",
    "mysql_config_editor set"
                        " -p"), _ARGUMENT),
    _after("token", ("snyk auth ", "snyk config set api=", "sentry-cli login --auth-token ",
                     "circleci setup --token ", "railway login --token ", "codecov -t ",
                     "doctl auth init -t ", "netlify --auth ", "vercel --token ",
                     "flyctl auth token "),
           _ARGUMENT),
    _maybe(("xdotool type ", "tmux send-keys ", "ydotool type ", "wtype ", "cliclick t:",
            "adb shell input text ", "keystroke ", "screen -X stuff "),
           rf"(?:-{{1,2}}[\w=-]{{1,20}} (?:[\w.:]{{1,20}} (?=[^\n]))?){{0,3}}{_ARGUMENT}"),
    _after("password", ("wpa_passphrase ",), rf"(?:\"[^\"\n]{{1,64}}\"|\S{{1,64}}) {_ARGUMENT}"),
    _after("password", ("radtest ",), r"\S{1,64} ([^\s\"'`$]{4,64}) \S{1,64} \d"),
    _after("password", ("radtest ",), r"(?:\S{1,64} ){3}\d{1,5} ([^\s\"'`$]{4,64})"),
    _maybe(("bw login ", "isql "),
           rf"\S{{1,64}} (?:[a-z]\w{{1,20}} )?"
           rf"{_ARGUMENT}"),
    _maybe(("vault login ", "bw unlock ", "cookieParser(", "caddy hash-password --plaintext ",
            "runas /user:me ", "secret-set-value ", "iwconfig wlan0 key s:"),
           rf"(?:token=)?{_ARGUMENT}"),
    Shape("password", (" / ",),
          r"\b(?:use|with|as|login|creds|mit|avec|con) [\w.@+-]{2,40} / [\"'`]?([^\s\"'`/]{6,64})",
          starts=False, made_up=True),
    _maybe(("qpdf --encrypt ",), r"\S{1,64} (\S{5,64}) "),
    _maybe(("qpdf --encrypt ",), r"(\S{5,64}) "),
    _maybe(("htpasswd ", "mosquitto_passwd "),
           r"(?:-\w{1,5} ){0,3}(?:\S*[/.]\S* )?[\w.@-]{1,64} ([^\s\"'`]{5,64})"),
    _after("nuget-key", ("nuget push ", "nuget setapikey "),
           rf"(?:[^\n]{{0,200}}? )?(?:-k|--api-key|-ApiKey) {_ARGUMENT}"),
    _option("vsce publish, ovsx publish", "-p "),
    _option("redis-cli", "-a "),
    _option("mongo, mongosh, mongodump, mongorestore, mongoexport, mongoimport, mongostat, twine,"
            " ncftp, ncftpput, ncftpget, ncftpls, cqlsh, cypher-shell, arangosh, az login,"
            " oc login, cf login, podman login, buildah login, skopeo login, helm registry login, "
            "rdesktop, evil-winrm, netexec, crackmapexec, nxc, hydra, plink, pscp, psexec, PsExec,"
            " PsExec64, PsExec.exe, PsExec64.exe, kcadm.sh",
            r"(?:-p|-pw|--password)[ =](?!\d{2,5}(?:[:\s]|\Z))"),
    _option("login", r"(?:-p|--password)[ =](?!\d{2,5}(?:[:\s]|\Z))"),
    _after("password", ("--creds", "--src-creds", "--dest-creds"),
           r"[= ][\"']?[^\s:\"'$]{1,64}:([^\s\"']{3,128})"),
    _after("password", ("etcdctl ",), r"[^\n]{0,200}?--user[ =][^\s:$]{1,64}:([^\s\"']{3,128})"),
    _after("password", ("connect to ", "CONNECT TO "),
           rf"\S{{1,64}} (?i:user) \S{{1,64}} (?i:using) {_ARGUMENT}"),
    _after("password", ("-password password ", "-password-again password "), r"(\S{4,128})"),
    _after("password", ("rocommunity ", "rwcommunity ", "_SNMPCOMMUNITY "),
           r"(?!public\b|private\b)(\S{4,64})"),
    _after("password", ("/pass:", "/PASS:", "/password:", "/pwd:"), _ARGUMENT),
    _option("ldapsearch, ldapmodify, ldapadd, ldapdelete, ldappasswd, ldapwhoami, ldapcompare",
            "-w "),
    _option("zip, unzip, sqlcmd, bcp, isql, tsql, osql, mosquitto_pub, mosquitto_sub, ipmitool",
            "-P ?"),
    _after("password", ("cryptsetup ", "gpg ", "openssl ", "sudo -S", "passwd ", "zip "),
           r"[^\n|;&]{0,160}?<<<\s?(?:\"([^\"\n$]{4,128})\"|'([^'\n]{4,128})'|([^\s\"'$]{4,128}))"),
    _maybe(("echo -n ", "echo ", "printf "),
           rf"(?:{_QUOTED}) ?\| ?(?:base64|openssl|sudo -S|passwd|chpasswd|gpg"
           r"|mkpasswd|htpasswd|kinit|cryptsetup|docker login|podman login|smbpasswd)\b"),
    _option("7z, 7za, 7zr, 7zz", "-p"),
    _option("rar, unrar", "-h?p"),
    _option("openssl enc", "-k "),
    _option("xfreerdp, wlfreerdp, xfreerdp3, sdl-freerdp", "/p:"),
    _after("password", ("passin ", "passout ", "pass ", "storepass ", "keypass "),
           r"[\"']?pass:([^\s\"'$]{3,128})"),
    _after("password", ("openssl passwd ", "mkpasswd "),
           rf"(?:-{{1,2}}[\w=-]{{1,20}} ){{0,4}}{_ARGUMENT}"),
    _after("password", ("net use ", "NET USE "),
           r"(?:\S{1,200} ){1,2}?(?:([^\s/\\*\"'%$-][^\s\"'%$]{3,64}) (?i:/user:)"
           r"|(?i:/user:)\S{1,64} ([^\s/*\"'%$-][^\s\"'%$]{3,64}))"),
    _after("password", ("net user ", "NET USER "),
           r"[\w.-]{1,64} ([^\s/*\"'%$-][^\s\"'%$]{3,64})(?=[ ]/|\s{0,2}(?:\n|\Z))"),
    _after("password", ("mc alias set ", "mc config host add "),
           rf"\S{{1,64}} \S{{1,200}} [^\s$]{{1,64}} {_ARGUMENT}"),
    _after("password", ("password-command", "passphrase-command", "passcommand"),
           rf"[ =][\"']?(?:echo|printf) (?:-n )?{_ARGUMENT}"),
    # What a script answers: a command it sends has spaces, or no digits among its letters.
    _after("password", ('send "', 'send -- "'),
           r"((?=[^\"\n]{0,64}\d)(?=[^\"\n]{0,64}[A-Za-z])[^\s\"\\$\[]{6,64})(?:\\{1,4}[rn]|\r)"),
    _after("password", ("impacket-", "psexec.py", "wmiexec.py", "smbexec.py", "atexec.py",
                        "secretsdump.py", "GetUserSPNs.py", "GetNPUsers.py"),
           r"\w{0,20} (?:[^\n]{0,100}? )?[\"']?[\w.-]{1,64}/[\w.$-]{1,64}:"
           r"(?:'([^'\n]{3,64})'|\"([^\"\n]{3,64})\"|([^\s@'\"]{3,64}))(?:[\"']?@|[\"'\s]|\Z)"),
    _after("password", ("AUTH ", "auth "),
           r"(?<=> .{5})(?:[\w-]{1,32} )?((?=\S{0,64}\d)[^\s\"'`$\\)]{6,128})"),
    _after("password", ("user ", "SETUSER ", "setuser "),
           r"\S{1,64} on (?:[~&+@*\w|-]{1,40} ){0,8}[>#]([^\s\"'$]{4,128})"),
    _after("password", ("smbclient ",),
           r"[^\n]{0,200}?-U ?[\"']?[^\s%\"']{1,64}%([^\s\"']{3,128})"),
    _after("password", ("htpasswd ",),
           r"(?:-[a-zA-Z]{1,5} ){0,3}-[a-zA-Z]{0,4}b[a-zA-Z]{0,4} (?:-[a-zA-Z]{1,5} ){0,3}"
           rf"\S{{1,200}} [\w.@-]{{1,64}} {_ARGUMENT}"),
    _after("password", ("rabbitmqctl add_user ", "rabbitmqctl change_password "),
           rf"[\w.@-]{{1,64}} {_ARGUMENT}"),
    _command(("echo ",),
          r"echo [\"']?[\w.-]{1,64}:([^\s\"']{3,128})[\"']? ?\| ?(?:sudo )?chpasswd"),
    _after("password", ("lftp ",),
           r"(?:[^\n]{0,200}? )?-u [\"']?[^\s,\"']{1,64},([^\s\"']{3,128})"),
    _command(("http ", "https ", "xh ", "xhs "),
          r"(?:https?|xhs?) (?:[^\n]{0,200}? )?(?:-a|--auth)[ =]"
          r"[\"']?[^\s:\"'\[]{1,64}:([^\s\"']{3,128})"),
    _command(("echo ", "printf "),
          rf"(?:echo|printf) (?:-[a-zA-Z]{{1,3}} "
          rf"|[\"']%s(?:\\n)?[\"'] ){{0,2}}{_PLAIN_ARGUMENT} ?\| ?"
          r"(?:sudo [^\n]{0,60}?-(?:[A-Za-z]{0,4}S|-stdin)|[^\n|]{0,200}?--(?:pass\w{0,8}"
          r"|token)-stdin"
          r"|[^\n|]{0,200}?--with-token|[^\n|]{0,60}?passphrase-fd 0|secret-tool store|pass"
          r" insert|bw "
          r"|op item create|security add|keyring set|gh secret set|fly secrets|wrangler secret"
          r"|(?:sudo )?(?:passwd|chpasswd|smbpasswd|kinit|cryptsetup|su|vncpasswd|gpg|ssh-add"
          r"|openconnect"
          r"|htpasswd|ecryptfs-\S{1,40}|veracrypt|zfs|keepassxc-cli|mosquitto_passwd)\b)"),
    _maybe(("su ", "passwd ", "kinit ", "cryptsetup ", "vncpasswd ", "gpg ", "openconnect ",
            "smbpasswd ", "docker login ", "gh auth ", "veracrypt "),
           rf"[^\n<]{{0,160}}<<< ?{_ARGUMENT}"),
    Shape("password", ("<(echo ", "<(printf "),
          rf"(?i:pass|key|token|secret|from-file)[\w-]{{0,40}}[ =]"
          rf"<\((?:echo|printf)(?: -n)? {_ARGUMENT}", starts=False),
    _command(("sudo ",), rf"sudo [^\n<]{{0,60}}?-S[^\n<]{{0,100}}<<< ?{_ARGUMENT}"),
    _after("secret", ("from-literal",), rf"[= ][\w.-]{{1,64}}={_ARGUMENT}"),
    _after("secret", ("secrets set ", "secret set "),
           rf"(?:[^\n]{{0,300}}? )??[A-Za-z_]\w{{0,64}}=(?!\[redacted){_ARGUMENT}"),
    # Devices and daemons
    _after("password", ("snmp-server community ",),
           r"(?!public\b|private\b)(\S{4,64})(?= (?:RO|RW|ro|rw|view)\b|\s{0,2}\n|\Z)"),
    _maybe(("-server ", "isakmp key ", "key-string ", "digest-key ", "authentication-key ",
            "pre-shared-key ", "psk ", "shared-secret ", "authentication-password ",
                    "snmp community ",
            "community ", "privacy-password ", "community-name ", "psksecret ", "md5 ",
            "chap password "),
           r"(?:[^\n]{0,60}? )??(?:(?:key|md5|community|ascii|ascii-text|hexadecimal|sha\d*"
           r"|name) )?"
           rf"(?:[05-9]\d? )?{_ARGUMENT}(?=[ ;`\"']|\s{{0,2}}(?:\n|\Z))"),
    _after("password", ("isakmp key ", "key-string ", "psksecret ", "crypto isakmp key "),
           r"(?:[0-9] )?(\S{5,64})(?= address|\s{0,2}(?:\n"
           r"|\Z))"),
    _after("password", ("createUser ",), r"\S{1,64} (?:MD5|SHA\S{0,4}) \"?([^\s\"\[]{5,64})"),
    _after("password", ("createUser ",),
           r"\S{1,64} (?:MD5|SHA\S{0,4}) \S{5,64} (?:AES|DES)\S{0,4} \"?([^\s\"\[]{5,64})"),
    Shape("password", (" *  ", "\t*\t", "pptpd", "l2tpd"),
          r"(?<![\w*])[\"']?[\w.@-]{1,64}[\"']?[ \t]{1,40}(?:\*|pptpd|pppd|l2tpd)[ \t]{1,40}"
          r"[\"']?([^\s\"']{5,128})[\"']?[ \t]{1,40}(?:\*|\d)", starts=False,
          middle=r"[ \t](?:\*|pptpd|pppd|l2tpd)[ \t]{1,40}\S{5,128}[ \t]{1,40}[*\d]", made_up=True),
    Shape("password", ("]:",),
          r"\[[\w.-]{3,128}\]:\d{2,5}[ \t]{1,8}[^\s:]{1,64}:([^\s\"'$]{4,128})", starts=False),
    _after("password", ('PSK "', 'EAP "', 'XAUTH "', 'NTLM "'), r'([^"\n]{4,128})"'),
    Shape("password", ('* "',),
          r"[\w.@-]{1,64}[\"']?[ \t]{1,8}\*[ \t]\"([^\"\n]{4,128})\"[ \t]{1,8}(?:\*|\d)",
          starts=False,
          middle=r"\* \"[^\"\n]{4,128}\"[ \t]{1,8}(?:\*|\d)"),
    _after("password", ("<Key>Password</Key>", "<key>password</key>", "<Key>TOTP Seed</Key>",
                        "<Key>otp</Key>"),
           r"\s{0,20}<(?:Value|string)[^<>\n]{0,60}>([^<\n]{3,256})<"),
    Shape("cookie", ("\tTRUE\t", "\tFALSE\t"),
          r"\t(?:TRUE|FALSE)\t/[^\t\n]{0,80}\t(?:TRUE|FALSE)\t\d{1,12}\t"
          r"(?i:[\w.-]{0,40}(?:sess|sid|token|auth|login|csrf|jwt|remember)[\w.-]{0,40})\t([^\s]{8,4096})",
          starts=False),
    Shape("password", ("...", "…"),
          r"(?:(?<=\.\.\.)|(?<=…))(?i:p?a?s?s?w?ord|s?e?cret|t?oken)[\"']?[=:][ ]?[\"']?"
          r"([^\s\"'`]{6,256})", starts=False),
    _after("password", ("<keyMaterial>",), r"([^<\n]{4,128})<"),
    _after("key", ("routing_key", "integration_key", "service_key"),
           r"[\"']?[ ]?[:=][ ]?[\"']?(%H{32})(?!%A)"),
    _token("password", "<master>", r"\{([A-Za-z0-9+/=]{16,})\}</master>"),
    _after("password", ("random_password", "random_string"),
           r"[\"'][\s\S]{0,400}?[\"']result[\"']\s{0,4}:\s{0,4}\"([^\"\n]{4,256})\""),
    # Program text
    _after("password", ("getConnection(", "mysqli_connect(", "mysql_connect(", "new PDO(",
                        "odbc_connect(", "oci_connect("),
           r"\s{0,8}(?:[\"'][^\"'\n]{0,200}[\"']|[\w.]{1,64}),\s{0,8}"
           rf"[\"'][^\"'\n]{{0,64}}[\"'],\s{{0,8}}(?:{_QUOTED})"),
    _maybe(("login(", "Login(", "Credentials(", "Credential(", "asicAuth(", "uthenticate(",
            "connect(", "WiFi.begin(", "begin(", "basic_auth(", "signIn(", "sign_in("),
           r"(?:\s{0,8}[\"'][^\"'\n]{0,64}[\"'],){1,2}?\s{0,8}"
           r"(?:\"([^\"\n]{5,64})\"|'([^'\n]{5,64})')[,)]"),
    _after("password", ("mysql_real_connect(", "mysqli_real_connect(", "->connect(", "new PDO(",
                        "__construct(", "pg_connect(", "SetBasicAuth(", "setBasicAuth(",
                        "withBasicAuth(",
                        "basicAuth(", "basic_auth(", "connectdb(", "logon("),
           r"(?:[^\s\"'(),]{1,40},\s{0,8})?(?:[\"'][^\"'\n]{0,200}[\"'],\s{0,8}){1,2}?"
           r"(?:\"([^\"\n]{6,128})\"|'([^'\n]{6,128})')(?=\)|,\s{0,8}(?:[\"'\d\[$]|NULL))"),
    _maybe(("toBe(", "toEqual(", "assertEqual(", "assertEquals(", "assert_equal("),
           r"(?<=[pP]assword\)\.toBe\()[\"']([^\"'\n]{6,128})[\"']\)"),
    _after("password", ("PlainAuth(",),
           rf"(?:[\"'][^\"'\n]{{0,64}}[\"'],\s{{0,8}}){{2}}(?:{_QUOTED})"),
    _after("secret", ("jwt.sign(", "jwt.encode(", "jwt.verify(", "jwt.decode("),
           r"[^\n]{1,80}?,\s{0,8}[\"']((?=[^\s\"']{0,128}[\d!#$%^&*+])[^\s\"']{8,128})[\"']"),
    _after("secret", ("Fernet(", "AES.new(", "SecretKeySpec(", "SecretBox("),
           r"b?[\"']((?=[^\"'\n]{0,128}\d)[^\"'\n]{8,128})[\"']"),
    _after("totp-secret", ("oathtool ",), r"(?:--?[\w=-]{1,20} ){0,6}[\"']?([A-Za-z2-7]{16"
    r",64})" + _END),
    _after("totp-secret", ("TOTP(", "HOTP(", "authenticator.generate(", "totp.generate(",
                           "totp.New(", "speakeasy.totp(", "GenerateCode(", "ROTP::TOTP.new("),
           r"[^\"'\n)]{0,40}[\"']([A-Za-z2-7]{16,64})[\"']"),
    Shape("totp-secret", ("シークレット", "密钥", "密鑰", "セットアップ",
                          "시크릿", "otp", "OTP",
                          "uthenticator", "etup key"),
          r"(?:シークレット(?:キー)?|密钥|密鑰|セットアップキー|시크릿 ?키?"
          r"|(?i:t?otp|2fa|authenticator|setup"
          r" key)"
          r"(?:[ _-](?i:secret|key|seed|code|app)){0,3})[\"']?[ ]?(?:[:：=]|是|は|is)[ ]?[\"'`]?"
          r"((?=[A-Z]{0,40}[2-7])[A-Z2-7]{16,64})(?!%A)", starts=False),
    _after("secret", ("otpauth://",), r"[^\s\"']{0,200}?[?&]secret=([A-Za-z2-7]{16,})"),
    _after("secret", ("dig -y ", "nsupdate -y ", "hmac-sha256:", "hmac-sha512:", "hmac-md5:"),
           r"(?:[\w-]{1,64}:){1,2}?([A-Za-z0-9+/]{16,}={0,2})(?![\w:])"),
    _after("secret", ("hmac.new(", "createHmac(", "hash_hmac("),
           r"(?:\s{0,8}[\"'][\w-]{3,12}[\"'],)?(?:[^,\"'\n]{1,80},)?\s{0,8}"
           r"b?[\"']((?=[^\s\"']{0,128}\d)[^\s\"']{8,128})[\"']"),
    # Databases
    _command(("identified ", "Identified ", "IDENTIFIED "),
          rf"(?i:identified (?:with [\w\"']{{1,40}} )?by )(?:{_QUOTED})"),
    _command(("IDENTIFIED BY ",), r"IDENTIFIED BY (\w[^\s\"';,]{3,128})"),
    Shape("password", (":543", ":6432:", ":*:"),
          r"(?<![^\s\"'`(])[\w.*-]{1,128}:[\d*]{1,4}:(?!\d+:)[^:\s\[]{1,64}:[^:\s\[]{1,64}:"
          r"([^\s:\"'`]{4,128})(?![^\s\"'`),.])", starts=False),
    Shape("password", ("@tcp(", "@unix("),
          r"(?<=:)(?<!\[redacted:)([^\s:@\"'`<>\\]{1,128})@(?:tcp|unix)\(", starts=False),
    _command(("sqlplus ", "expdp ", "impdp ", "exp ", "imp ", "sqlldr ", "jdbc:oracle:thin:"),
          r"(?:(?:sqlplus|expdp|impdp|exp|imp|sqlldr) (?:[^\n/]{0,80}? )?|jdbc:oracle:thin:)"
          r"[\"']?[\w$#.]{1,30}/[\"']?([^\s/@\"']{3,64})(?:[\"']?@|(?= \w+=))"),
    _after("password", ("sqlplus ", "expdp ", "impdp ", "sqlldr ", "rman "),
           r"(?:[^\n/]{0,80}[ =])?[\"']?[\w$#.-]{1,30}/[\"']?([^\s/@\"']{4,64})[\"']?@"),
    _after("password", ("netloc='", 'netloc="'), r"[^\s:@'\"]{1,64}:([^\s@'\"$<]{4,128})@"),
    _command(("scott/", "system/"),
          r"(?<![/.])(?:scott|system)/([^\s/@\"'.]{3,64})@[\w/]"),
    # What a program asks for or prints, in the line below
    _after("password", ("334 UGFzc3dvcmQ6", "334 cGFzc3dvcmQ6", "334 UGFzc3dvcmQA"),
           r"\r?\n[ \t>+|]{0,12}(?:(?:C|>>>|-->|->|~>)[:>]?[ ]?)?([A-Za-z0-9+/]{4,200}={0"
           r",2})(?=[\s\"'`)]|\Z)"),
    _after("password", ("AUTH PLAIN ", "AUTH LOGIN ", "AUTHENTICATE PLAIN "),
           r"(?:\r?\n[ \t>+|C:S]{0,12})?([A-Za-z0-9+/]{12,400}={0,2})(?=\s|\Z|[\"'])"),
    _after("secret", (
        "wg genkey", "wg genpsk", "openssl rand ", "/dev/urandom", "pwgen", "apg ", "dumpprivkey",
        "key:generate", "auth print-access-token", "print-identity-token", "gh auth token",
        "op read ", "pass show ", "gopass show ", "vault kv get ", "vault read ", "bw get password",
        "lpass show", "find-generic-password", "find-internet-password", "get-parameter",
        "get-secret-value", "secrets versions access", "get-authorization-token",
        "get-login-password",
        "kubectl get secret", "oc get secret", "oc whoami -t", "create token ", "config:get ",
        "terraform output", "tofu output", "printenv ", "keyvault secret show", "secrets get ",
        "account get-access-token", "generate_secret", "secret_key()", "genkey",
        "secret-tool lookup",
        "doppler secrets get", "keyring get", "cat /run/secrets/", "bin/rails secret",
        "rake secret",
        "get_random_secret_key", "Fernet.generate_key", "keyctl print",
        "docker swarm join-token", "kubeadm token", "kubeadm certs", "pulumi config get",
        "token_hex(", "token_urlsafe(", "credstash get", "chamber read", "sops -d",
        "age-keygen", "mkpasswd", "diceware", "xkcdpass",
    ), r"[^\n]{0,160}\n[ \t>+|]{0,12}(?:base64:)?[\"'b]{0,2}"
       r"(?![\w.-]{1,24}:[ ]|https?:|[/~.](?![A-Za-z0-9+/]{42}=))"
       r"((?=[^\s\"'`]{0,512}\d)[^\s\"'`,:(){}]{16,512}(?![^\s\"'`)])"
       r"|(?=\S{0,64}[\d_!@#$%^&*+=-])[^\s\"'`,:(){}]{8,64}(?=[\"']?[ \t]{0,8}(?:\r?\n|\Z)))"),
    # Windows
    _command(("NetworkCredential(", "PSCredential(", "HTTPBasicAuth(", "auth=(",
              "username_pw_set(", "db.auth("),
          rf"(?:NetworkCredential|PSCredential|HTTPBasicAuth|auth=|username_pw_set|db\.auth)\(\s{{0,8}}[\"'][^\"'\n]{{0,64}}[\"'],\s{{0,24}}(?:{_QUOTED})"),
    _after("password", ("register => ", "register=>"), r"[ ]?[\w.-]{1,40}:([^\s@:]{4,64})@"),
    _command(("ConvertTo-SecureString ",),
          rf"ConvertTo-SecureString (?:-\w{{1,20}} ){{0,4}}(?:{_QUOTED}|(\w\S{{3,128}})(?= +-As))"),
    # Stored passwords
    _token("password-hash", "$1$ $apr1$", rf"{_HASH}{{1,8}}\${_HASH}{{22}}"),
    _token("password-hash", "$2a$ $2b$ $2y$", rf"\d\d\${{1,2}}{_HASH}{{53}}"),
    _token("password-hash", "$5$ $6$",
           rf"(?:rounds=\d{{1,9}}\$)?{_HASH}{{1,16}}\${_HASH}{{43,86}}"),
    _token("password-hash", "$y$ $gy$ $7$", rf"{_HASH}{{1,16}}\${_HASH}{{1,86}}\${_HASH}{{43}}"),
    _token("password-hash", "$argon2id$ $argon2i$ $argon2d$",
           r"(?:v=\d{1,3}\$)?[a-z0-9=,]{1,60}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,90}"),
    _token("password-hash",
           "pbkdf2_sha256$ pbkdf2_sha1$ pbkdf2_sha512$ scrypt$ bcrypt_sha256$ bcrypt$",
           r"\S{0,40}\$[A-Za-z0-9+/._=-]{24,}"),
    _token("password-hash", "pbkdf2: scrypt:", r"[\w:]{1,40}\$[A-Za-z0-9+/.]{4,40}\$%H{32,}"),
    _token("password-hash", "SCRAM-SHA-256$ SCRAM-SHA-1$",
           r"\d{3,6}:[A-Za-z0-9+/=]{8,64}\$[A-Za-z0-9+/=]{20,90}:[A-Za-z0-9+/=]{20,90}"),
    _token("password-hash", "$8$ $9$", rf"{_HASH}{{10,20}}\${_HASH}{{43}}"),
    _token("password-hash", "$S$ $P$ $H$", rf"{_HASH}{{31,52}}"),
    _token("password-hash", "$krb5tgs$ $krb5asrep$ $krb5pa$ $DCC2$ $mskrb5$", r"[^\s\"']{40,}"),
    Shape("password-hash", ("*",), r"\*(?<=[\"' :=>\t|]\*)[0-9A-F]{40}(?![0-9A-F])",
          starts=False, middle=r"\*[0-9A-F]{40}"),
    Shape("password-hash", (":::",), r"(?<![\w-])[\w.$-]{1,64}:\d{3,10}:(%H{32}:%H{32}):::",
          starts=False),
    Shape("password-hash", ("::",), r"(?<!\w)[\w.$-]{1,64}::[\w.-]{0,64}:(%H{16}:%H{32}:%H{16,})",
          starts=False,
          middle=r"::[\w.-]{0,64}:%H{16}:"),
    _after("password-hash", ("NTLM", "NT hash", "NT Hash", "NT-Hash", "NThash", "LM hash",
    "LM Hash",
                             "LM-Hash", "ntlm", "nt_hash", "lm_hash", "nthash", "lmhash"),
           r"(?:v[12])?[ _-]?(?i:hash)?(?i:es)?(?:[ ](?!is |was )[\w.@\\$'’-]{1,40}){0,4}?[\"']?"
           r"(?: is| was| ist)?[ ]{0,8}[:=]{0,2}[ ]?[\"']?"
           r"([0-9A-Fa-f]{32}(?::[0-9A-Fa-f]{32})?)(?!%A)"),
    _after("password-hash", ("evil-winrm ", "nxc ", "netexec ", "crackmapexec ", "cme ",
    "impacket-",
                             "psexec.py ", "wmiexec.py ", "smbexec.py ", "secretsdump.py ",
                             "pth-winexe ", "xfreerdp ", "smbclient.py ", "GetUserSPNs.py "),
           r"[^\n]{0,200}?(?:-H|--?hashes|-hashes|/pth:)[ =]?[\"']?"
           r"(%H{32}(?::%H{32})?|:%H{32})(?!%A)"),
    _after("password-hash", ("/rc4:", "/ntlm:", "/aes256:", "/aes128:", "/krbtgt:", "rc4_hmac_nt",
                             "aes256_hmac", "aes128_hmac", "arcfour-hmac", "des-cbc-md5",
                             "aes256-cts-hmac-sha1-96", "aes128-cts-hmac-sha1-96"),
           r"[):\s(]{0,12}(?:0x)?([0-9a-fA-F]{16,64})" + _END),
    Shape("password-hash", ("md5",), r"md5(?<![\w/-]md5)(%H{32})(?!%A)",
          starts=False, middle="md5%H{32}"),
    _token("encrypted-vault", "$ANSIBLE_VAULT;", r"\d\.\d;AES256(?:;[\w.-]{1,64})?(?:\\n|\r?\n)"
           r"[ \t>+|]{0,40}((?:%H{16,80}(?:(?:\\n|\r?\n)[ \t>+|]{0,40}(?=%H{8}))?){1,400})"),
    _after("password-hash", ("select ", "SELECT "),
           r"(?=[^\n;]{0,400};?[ ]{0,4}\n)[^\n;]{0,200}?(?i:passw(?:or)?d|hash|secret|token)"
           r"[^\n;]{0,200};?[ ]{0,4}\n"
           r"(?:[^\n]{0,80}[-|+][^\n]{0,80}\n){0,2}?[^\n|]{0,80}\|[ ]{0,20}(%H{32,128})(?!%A)"),
    _token("password-hash", "{SHA} {SSHA}", r"([A-Za-z0-9+/]{27,64}={0,2})"),
    _token("password-hash",
           "{SHA512-CRYPT} {SHA256-CRYPT} {BLF-CRYPT} {CRYPT} {ARGON2ID} {ARGON2I}",
           r"[^\s:\"']{20,}"),
    _token("password-hash", "S:", r"[0-9A-F]{60}(?:;T:[0-9A-F]{160})?"),
    _token("password-hash", "sha1: sha256: sha512:",
           r"\d{3,7}:[A-Za-z0-9+/=]{8,64}:[A-Za-z0-9+/=]{24,}"),
    _token("password-hash", "$A$005$", r"[^\s'\"]{20,90}"),
    _token("password-hash", "$pbkdf2-sha256$ $pbkdf2-sha512$ $pbkdf2$ $bcrypt-sha256$ $scrypt$ $s0$"
           " $sha1$ $md5, $3$$ $ml$ $racf$ $pbkdf2-sha1$", r"[^\s\"':]{20,}"),
    _token("password-hash", "sha1$ sha256$ md5$", r"%A{4,32}\$%H{32,64}" + _END),
    _token("password-hash", "{SSHA512} {SSHA256} {SHA256} {SHA512} {SMD5} {MD5} {PKCS5S2} {PBKDF2",
           r"(?:-SHA\d{1,3}\})?([A-Za-z0-9+/.$]{20,}={0,2})"),
    _token("password-hash", "grub.pbkdf2.sha512.", r"\d{3,7}\.[0-9A-F]{64,}\.[0-9A-F]{64,}"),
    _token("password-hash", "AQAAAA", r"[A-Za-z0-9+/]{70,110}={0,2}" + _END),
    _token("password-hash", "0x0200 0x0100",
           r"(?:[0-9A-Fa-f]{136}|[0-9A-Fa-f]{88}|[0-9A-Fa-f]{48})" + _END),
    _token("password-hash", "WPA*02* WPA*01*", r"%H{32}(?:\*[0-9a-fA-F]*){2,8}"),
    _after("password-hash", ("PASSWORD 'md5", 'PASSWORD "md5', "password 'md5", ":md5", '"md5'),
           r"(%H{32})" + _END),
    _token("cookie", ".ASPXAUTH= .AspNetCore.Identity= .ASPXFORMSAUTH=", r"([0-9A-Za-z_-]{48,})"),
    _after("private-key", ("Private-MAC: ",), r"(%H{40,64})" + _END),
    Shape("signature", ("Digest ",), r"Digest [^\n]{1,400}?\bresponse=\"?(%H{32,64})" + _END),
    Shape("signature", ("AWS4-HMAC-SHA256 ",), r"AWS4-HMAC-SHA256 [^\n]{1,400}?Signature=(%H{64})"),
    # The words that open a wallet
    _after("seed-phrase", ("seed phrase", "Seed phrase", "recovery phrase", "Recovery phrase",
                           "mnemonic", "Mnemonic", "MNEMONIC", "seed words", "Seed words"),
           r"[^\n:=]{0,60}[:=][ \"'\n]{1,4}((?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})(?![a-z])"),
    # A number in the place of a password
    _command(("PIN", "Pin", "pin", "PUK", "passcode", "Passcode", "door code", "Door code",
              "alarm code", "Alarm code", "access code", "Access code", "unlock code",
                      "safe code",
              "gate code", "entry code", "Türcode", "Zugangscode", "code d'accès", "one-time code",
              "verification code", "security code", "login code", "OTP", "2FA code", "TAN",
              "Пин", "пин", "ПИН", "Код доступа", "код доступа", "Code secret", "code secret",
              "暗証番号", "密码", "验证码"),
          r"(?:(?:PIN|[Pp]in)(?:[ -]?[Cc]ode|[ -]?[Nn]ummer|[ -]number)?|PUK|OTP|TAN|[Pp]asscode"
          r"|(?:[Dd]oor|[Aa]larm|[Aa]ccess|unlock|safe|gate|entry|one-time|verification|security|login"
          r"|2FA) code|Türcode|Zugangscode|code d'accès|(?:Пин|пин|ПИН)(?:-?код\w{0,2})?"
          r"|[Кк]од доступа"
          r"|[Cc]ode secret|暗証番号|密码|验证码)"
          r"(?:[ ](?!(?i:ttl|length|timeout|expir|port|limit|max|min|size))[\w'’.-]{1,24}){0,5}?"
          r"(?:['’]s[ ]|[ ]?[:=：是は][ ]?|(?<=PIN|PUK|TAN)[ ]|(?<=ith pin)[ ]|(?<=[a-z] code)[ ]"
          r"|(?<=[а-я])[ ]|[ ][-–—][ ]"
          r"|[ ](?:is|ist|lautet|was|war|est|c'est|es|é|è|to|är|er|on|je|jest|still|now)[ ]"
          r"(?:now )?)"
          r"[\"'`*]{0,2}(\d{4,8}|\d{2,4}(?:[- ]\d{2,4}){1,3})\#?(?![\w:/%-]|\.\d|[ ](?:ms|bytes"
          r"|px|times|seconds))", "pin"),
    Shape("pin", ("PIN =", "PIN=", "PIN:", 'PIN"', "pin =", "pin=", "pin:", 'pin"', "Pin=", 'Pin"'),
          r"(?:PIN|[pP]in)(?<![A-Z][A-Z]PIN)(?<![a-z]pin)[\"']?[ ]?[:=][ ]?[\"']?"
          r"(\d{4,8})(?![\w.:-])", starts=False),
    _after("recovery-code", ("recovery_codes", "backup_codes", "recoveryCodes", "backupCodes"),
           r"[\"']?\s?[:=]\s?[\[(]?[\"']?(?:\[redacted:[a-z-]+\][\"', ]{1,4}){0,15}"
           r"((?=[\w-]*\d)\w{4,12}(?:-\w{4,12}){0,3})"),
    _maybe(("recovery code", "backup code", "Recovery code", "Backup code", "recovery key",
            "safe combination"), r"s?(?:[ ]is|[ ]are|:|[ ]=)?[ ]((?:\w{2,8}-){1,7}\w{2,8})"),
)  # fmt: skip

"""What secrets look like: one table, a row for each kind that can be told by its shape alone.

Each row carries texts it must find and texts it must leave, as templates: `{a36}` stands for 36
letters and digits, `{h}` hex, `{d}` digits, `{u}` capitals and digits, `{w}` also `-` and `_`,
`{b}` base64, `{t}` letters. The check of the table fills them in, so no secret, not even a
made-up one, stands in this file. Secrets that only the name next to them gives away are found by
`assignments` and `prose`.
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
    finds: tuple[str, ...]
    leaves: tuple[str, ...] = ()
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


def _token(kind: str, hints: str, rest: str, *samples: str) -> Shape:
    """A row for tokens that are one of these beginnings and the rest; `-` before what it leaves."""
    starts = tuple(hints.split())
    pattern = f"(?:{'|'.join(map(re.escape, starts))}){rest}"
    finds = tuple(sample for sample in samples if not sample.startswith("- "))
    return Shape(kind, starts, pattern, finds, tuple(s[2:] for s in samples if s[:2] == "- "))


def _command(
    hints: tuple[str, ...],
    pattern: str,
    finds: tuple[str, ...],
    leaves: tuple[str, ...],
    kind: str = "password",
) -> Shape:
    """A row for a secret that words before it give away; the pattern begins with one of them."""
    return Shape(kind, hints, pattern, finds, leaves)


def _after(kind: str, hints: tuple[str, ...], rest: str, *samples: str) -> Shape:
    """A row for a secret that one of these words and the rest give away; `-` before what it leaves.

    The rest has a group for the secret.
    """
    row = _token(kind, "", rest, *samples)
    pattern = f"(?:{'|'.join(map(re.escape, hints))}){rest}"
    return Shape(kind, hints, pattern, row.finds, row.leaves)


def _maybe(hints: tuple[str, ...], rest: str, *samples: str) -> Shape:
    """A row for what may be a password after one of these words, if it looks made up."""
    row = _after("password", hints, rest, *samples)
    return Shape(row.kind, hints, row.pattern, row.finds, row.leaves, made_up=True)


def _option(programs: str, option: str, *samples: str) -> Shape:
    """A row for the password that one of these programs takes after an option."""
    hints = tuple(f"{program} " for program in programs.split(", "))
    return _after("password", hints, rf"(?:[^\n]{{0,200}}? )?{option}{_ARGUMENT}", *samples)


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
    _token("docker-auth", "eyJhdXRocyI6", r"[A-Za-z0-9+/]{20,}={0,2}", "eyJhdXRocyI6{b60}",
           "- eyJhdXRocyI6"),
    _after("password", (".load(",), r"[^,\n]{1,60}, ?\"([^\"\n]{4,64})\"\.toCharArray",
           'ks.load(in, "{a9}4".toCharArray())', "- ks.load(in, password.toCharArray())"),
    _after("key", ("hmacShaKeyFor(",), r"\"([^\"\n]{16,512})\"", 'Keys.hmacShaKeyFor("{a48}")',
           "- Keys.hmacShaKeyFor(secret)"),
    _token("facebook-token", "EAA", r"%A{90,}", "EAA{a120}", "- EAA{a20}"),
    Shape("deepl-key", (":fx",), rf"(?<![\w-])({_UUID}:fx)" + r"(?!%A)",
          ("{h8}-{h4}-{h4}-{h4}-{h12}:fx",), ("a:fx",), starts=False),
    Shape("password", ('"result"',), r"\"result\":[ ]?\"([^\"\n]{8,256})\",\s{0,40}\"special\"",
          ('"result": "{a20}", "special": false',), ('"result": "ok", "status": 1',), starts=False),
    Shape("password-hash", ("$$2",), r"\$\$2[abxy]\$\$\d\d\$\$[./A-Za-z0-9]{53}",
          ("ops:$$2y$$05$${a53}",), ("$$2 off",), starts=False),
    _after("secret", ("vault operator unseal ", "vault operator rekey "),
           r"(?:-[\w=-]{1,40} ){0,3}([A-Za-z0-9+/]{40,}={0,2})", "vault operator unseal {b44}",
           "- vault operator unseal -status"),
    _after("key", ("openssl ",), r"[^\n]{0,120} -K ([0-9A-Fa-f]{16,64})" + r"(?![A-Za-z0-9])",
           "openssl enc -aes-256-cbc -K {h64} -iv 0", "- openssl version -a"),
    _after("password", ("config http-basic.",), r"[\w.-]{1,60} \S{1,80} ([^\s\"'$<]{6,256})",
           "poetry config http-basic.acme ci {a20}", "- poetry config http-basic.acme ci"),
    _after("token", ("github-oauth", "gitlab-token", "gitlab-oauth"),
           r"[\"']?[ ]?:[ ]?\{[ ]?[\"'][\w.-]{3,80}[\"'][ ]?:[ ]?[\"']([\w-]{20,256})",
           '"github-oauth": {"github.com": "{h40}"}', "- github-oauth: {}"),
    _after("password", ("npmAuthIdent", "BUNDLE_"),
           r"[\w]{0,60}[ ]?[:=][ ]?[\"']?[\w.@-]{1,64}:([^\s\"']{6,256})",
           'npmAuthIdent: "ci:{a12}4"', 'BUNDLE_GEMS__ACME__IO: "ci:{a20}"',
           "- BUNDLE_PATH: vendor"),
    _after("token", ("cloudflared ",), r"[\w -]{1,60}? (eyJ[\w+/=-]{60,})",
           "cloudflared service install eyJ{a100}", "- cloudflared tunnel list"),
    _after("token", ("bearer: ", "Bearer: ", "bearer:", "Bearer:"),
           r"[\"']?((?=%W*\d)[\w.~+/=-]{20,})", "use this as bearer: {a47}7", "- bearer: {t30}"),
    _token("oauth-code", "4/0A", r"%W{50,}", "4/0A{w70}", "- 4/0A"),
    _token("password-hash", "$keepass$*", r"[\w*]{40,}", "$keepass$*2*60000*0*{h64}*{h64}"),
    _maybe(('user = "', "user = '", 'user="', 'proxy-user = "'),
           r"[\w.@-]{1,64}:([^\s\"':]{5,64})(?=[\"'])", 'user = "me:Rad-Kappe-{d3}"',
           '- user = "me:group"'),
    # Models
    _token("anthropic-key", "sk-ant-", r"%A{3,10}-%W{60,200}", "sk-ant-api03-{w93}AA",
           "sk-ant-oat01-{w93}AA", "- sk-ant-...", "- sk-ant-api03-your-key-here"),
    _token("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"%W{40,250}",
           f"sk-proj-{{w74}}{_MIDDLE}{{w74}}", "sk-proj-{a48}", "- sk-proj-your-key"),
    _token("openai-key", "sk-", rf"(?:%W{{16,200}}?{_MIDDLE}%W{{16,}}|(?=%A*\d)%A{{32,64}}{_END})",
           f"sk-{{a20}}{_MIDDLE}{{a20}}", "sk-{a47}7", "sk-{h31}4", "- task-{h40}", "- sk-{t20}"),
    _token("openrouter-key", "sk-or-v1-", r"%H{64}", "sk-or-v1-{h64}"),
    _token("langfuse-key", "sk-lf-", _UUID, "sk-lf-{h8}-{h4}-{h4}-{h4}-{h12}", "- pk-lf-{h8}"),
    _token("groq-key", "gsk_", r"%A{40,}", "gsk_{a52}", "- gsk_name"),
    _token("xai-key", "xai-", r"%A{60,}", "xai-{a80}"),
    _token("perplexity-key", "pplx-", r"%A{40,}", "pplx-{a48}", "- pplx-70b-online"),
    _token("replicate-token", "r8_", r"%A{37,40}", "r8_{a37}"),
    _token("mapbox-token", "sk.eyJ", r"%W{8,}\.%W{16,}", "sk.eyJ{a60}.{w22}", "- sk.eyJ"),
    _token("huggingface-token", "hf_ api_org_", r"%A{34,40}" + _END, "hf_{t34}",
           "api_org_{t34}", "- hf_hub_download", "- hf_model_name_or_path_for_the_run"),
    _token("langsmith-key", "lsv2_pt_ lsv2_sk_", r"%H{32}_%H{10}", "lsv2_pt_{h32}_{h10}"),
    _token("pinecone-key", "pcsk_", r"%W{50,}", "pcsk_{a70}"),
    _token("tavily-key", "tvly-", r"(?:dev-|prod-)?%A{32}(?!%A)", "tvly-{a32}", "tvly-dev-{a32}"),
    _token("cerebras-key", "csk-", r"[a-z0-9]{48}" + _END, "csk-{h48}", "- csk-name"),
    _token("nvidia-key", "nvapi-", r"%W{50,}", "nvapi-{w64}", "- nvapi-key"),
    _token("together-key", "tgp_v1_", r"%W{40,}", "tgp_v1_{w43}"),
    _token("firecrawl-key", "fc-", r"%H{32}" + _END, "fc-{h32}", "- fc-{h8}"),
    _token("e2b-key", "e2b_", r"%H{40}" + _END, "e2b_{h40}"),
    _token("jina-key", "jina_", r"%A{50,}", "jina_{a60}"),
    _token("elevenlabs-key", "sk_", r"%H{48}" + _END, "sk_{h48}", "- sk_{h8}"),
    _token("helicone-key", "sk-helicone-", r"%A{5,9}(?:-%A{5,9}){3}",
           "sk-helicone-{a7}-{a7}-{a7}-{a7}"),
    # Clouds
    _token("aws-key-id", "AKIA ASIA ABIA ACCA", r"%U{16}" + _END, "AKIA{u16}", "ASIA{u16}",
           "- AKIA", "- AKIA{u4}", "- AKIAIOSFODNN7EXAMPLE"),
    _token("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz",
           r"[A-Za-z0-9+/%]{80,}={0,2}", "IQoJb3JpZ2luX2Vj{a300}"),
    _token("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{90,}={0,2}", "ABSKQmVkcm9ja{a120}",
           "ABSK{b120}=", "- ABSK{a40}"),
    _token("aws-bedrock-key", "bedrock-api-key-", r"[A-Za-z0-9+/%]{60,}={0,2}",
           "bedrock-api-key-{b120}", "- bedrock-api-key-rotation"),
    Shape("aws-secret", ("AKIA", "ASIA"),
          r"A[KS]IA%U{16}[^\w\n]{1,8}([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
          ("AKIA{u16},{b40}",), ("AKIA in account {d12}",), starts=False),
    _token("google-key", "AIza", r"%W{35}(?!%W)", "AIza{w35}", "- AIza", "- AIza{w12}"),
    _token("google-token", "ya29.", r"[A-Za-z0-9_.-]{30,}", "ya29.a0{w120}"),
    _token("google-client-secret", "GOCSPX-", r"%W{28}", "GOCSPX-{w28}"),
    _token("google-refresh-token", "1//0", r"%W{40,}", "1//0{w60}", "- https://x.org/1//0/a"),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"%H{64}", "dop_v1_{h64}"),
    _token("azure-key", "AccountKey= SharedAccessKey= accountkey=", r"([A-Za-z0-9+/%]{40,}={0,2})",
           "AccountName=a;AccountKey={b86}==;EndpointSuffix=x", "SharedAccessKey={b43}=",
           "- AccountKey=<key>;", "- AccountKey=$KEY"),
    Shape("azure-sas", ("sig=",), r"[?&;]sig=([A-Za-z0-9%+/]{40,}={0,2})",
          ("https://x.blob.core.windows.net/c?sv=2022&sig={a42}%3D",), ("&sig=short",), False),
    _after("azure-key", ("code=",),
           r"(?<=[?&]code=)((?=%W*\d)%W{40,}={0,2}|[A-Za-z0-9/+%]{54,}={0,2})",
           "https://x.azurewebsites.net/api/run?code={w53}7==", "- ?code=200", "- ?code={t20}"),
    Shape("azure-client-secret", ("Q~",), r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}",
          ("{a3}8Q~{a34}",), ("Q~", "8Q~{a4}"), starts=False),
    Shape("azure-devops-token", ("AZDO",), r"(?<!%A)%A{76}AZDO%A{4}" + _END,
          ("{a52}JQQJ99{a18}AZDO{a4}",), ("AZDO", "{a20}AZDO{a4}"), starts=False),
    Shape("access-token", ("_PAT", "-pat"),
          r"(?:_PAT|-pat)[\"']?[ ]?[:=][ ]?[\"']?((?=%W*\d)%W{20,})",
          ("AZURE_DEVOPS_EXT_PAT={h52}7",), ("FOO_PAT=$PAT", "X_PATH={h52}"), starts=False),
    Shape("azure-key", ("JQQJ99",), r"(?<!%A)%A{52}JQQJ99%A{26,30}" + _END,
          ("{a52}JQQJ99{a26}",), ("JQQJ99",), starts=False),
    _after("alibaba-secret", ("LTAI",), r"%A{16,24}[^\w\n]{1,8}(%A{30})" + _END,
           "LTAI{a20}:{a30}", "- LTAI"),
    _token("alibaba-key-id", "LTAI", r"%A{16,24}" + _END, "LTAI{a20}", "- LTAI5"),
    _token("yandex-key", "AQVN", r"%W{35,38}(?!%W)", "AQVN{w36}"),
    _token("yandex-token", "y0_", r"%W{50,}", "y0_AgAAAA{w50}", "- y0_max"),
    _token("cloudflare-key", "v1.0-", r"%H{24}-%H{146}", "v1.0-{h24}-{h146}", "- v1.0-{h7}"),
    _token("cloudflare-token", "cfut_ cfat_ cfk_", r"%W{36,}", "cfut_{a40}"),
    _token("tencent-key-id", "AKID", r"%A{32}" + _END, "AKID{a32}", "- AKID"),
    _token("baidu-key", "bce-v3/ALTAK-", r"%A{16,}/%H{40}", "bce-v3/ALTAK-{a21}/{h40}"),
    _token("akamai-token", "akab-", r"%A{16}-%A{16}" + _END, "akab-{a16}-{a16}"),
    _token("deno-token", "ddp_ ddo_", r"%A{36,}", "ddp_{a36}"),
    _token("xata-key", "xau_", r"%A{30,}", "xau_{a36}"),
    _token("heroku-key", "HRKU-", r"%W{36,}", "HRKU-{h8}-{h4}-{h4}-{h4}-{h12}"),
    _token("fly-token", "fo1_ fm1r_ fm2_", r"[A-Za-z0-9+/_=-]{40,}", "fo1_{w43}", "fm2_{a200}"),
    _token("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"%A{24,}", "vcp_{a56}"),
    _token("netlify-token", "nfp_ nfc_", r"%A{36,}", "nfp_{a40}"),
    _token("render-key", "rnd_", r"%A{28,}", "rnd_{a32}"),
    _token("supabase-key", "sbp_ sb_secret_", r"%W{30,}", "sbp_{h40}", "sb_secret_{w31}"),
    _token("neon-key", "napi_", r"%A{60,}", "napi_{a64}"),
    _token("planetscale-key", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.=-]{32,}",
           "pscale_pw_{w43}"),
    _token("clickhouse-key", "4b1d", r"%A{38}" + _END, "4b1d{a38}", "- 4b1d{h36}"),
    _token("databricks-token", "dapi", r"%H{32}(?:-\d)?" + _END, "dapi{h32}", "dapi{h32}-2"),
    _token("openshift-token", "sha256~", r"%W{43}(?!%W)", "sha256~{w43}"),
    _token("pulumi-token", "pul-", r"%H{40}" + _END, "pul-{h40}"),
    _token("prefect-key", "pnu_", r"%A{36}" + _END, "pnu_{a36}"),
    _token("infracost-key", "ico-", r"%A{32}" + _END, "ico-{a32}"),
    _token("octopus-key", "API-", r"%U{26}" + _END, "API-{u26}", "- API-REFERENCE"),
    Shape("terraform-token", (".atlasv1.",), r"(?<!%A)%A{14}\.atlasv1\.[A-Za-z0-9=_-]{60,}",
          ("{a14}.atlasv1.{a67}",), ("x.atlasv1.y",), starts=False),
    _token("vault-token", "hvs. hvb. hvr.", r"%W{24,}", "hvs.{w90}", "- hvs.token"),
    _after("vault-key", ("Unseal Key ", "unseal key ", "Recovery Key "),
           r"\d{1,2}: ?([A-Za-z0-9+/]{43,88}={0,2})", "Unseal Key 1: {b44}",
           "- Unseal Key (will be hidden): "),
    _token("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
           r"(?:[a-z0-9_-]{2,35}\.)?%A{40,44}", "dp.pt.{a43}", "dp.st.prd.{a43}"),
    _token("tailscale-key", "tskey-", r"[a-z]+-%A+-%A{16,}", "tskey-auth-{a12}-{a32}"),
    _token("1password-token", "ops_eyJ", r"[A-Za-z0-9+/_-]{100,}={0,3}", "ops_eyJ{a250}"),
    # Of a team's server (`postgres/people`)
    _token("ltm-token", "ltm_", r"(?=%W*[A-Z])%W{43}(?!%W)", "ltm_{w43}", "- ltm_owner",
           "- ltm_" + "of_a_name_" * 4 + "abc"),
    # Code and packages
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9_]{36,255}", "ghp_{a36}",
           "ghs_{a36}", "- ghp_", "- ghp_" + "x" * 36, "- ghp_token_name"),
    _token("github-token", "github_pat_", r"%A{22}_%A{59}", "github_pat_{a22}_{a59}",
           "- github_pat_xxx"),
    _token("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glimt- glagent- gloas-"
           " glffct-", r"[A-Za-z0-9_.=-]{20,}", "glpat-{w20}", "glrt-{w20}", "- glpat-name"),
    _token("gitlab-token", "GR1348941", r"%W{20}", "GR1348941{w20}"),
    _token("bitbucket-token", "ATBB", r"%A{28,32}" + _END, "ATBB{a32}"),
    _token("atlassian-token", "ATATT3 ATCTT3 ATSTT3", r"[A-Za-z0-9_=-]{100,}",
           "ATATT3xFf{w170}={u8}"),
    _token("npm-token", "npm_", r"%A{36}" + _END, "npm_{a36}", "- npm_config_registry",
           "- npm_lifecycle_event", "- npm_package_version"),
    _token("pypi-token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZ", r"%W{50,}",
           "pypi-AgEIcHlwaS5vcmc{w150}"),
    _token("rubygems-key", "rubygems_", r"%H{48}", "rubygems_{h48}", "- rubygems_version"),
    _token("crates-token", "cio", r"(?=%A*\d)%A{32}" + _END, "cio{a31}7"),
    _token("nuget-key", "oy2", r"[a-z0-9]{43}" + _END, "oy2{h43}"),
    _token("clojars-token", "CLOJARS_", r"[a-z0-9]{60}", "CLOJARS_{h60}"),
    _token("dockerhub-token", "dckr_pat_ dckr_oat_", r"%W{27,}", "dckr_pat_{w27}"),
    _token("jfrog-key", "AKCp", r"%A{60,80}" + _END, "AKCp{a69}"),
    _token("circleci-token", "CCIPAT_ CCIPRJ_", r"%A{22}_%H{40}", "CCIPAT_{a22}_{h40}"),
    _token("buildkite-token", "bkua_ bkaj_ bkct_", r"%W{40,}", "bkua_{h40}"),
    _token("harness-token", "pat. sat.", r"%W{22}\.%A{24}\.%A{20}" + _END, "pat.{w22}.{h24}.{a20}"),
    _token("sonar-token", "squ_ sqp_ sqa_", r"%H{40}", "squ_{h40}"),
    _token("segment-token", "sgp_", r"%A{64}" + _END, "sgp_{a64}"),
    _token("launchdarkly-key", "api- sdk-", _UUID, "api-{h8}-{h4}-{h4}-{h4}-{h12}", "- api-{h8}"),
    _token("posthog-key", "phx_", r"%A{40,}", "phx_{a43}", "- phx_name"),
    _token("honeycomb-key", "hcaik_ hcaic_ hcbik_ hcxik_", r"[a-z0-9]{50,}", "hcaik_01{h56}"),
    _token("sourcegraph-token", "sgp_", r"(?:%A{16}_)?%H{40}", "sgp_{h40}", "sgp_{h16}_{h40}"),
    _token("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9+/=_-]{60,}", "sntrys_eyJ{a120}_{b43}"),
    _token("snyk-token", "snyk_uat.", r"[A-Za-z0-9_.-]{60,}", "snyk_uat.{h8}.{a80}"),
    _token("postman-key", "PMAK-", r"%H{24}-%H{34}", "PMAK-{h24}-{h34}"),
    # Work and messages
    _token("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe. xapp-",
           r"[A-Za-z0-9.%+/-]{20,}", "xoxb-{d12}-{d13}-{a24}", "xapp-1-A{u10}-{d13}-{h64}",
           "xoxe.xoxp-1-{a146}", "- xoxb-", "- xoxb-your-token"),
    Shape("slack-webhook", ("https://hooks.slack.com/", "hooks.slack.com/"),
          r"(?:https://)?hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,}",
          ("https://hooks.slack.com/services/T{u10}/B{u10}/{a24}",),
          ("https://hooks.slack.com/services/...", "https://hooks.slack.com/services/T/B/x")),
    Shape("teams-webhook", ("webhook.office.com/webhookb2/",),
          r"webhook\.office\.com/webhookb2/([A-Za-z0-9@/_-]{60,})",
          ("https://acme.webhook.office.com/webhookb2/{h36}@{h36}/IncomingWebhook/{h32}/{h36}",)),
    Shape("discord-webhook", ("/api/webhooks/",), r"/api/webhooks/\d{10,21}/(%W{50,})",
          ("https://discord.com/api/webhooks/{d18}/{w68}",), ("https://x/api/webhooks/1/x",)),
    Shape("discord-token", (".",), r"[MNO](?<![\w-].)%W{23,27}\.%W{6}\.%W{27,45}(?!%W)",
          ("MT{a24}.G{a5}.{w38}",), ("Module{a4}.method.name",), starts=False,
          middle=r"\.%W{6}\.%W{27}"),
    Shape("telegram-token", (":",),
          r"\d(?:(?<!\w.)|(?<=/bot.))\d{7,9}:(?:AA|(?=[A-Za-z_-]*\d)%W{2})%W{33}(?!%W)",
          ("{d10}:AA{w32}7", "{d10}:AA{t33}", "https://x.org/bot{d10}:AA{w33}/getMe"),
          ("12:AA:BB:CC", "{d10}:AAA", "{d9}:{t35}"), starts=False,
          middle=":%W{35}"),
    _token("notion-token", "ntn_", r"%A{40,}", "ntn_{a46}"),
    _token("notion-token", "secret_", r"%A{43}" + _END, "secret_{a43}", "- secret_key_base"),
    _token("linear-key", "lin_api_ lin_oauth_", r"%A{32,}", "lin_api_{a40}"),
    _token("figma-token", "figd_ figu_", r"%W{38,}", "figd_{w40}"),
    _token("frameio-token", "fio-u-", r"%W{64}", "fio-u-{w64}"),
    _token("airtable-token", "pat", r"%A{14}\.%H{64}", "pat{a14}.{h64}", "- path.{h64}"),
    _token("asana-token", "0/ 1/ 2/", r"\d{12,17}(?:/\d{12,17})?:%H{32}" + _END,
           "1/1{d15}:{h32}", "1/6{d15}:{h32}", "- 1/12"),
    _token("hubspot-token", "pat-na pat-eu pat-ap", r"\d-" + _UUID,
           "pat-na1-{h8}-{h4}-{h4}-{h4}-{h12}", "- pat-name"),
    _token("twitter-token", "AAAAAAAAAAAAAAAAAAAA", r"A{0,4}%A{10,60}%[23]%A{40,100}",
           "AAAAAAAAAAAAAAAAAAAAAA{a30}%2B{a40}", "- AAAAAAAAAAAAAAAAAAAA{a120}"),
    _token("vk-token", "vk1.a.", r"%W{80,}", "vk1.a.{w190}"),
    Shape("weather-key", ("ppid=", "PPID="), r"(?i:appid=)[\"']?(%H{32})(?!%A)",
          ("https://x.org/weather?q=Bonn&appid={h32}", "WEATHER_APPID={h32}"),
          ("appid=wx{h16}",), starts=False),
    _token("trello-token", "ATTA", r"%H{64,72}" + _END, "ATTA{h72}"),
    _token("clickup-token", "pk_", r"\d{6,10}_%U{32}" + _END, "pk_{d8}_{u32}", "- pk_live_{a24}"),
    _token("zoho-token", "1000.", r"%H{32}\.%H{32}" + _END, "1000.{h32}.{h32}", "- 1000.5"),
    _token("twitch-token", "oauth:", r"[a-z0-9]{30}" + _END, "oauth:{h30}", "- oauth:callback"),
    _token("pubnub-key", "sec-c-", r"[A-Za-z0-9+/]{40,}={0,2}", "sec-c-{a48}"),
    Shape("firebase-key", (":APA91b",), r"(?<!%W)%W{6,30}:APA91b%W{100,}",
          ("AAAA{a7}:APA91b{w134}",), (":APA91b",), starts=False),
    _token("wakatime-key", "waka_", _UUID, "waka_{h8}-{h4}-{h4}-{h4}-{h12}"),
    _after("webhook", ("hooks.zapier.com/hooks/catch/", "maker.ifttt.com/"),
           r"([\w/]{6,}/%W{6,})", "https://maker.ifttt.com/trigger/x/with/key/{w43}",
           "- https://maker.ifttt.com/"),
    _token("typeform-token", "tfp_", r"[A-Za-z0-9_.=-]{40,}", "tfp_{w59}"),
    _token("readme-key", "rdme_", r"[a-z0-9]{70}", "rdme_{h70}"),
    _token("contentful-token", "CFPAT-", r"%W{43}", "CFPAT-{w43}"),
    _token("dropbox-token", "sl.", r"%W{130,}", "sl.{w140}", "- sl.pop()"),
    _token("adobe-secret", "p8e-", r"%A{32}" + _END, "p8e-{a32}"),
    _token("grafana-token", "glsa_", r"%A{32}_[0-9A-Fa-f]{8}", "glsa_{a32}_{h8}"),
    _token("grafana-token", "glc_ eyJrIjoi", r"[A-Za-z0-9+/]{32,}={0,3}", "glc_{a80}"),
    _token("newrelic-key", "NRAK- NRII- NRJS- NRRA-", r"%W{19,42}", "NRAK-{u27}"),
    _token("dynatrace-token", "dt0c01. dt0s01. dt0s02.", r"%U{8,24}\.%U{64}", "dt0c01.{u24}.{u64}"),
    # Money and mail
    _token("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", r"%A{16,250}",
           "sk_live_51{a97}", "rk_test_{a24}", "- pk_live_51{a97}", "- sk_test_..."),
    _token("webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}={0,2}", "whsec_{a32}"),
    _token("paddle-key", "pdl_live_apikey_ pdl_sdbx_apikey_", r"%W{40,}",
           "pdl_live_apikey_{h26}_{a26}"),
    _after("razorpay-secret", ("rzp_live_", "rzp_test_"), r"%A{14}[^\w\n]{1,8}(%A{24})" + _END,
           "rzp_live_{a14}', '{a24}'", "- rzp_live_key"),
    _token("razorpay-key", "rzp_live_ rzp_test_", r"%A{14}" + _END, "rzp_live_{a14}"),
    _token("square-token", "sq0atp- sq0csp- sq0idb-", r"[A-Za-z0-9_\\-]{22,43}", "sq0atp-{w22}"),
    _token("square-token", "EAAA", r"%W{60}(?!%W)", "EAAAE{w59}"),
    _token("facebook-token", "EAAC EAAG EAAJ EAAB EAAM", r"%A{80,}", "EAAG{a150}"),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9A-Fa-f]{32}",
           "shpat_{h32}"),
    _token("paypal-token", "access_token$production$ access_token$sandbox$",
           r"[a-z0-9]{16}\$%H{32}", "access_token$production${h16}${h32}"),
    _token("plaid-token", "access-production- access-sandbox- access-development-", _UUID,
           "access-sandbox-{h8}-{h4}-{h4}-{h4}-{h12}"),
    _token("flutterwave-key", "FLWSECK- FLWSECK_TEST-", r"%A{12,}(?:-X)?", "FLWSECK-{h32}-X"),
    _token("easypost-key", "EZAK EZTK", r"%A{54}", "EZAK{a54}"),
    _token("duffel-token", "duffel_live_ duffel_test_", r"[A-Za-z0-9_=-]{43}", "duffel_live_{w43}"),
    _token("shippo-token", "shippo_live_ shippo_test_", r"%H{40}", "shippo_live_{h40}"),
    _token("lob-key", "live_ test_", r"%H{35}" + _END, "live_{h35}", "- test_{t20}"),
    _token("mollie-key", "live_ test_",
           r"(?=%A*[a-z])(?=%A*[A-Z])(?=%A*\d[A-Za-z]+\d)%A{30,34}" + _END,
           "live_aB7c8{a25}", "- test_{t30}", "- test_HTTPServer2ClosesTheConnection"),
    _token("twilio-key", "SK", r"(?=[a-z]*\d)[0-9a-z]{32}" + _END, "SK{h31}7", "- SK{h12}",
           "- DISK{h32}"),
    _after("twilio-token", ("Client(",), r"[\"']AC%H{32}[\"'], ?[\"'](%H{32})[\"']",
           'Client("AC' + "0a" * 16 + '", "{h32}")', "- Client(sid, token)"),
    _token("sendgrid-key", "SG.", r"%W{16,32}\.%W{16,64}", "SG.{w22}.{w43}", "- SG.name.other"),
    _token("resend-key", "re_", r"(?=%W*\d)%A{6,10}_%A{20,32}" + _END, "re_{a7}7_{a24}",
           "- re_compile_all_of_the_patterns"),
    _token("brevo-key", "xkeysib- xsmtpsib-", r"%H{64}-%A{16}", "xkeysib-{h64}-{a16}"),
    _token("mailgun-key", "key-", r"(?<![\w-]key-)%H{32}" + _END, "key-{h32}", "- cache-key-{h32}",
           "- key-value"),
    Shape("mailgun-key", ("-",), r"(?<!%A)(?<!-)%H{32}-%H{8}-%H{8}(?!-?%A)", ("{h32}-{h8}-{h8}",),
          ("{h8}-{h8}",), starts=False, middle="-%H{8}-%H{8}"),
    Shape("mailchimp-key", ("-us",), r"(?<!\w)(?=[a-z]*\d)[0-9a-z]{32}-us\d{1,2}" + _END,
          ("{h31}7-us14",), ("{h32}-usage",), starts=False, middle=r"-us\d"),
    # Keys and signed texts
    _token("django-key", "django-insecure-", r"[^\s\"'`<>]{30,80}", "django-insecure-{h30}!^(x)"),
    _token("age-key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", r"[A-Z0-9-]{40,}", "AGE-SECRET-KEY-1{u58}"),
    _token("bitcoin-key", "5H 5J 5K K L", rf"{_BASE58}{{49,51}}(?<=.{{51}})" + _END,
           "wif: K" + "x3tW9" * 10 + "z", "importprivkey L" + "x3tW9" * 10 + "z",
           "- wif: none", "- K" + "x3tW9" * 9),
    _token("nostr-key", "nsec1 ncryptsec1", r"[02-9ac-hj-np-z]{58,200}" + _END,
           "nsec1" + "qpzry9x8" * 7 + "gf", "- nsec1", "- npub1" + "qpzry9x8" * 7 + "gf"),
    _token("wallet-key", "edsk edesk PVT_K1_ PVT_R1_ suiprivkey1 xsk1 secret-extended-key-main1"
           " ed25519_sk1 ed25519e_sk1 root_xsk1 addr_xsk1 acct_xsk1",
           r"(?=%A*\d)%A{48,300}" + _END, "suiprivkey1" + "q0z5" * 15, "edsk" + "a7B9" * 13,
           "- edsk-notes"),
    _token("wallet-key", "SA SB SC SD", r"(?=[A-Z]{0,54}[2-7])[A-Z2-7]{54}" + _END,
           "SA27X" + "AB27X" * 10 + "A", "- SA" + "B27X" * 9),
    _token("wallet-key", "ed25519:", rf"{_BASE58}{{85,90}}" + _END, "ed25519:" + "x3tW9" * 17 +
    "z2",
           "- ed25519:" + "x3tW9" * 8),
    _after("private-key", ("Wallet(", "privateKeyToAccount(", "fromPrivateKey(", "from_key(",
                           "importprivkey ", "import_key(", "PrivateKey(", "privateKeyToAddress(",
                           "fromSecretKey(", "from_private_key(", "fromSeed(", "from_seed("),
           r"(?:[\w.]{1,40}\()?[\"']?((?:0x)?[0-9a-fA-F]{64})" + _END, "new ethers.Wallet('{h64}')",
           "privateKeyToAccount('0x{h64}')", "- new Wallet(key)"),
    Shape("key", ("0x",),
          r"(?:私钥|私鑰|秘密鍵|개인 ?키|(?i:priv\w{0,8} ?-?(?:key|schlüssel)|clé privée|clave"
          r" privada"
          r"|chave privada|chiave privata|klucz\w{0,2} prywatn\w{0,4}|(?:приватн|закрыт)\w{2,3}"
          r" ключ\w{0,2}"
          r"|privésleutel|özel anahtar|raw seed|secret seed))[^\n\w]{0,8}(?:\w{1,12}[ ]){0"
          r",4}[^\n\w]{0,4}"
          r"(0x[0-9a-fA-F]{64})" + _END,
          ("Der private Schlüssel lautet 0x{h64}", "钱包私钥：0x{h64}"),
          ("the hash is 0x{h64}",), starts=False, middle=r"0x[0-9a-fA-F]{64}"),
    Shape("recovery-key", ("-",), r"[0-9](?<![\w-].)\d{5}(?:-\d{6}){7}(?![\w-])",
          ("{d6}-{d6}-{d6}-{d6}-{d6}-{d6}-{d6}-{d6}",), ("{d6}-{d6}-{d6}",), starts=False,
          middle=r"-\d{6}-\d{6}-\d{6}-"),
    _after("private-key", ('"k":"', '"k": "', '"p":"', '"q":"', '"dp":"', '"dq":"', '"qi":"'),
           r"((?=%W*\d)%W{22,}=?)\"", '"k":"{w42}7"', '- "k":"v"'),
    _token("bitcoin-key", "xprv yprv zprv tprv", rf"{_BASE58}{{100,110}}" + _END,
           "xprv" + "9s21Z" * 21),
    Shape("seed-phrase", ("hrase", "HRASE", "nemonic", "NEMONIC"),
          r"(?i:(?:seed|recovery|backup|wallet|secret)[ _-]?phrase|mnemonic)"
          r"(?i:[ ](?:is|for)(?:[ ]\w{1,20}){0,3})?[\"'`*]{0,3}[ ]?[:=]\s{0,12}[\"'`]?"
          r"((?:(?:[a-z]{3,8}[ ,]{1,2}){3}){3,7}(?:[a-z]{3,8}[ ,]{1,2}){2}[a-z]{3,8})",
          ("seed phrase: " + "gravity machine north " * 3 + "fold club stay",),
          ("seed phrase: write these twelve words down", "mnemonic: eax"), starts=False),
    _after("node-key", ("alchemy.com/v2/", "alchemy.com/v3/", "infura.io/v3/", "quiknode.pro/"),
           r"(%W{32,})", "https://eth.g.alchemy.com/v2/{w32}", "- https://x.infura.io/v3/YOUR-KEY"),
    _token("jwt", "eyJ", r"[A-Za-z0-9_=-]{8,}+\.[A-Za-z0-9_=-]{8,}+\.[A-Za-z0-9_=+/.-]{8,}",
           "eyJhbGciOiJ{a20}.eyJzdWIiOiI{a60}.{w43}", "- eyJhbGciOiJIUzI1NiJ9", "- eyJ.eyJ.x"),
    _after("private-key", ('"d":"', '"d": "'), r'(%W{32,}=?)"', '"d":"{w43}"', '- "d":"short"'),
    _token("private-key", "Private-Lines:",
           r" \d+[ ]?\r?\n((?:[ \t]{0,12}[A-Za-z0-9+/=]{8,}\r?\n?)+)",
           "Private-Lines: 2\n{a64}\n{a64}", "- Private-Lines: 2"),
    _token("signature", "X-Amz-Signature= X-Goog-Signature=", r"(%H{64,})",
           "X-Amz-Signature={h64}"),
    Shape("bearer-token", ("earer ", "EARER ", "earer%20", "earer\n"),
          r"(?:[Bb]earer|BEARER)(?:\s{1,12}|%20)[\"'`]?"
          r"((?=[A-Za-z_~+/.=-]*\d)[A-Za-z0-9_~+/.=-]{16,})",
          ("Authorization: Bearer {a39}7", "bearer {h31}4"),
          ("Bearer <token>", "a bearer token-based-authentication", "Bearer $TOKEN"), False),
    Shape("password", ("://",),
          rf"://[^\s/:@\"'`<>\[\\]{{0,128}}:({_PART}{{1,256}}(?:@{_PART}{{1,64}}(?=@))?)@[\w.\[-]",
          ("postgres://app:{a14}@db:5432/x", "https://u:{a9}!@host", "redis://:{a9}@cache"),
          ("http://user:password@localhost", "https://${U}:${P}@x.org", "http://h:8080/a@b",
           "https://example.org/a:b@c"), starts=False),
    Shape("token", ("://",), r"://((?=%W*\d)%W{20,256})(?::x-oauth-basic|:)?@[\w.]",
          ("https://{a39}5@git.example.org/x.git",), ("https://name@host.org",), starts=False),
    _after("password", ("curl ",),
           r"[^\n]{0,300}?(?:-u|--user)[ =]?[\"']?[^\s:\"'\[]{1,64}:([^\s\"']{3,512})",
           "curl -s -u admin:{a12} https://x.org", "- curl -u $USER:$PASS https://x.org"),
    _after("password", ("sshpass -p",), r" ?[\"']?([^\s\"'-][^\s\"']{2,128})",
           "sshpass -p {a10} ssh root@host", "- sshpass -p $PASS ssh root@host"),
    _option("mysql, mysqldump, mysqladmin, mariadb", "-p", "mysql -u root -p{a10} shop",
            "mysql -p'{a10}' shop", "- mysql -u root -p shop", "- mysql -p < dump.sql"),
    _after("password", ("docker login ",),
           r"[^\n]{0,200}?(?:-p|--password)[ =][\"']?([^\s\"'-][^\s\"']{2,128})",
           "docker login -u ci -p {a20} x.org", "- docker login -u ci --password-stdin"),
    _after("password", ("admin / ", "root / ", "Admin / "),
           r"((?=[^\s]{0,64}[\d!#$%*])[^\s,;()\[]{5,64})", "staging: admin / {a10}7",
           "- admin / user roles", "- root / child"),
    # A password wherever there is an option for the user
    _maybe(("-u", "-U", "-l ", "--user", "-user"),
           rf"(?:name)?[ =:]?[^\s-]\S{{0,64}} (?:[^\n]{{0,80}}? )?"
           rf"-{{1,2}}(?:p|P|pw|w|a|A|passwd|pwd)[ =:]?{_ARGUMENT}",
           "racadm -r x -u root -p Rad-Kappe-{d3} info", "tool -U me -PRad-Kappe-{d3}",
           "- docker run -u root -p 8080:80 nginx", "- ssh -l me -p 2222 host",
           "- cp -u a -p b", "- docker run -u me -p 127.0.0.1:80:80 x"),
    _maybe(("-p ", "-P ", "-pw "), rf"{_ARGUMENT}(?= (?:[^\n]{{0,120}}? )?-{{1,2}}(?:u|U|user)\b)",
           "tool -p Rad-Kappe-{d3} -u root", "- docker run -p 80:80 -u root x"),
    _maybe(("-u ", "-u", "--user ", "--user=", "--auth ", "--auth=", "-user ", "-u="),
           r"[\"']?[^\s:\"'\[/]{1,64}[:,]([^\s\"']{5,512})",
           "xh --auth me:Rad-Kappe-{d3} x.org", "curl --proxy-user me:Rad-Kappe-{d3} x.org",
           "- docker run -u 1000:1000 x", "- docker run -u node:node x"),
    _maybe(("-U ", "-U", "--user=", "--user "),
           r"[\"']?[\w./\\;-]{1,64}%(?:([^\s\"'%]{5,64})|(?<=%)([^\"'\n]{5,64})(?=[\"']))",
           "winexe -U CORP/me%Rad-Kappe-{d3} //x cmd", "- date -u +%H"),
    # Windows
    _maybe(("/p ", "/P ", "/p:", "/rp ", "/RP ", "/pw:", "/pwd:", "/pass:", "/PASS:", "/pass ",
            "-p:", "/password:", "/passwd:"), _ARGUMENT,
           "schtasks /create /ru me /rp Rad-Kappe-{d3}", "cmdkey /user:me /pass:Rad-Kappe-{d3}",
           "- /p:Configuration=Release", "- cmd /p hello", "- msbuild /p:Platform=x64"),
    _option("certutil, steghide, signtool, security unlock-keychain, security create-keychain,"
            " security set-key-partition-list, xcrun, ibmcloud login, wbadmin, racadm, cadaver,"
            " kinit, smbmap, medusa, ncrack, pkcs11-tool, yubico-piv-tool, ssh-keygen, openconnect,"
            " zip, pdfcrack, fastlane, sentry-cli, gitlab-runner, snowsql, beeline, sqoop, impala",
            r"(?:-p|-k|/p|--pin|--so-pin|-P|-N)[ =](?!\d{2,5}(?:[:\s]|\Z))",
            "security unlock-keychain -p {a10} x.keychain", "ssh-keygen -t rsa -N '{a10}' -f x",
            "- ssh-keygen -p -f x", "- security unlock-keychain x.keychain"),
    _option("security add-generic-password, security add-internet-password", "-w ",
            "security add-generic-password -a me -w {a10}",
            "- security add-generic-password -a me"),
    _option("security import", "-P ", "security import x.p12 -P {a10}", "- security import x.p12"),
    _option("ccrypt, ccencrypt, ccdecrypt", "-K ", "ccrypt -e -K {a10} x",
            "- ccrypt -e x"),
    _option("ldappasswd, slappasswd, smbpasswd", "-[sS] ", "slappasswd -s {a10}",
            "- slappasswd -h x"),
    _option("snmpwalk, snmpget, snmpset, snmpbulkwalk, snmpbulkget, snmptable, snmptrap,"
            " snmpstatus,"
            " snmpgetnext, snmpusm, snmpinform, snmpdf", r"-[AXc] ?(?!public\b|private\b)",
            "snmpget -v3 -A {a10} x", "- snmpget -v2c -c public x"),
    _option("snmpwalk, snmpget, snmpset, snmpbulkwalk", "-X ?", "snmpwalk -X {a10} x",
            "- snmpwalk x"),
    _option("useradd, usermod", "-p ", "useradd -m -p {a10} me", "- useradd -m me"),
    _maybe(("ssh-keygen ",), rf"(?:[^\n]{{0,200}} )?-N ?{_ARGUMENT}",
           "ssh-keygen -N Rad-Kappe-{d3}",
           "- ssh-keygen -f x"),
    _after("token", ("http ", "https ", "xh ", "xhs ", "curl "),
           rf"(?:[^\n]{{0,200}}? )?(?:-A[ =]?bearer -a|--auth-type[ =]bearer (?:-a|--auth)"
           rf"|--oauth2-bearer)"
           rf"[ =]{_ARGUMENT}", "https -A bearer -a {a20} x.org", "curl --oauth2-bearer {a20}"
           " x.org",
           "- https -A bearer x.org"),
    _after("password", ("curl ", "wget "),
           r"[^\n]{0,300}?--proxy-user[ =][\"']?[^\s:\"']{1,64}:([^\s\"'$]{3,128})",
           "curl -x http://p:3128 --proxy-user me:{a10} x.org", "- curl --proxy-user $U x.org"),
    _option("sendemail, swaks, sendEmail, msmtp, mailx", "(?:-xp|-ap|--auth-password|-apw) ",
            "sendemail -xu me -xp {a10} -s x", "- sendemail -f me"),
    _after("password", ("-setairportnetwork ", "-addpreferredwirelessnetworkatindex "),
           rf"\S{{1,12}} (?:\"[^\"\n]{{1,64}}\"|\S{{1,64}}) {_ARGUMENT}",
           "networksetup -setairportnetwork en0 Net {a10}", "- networksetup -setairportnetwork"
           " en0"),
    _after("password", ("rclone obscure ", "restic key add ", "vncpasswd -f ",
    "mysql_config_editor set"
                        " -p"), _ARGUMENT,
           "rclone obscure {a10}", "- rclone obscure -"),
    _after("token", ("snyk auth ", "snyk config set api=", "sentry-cli login --auth-token ",
                     "circleci setup --token ", "railway login --token ", "codecov -t ",
                     "doctl auth init -t ", "netlify --auth ", "vercel --token ",
                     "flyctl auth token "),
           _ARGUMENT, "snyk auth {h8}-{h4}-{h4}-{h4}-{h12}", "- snyk auth -d"),
    _maybe(("xdotool type ", "tmux send-keys ", "ydotool type ", "wtype ", "cliclick t:",
            "adb shell input text ", "keystroke ", "screen -X stuff "),
           rf"(?:-{{1,2}}[\w=-]{{1,20}} (?:[\w.:]{{1,20}} (?=[^\n]))?){{0,3}}{_ARGUMENT}",
           "xdotool type 'Rad-Kappe-{d3}'", "- tmux send-keys -t 0 'ls -la' Enter"),
    _after("password", ("wpa_passphrase ",), rf"(?:\"[^\"\n]{{1,64}}\"|\S{{1,64}}) {_ARGUMENT}",
           "wpa_passphrase Net {a10}", "- wpa_passphrase Net"),
    _after("password", ("radtest ",), r"\S{1,64} ([^\s\"'`$]{4,64}) \S{1,64} \d",
           "radtest me {a10} x 0 y",
           "- radtest a b"),
    _after("password", ("radtest ",), r"(?:\S{1,64} ){3}\d{1,5} ([^\s\"'`$]{4,64})",
           "radtest me [redacted:password] x 0 {a10}", "- radtest a b"),
    _maybe(("bw login ", "isql "),
           rf"\S{{1,64}} (?:[a-z]\w{{1,20}} )?"
           rf"{_ARGUMENT}", "isql x Rad-Kappe-{d3}", "- isql x"),
    _maybe(("vault login ", "bw unlock ", "cookieParser(", "caddy hash-password --plaintext ",
            "runas /user:me ", "secret-set-value ", "iwconfig wlan0 key s:"),
           rf"(?:token=)?{_ARGUMENT}", "bw unlock Rad-Kappe-{d3}", "- vault login -method=x"),
    Shape("password", (" / ",),
          r"\b(?:use|with|as|login|creds|mit|avec|con) [\w.@+-]{2,40} / [\"'`]?([^\s\"'`/]{6,64})",
          ("use bob / Rad-Kappe-{d3} there",), ("use tabs / spaces",), starts=False, made_up=True),
    _maybe(("qpdf --encrypt ",), r"\S{1,64} (\S{5,64}) ", "qpdf --encrypt a Rad-Kappe-{d3} 256",
           "- qpdf --encrypt a b 256"),
    _maybe(("qpdf --encrypt ",), r"(\S{5,64}) ", "qpdf --encrypt Rad-Kappe-{d3} b 256",
           "- qpdf --encrypt a b 256"),
    _maybe(("htpasswd ", "mosquitto_passwd "),
           r"(?:-\w{1,5} ){0,3}(?:\S*[/.]\S* )?[\w.@-]{1,64} ([^\s\"'`]{5,64})",
           "htpasswd -nb me Rad-Kappe-{d3}", "mosquitto_passwd -b /etc/pw me Rad-Kappe-{d3}",
           "- htpasswd -c .htpasswd me"),
    _option("redis-cli", "-a ", "redis-cli -h cache -a {a10} ping", "- redis-cli -a $PASS ping"),
    _option("mongo, mongosh, mongodump, mongorestore, mongoexport, mongoimport, mongostat, twine,"
            " ncftp, ncftpput, ncftpget, ncftpls, cqlsh, cypher-shell, arangosh, az login,"
            " oc login, cf login, podman login, buildah login, skopeo login, helm registry login, "
            "rdesktop, evil-winrm, netexec, crackmapexec, nxc, hydra, plink, pscp, psexec, PsExec,"
            " PsExec64, PsExec.exe, PsExec64.exe, kcadm.sh",
            r"(?:-p|-pw|--password)[ =](?!\d{2,5}(?:[:\s]|\Z))",
            "mongosh -u me -p {a10} --quiet", "twine upload -u me -p {a10} dist/*",
            "az login -u me -p {a10}", "plink -pw {a10} me@x.org", "- oc login -p",
            "- docker run --name mongo -p 27017:27017 mongo", "- twine upload -p $PW dist/*"),
    _option("login", r"(?:-p|--password)[ =](?!\d{2,5}(?:[:\s]|\Z))",
            "crane auth login -u me -p {a10}",
            "- docker login -u me", "- vault login -path=x"),
    _after("password", ("--creds", "--src-creds", "--dest-creds"),
           r"[= ][\"']?[^\s:\"'$]{1,64}:([^\s\"']{3,128})", "skopeo copy --src-creds=me:{a10} a b",
           "- skopeo copy --src-creds $CREDS a b"),
    _after("password", ("etcdctl ",), r"[^\n]{0,200}?--user[ =][^\s:$]{1,64}:([^\s\"']{3,128})",
           "etcdctl --user root:{a10} get /", "- etcdctl --user root get /"),
    _after("password", ("connect to ", "CONNECT TO "),
           rf"\S{{1,64}} (?i:user) \S{{1,64}} (?i:using) {_ARGUMENT}",
           "db2 connect to X user me using {a10}", "- connect to X user me"),
    _after("password", ("-password password ", "-password-again password "), r"(\S{4,128})",
           "d-i passwd/root-password password {a10}", "- the -password password"),
    _after("password", ("rocommunity ", "rwcommunity ", "_SNMPCOMMUNITY "),
           r"(?!public\b|private\b)(\S{4,64})",
           "rocommunity {a10} 10.0.0.0/8", "- rocommunity public"),
    _after("password", ("/pass:", "/PASS:", "/password:", "/pwd:"), _ARGUMENT,
           "cmdkey /add:x /user:me /pass:{a10}", "- cmdkey /pass:"),
    _option("ldapsearch, ldapmodify, ldapadd, ldapdelete, ldappasswd, ldapwhoami, ldapcompare",
            "-w ", "ldapsearch -x -D cn=a -w {a10} -b dc=x", "- ldapsearch -W -b dc=x"),
    _option("zip, unzip, sqlcmd, bcp, isql, tsql, osql, mosquitto_pub, mosquitto_sub, ipmitool",
            "-P ?", "zip -er -P {a10} out.zip dir", "sqlcmd -S x -U sa -P {a10} -Q 1",
            "- zip -P", "- unzip -p in.zip", "- sqlcmd -S x -P $PW", "- mosquitto_pub -h x -t a"),
    _after("password", ("cryptsetup ", "gpg ", "openssl ", "sudo -S", "passwd ", "zip "),
           r"[^\n|;&]{0,160}?<<<\s?(?:\"([^\"\n$]{4,128})\"|'([^'\n]{4,128})'|([^\s\"'$]{4,128}))",
           'cryptsetup luksOpen /dev/sdb1 data <<< "{a6} {a6}"', 'sudo -S ls <<< {a10}',
           '- openssl dgst <<< "$TEXT"'),
    _maybe(("echo -n ", "echo ", "printf "),
           rf"(?:{_QUOTED}) ?\| ?(?:base64|openssl|sudo -S|passwd|chpasswd|gpg"
           r"|mkpasswd|htpasswd|kinit|cryptsetup|docker login|podman login|smbpasswd)\b",
           "echo -n 'Rad-Kappe-{d3}' | base64",
           "- echo -n 'hello' | base64"),
    _option("7z, 7za, 7zr, 7zz", "-p", "7z a -p{a10} out.7z dir", "- 7z a -p out.7z dir"),
    _option("rar, unrar", "-h?p", "rar a -hp{a10} x.rar", "- rar a -hp x.rar"),
    _option("openssl enc", "-k ", "openssl enc -aes-256-cbc -in a -k {a10}",
            "- openssl enc -k $PASS -in a"),
    _option("xfreerdp, wlfreerdp, xfreerdp3, sdl-freerdp", "/p:", "xfreerdp /u:me /p:{a10} /v:x",
            "- xfreerdp /u:me /v:x"),
    _after("password", ("passin ", "passout ", "pass ", "storepass ", "keypass "),
           r"[\"']?pass:([^\s\"'$]{3,128})", "openssl rsa -passin pass:{a10} -in k.pem",
           "- openssl rsa -passin pass:$PW", "- -passin env:PW"),
    _after("password", ("openssl passwd ", "mkpasswd "),
           rf"(?:-{{1,2}}[\w=-]{{1,20}} ){{0,4}}{_ARGUMENT}",
           "useradd -p $(openssl passwd -6 '{a10}') me", "- openssl passwd -6 -stdin",
           "- openssl passwd -6 $PW"),
    _after("password", ("net use ", "NET USE "),
           r"(?:\S{1,200} ){1,2}?(?:([^\s/\\*\"'%$-][^\s\"'%$]{3,64}) (?i:/user:)"
           r"|(?i:/user:)\S{1,64} ([^\s/*\"'%$-][^\s\"'%$]{3,64}))",
           "net use Z: //nas/share {a10} /user:me", "net use Z: //nas/share /user:me {a10}",
           "- net use Z: //nas/share /user:me *", "- net use Z: /delete"),
    _after("password", ("net user ", "NET USER "),
           r"[\w.-]{1,64} ([^\s/*\"'%$-][^\s\"'%$]{3,64})(?=[ ]/|\s{0,2}(?:\n|\Z))",
           "net user me {a10} /add", "- net user me * /add", "- net user me /delete"),
    _after("password", ("mc alias set ", "mc config host add "),
           rf"\S{{1,64}} \S{{1,200}} [^\s$]{{1,64}} {_ARGUMENT}",
           "mc alias set s3 https://x.org me {a10}", "- mc alias set s3 https://x.org $U $P"),
    _after("password", ("password-command", "passphrase-command", "passcommand"),
           rf"[ =][\"']?(?:echo|printf) (?:-n )?{_ARGUMENT}",
           "restic --password-command 'echo {a10}'", "- restic --password-command 'pass show x'"),
    # What a script answers: a command it sends has spaces, or no digits among its letters.
    _after("password", ('send "', 'send -- "'),
           r"((?=[^\"\n]{0,64}\d)(?=[^\"\n]{0,64}[A-Za-z])[^\s\"\\$\[]{6,64})(?:\\{1,4}[rn]|\r)",
           'expect "word:"; send "{a10}7\\r"', '- send "$pw\\r"', '- send "show version\\r"'),
    _after("password", ("impacket-", "psexec.py", "wmiexec.py", "smbexec.py", "atexec.py",
                        "secretsdump.py", "GetUserSPNs.py", "GetNPUsers.py"),
           r"\w{0,20} (?:[^\n]{0,100}? )?[\"']?[\w.-]{1,64}/[\w.$-]{1,64}:"
           r"(?:'([^'\n]{3,64})'|\"([^\"\n]{3,64})\"|([^\s@'\"]{3,64}))(?:[\"']?@|[\"'\s]|\Z)",
           "impacket-psexec CORP/admin:'{a10}'@10.0.0.9", "- psexec.py CORP/admin:$PW@x"),
    _after("password", ("AUTH ", "auth "),
           r"(?<=> .{5})(?:[\w-]{1,32} )?((?=\S{0,64}\d)[^\s\"'`$\\)]{6,128})",
           "redis-cli> AUTH {a10}7", "127.0.0.1:6379> auth me {a10}7", "- > AUTH LOGIN"),
    _after("password", ("user ", "SETUSER ", "setuser "),
           r"\S{1,64} on (?:[~&+@*\w|-]{1,40} ){0,8}[>#]([^\s\"'$]{4,128})",
           "user me on >{a10} ~* +@all", "ACL SETUSER me on #{h64}", "- user me on nopass"),
    _after("password", ("smbclient ",), r"[^\n]{0,200}?-U ?[\"']?[^\s%\"']{1,64}%([^\s\"']{3,128})",
           "smbclient //srv/share -U me%{a10}", "- smbclient //srv/share -U me"),
    _after("password", ("htpasswd ",),
           r"(?:-[a-zA-Z]{1,5} ){0,3}-[a-zA-Z]{0,4}b[a-zA-Z]{0,4} (?:-[a-zA-Z]{1,5} ){0,3}"
           rf"\S{{1,200}} [\w.@-]{{1,64}} {_ARGUMENT}",
           "htpasswd -b .htpasswd me {a10}", "htpasswd -b -c .htpasswd me {a10}",
           "- htpasswd -c .htpasswd me"),
    _after("password", ("rabbitmqctl add_user ", "rabbitmqctl change_password "),
           rf"[\w.@-]{{1,64}} {_ARGUMENT}", "rabbitmqctl add_user me {a10}",
           "- rabbitmqctl add_user me $PW"),
    _command(("echo ",),
          r"echo [\"']?[\w.-]{1,64}:([^\s\"']{3,128})[\"']? ?\| ?(?:sudo )?chpasswd",
          ("echo 'me:{a10}' | chpasswd",), ("echo me:$PASS | chpasswd",)),
    _after("password", ("lftp ",), r"(?:[^\n]{0,200}? )?-u [\"']?[^\s,\"']{1,64},([^\s\"']{3,128})",
           "lftp -u me,{a10} sftp://x.org", "- lftp -u me x.org"),
    _command(("http ", "https ", "xh ", "xhs "),
          r"(?:https?|xhs?) (?:[^\n]{0,200}? )?(?:-a|--auth)[ =]"
          r"[\"']?[^\s:\"'\[]{1,64}:([^\s\"']{3,128})",
          ("http -a admin:{a10} x.org",), ("http -a $AUTH x.org",
                  "http -v x.org:8080")),
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
          r"|htpasswd|ecryptfs-\S{1,40}|veracrypt|zfs|keepassxc-cli|mosquitto_passwd)\b)",
          ("echo {a10} | sudo -S ls", "echo '{a10}' | docker login -u ci --password-stdin"),
          ("echo $PASS | sudo -S ls", "echo {a10} | sudo tee x")),
    _maybe(("su ", "passwd ", "kinit ", "cryptsetup ", "vncpasswd ", "gpg ", "openconnect ",
            "smbpasswd ", "docker login ", "gh auth ", "veracrypt "),
           rf"[^\n<]{{0,160}}<<< ?{_ARGUMENT}", "cryptsetup open x y <<< Rad-Kappe-{d3}",
           "- su - <<< $PW"),
    Shape("password", ("<(echo ", "<(printf "),
          rf"(?i:pass|key|token|secret|from-file)[\w-]{{0,40}}[ =]"
          rf"<\((?:echo|printf)(?: -n)? {_ARGUMENT}",
          ("wg set x private-key <(echo {a10})",), ("x --key <(cat y)",), starts=False),
    _command(("sudo ",), rf"sudo [^\n<]{{0,60}}?-S[^\n<]{{0,100}}<<< ?{_ARGUMENT}",
          ("sudo -S ls <<< {a10}",), ('sudo -S ls <<< "$PASS"',)),
    _after("secret", ("from-literal",), rf"[= ][\w.-]{{1,64}}={_ARGUMENT}",
           "kubectl create secret generic x --from-literal=a={a10}",
                   "- --from-literal=a=$A"),
    _after("secret", ("secrets set ", "secret set "),
           rf"(?:[^\n]{{0,300}}? )??[A-Za-z_]\w{{0,64}}=(?!\[redacted){_ARGUMENT}",
           "fly secrets set JWT={a10}", "fly secrets set -a shop A=[redacted:secret] B={a10}",
           "- gh secret set NAME", "- fly secrets set A=$A"),
    # Devices and daemons
    _after("password", ("snmp-server community ",),
           r"(?!public\b|private\b)(\S{4,64})(?= (?:RO|RW|ro|rw|view)\b|\s{0,2}\n|\Z)",
           "snmp-server community {a10} RW", "- snmp-server community public RO"),
    _maybe(("-server ", "isakmp key ", "key-string ", "digest-key ", "authentication-key ",
            "pre-shared-key ", "psk ", "shared-secret ", "authentication-password ",
                    "snmp community ",
            "community ", "privacy-password ", "community-name ", "psksecret ", "md5 ",
            "chap password "),
           r"(?:[^\n]{0,60}? )??(?:(?:key|md5|community|ascii|ascii-text|hexadecimal|sha\d*"
           r"|name) )?"
           rf"(?:[05-9]\d? )?{_ARGUMENT}(?=[ ;`\"']|\s{{0,2}}(?:\n|\Z))",
           "tacacs-server key Rad-Kappe-{d3}", "crypto isakmp key Rad-Kappe-{d3} address 0.0.0.0",
           "- tacacs-server host 10.0.0.1 port 49", "- snmp community public"),
    _after("password", ("isakmp key ", "key-string ", "psksecret ", "crypto isakmp key "),
           r"(?:[0-9] )?(\S{5,64})(?= address|\s{0,2}(?:\n"
           r"|\Z))", "key-string {a10}", "- key-string"),
    _after("password", ("createUser ",), r"\S{1,64} (?:MD5|SHA\S{0,4}) \"?([^\s\"\[]{5,64})",
           'createUser me SHA "{a10}" AES', "- createUser me"),
    _after("password", ("createUser ",),
           r"\S{1,64} (?:MD5|SHA\S{0,4}) \S{5,64} (?:AES|DES)\S{0,4} \"?([^\s\"\[]{5,64})",
           'createUser me SHA "[redacted:password]" AES "{a10}"', "- createUser me"),
    Shape("password", (" *  ", "\t*\t", "pptpd", "l2tpd"),
          r"(?<![\w*])[\"']?[\w.@-]{1,64}[\"']?[ \t]{1,40}(?:\*|pptpd|pppd|l2tpd)[ \t]{1,40}"
          r"[\"']?([^\s\"']{5,128})[\"']?[ \t]{1,40}(?:\*|\d)",
          ("me *  Rad-Kappe-{d3} *",), ("a * b * c", "x * count * 2"), starts=False,
          middle=r"[ \t](?:\*|pptpd|pppd|l2tpd)[ \t]{1,40}\S{5,128}[ \t]{1,40}[*\d]", made_up=True),
    Shape("password", ("]:",),
          r"\[[\w.-]{3,128}\]:\d{2,5}[ \t]{1,8}[^\s:]{1,64}:([^\s\"'$]{4,128})",
          ("[mail.x.org]:587 me:{a10}",), ("[::1]:587 a:b", "[2024]: x"), starts=False),
    _after("password", ('PSK "', 'EAP "', 'XAUTH "', 'NTLM "'), r'([^"\n]{4,128})"',
           'carol : EAP "{a10}"', '- carol : RSA "key.pem"'),
    Shape("password", ('* "',),
          r"[\w.@-]{1,64}[\"']?[ \t]{1,8}\*[ \t]\"([^\"\n]{4,128})\"[ \t]{1,8}(?:\*|\d)",
          ('"me" * "{a10}" *',), ('2 * "ab" * 3',), starts=False,
          middle=r"\* \"[^\"\n]{4,128}\"[ \t]{1,8}(?:\*|\d)"),
    _after("password", ("<Key>Password</Key>", "<key>password</key>", "<Key>TOTP Seed</Key>",
                        "<Key>otp</Key>"),
           r"\s{0,20}<(?:Value|string)[^<>\n]{0,60}>([^<\n]{3,256})<",
           '<Key>Password</Key><Value ProtectInMemory="True">{a10}</Value>',
           "- <Key>Password</Key><Value/>"),
    Shape("cookie", ("\tTRUE\t", "\tFALSE\t"),
          r"\t(?:TRUE|FALSE)\t/[^\t\n]{0,80}\t(?:TRUE|FALSE)\t\d{1,12}\t"
          r"(?i:[\w.-]{0,40}(?:sess|sid|token|auth|login|csrf|jwt|remember)[\w.-]{0,40})\t([^\s]{8,4096})",
          ("x.org\tFALSE\t/\tTRUE\t0\tsessionid\t{h40}",),
          ("x.org\tFALSE\t/\tTRUE\t0\ttheme\tdark-mode-2",), starts=False),
    Shape("password", ("...", "…"),
          r"(?:(?<=\.\.\.)|(?<=…))(?i:p?a?s?s?w?ord|s?e?cret|t?oken)[\"']?[=:][ ]?[\"']?"
          r"([^\s\"'`]{6,256})", ("...ASSWORD={a14}\nPORT=80",), ("...word: hello",), starts=False),
    _after("password", ("<keyMaterial>",), r"([^<\n]{4,128})<",
           "<keyMaterial>{a10}</keyMaterial>", "- <keyMaterial></keyMaterial>"),
    _after("key", ("routing_key", "integration_key", "service_key"),
           r"[\"']?[ ]?[:=][ ]?[\"']?(%H{32})(?!%A)", "routing_key: {h32}", "- routing_key: a.b"),
    _token("password", "<master>", r"\{([A-Za-z0-9+/=]{16,})\}</master>",
           "<master>{" + "{b64}" + "}</master>", "- <master>main</master>"),
    _after("password", ("random_password", "random_string"),
           r"[\"'][\s\S]{0,400}?[\"']result[\"']\s{0,4}:\s{0,4}\"([^\"\n]{4,256})\"",
           '"type":"random_password","attributes":{"result":"{a20}"}', '- "random_password"'),
    # Program text
    _after("password", ("getConnection(", "mysqli_connect(", "mysql_connect(", "new PDO(",
                        "odbc_connect(", "oci_connect("),
           r"\s{0,8}(?:[\"'][^\"'\n]{0,200}[\"']|[\w.]{1,64}),\s{0,8}"
           rf"[\"'][^\"'\n]{{0,64}}[\"'],\s{{0,8}}(?:{_QUOTED})",
           'getConnection("jdbc:x", "me", "{a10}")', "new PDO('mysql:x', 'me', '{a10}')",
           "- getConnection(url, user, pw)", '- getConnection("jdbc:x", "me", "password")'),
    _maybe(("login(", "Login(", "Credentials(", "Credential(", "asicAuth(", "uthenticate(",
            "connect(", "WiFi.begin(", "begin(", "basic_auth(", "signIn(", "sign_in("),
           r"(?:\s{0,8}[\"'][^\"'\n]{0,64}[\"'],){1,2}?\s{0,8}"
           r"(?:\"([^\"\n]{5,64})\"|'([^'\n]{5,64})')[,)]", 'ftp.login("me", "Rad-Kappe-{d3}")',
           '- connect("host", "user")', '- login("me", "Password")'),
    _after("password", ("mysql_real_connect(", "mysqli_real_connect(", "->connect(", "new PDO(",
                        "__construct(", "pg_connect(", "SetBasicAuth(", "setBasicAuth(",
                        "withBasicAuth(",
                        "basicAuth(", "basic_auth(", "connectdb(", "logon("),
           r"(?:[^\s\"'(),]{1,40},\s{0,8})?(?:[\"'][^\"'\n]{0,200}[\"'],\s{0,8}){1,2}?"
           r"(?:\"([^\"\n]{6,128})\"|'([^'\n]{6,128})')(?=\)|,\s{0,8}(?:[\"'\d\[$]|NULL))",
           'mysql_real_connect(c, "db.x.org", "me", "{a10}", "shop", 0)',
           "PDO->__construct('mysql:host=x', 'root', '{a10}')", "DBI->connect($dsn, 'me', '{a10}')",
           'req.SetBasicAuth("me", "{a10}")', "- new PDO($dsn, $user, $pw)"),
    _maybe(("toBe(", "toEqual(", "assertEqual(", "assertEquals(", "assert_equal("),
           r"(?<=[pP]assword\)\.toBe\()[\"']([^\"'\n]{6,128})[\"']\)",
           "expect(res.body.password).toBe('Rad-Kappe-{d3}')",
           "- expect(x.password).toBe('string')"),
    _after("password", ("PlainAuth(",),
           rf"(?:[\"'][^\"'\n]{{0,64}}[\"'],\s{{0,8}}){{2}}(?:{_QUOTED})",
           'smtp.PlainAuth("", "me", "{a10}", "x.org")', "- PlainAuth(a, user, pw, host)"),
    _after("secret", ("jwt.sign(", "jwt.encode(", "jwt.verify(", "jwt.decode("),
           r"[^\n]{1,80}?,\s{0,8}[\"']((?=[^\s\"']{0,128}[\d!#$%^&*+])[^\s\"']{8,128})[\"']",
           "jwt.sign(payload, '{a16}7')", "- jwt.sign(payload, key, 'HS256')"),
    _after("secret", ("Fernet(", "AES.new(", "SecretKeySpec(", "SecretBox("),
           r"b?[\"']((?=[^\"'\n]{0,128}\d)[^\"'\n]{8,128})[\"']", 'Fernet(b"{a16}7")',
           "- Fernet(key)"),
    _after("totp-secret", ("oathtool ",), r"(?:--?[\w=-]{1,20} ){0,6}[\"']?([A-Za-z2-7]{16"
    r",64})" + _END,
           "oathtool --totp -b " + "MZXW6YTB" * 3, "- oathtool --totp -b -"),
    _after("totp-secret", ("TOTP(", "HOTP(", "authenticator.generate(", "totp.generate(",
                           "totp.New(", "speakeasy.totp(", "GenerateCode(", "ROTP::TOTP.new("),
           r"[^\"'\n)]{0,40}[\"']([A-Za-z2-7]{16,64})[\"']",
           "pyotp.TOTP('" + "MZXW6YTB" * 3 + "').now()",
           "- pyotp.TOTP(secret)"),
    Shape("totp-secret", ("シークレット", "密钥", "密鑰", "セットアップ",
                          "시크릿", "otp", "OTP",
                          "uthenticator", "etup key"),
          r"(?:シークレット(?:キー)?|密钥|密鑰|セットアップキー|시크릿 ?키?"
          r"|(?i:t?otp|2fa|authenticator|setup"
          r" key)"
          r"(?:[ _-](?i:secret|key|seed|code|app)){0,3})[\"']?[ ]?(?:[:：=]|是|は|is)[ ]?[\"'`]?"
          r"((?=[A-Z]{0,40}[2-7])[A-Z2-7]{16,64})(?!%A)",
          ("認証アプリのシークレットキー：" + "MZXW6YTB" * 2, "TOTP secret: " + "MZXW6YTB" * 4),
          ("TOTP secret: required", "密钥：ABC"), starts=False),
    _after("secret", ("otpauth://",), r"[^\s\"']{0,200}?[?&]secret=([A-Za-z2-7]{16,})",
           "otpauth://totp/a:b?secret=" + "MZXW6YTB" * 3, "- otpauth://totp/a"),
    _after("secret", ("dig -y ", "nsupdate -y ", "hmac-sha256:", "hmac-sha512:", "hmac-md5:"),
           r"(?:[\w-]{1,64}:){1,2}?([A-Za-z0-9+/]{16,}={0,2})(?![\w:])", "dig -y hmac-md5:k:{b24}",
           "- hmac-sha256:key"),
    _after("secret", ("hmac.new(", "createHmac(", "hash_hmac("),
           r"(?:\s{0,8}[\"'][\w-]{3,12}[\"'],)?(?:[^,\"'\n]{1,80},)?\s{0,8}"
           r"b?[\"']((?=[^\s\"']{0,128}\d)[^\s\"']{8,128})[\"']",
           'hmac.new(b"{a16}7", msg)', "createHmac('sha256', '{a16}7')", "- hmac.new(key, msg)",
           "- createHmac('sha256', 'a secret')",
           "- hmac.new(key, msg, 'sha256')"),
    # Databases
    _command(("identified ", "Identified ", "IDENTIFIED "),
          rf"(?i:identified (?:with [\w\"']{{1,40}} )?by )(?:{_QUOTED})",
          ("CREATE USER a IDENTIFIED BY '{a10}'",), ("IDENTIFIED BY '<password>'",)),
    _command(("IDENTIFIED BY ",), r"IDENTIFIED BY (\w[^\s\"';,]{3,128})",
          ("ALTER USER a IDENTIFIED BY {a10};",), ("IDENTIFIED BY :password",)),
    Shape("password", (":543", ":6432:", ":*:"),
          r"(?<![^\s\"'`(])[\w.*-]{1,128}:[\d*]{1,4}:(?!\d+:)[^:\s\[]{1,64}:[^:\s\[]{1,64}:"
          r"([^\s:\"'`]{4,128})(?![^\s\"'`),.])",
          ("db.x.org:5432:shop:app:{a10}", "*:*:*:app:{a10}"),
          ("main.py:5432:12:error:text", "db:5432:5432", "arn:aws:rds:*:*:db:name2"), starts=False),
    Shape("password", ("@tcp(", "@unix("),
          r"(?<=:)(?<!\[redacted:)([^\s:@\"'`<>\\]{1,128})@(?:tcp|unix)\(",
          ("app:{a10}@tcp(db:3306)/shop",), ("app:${PASS}@tcp(db:3306)/x",), starts=False),
    _command(("sqlplus ", "expdp ", "impdp ", "exp ", "imp ", "sqlldr ", "jdbc:oracle:thin:"),
          r"(?:(?:sqlplus|expdp|impdp|exp|imp|sqlldr) (?:[^\n/]{0,80}? )?|jdbc:oracle:thin:)"
          r"[\"']?[\w$#.]{1,30}/[\"']?([^\s/@\"']{3,64})(?:[\"']?@|(?= \w+=))",
          ("sqlplus -s scott/{a10}@orcl", "jdbc:oracle:thin:scott/{a10}@db:1521:x"),
          ("sqlplus /nolog", "sqlplus scott@orcl")),
    _after("password", ("sqlplus ", "expdp ", "impdp ", "sqlldr ", "rman "),
           r"(?:[^\n/]{0,80}[ =])?[\"']?[\w$#.-]{1,30}/[\"']?([^\s/@\"']{4,64})[\"']?@",
           'impdp "ci-bot/{a10}@wiki" dumpfile=d.dmp', "- sqlplus /nolog"),
    _after("password", ("netloc='", 'netloc="'), r"[^\s:@'\"]{1,64}:([^\s@'\"$<]{4,128})@",
           "netloc='me:{a10}@x.org'", "- netloc='x.org:80'"),
    _command(("scott/", "system/"),
          r"(?<![/.])(?:scott|system)/([^\s/@\"'.]{3,64})@[\w/]",
          ("connect scott/{a10}@orcl",), ("/etc/systemd/system/getty@tty1.service",)),
    # What a program asks for or prints, in the line below
    _after("password", ("334 UGFzc3dvcmQ6", "334 cGFzc3dvcmQ6", "334 UGFzc3dvcmQA"),
           r"\r?\n[ \t>+|]{0,12}(?:(?:C|>>>|-->|->|~>)[:>]?[ ]?)?([A-Za-z0-9+/]{4,200}={0"
           r",2})(?=[\s\"'`)]|\Z)",
           "334 UGFzc3dvcmQ6\n{a16}==", "- 334 UGFzc3dvcmQ6"),
    _after("password", ("AUTH PLAIN ", "AUTH LOGIN ", "AUTHENTICATE PLAIN "),
           r"(?:\r?\n[ \t>+|C:S]{0,12})?([A-Za-z0-9+/]{12,400}={0,2})(?=\s|\Z|[\"'])",
           "AUTH PLAIN {a24}==", "- AUTH PLAIN LOGIN"),
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
       r"|(?=\S{0,64}[\d_!@#$%^&*+=-])[^\s\"'`,:(){}]{8,64}(?=[\"']?[ \t]{0,8}(?:\r?\n|\Z)))",
           "$ wg genkey\n{b42}7=", "openssl rand -hex 32\n{h64}",
           "kubectl get secret db -o jsonpath='{.data.password}'\n{a24}==",
           "php artisan key:generate --show\nbase64:{b43}=",
           "- kubectl get secret db\nNAME  TYPE", "- wg genkey > a\n$ ls"),
    # Windows
    _command(("NetworkCredential(", "PSCredential(", "HTTPBasicAuth(", "auth=(",
              "username_pw_set(", "db.auth("),
          rf"(?:NetworkCredential|PSCredential|HTTPBasicAuth|auth=|username_pw_set|db\.auth)\(\s{{0,8}}[\"'][^\"'\n]{{0,64}}[\"'],\s{{0,24}}(?:{_QUOTED})",
          ('new NetworkCredential("me", "{a10}")', 'db.auth("me",\n  "{a12}")'),
          ("NetworkCredential(user, password)", "db.auth(user, password)")),
    _after("password", ("register => ", "register=>"), r"[ ]?[\w.-]{1,40}:([^\s@:]{4,64})@",
           "register => 3488972:{a10}@sip.x.org/9", "- register => 3488972@sip.x.org"),
    _command(("ConvertTo-SecureString ",),
          rf"ConvertTo-SecureString (?:-\w{{1,20}} ){{0,4}}(?:{_QUOTED}|(\w\S{{3,128}})(?= +-As))",
          ("ConvertTo-SecureString '{a10}' -AsPlainText -Force",),
          ("ConvertTo-SecureString $pw -AsPlainText",)),
    # Stored passwords
    _token("password-hash", "$1$ $apr1$", rf"{_HASH}{{1,8}}\${_HASH}{{22}}", "a:$apr1${a8}${a22}",
           "- $1$2"),
    _token("password-hash", "$2a$ $2b$ $2y$", rf"\d\d\${{1,2}}{_HASH}{{53}}", "a:$2y$05${a53}"),
    _token("password-hash", "$5$ $6$", rf"(?:rounds=\d{{1,9}}\$)?{_HASH}{{1,16}}\${_HASH}{{43,86}}",
           "root:$6${a16}${a86}:19000:0:99999:7:::", "- $5$"),
    _token("password-hash", "$y$ $gy$ $7$", rf"{_HASH}{{1,16}}\${_HASH}{{1,86}}\${_HASH}{{43}}",
           "me:$y$j9T${a22}${a43}:19000:0:99999:7:::"),
    _token("password-hash", "$argon2id$ $argon2i$ $argon2d$",
           r"(?:v=\d{1,3}\$)?[a-z0-9=,]{1,60}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,90}",
           "$argon2id$v=19$m=65536,t=3,p=4${b22}${b43}"),
    _token("password-hash",
           "pbkdf2_sha256$ pbkdf2_sha1$ pbkdf2_sha512$ scrypt$ bcrypt_sha256$ bcrypt$",
           r"\S{0,40}\$[A-Za-z0-9+/._=-]{24,}", "pbkdf2_sha256$600000${a22}${b43}=",
           "bcrypt_sha256$$2b$12${a53}", "- pbkdf2_sha256$"),
    _token("password-hash", "pbkdf2: scrypt:", r"[\w:]{1,40}\$[A-Za-z0-9+/.]{4,40}\$%H{32,}",
           "pbkdf2:sha256:260000${a16}${h64}", "scrypt:32768:8:1${a16}${h128}", "- pbkdf2:sha256"),
    _token("password-hash", "SCRAM-SHA-256$ SCRAM-SHA-1$",
           r"\d{3,6}:[A-Za-z0-9+/=]{8,64}\$[A-Za-z0-9+/=]{20,90}:[A-Za-z0-9+/=]{20,90}",
           "SCRAM-SHA-256$4096:{b22}==${b43}=:{b43}=", "- SCRAM-SHA-256$"),
    _token("password-hash", "$8$ $9$", rf"{_HASH}{{10,20}}\${_HASH}{{43}}",
           "secret 9 $9${a14}${a43}"),
    _token("password-hash", "$S$ $P$ $H$", rf"{_HASH}{{31,52}}", "$S$D{a51}", "$P$B{a30}", "- $S$"),
    _token("password-hash", "$krb5tgs$ $krb5asrep$ $krb5pa$ $DCC2$ $mskrb5$", r"[^\s\"']{40,}",
           "$krb5tgs$23$*me$X.ORG$http/web*${h32}${h200}", "- $krb5tgs$"),
    Shape("password-hash", ("*",), r"\*(?<=[\"' :=>\t|]\*)[0-9A-F]{40}(?![0-9A-F])",
          ("me:*" + "0A1B" * 10, "IDENTIFIED WITH mysql_native_password AS '*" + "0A1B" * 10 +
          "'",), ("AS '*'", "a *b"),
          starts=False, middle=r"\*[0-9A-F]{40}"),
    Shape("password-hash", (":::",), r"(?<![\w-])[\w.$-]{1,64}:\d{3,10}:(%H{32}:%H{32}):::",
          ("me:500:{h32}:{h32}:::",), ("a:::b",), starts=False),
    Shape("password-hash", ("::",), r"(?<!\w)[\w.$-]{1,64}::[\w.-]{0,64}:(%H{16}:%H{32}:%H{16,})",
          ("me::CORP:{h16}:{h32}:0101{h80}",), ("std::map", "a::b:{h16}"), starts=False,
          middle=r"::[\w.-]{0,64}:%H{16}:"),
    _after("password-hash", ("NTLM", "NT hash", "NT Hash", "NT-Hash", "NThash", "LM hash",
    "LM Hash",
                             "LM-Hash", "ntlm", "nt_hash", "lm_hash", "nthash", "lmhash"),
           r"(?:v[12])?[ _-]?(?i:hash)?(?i:es)?(?:[ ](?!is |was )[\w.@\\$'’-]{1,40}){0,4}?[\"']?"
           r"(?: is| was| ist)?[ ]{0,8}[:=]{0,2}[ ]?[\"']?"
           r"([0-9A-Fa-f]{32}(?::[0-9A-Fa-f]{32})?)(?!%A)", "NTLM hash: {h32}",
           "  * NTLM     : {h32}", "NTLM hash of the admin: {h32}", "NT-Hash von mara: {h32}",
           "- NT hash: none"),
    _after("password-hash", ("evil-winrm ", "nxc ", "netexec ", "crackmapexec ", "cme ",
    "impacket-",
                             "psexec.py ", "wmiexec.py ", "smbexec.py ", "secretsdump.py ",
                             "pth-winexe ", "xfreerdp ", "smbclient.py ", "GetUserSPNs.py "),
           r"[^\n]{0,200}?(?:-H|--?hashes|-hashes|/pth:)[ =]?[\"']?"
           r"(%H{32}(?::%H{32})?|:%H{32})(?!%A)", "evil-winrm -i x -u me -H {h32}",
           "secretsdump.py -hashes :{h32} me@x", "- nxc smb x -H hashes.txt"),
    _after("password-hash", ("/rc4:", "/ntlm:", "/aes256:", "/aes128:", "/krbtgt:", "rc4_hmac_nt",
                             "aes256_hmac", "aes128_hmac", "arcfour-hmac", "des-cbc-md5",
                             "aes256-cts-hmac-sha1-96", "aes128-cts-hmac-sha1-96"),
           r"[):\s(]{0,12}(?:0x)?([0-9a-fA-F]{16,64})" + _END, "/ntlm:{h32}",
           "aes256-cts-hmac-sha1-96:{h64}", "aes256_hmac       {h64}", "(arcfour-hmac) (0x{h32})",
           "- aes256-cts-hmac-sha1-96:normal"),
    Shape("password-hash", ("md5",), r"md5(?<![\w/-]md5)(%H{32})(?!%A)",
          ("password_hash: md5{h32}", "candidates for md5{h32}: running"), ("md5 {h32}",),
          starts=False, middle="md5%H{32}"),
    _token("encrypted-vault", "$ANSIBLE_VAULT;", r"\d\.\d;AES256(?:;[\w.-]{1,64})?(?:\\n|\r?\n)"
           r"[ \t>+|]{0,40}((?:%H{16,80}(?:(?:\\n|\r?\n)[ \t>+|]{0,40}(?=%H{8}))?){1,400})",
           "$ANSIBLE_VAULT;1.1;AES256\n  {h80}\n  {h80}", "- $ANSIBLE_VAULT;1.1;AES256"),
    _after("password-hash", ("select ", "SELECT "),
           r"(?=[^\n;]{0,400};?[ ]{0,4}\n)[^\n;]{0,200}?(?i:passw(?:or)?d|hash|secret|token)"
           r"[^\n;]{0,200};?[ ]{0,4}\n"
           r"(?:[^\n]{0,80}[-|+][^\n]{0,80}\n){0,2}?[^\n|]{0,80}\|[ ]{0,20}(%H{32,128})(?!%A)",
           "SELECT user, password FROM t;\n erin | {h32}", "- select password from t;\n(0 rows)"),
    _token("password-hash", "{SHA} {SSHA}", r"([A-Za-z0-9+/]{27,64}={0,2})", "a:{SHA}{b27}="),
    _token("password-hash",
           "{SHA512-CRYPT} {SHA256-CRYPT} {BLF-CRYPT} {CRYPT} {ARGON2ID} {ARGON2I}",
           r"[^\s:\"']{20,}", "me:{SHA512-CRYPT}$6${a16}${a86}:5000", "- {CRYPT}x"),
    _token("password-hash", "S:", r"[0-9A-F]{60}(?:;T:[0-9A-F]{160})?", "S:" + "0A1B" * 15,
           "- S:0A"),
    _token("password-hash", "sha1: sha256: sha512:",
           r"\d{3,7}:[A-Za-z0-9+/=]{8,64}:[A-Za-z0-9+/=]{24,}", "sha512:120000:{b24}:{b88}",
           "- sha256:{h64}"),
    _token("password-hash", "$A$005$", r"[^\s'\"]{20,90}", "$A$005${a20}{a43}"),
    _token("password-hash", "$pbkdf2-sha256$ $pbkdf2-sha512$ $pbkdf2$ $bcrypt-sha256$ $scrypt$ $s0$"
           " $sha1$ $md5, $3$$ $ml$ $racf$ $pbkdf2-sha1$", r"[^\s\"':]{20,}",
           "$pbkdf2-sha256$29000${a22}${a43}", "$ml$35460${h64}${h128}", "$3$${h32}", "- $sha1$x"),
    _token("password-hash", "sha1$ sha256$ md5$", r"%A{4,32}\$%H{32,64}" + _END,
           "sha1${a12}${h40}", "- sha1$ "),
    _token("password-hash", "{SSHA512} {SSHA256} {SHA256} {SHA512} {SMD5} {MD5} {PKCS5S2} {PBKDF2",
           r"(?:-SHA\d{1,3}\})?([A-Za-z0-9+/.$]{20,}={0,2})", "a:{SSHA512}{b88}", "a:{MD5}{b22}==",
           "- {MD5}x"),
    _token("password-hash", "grub.pbkdf2.sha512.", r"\d{3,7}\.[0-9A-F]{64,}\.[0-9A-F]{64,}",
           "grub.pbkdf2.sha512.10000." + "0A1B" * 32 + "." + "0A1B" * 32),
    _token("password-hash", "AQAAAA", r"[A-Za-z0-9+/]{70,110}={0,2}" + _END,
           "AQAAAAEAACcQAAAAE{b67}==", "- AQAAAA"),
    _token("password-hash", "0x0200 0x0100",
           r"(?:[0-9A-Fa-f]{136}|[0-9A-Fa-f]{88}|[0-9A-Fa-f]{48})" + _END,
           "0x0200{h136}", "- 0x0100{h60}"),
    _token("password-hash", "WPA*02* WPA*01*", r"%H{32}(?:\*[0-9a-fA-F]*){2,8}",
           "WPA*02*{h32}*{h12}*{h12}*{h12}*{h64}"),
    _after("password-hash", ("PASSWORD 'md5", 'PASSWORD "md5', "password 'md5", ":md5", '"md5'),
           r"(%H{32})" + _END, "CREATE ROLE a PASSWORD 'md5{h32}'", "- PASSWORD 'md5'"),
    _token("cookie", ".ASPXAUTH= .AspNetCore.Identity= .ASPXFORMSAUTH=", r"([0-9A-Za-z_-]{48,})",
           ".ASPXAUTH={h128}", "- .ASPXAUTH="),
    _after("private-key", ("Private-MAC: ",), r"(%H{40,64})" + _END, "Private-MAC: {h64}",
           "- Private-MAC: none"),
    Shape("signature", ("Digest ",), r"Digest [^\n]{1,400}?\bresponse=\"?(%H{32,64})" + _END,
          ('Digest username="a", nonce="b", response="{h32}"',), ("Digest of the week",)),
    Shape("signature", ("AWS4-HMAC-SHA256 ",), r"AWS4-HMAC-SHA256 [^\n]{1,400}?Signature=(%H{64})",
          ("AWS4-HMAC-SHA256 Credential=a/b, Signature={h64}",), ("AWS4-HMAC-SHA256 is used",)),
    # The words that open a wallet
    _after("seed-phrase", ("seed phrase", "Seed phrase", "recovery phrase", "Recovery phrase",
                           "mnemonic", "Mnemonic", "MNEMONIC", "seed words", "Seed words"),
           r"[^\n:=]{0,60}[:=][ \"'\n]{1,4}((?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})(?![a-z])",
           "the seed phrase of the wallet: " + " ".join(["orbit", "canal", "velvet"] * 4),
           "- mnemonic: none"),
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
          r"|px|times|seconds))",
          ("PIN: {d6}", "The PIN for the alarm panel is {d5}.", "Le code PIN est {d6}, merci",
           "De pincode is {d8}.", "Пин-код от телефона {d5}", "TAN war {d6}"),
          ("PIN: 12", "pin: v1.2.3", "GPIO PIN is high"), "pin"),
    Shape("pin", ("PIN =", "PIN=", "PIN:", 'PIN"', "pin =", "pin=", "pin:", 'pin"', "Pin=", 'Pin"'),
          r"(?:PIN|[pP]in)(?<![A-Z][A-Z]PIN)(?<![a-z]pin)[\"']?[ ]?[:=][ ]?[\"']?"
          r"(\d{4,8})(?![\w.:-])",
          ("ADMIN_PIN = {d5}", '"pin": "{d4}"'), ("LED_PIN = 13", "pin=12"), starts=False),
    _after("recovery-code", ("recovery_codes", "backup_codes", "recoveryCodes", "backupCodes"),
           r"[\"']?\s?[:=]\s?[\[(]?[\"']?(?:\[redacted:[a-z-]+\][\"', ]{1,4}){0,15}"
           r"((?=[\w-]*\d)\w{4,12}(?:-\w{4,12}){0,3})", "recovery_codes: [{d5}-{d5}, {d5}-{d5}]",
           "- recovery_codes: []"),
    _maybe(("recovery code", "backup code", "Recovery code", "Backup code", "recovery key",
            "safe combination"), r"s?(?:[ ]is|[ ]are|:|[ ]=)?[ ]((?:\w{2,8}-){1,7}\w{2,8})",
           "recovery code 4f8a-9b2c-{d4}", "- recovery code-path"),
)  # fmt: skip

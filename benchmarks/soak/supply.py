"""Row S16, what others found: `python -m benchmarks.soak.supply`.

Runs `bandit` over the product, and `pip-audit` over what it depends on, from an environment of
their own. Advisories are looked up online; where that cannot be done, it is counted as not audited
and not as clean.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from tests.figures import count

_ROOT = Path(__file__).parents[2]


def run(*words: str | Path) -> Any:
    """What a tool says as JSON, whatever its exit code."""
    done = subprocess.run(words, cwd=_ROOT, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


def main() -> None:
    """Look, print, and fail on anything serious."""
    with tempfile.TemporaryDirectory(prefix="ltm-supply-") as folder:
        venv.create(folder, with_pip=True)
        tools = Path(folder) / "bin"
        install = (tools / "python", "-m", "pip", "install", "--quiet", "bandit", "pip-audit")
        subprocess.run(install, check=True)
        issues = run(tools / "bandit", "-q", "-r", "src", "-f", "json")["results"]
        pinned = ("-r", "constraints.txt", "--no-deps", "--disable-pip")
        audited = run(tools / "pip-audit", *pinned, "-f", "json")["dependencies"]
    found = [each for each in issues if each["issue_severity"] == "HIGH"]
    unknown = [each["name"] for each in audited if "skip_reason" in each]
    bad = {each["name"]: each["vulns"] for each in audited if each.get("vulns")}
    figures = {
        "bandit_high": len(found),
        "bandit_all": len(issues),
        "dependencies": len(audited),
        "dependencies_not_audited": len(unknown),
        "vulnerable": len(bad),
    }
    count("S16", **figures)
    print(figures, *found, bad, sep="\n")
    sys.exit(bool(found or bad))


if __name__ == "__main__":
    main()

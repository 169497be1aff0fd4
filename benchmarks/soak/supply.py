"""Row S16, what others found: `python -m benchmarks.soak.supply`.

Runs `bandit` over the product, and `pip-audit` over what it depends on, from environments of their
own. Advisories are looked up online; where that cannot be done, it is counted as not audited and
not as clean.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.soak.environments import ROOT, NotTried, programs
from tests.figures import count

_SEVERITIES = ("HIGH", "MEDIUM", "LOW")


def run(*words: str | Path) -> dict[str, Any]:
    """What a tool says as JSON, whatever its exit code; one that says nothing was not tried."""
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    try:
        told: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise NotTried(f"{words[0]} ended with {done.returncode}: {done.stderr[-500:]}") from None
    return told


def code() -> bool:
    """Whether `bandit` read the whole product and finds nothing serious in it."""
    told = run(programs("bandit") / "bandit", "-q", "-r", "src", "-f", "json")
    found = Counter(each["issue_severity"] for each in told["results"])
    files = len(told["metrics"]) - 1  # and one for the totals
    print(f"bandit: {files} files, {dict(found)}", *told["errors"], sep="\n", flush=True)
    figures = {f"bandit_{name.lower()}": found[name] for name in _SEVERITIES}
    count("S16", bandit_files=files, bandit_unread=len(told["errors"]), **figures)
    for each in told["results"]:
        if each["issue_severity"] == "HIGH":
            print(f"{each['filename']}:{each['line_number']}: {each['issue_text']}")
    return bool(files) and not found["HIGH"] and not told["errors"]


def dependencies() -> bool:
    """Whether no dependency is known to be vulnerable, of those that could be looked up."""
    pinned = ("-r", "constraints.txt", "--no-deps", "--disable-pip", "--progress-spinner", "off")
    told = run(programs("pip-audit") / "pip-audit", *pinned, "-f", "json")["dependencies"]
    unknown = [each["name"] for each in told if "skip_reason" in each]
    bad = {each["name"]: each["vulns"] for each in told if each.get("vulns")}
    print(f"pip-audit: {len(told)} dependencies, {len(unknown)} NOT AUDITED, vulnerable: {bad}")
    count(
        "S16",
        dependencies=len(told),
        dependencies_not_audited=len(unknown),
        dependencies_vulnerable=len(bad),
    )
    return bool(told) and not bad


def main() -> None:
    """Look, print, and fail on anything serious."""
    well = True
    for part in (code, dependencies):
        try:
            well &= part()
        except NotTried as reason:
            print(f"{part.__name__}: NOT TRIED: {reason}", flush=True)
            count("S16", parts_not_tried=1)
            well = False
    sys.exit(not well)


if __name__ == "__main__":
    main()

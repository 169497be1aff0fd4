"""Row S8, random input for every parser, route and tool: `python -m benchmarks.soak.fuzz`.

Each part uses the fuzzer of its field: `atheris` for the parsers, `schemathesis` for the routes of
`ltm serve`, `mcp-fuzzer` for the tools of `ltm mcp`. They are installed into environments of their
own. One that cannot be installed is told as not tried, and the row has not held. Two parts run at a
time; all take five minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from benchmarks.soak.environments import NotTried
from benchmarks.soak.fuzz_parsers import parser
from benchmarks.soak.fuzz_routes import routes
from benchmarks.soak.fuzz_targets import TARGETS
from benchmarks.soak.fuzz_tools import tools
from tests.figures import count


def held(part: str, run: Callable[[], bool]) -> bool:
    """Run a part and say whether it held; one that was not tried has not."""
    try:
        well = run()
    except NotTried as reason:
        print(f"{part}: NOT TRIED: {reason}", flush=True)
        count("S8", parts_not_tried=1)
        return False
    count("S8", parts_not_tried=0)
    print(f"{part}: {'held' if well else 'FAILED'}", flush=True)
    return well


def main() -> None:
    """Run the parts, print, and fail on any find."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seconds", type=int, default=60, help="for each parser")
    words.add_argument("--examples", type=int, default=100, help="requests for each route")
    words.add_argument("--runs", type=int, default=200, help="calls of each tool in each phase")
    words.add_argument("--only", nargs="+", choices=("tools", "routes", *TARGETS))
    given = words.parse_args()
    parts: dict[str, Callable[[], bool]] = {
        "tools": lambda: tools(given.runs),
        "routes": lambda: routes(given.examples),
        **{name: partial(parser, name, given.seconds) for name in TARGETS},
    }
    chosen = [name for name in parts if not given.only or name in given.only]
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda name: held(name, parts[name]), chosen))
    sys.exit(not all(outcomes))


if __name__ == "__main__":
    main()

"""Row S8, a coverage-guided fuzzer on every parser: `python -m benchmarks.soak.fuzz`.

`atheris` looks for bytes that make the front matter, transcripts, questions or the merge of memory
files raise anything but an error of ours, or hang. It runs in an environment of its own; what it
finds is printed as bytes that can be tried again.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.figures import count

_ROOT = Path(__file__).parents[2]
_RUNS = re.compile(r"Done (\d+) runs|#(\d+)\s+DONE")

_HARNESS = """
import sys, tempfile
import atheris
with atheris.instrument_imports(include=["ltm"]):
    from ltm.core.errors import LtmError
    from ltm.core.kinds import Kinds
    {imports}
kinds = Kinds()
def target(data):
    try:
        {body}
    except LtmError:
        pass
atheris.Setup(sys.argv, target)
atheris.Fuzz()
"""

TARGETS = {
    "front matter": (
        "from ltm.storage import codec, frontmatter",
        "codec.decode(frontmatter.parse(data, 'x.md'), 'x.md', kinds, seen=None)",
    ),
    "transcript": (
        "from ltm.sessions.transcript import read; import os; path = tempfile.mktemp()",
        "open(path, 'wb').write(data); [None for _ in read(path)]",
    ),
    "question": (
        "from ltm.core.words import terms",
        "terms(data.decode('utf-8', 'replace'))",
    ),
    "merge": (
        "from ltm.storage.merge import merge",
        "third = len(data) // 3; merge(data[:third], data[third:2 * third], data[2 * third:], 'x')",
    ),
}


def fuzz(python: Path, name: str, seconds: int, folder: Path) -> tuple[int, str]:
    """How many inputs a parser was given, and what it died of; '' if of nothing."""
    imports, body = TARGETS[name]
    program = folder / "harness.py"
    program.write_text(_HARNESS.format(imports=imports, body=body))
    limits = (f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=1000", "-max_len=4096")
    seeds = folder / "seeds"
    seeds.mkdir(exist_ok=True)
    for number, path in enumerate(sorted((_ROOT / "docs").rglob("*.md"))[:20]):
        (seeds / str(number)).write_bytes(path.read_bytes()[:4096])
    (seeds / "memory").write_text(
        "---\nid: mem_x\nkind: fact\ntags: [a, b]\n---\n## Summary\n\nx\n"
    )
    (seeds / "line").write_text(
        '{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}\n'
    )
    done = subprocess.run(
        [python, program, seeds, *limits, f"-artifact_prefix={folder}/"],
        cwd=folder,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    runs = [int(first or second) for first, second in _RUNS.findall(done.stderr)]
    return max(runs, default=0), "" if done.returncode == 0 else done.stderr[-3_000:]


def main() -> None:
    """Fuzz each parser, print, and fail on any find."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="for each parser")
    given = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory(prefix="ltm-fuzz-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        install = (python, "-m", "pip", "install", "--quiet", "atheris", str(_ROOT))
        subprocess.run(install, check=True)
        for target in TARGETS:
            runs, found = fuzz(python, target, given.seconds, folder)
            print(target, runs, found or "nothing found", flush=True)
            count("S8", fuzzed_inputs=runs, fuzzer_finds=int(bool(found)))
            failed |= bool(found) or not runs
    sys.exit(failed)


if __name__ == "__main__":
    main()

"""The `ltm` command's first step: answer the trivial at once, load the command line for the rest.

A cold start is what people feel, so nothing is imported here that the words typed do not need.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the `ltm` command."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from ltm import __version__

        sys.stdout.write(f"ltm {__version__}\n")
        return
    if sys.argv[1:2] == ["merge-driver"]:
        # git calls this once per file of a merge: no command line library, only the merge.
        from ltm.storage.merge import main as merge

        sys.exit(merge(sys.argv[2:]))
    from ltm.surfaces.cli.app import run

    run()


if __name__ == "__main__":
    main()

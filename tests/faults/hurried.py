"""`ltm` with less patience, so that a test need not wait as long as a person would.

`python hurried.py SECONDS WORDS...`: what waits for half a minute waits so many seconds.
"""

from __future__ import annotations

import sys

from ltm.files import lock, sqlite


def main() -> None:
    """Be `ltm`, in a hurry."""
    seconds = float(sys.argv.pop(1))
    lock.PATIENCE = seconds
    sqlite.PATIENCE_MS = int(seconds * 1000)
    from ltm.index import index  # whoever is loaded from here on takes over what was set

    index._SHORT_WAIT = seconds
    from ltm.cli.main import main as start

    start()


if __name__ == "__main__":
    main()

"""`ltm` with less patience, so that a test need not wait as long as a person would.

`python hurried.py SECONDS WORDS...`: what waits for half a minute waits so many seconds.
"""

from __future__ import annotations

import sys

from ltm.storage import database, lock


def main() -> None:
    """Be `ltm`, in a hurry."""
    seconds = float(sys.argv.pop(1))
    lock.PATIENCE = seconds
    database.PATIENCE_MS = int(seconds * 1000)
    from ltm.storage import index  # whoever is loaded from here on takes over what was set

    index._SHORT = seconds
    from ltm.surfaces.start import main as start

    start()


if __name__ == "__main__":
    main()

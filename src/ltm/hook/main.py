"""What clients run for each event: `python3 -I -S main.py`, on a Python with nothing installed.

A file that is run is compiled each time, so there is no more in it than what finds `program`; every
Python 3 can read both.
"""

import os
import sys

if __name__ == "__main__":
    _FOLDER = os.path.dirname
    sys.path.insert(0, _FOLDER(_FOLDER(_FOLDER(os.path.abspath(__file__)))))

try:
    from ltm.hook.program import main
except BaseException:  # the client must not notice
    if __name__ != "__main__":
        raise
    os._exit("--or-next" in sys.argv)

__all__ = ["main"]

if __name__ == "__main__":
    main()

"""What the plugin runs: `python3 -I -S launch.py mcp`, on any Python from 3.11.

A file that is run is compiled each time, so there is no more in it than what finds `plugin`.
"""

import os
import sys

if __name__ == "__main__":
    _FOLDER = os.path.dirname
    sys.path.insert(0, _FOLDER(_FOLDER(_FOLDER(os.path.abspath(__file__)))))
    from ltm.cli.plugin import main

    sys.exit(main(sys.argv[1:]))

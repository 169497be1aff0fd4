"""Where launchers of version 0.1 find the hook; it is `ltm.hook.main` now."""

import os
import sys

_FOLDER = os.path.dirname
sys.path.insert(0, _FOLDER(_FOLDER(_FOLDER(os.path.abspath(__file__)))))

from ltm.hook.main import main  # noqa: E402

if __name__ == "__main__":
    main()

"""The program behind `ltm-hook`: whatever happens, the client sees exit 0 and no noise, and soon.

Owns the promise a hook makes to a session: a hard deadline, no error output, no second life inside
our own calls of a client. What it says and keeps is `receive`'s business. It also runs as a plain
file, `python3 -I -S hook.py`, on a Python with nothing installed; so this file is short (it is
compiled at each run) and every Python 3 can read it.
"""

import os
import sys

DEADLINE = 0.85
"""Seconds after which the program ends, whatever it is doing; nothing that matters takes longer."""

END_DEADLINE = 0.35
"""The same when a session ends: there a client gives all hooks together one second and a half."""

LAST_WORDS = 0.05
"""Seconds it then has to leave a line in the log: what it waits for may be the disk itself."""

HANDED_OVER = "LTM_HOOK_HANDED_OVER"


def main() -> None:
    """Answer one event of a client, told on stdin, and leave with 0."""
    try:
        if os.environ.get("LTM_INSIDE"):
            return  # this client is one we started ourselves
        if sys.version_info < (3, 11):  # noqa: UP036
            _hand_over()
            return
        _begin()
    except BaseException:  # noqa: S110  # there is nobody to tell: the client must not notice
        pass
    finally:
        os._exit(0)


def _begin() -> None:
    import gc
    import time
    from _thread import start_new_thread

    gc.disable()  # nothing lives long enough to become garbage, and looking for it takes time
    _be_deaf()
    event: list[str] = []  # filled as soon as it is known

    def end_after(seconds: float) -> None:
        time.sleep(seconds)
        os._exit(0)

    def watch() -> None:
        time.sleep(END_DEADLINE)
        if event != ["SessionEnd"]:
            time.sleep(DEADLINE - END_DEADLINE)
        start_new_thread(end_after, (LAST_WORDS,))
        try:
            from ltm.surfaces.receive import give_up

            give_up(os.environ, event)
        finally:
            os._exit(0)

    start_new_thread(watch, ())
    from ltm.surfaces.receive import receive

    receive(os.environ, event)


def _be_deaf() -> None:
    """Signals meant for the client's whole group must not cut a write in half."""
    try:
        # `signal` itself costs as much as the interpreter's start.
        import _signal as signal  # type: ignore[import-not-found]
    except ImportError:
        import signal
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)


def _hand_over() -> None:
    """This Python is too old: let the one that does our other work be the hook, if there is one."""
    if os.environ.get(HANDED_OVER):
        return
    from ltm.storage.home import home
    from ltm.storage.runtime import python, runtime

    newer = python(runtime(home()))
    if newer:
        os.environ[HANDED_OVER] = "1"
        os.execv(newer, [newer, "-I", "-S", os.path.abspath(__file__), *sys.argv[1:]])  # noqa: S606


if __name__ == "__main__":
    _FOLDER = os.path.dirname
    sys.path.insert(0, _FOLDER(_FOLDER(_FOLDER(os.path.abspath(__file__)))))
    main()

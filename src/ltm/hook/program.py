"""The program behind `ltm-hook`: whatever happens, the client sees exit 0, no error output, soon.

It does nothing inside LTM's own calls of a client, and ends at a hard deadline (see `deadline`);
the event is handled in `receive`. Every Python 3 can read it: one that is too old hands over.
"""

import os
import sys

DEADLINE = 0.75
"""Seconds after which the program ends, whatever it is doing; nothing that matters takes longer."""

END_DEADLINE = 0.35
"""The same when a session ends: there a client gives all hooks together one second and a half."""

LAST_WORDS = 0.05
"""Seconds it then has to keep the event elsewhere and to leave a line in the log."""

OR_NEXT = "--or-next"
"""Given by a launcher that knows another Python: end with 1 if this one could not do it, and with 3
if it is too old."""

HANDED_OVER = "LTM_HOOK_HANDED_OVER"


def main() -> None:
    """Answer one event of a client, given on stdin, and exit with 0."""
    done = False
    failed = 1
    try:
        if os.environ.get("LTM_INSIDE"):
            done = True  # this client is one we started ourselves
        elif sys.version_info < (3, 11):  # noqa: UP036
            failed = 3
            _hand_over()
        else:
            import gc

            gc.disable()  # nothing lives long enough to become garbage, and looking takes time
            _ignore_signals()
            from ltm.hook import deadline

            work = deadline.by_a_child if hasattr(os, "fork") else deadline.by_a_thread
            done = work(DEADLINE, END_DEADLINE, LAST_WORDS)
    except BaseException:  # noqa: S110  # the client must not notice
        pass
    finally:
        os._exit(failed if not done and OR_NEXT in sys.argv else 0)


def _ignore_signals() -> None:
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
    """This Python is too old: run the hook on the one noted for the worker, if there is one."""
    if os.environ.get(HANDED_OVER):
        return
    from ltm.project.home import home
    from ltm.spool.hook_log import python, runtime

    newer = python(runtime(home()))
    if newer:
        os.environ[HANDED_OVER] = "1"
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "main.py")
        os.execv(newer, [newer, "-I", "-S", program, *sys.argv[1:]])  # noqa: S606

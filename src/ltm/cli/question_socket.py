"""The socket at which a running LTM process answers `ltm recall WORDS` of the same user.

A process that serves has its code, files and vectors open already. So the command asks first, at a
socket in the home that only this user can reach. A process of another version, user or environment,
or that does not take the question within 50 ms, is passed over; without any the command answers
alone, with the same words. The command's side imports next to nothing.
"""

from __future__ import annotations

import os
import sys

from ltm import __version__
from ltm.errors import LtmError
from ltm.project.home import home

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from typing import Any

FOLDER = "run"
"""Where in the home the sockets are, one for each process that serves."""

TO_DECIDE, TO_ANSWER = 0.05, 5.0
"""Seconds in which a process has to take a question, and then to answer it."""

_ENVIRONMENT = ("HOME", "LTM_AGENT", "CLAUDE_CONFIG_DIR", "LTM_EMBED_KEY", "LTM_DEBUG", "TZ")
_LOOKS = ("TERM", "NO_COLOR")
_TAKEN = b"+"
_PART = 65_536  # bytes read at a time
_LONGEST = 1_000_000  # bytes of a question
_TRIED = 3  # processes, the newest first
_PEER = 12  # bytes of a process, a user and a group, as Linux tells them of a peer


def ask(question: str) -> int | None:
    """Let a running process answer, print that, and return the exit code; None if none does."""
    given = _given(question)
    if given is None:
        return None
    for path in _sockets()[:_TRIED]:
        answer = _asked(path, given)
        if answer is not None:
            return _printed(*answer)
    return None


def _given(question: str) -> bytes | None:
    """What a process has to know to answer in our place; None where it could not."""
    out = sys.stdout
    if os.name == "nt" or out is None or sys.stderr is None:
        return None
    if out.encoding.lower() not in ("utf-8", "utf8"):
        return None
    try:
        folder = os.getcwd()
    except OSError:
        return None
    screen = "screen" if out.isatty() else ""
    looks = [screen, *(os.environ.get(name, "") for name in _LOOKS)]
    return os.fsencode("\0".join([*_likeness(), *looks, folder, question]))


def _likeness() -> list[str]:
    """What two processes must have in common to give the same answers."""
    return [__version__, sys.prefix, *(os.environ.get(name, "") for name in _ENVIRONMENT)]


def _sockets() -> list[str]:
    """The sockets of this version in our home, those of the newest processes first."""
    try:
        folder = os.path.join(home(), FOLDER)
        names = [name for name in os.listdir(folder) if name.startswith(f"{__version__}-")]
        paths = [os.path.join(folder, name) for name in names]
        return sorted(paths, key=lambda path: os.stat(path).st_mtime_ns, reverse=True)
    except (OSError, LtmError):
        return []


def _asked(path: str, given: bytes) -> tuple[int, bytes, bytes] | None:
    """The answer of the process behind a socket: exit code, output and messages."""
    import _socket  # `socket` itself takes as long as the question

    asking = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        asking.settimeout(TO_DECIDE)
        asking.connect(path)
        if not _is_own(asking):
            return None
        asking.sendall(given)
        asking.shutdown(_socket.SHUT_WR)
        if asking.recv(1) != _TAKEN:
            return None
        asking.settimeout(TO_ANSWER)
        head, _, rest = _received(asking).partition(b"\n")
        code, size, whole = map(int, head.split())
        return (code, rest[:size], rest[size:]) if len(rest) == whole else None
    except ConnectionRefusedError:
        _remove(path)  # it was killed
        return None
    except (OSError, ValueError):
        return None
    finally:
        asking.close()


def _received(source: Any) -> bytes:
    data = b""
    while chunk := source.recv(_PART):
        data += chunk
    return data


def _is_own(connected: Any) -> bool:
    """Whether the other side is a process of our user, where the system can tell; where it cannot,
    no other user can enter the folder."""
    import _socket

    if not hasattr(_socket, "SO_PEERCRED"):
        return True
    peer = connected.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, _PEER)
    return int.from_bytes(peer[4:8], sys.byteorder) == os.getuid()


def _printed(code: int, answer: bytes, messages: bytes) -> int:
    """Print an answer as the command would have; its exit code."""
    text = answer.decode("utf-8", "surrogateescape")
    if sys.stdout.isatty() and sys.stdin is not None and sys.stdin.isatty():
        wide, high = os.get_terminal_size(sys.stdout.fileno())
        if text.count("\n") + len(text) // max(1, wide) >= high - 1:
            from ltm.cli.output import finish, show

            finish(lambda: show(text))
    try:
        _write(1, answer)
    except BrokenPipeError:
        return 0  # the reader has seen enough
    except OSError as error:
        messages, code = f"ltm: the answer could not be written: {error.strerror}\n".encode(), 1
    try:
        _write(2, messages)
    except OSError:
        pass
    return code


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


# -- the side of the process that serves ----------------------------------------------------------


def listen(at_end: Callable[[Callable[[], None]], object]) -> None:
    """Answer questions in a thread from now on; `at_end` is given what to do last.

    Where there are no such sockets, or none can be made in this home, nothing is answered.
    """
    import socket
    import threading

    from ltm.files.atomic import make_folder

    if not hasattr(socket, "AF_UNIX"):
        return
    unready = ""
    try:
        folder = os.path.join(home(), FOLDER)
        make_folder(folder, 0o700)
        os.chmod(folder, 0o700)
        path = os.path.join(folder, f"{__version__}-{os.getpid()}")
        at_end(lambda: _remove(path))
        unready = os.path.join(folder, f".{os.getpid()}")
        _remove(unready)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(unready)  # a path longer than about 100 bytes is refused
        os.chmod(unready, 0o600)
        listening.listen(_TRIED)
        # A command takes a socket at which no process listens for that of a dead one.
        os.rename(unready, path)
    except (OSError, LtmError):
        _remove(unready)
        return
    threading.Thread(target=_serve, args=(listening,), name="ltm-questions", daemon=True).start()


def _serve(listening: socket.socket) -> None:
    import logging

    while True:
        asking, _ = listening.accept()
        try:
            with asking:
                asking.settimeout(TO_ANSWER)
                if _is_own(asking):
                    _answer(asking)
        except OSError:
            continue  # the command answers alone
        except Exception:
            # So it does here, and says what is wrong in its own words.
            logging.getLogger(__name__).debug("a question was left", exc_info=True)


def _answer(asking: socket.socket) -> None:
    """Answer one question, if we would give the answer that the command gives alone."""
    from ltm.cli.context import ServedWork
    from ltm.cli.hits import answer
    from ltm.cli.output import relayed
    from ltm.embed.embedder import installed
    from ltm.model import Filter
    from ltm.store.project import KEPT

    given = os.fsdecode(_received(asking)[:_LONGEST]).split("\0")
    here = _likeness()
    if len(given) != len(here) + 1 + len(_LOOKS) + 2:
        return
    (version, prefix, *environment), rest = given[: len(here)], given[len(here) :]
    if [version, *environment] != [here[0], *here[2:]]:
        return
    if prefix != here[1] and installed() is None:
        return  # the packages there may find more
    asking.sendall(_TAKEN)
    screen, term, no_colour, folder, question = rest
    looks = {"TERM": term, "NO_COLOR": no_colour}
    with relayed(bool(screen), looks) as (out, messages), ServedWork(folder) as work:
        answer(work, question, Filter(teams=True))
    parts = [each.getvalue().encode("utf-8", "backslashreplace") for each in (out, messages)]
    head = f"0 {len(parts[0])} {sum(map(len, parts))}\n".encode()
    asking.sendall(head + b"".join(parts))
    KEPT.finish()

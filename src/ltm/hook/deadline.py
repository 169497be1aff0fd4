"""The time limit of a hook: it ends when its time is up, even if a disk hangs, and loses no event.

A process that waits for a disk which hangs cannot be ended, not even by itself, and the reader of
its output waits as long. So the process a client started touches no disk: a child does, and sends
through a pipe, in lines, the event, that it is kept, and the answer. When time is up before the
event is kept, the event goes to a place outside of home, and the child goes on: under one key it
is one event. `receive` is imported in children only: reading it may wait for a disk too.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False  # without `typing`, which alone costs a hook half its time
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    Tell = Callable[[str], None]

OUT_OF_TIME = (
    '{"systemMessage":"LTM was not ready in time: this session starts without its memories, the'
    ' next should have them (ltm doctor or /ltm:doctor says more)"}\n'
)
"""What a hook prints for the person whose session starts without memories."""

START, _END = ('{"event":"SessionStart"', '{"event":"SessionEnd"')


def by_a_child(limit: float, end_limit: float, last: float) -> bool:
    """Receive an event in a child and print its answer; False if this Python cannot do it.

    It takes at most `limit` seconds, `end_limit` when a session ends, and then `last` more.
    """
    import select  # before the fork: the child needs it too

    begun = time.monotonic()
    reading, child = _forked(lambda tell: _work().receive(os.environ, tell))
    said = b""
    while True:
        until = begun + (end_limit if said.startswith(_END.encode()) else limit)
        if not select.select([reading], [], [], max(0.0, until - time.monotonic()))[0]:
            break
        chunk = os.read(reading, 1 << 16)
        if not chunk:
            return _is_done(said, os.waitpid(child, 0)[1])
        said += chunk
    event, is_kept, answer = _parts(said)
    _print(answer or (OUT_OF_TIME.encode() if event.startswith(START) else b""))
    ends = [_forked(lambda _: _work().note_late(os.environ, event))[0]]
    if is_kept:
        os.kill(child, 9)  # what is left to do is not worth the time
    elif event:
        ends.append(_forked(lambda _: _keep_outside(event, child))[0])
    until = time.monotonic() + last
    while ends and time.monotonic() < until:
        for handle in select.select(ends, [], [], max(0.0, until - time.monotonic()))[0]:
            ends.remove(handle)
    return True


def by_a_thread(limit: float, end_limit: float, last: float) -> bool:
    """The same where a process cannot be forked: this one ends when time is up."""
    from _thread import start_new_thread

    from ltm.hook.receive import give_up, receive

    told: list[str] = []

    def end_after(seconds: float) -> None:
        time.sleep(seconds)
        os._exit(0)

    def watch() -> None:
        time.sleep(end_limit)
        if not (told and told[0].startswith(_END)):
            time.sleep(limit - end_limit)
        start_new_thread(end_after, (last,))
        try:
            give_up(os.environ, told[0] if told else "")
        finally:
            os._exit(0)

    start_new_thread(watch, ())
    receive(os.environ, told.append)
    return True


def _is_done(said: bytes, status: int) -> bool:
    """Print the answer of a child that ended, or keep the event of one that died; False if it had
    not even read one."""
    event, is_kept, answer = _parts(said)
    _print(answer)
    if status and event and not is_kept:
        os.read(_forked(lambda _: _work().keep_told(os.environ, event))[0], 1)
    return bool(event) or not status


def _parts(said: bytes) -> tuple[str, bool, bytes]:
    """What the child sent: the event, whether it is kept, and the answer if that is whole."""
    event, *more = said.split(b"\n", 2)
    if not more:
        return "", False, b""
    answer = more[1] if len(more) > 1 else b""
    return event.decode("ascii"), len(more) > 1, answer if answer.endswith(b"\n") else b""


def _forked(work: Callable[[Tell], object]) -> tuple[int, int]:
    """Start a child that does some work; the end of its pipe, and its process id.

    It holds no pipe of the client's but its input, and that only until it has read it.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return reading, child
    status = 1
    try:
        os.setsid()  # what is done to the client and all its children is not done to it
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(writing, 1)
        os.dup2(nothing, 2)

        def tell(line: str) -> None:
            os.dup2(nothing, 0)
            try:
                os.write(1, line.encode("ascii") + b"\n")
            except OSError:
                pass  # time was up, and the parent no longer listens

        work(tell)
        status = 0
    finally:
        os._exit(status)


def _work() -> ModuleType:
    from ltm.hook import receive

    return receive


def _keep_outside(event: str, child: int) -> None:
    _work().keep_told(os.environ, event, outside=True)
    os.kill(child, 9)  # when the disk is back, it need not do it again


def _print(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]

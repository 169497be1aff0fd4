"""A session at the terminal: what a person types, and what the client shows.

Imports: deadline, screen, session, terminal.
"""

from __future__ import annotations

import re
import signal
from types import TracebackType

from .deadline import PATIENCE, DeadlineError, wait_until
from .screen import Screen
from .session import Launch, Session
from .terminal import Terminal

# The client's footer while it works.
BUSY = "esc to interrupt"
DIALOG_PATIENCE = 0.5


class TuiSession(Session):
    """The interactive client, as a context manager.

    Entering starts it and waits for its prompt; leaving types /exit, if it still runs.
    """

    def __init__(self, launch: Launch) -> None:
        super().__init__(launch)
        self._terminal: Terminal | None = None

    def __enter__(self) -> TuiSession:
        self._terminal = Terminal(self.launch.argv, self.launch.env, self.launch.folder)
        try:
            self.wait_idle()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None and not self.ended:
                self.exit()
        finally:
            self._close()
        if kind is None:
            self.check_script()

    def _close(self) -> None:
        if not self.ended:
            self.terminal.kill()
        self.terminal.close()

    @property
    def terminal(self) -> Terminal:
        """The terminal the client runs in."""
        assert self._terminal is not None, "the session was not entered"
        return self._terminal

    @property
    def rc(self) -> int | None:
        """The client's exit code, None while it runs; negative: the signal that ended it."""
        return self.terminal.returncode

    @property
    def screen(self) -> str:
        """What the client shows, or showed last."""
        return self.terminal.text()

    def ask(self, text: str, timeout: float = 2 * PATIENCE) -> None:
        """Say something to the model and wait until its turn is over."""
        before = self._turns()
        self.submit(text)
        self.wait(lambda: self._turns() > before, f"the answer to {text!r}", timeout)
        self.wait_idle()

    def command(self, text: str, until: str = "", timeout: float = PATIENCE) -> None:
        """Type a slash command and wait: for the event `until`, if given, and for the prompt."""
        before = len(self.fired(until)) if until else 0
        self.submit(text)
        if until:
            self.wait_fired(until, before + 1, timeout)
        self.wait_idle()

    def submit(self, text: str) -> None:
        """Type a line, see it in the input box, press Enter and see the box empty again.

        The pauses are the point: text and Enter in one go would be a paste to the client.
        """
        shown = _squeezed(text.removeprefix("!"))
        self.terminal.send(text)
        self.wait(lambda: _squeezed(self._prompt() or "").endswith(shown), f"{text!r} typed")
        self.terminal.key("enter")
        self.wait(lambda: self.ended or shown not in _squeezed(self._prompt() or ""), "Enter")

    def key(self, name: str) -> None:
        """Press a key (see terminal.KEYS)."""
        self.terminal.key(name)

    def dismiss(self, pattern: str) -> None:
        """Press Esc until a dialog that shows `pattern` is gone.

        More than once, because the client ignores keys in the first moments of a dialog.
        """

        def gone() -> bool:
            return not re.search(pattern, self.screen)

        def pressed() -> bool:
            if gone():
                return True
            self.key("esc")
            try:
                wait_until(gone, "", DIALOG_PATIENCE)
            except DeadlineError:
                return False
            return True

        self.wait_text(pattern)
        self.wait(pressed, f"{pattern!r} to go away")

    def wait_text(self, pattern: str, timeout: float = PATIENCE) -> None:
        """Wait until the screen shows something."""
        self.wait(lambda: re.search(pattern, self.screen), f"{pattern!r} on the screen", timeout)

    def wait_idle(self, timeout: float = PATIENCE) -> None:
        """Wait until the client has an empty input box and does nothing."""
        self.wait(lambda: self.terminal.look(_idle), "an idle prompt", timeout)

    def exit(self) -> int:
        """Leave with /exit."""
        self.submit("/exit")
        return self.terminal.wait_end()

    def hang_up(self) -> int:
        """Close the terminal, as when a person closes the window."""
        self.terminal.close()
        return self.terminal.wait_end()

    def kill(self, how: signal.Signals = signal.SIGKILL) -> int:
        """End the client by a signal."""
        return self.terminal.kill(how)

    def describe(self) -> str:
        """How the session stands, for the one who reads a failure."""
        return f"{super().describe()}\nscreen:\n{self.screen}"

    def _turns(self) -> int:
        """Turns that are over, or, when nobody recorded the events, requests so far."""
        if not self.launch.spied:
            return len(self.requests)
        return len(self.fired("Stop")) + len(self.fired("StopFailure"))

    def _prompt(self) -> str | None:
        return self.terminal.look(Screen.prompt)


def _idle(screen: Screen) -> bool:
    return screen.prompt() == "" and BUSY not in screen.footer()


def _squeezed(text: str) -> str:
    """Without white space: the input box wraps long lines where it likes."""
    return re.sub(r"\s", "", text)

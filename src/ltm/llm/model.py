"""Asking a language model: redacted, counted, capped, repeated while it is busy.

What holds for every call whatever backend makes it: secrets are taken out before a word leaves the
machine, the day's allowance is taken before the call and settled after it, and a model that is
merely busy is asked again a moment later.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from ltm.config.config import Config
from ltm.config.options import OFF
from ltm.errors import BadAnswer, CapReached, ModelBusy, ModelFailed
from ltm.llm.backend import GUARD, Backend
from ltm.model import now
from ltm.project.layout import Places
from ltm.redact.redact import redacted
from ltm.state.model_log import ModelLog, spent_and_waiting
from ltm.text.display import counted, estimate

MOST = 4_000
"""Tokens an answer may have."""

LONGEST = 60_000
"""Characters of an answer that are looked at; no answer that is asked for is nearly as long."""

PAUSES = (1.0, 4.0)
"""Seconds to wait before a busy model is asked again; after the last it is left alone."""

_MARGIN = 1.25  # the estimate of tokens may fall short by a fifth


class Model:
    """A model one may ask, within today's allowance."""

    def __init__(
        self,
        connect: Callable[[], Backend],
        log: ModelLog,
        *,
        calls_cap: int,
        tokens_cap: int,
        timeout: float,
        pause: Callable[[float], object] = time.sleep,
    ) -> None:
        self._connect = connect
        self._log = log
        self._caps = {"calls_cap": calls_cap, "tokens_cap": tokens_cap}
        self._timeout = timeout
        self._pause = pause
        self.calls = 0
        """Calls made through this object."""

    @cached_property
    def _backend(self) -> Backend:
        return self._connect()

    def ask(self, system: str, prompt: str, *, most: int = MOST, patient: bool = True) -> str:
        """What the model says to a prompt; `ModelFailed` when it cannot be had.

        With `patient`, a model that is busy is asked again a moment later.
        """
        # The instructions are LTM's own; what they are about may hold anything.
        prompt = redacted(prompt)
        needed = int(estimate(system + prompt) * _MARGIN) + self._backend.overhead + most
        pauses = iter(PAUSES if patient else ())
        while True:
            try:
                return self._ask_once(system, prompt, needed, most)
            except ModelBusy:
                pause = next(pauses, None)
                if pause is None:
                    raise
                self._pause(pause)

    def _ask_once(self, system: str, prompt: str, needed: int, most: int) -> str:
        at = datetime.now(UTC)
        if not self._log.reserve(at, needed, **self._caps):
            raise CapReached(
                "today's calls or tokens for the model are used up",
                hint="it goes on tomorrow (UTC); ltm config llm.daily_calls NUMBER raises the cap,"
                " and so does llm.daily_tokens",
                cost=0,
            )
        self.calls += 1
        cost: int | None = None
        try:
            answer = self._backend.ask(system, prompt, most=most, timeout=self._timeout)
            cost = answer.tokens
        except ModelFailed as error:
            cost = error.cost
            raise
        finally:
            # If the cost is unknown, what was reserved stands.
            if cost is not None:
                self._log.settle(at, needed, cost)
        if len(answer.text) > LONGEST:
            raise BadAnswer(f"the model answered with {len(answer.text):,} characters")
        return answer.text


def open_model(
    config: Config,
    home: str,
    log: ModelLog,
    environ: Mapping[str, str] = os.environ,
    *,
    at_most: float = math.inf,
) -> Model | None:
    """The model the user switched on; None when it is off, or inside a call of LTM's own.

    `at_most` is how many seconds the caller can wait, whatever the option says.
    """
    name = config.own("llm.backend")
    if name == OFF or environ.get(GUARD):
        return None
    return Model(
        lambda: _backend(name, config, home, environ),
        log,
        calls_cap=config.own("llm.daily_calls"),
        tokens_cap=config.own("llm.daily_tokens"),
        timeout=min(config.own("llm.timeout"), at_most),
    )


def _backend(name: str, config: Config, home: str, environ: Mapping[str, str]) -> Backend:
    model = config.own("llm.model")
    if name == "claude":
        from ltm.llm.claude_cli import Claude

        return Claude(home, environ, model)
    from ltm.llm.http_api import MessagesApi, find_key

    base_url = config.own("llm.base_url") or environ.get("ANTHROPIC_BASE_URL", "")
    return MessagesApi(base_url, find_key(home, environ), model)


def model_figures(places: Places, config: Config) -> dict[str, Any]:
    """Calls and tokens today, their caps, and what waits or was given up."""
    backend = config.own("llm.backend")
    spent, unheard = spent_and_waiting(places.state_db, now())
    on = backend != OFF
    waiting = [note for note in unheard if not note.given_up]
    return {
        "backend": backend,
        "calls_today": spent.calls,
        "tokens_today": spent.tokens,
        "cap": config.own("llm.daily_calls") if on else 0,
        "tokens_cap": config.own("llm.daily_tokens") if on else 0,
        "waiting": len(waiting),
        "error": next((note.error for note in waiting if note.error), ""),
        "given_up": [
            {"session": note.session, "lines": note.lines, "error": note.error}
            for note in unheard
            if note.given_up
        ],
    }


def model_lines(figures: dict[str, Any]) -> list[str]:
    """The same for a reader: one line, and more only when something waits or failed."""
    if figures["backend"] == OFF and not figures["calls_today"]:
        return ["none configured, 0 calls today"]
    lines = [
        f"{figures['backend']}, {figures['calls_today']} of {figures['cap']} calls and"
        f" {figures['tokens_today']:,} of {figures['tokens_cap']:,} tokens today"
    ]
    if figures["waiting"]:
        why = f": {figures['error']}" if figures["error"] else ""
        lines.append(f"{counted(figures['waiting'], 'session')} waiting to be read{why}")
    for note in figures["given_up"]:
        part = f"lines {note['lines']} of " if note["lines"] else ""
        lines.append(
            f"gave up on {part}session {note['session']}: {note['error']}"
            " (ltm capture with its transcript tries again)"
        )
    return lines

"""A person at a terminal: the installed `ltm`, started from nothing, in any surroundings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests import forking

LTM = str(Path(sys.executable).with_name("ltm"))


@dataclass(frozen=True)
class Person:
    """Somebody with a home for memories, in a project."""

    home: Path
    project: Path
    env: Mapping[str, str] = field(default_factory=dict)

    def run(
        self,
        *words: str | bytes,
        env: Mapping[str, str] | None = None,
        **how: Any,
    ) -> subprocess.CompletedProcess[str]:
        """Run `ltm` with these words; `how` goes to Popen."""
        return forking.run(
            words,
            cwd=self.project,
            env=self.environ if env is None else env,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            errors="surrogateescape",
            **how,
        )

    @property
    def environ(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home.parent),
            "LTM_HOME": str(self.home),
            **self.env,
        }

    def value(self, *words: str, **more: Any) -> Any:
        """Run it with --json, expect it to work, and give back the value it printed."""
        done = self.run(*words, "--json", **more)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return json.loads(done.stdout)

    def refused(self, *words: str, **more: Any) -> str:
        """Run it, expect a plain refusal, and give back what it said."""
        done = self.run(*words, **more)
        assert done.returncode == 1, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        assert "should not have happened" not in done.stderr
        return done.stderr

    def files(self) -> dict[str, bytes]:
        """Every memory and every kept version, by path."""
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for folder in (self.home, self.project)
            for path in sorted(folder.rglob("*.md"))
        }

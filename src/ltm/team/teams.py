"""The teams this machine belongs to: their address, the person's token, and what they may do.

Each has a folder in `$LTM_HOME/teams`: `team.json`, the token in a file of its own that only this
user can read, the replica vault, and the decisions that wait. What a hook needs to know of them is
in `project/layout`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from shutil import rmtree
from typing import Any
from urllib.parse import urlsplit

from ltm.errors import NotFound, Refused, WrongUsage
from ltm.files.atomic import make_folder, names_in, read_plain, write_file
from ltm.files.fastjson import read_object, write
from ltm.llm.http_api import is_this_machine
from ltm.project.layout import TEAM_FILE, TEAMS, TeamPlace, teams_in
from ltm.record import NamedTuple

TOKEN_FILE = "token"  # noqa: S105 - the name of a file
MAIN = "main"
"""The project that every team has."""

_PATH = re.compile(r"/t/([a-z0-9][a-z0-9-]{0,62})/p/([a-z0-9][a-z0-9-]{0,62})/?\Z")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}\Z")
_CURATES = ("curator", "owner")


class TeamAddress(NamedTuple):
    """Where a project of a team is."""

    url: str
    team: str
    project: str

    @property
    def usual_name(self) -> str:
        """What it is called on a machine, unless a person says otherwise."""
        return self.team if self.project == MAIN else f"{self.team}-{self.project}"


def parse_address(said: str) -> TeamAddress:
    """The address of a project of a team, as a person was given it."""
    url = urlsplit(said.strip())
    path = _PATH.fullmatch(url.path)
    if not path or not url.hostname or url.username or url.query or url.fragment:
        raise WrongUsage(
            f"'{said}' is not the address of a team",
            hint="it looks like https://memory.example.org/t/TEAM/p/PROJECT; ask who invited you",
        )
    if url.scheme != "https" and not (url.scheme == "http" and is_this_machine(url.hostname)):
        raise WrongUsage(
            f"'{said}' is not an https address, so the token could be read on its way",
            hint="use the https address of the server",
        )
    team, project = path.groups()
    return TeamAddress(f"{url.scheme}://{url.netloc}/t/{team}/p/{project}", team, project)


class Team(NamedTuple):
    place: TeamPlace
    person: str
    """Who this machine is to the team."""
    role: str

    @property
    def name(self) -> str:
        """What it is called here."""
        return self.place.name

    @property
    def folder(self) -> str:
        return self.place.folder

    @property
    def may_change(self) -> bool:
        """Whether the person may change memories, as far as is known here."""
        return self.role != "reader"

    @property
    def may_approve(self) -> bool:
        """Whether the person may approve what waits, and purge."""
        return self.role in _CURATES

    @property
    def token(self) -> str:
        path = os.path.join(self.folder, TOKEN_FILE)
        try:
            return read_plain(path, follow=False).decode("ascii").strip()
        except (OSError, ValueError):
            raise NotFound(
                "there is no token for the team",
                path=path,
                hint=f"give a new one: ltm team join {self.place.address}",
            ) from None


def team_named(home: str, name: str) -> Team:
    """The team of a name; the only one, if none is named."""
    places = list(teams_in(home))
    found = [each for each in places if each.name == name or not name]
    if len(found) != 1:
        known = ", ".join(each.name for each in places)
        message = f"this machine belongs to no team '{name}'" if name else "no team is named"
        hint = f"there are: {known}" if known else "join one with: ltm team join ADDRESS"
        raise NotFound(message, hint=hint)
    return _team(found[0])


def teams(home: str) -> list[Team]:
    return [_team(place) for place in teams_in(home)]


def _team(place: TeamPlace) -> Team:
    said = _said(place)
    return Team(place, str(said.get("person", "")), str(said.get("role", "")))


def _said(place: TeamPlace) -> dict[str, Any]:
    try:
        return read_object(read_plain(os.path.join(place.folder, TEAM_FILE)).decode("utf-8"))
    except (OSError, ValueError):
        return {}


def check_name(home: str, name: str, address: str) -> None:
    """Refuse a name that cannot be one, or that another team has."""
    if not _NAME.fullmatch(name):
        raise WrongUsage(
            f"'{name}' cannot be the name of a team",
            hint="use lower-case letters, digits and dashes, at most 40",
        )
    for each in teams_in(home):
        if each.name == name and each.address != address:
            raise Refused(
                f"another team is called {name} here ({each.address})",
                hint="give this one another name: --name NAME",
            )


def add(home: str, name: str, address: str, token: str, about: Mapping[str, Any]) -> Team:
    """Note a team; `about` has the person, the role, and the project here that it holds for."""
    folder = os.path.join(home, TEAMS, name)
    make_folder(folder)
    # The token first: a team without one would fail at every round.
    write_file(os.path.join(folder, TOKEN_FILE), f"{token}\n".encode("ascii"), mode=0o600)
    former = next((each for each in teams_in(home) if each.name == name), None)
    trusted = None if former is None else former.trusted
    _write(folder, {"address": address, "trusted": trusted, "here": "", **about})
    return team_named(home, name)


def note(team: Team, **changes: Any) -> Team:
    """Write changed fields of a team into its `team.json`."""
    said = _said(team.place)
    if {**said, **changes} != said:
        _write(team.folder, {**said, **changes})
    return team_named(os.path.dirname(os.path.dirname(team.folder)), team.name)


def _write(folder: str, said: Mapping[str, Any]) -> None:
    write_file(os.path.join(folder, TEAM_FILE), f"{write(dict(said))}\n".encode(), mode=0o600)


def remove(team: Team) -> None:
    # The note goes first: what a removal that was cut short leaves is not a team.
    for name in (TEAM_FILE, TOKEN_FILE, *names_in(team.folder)):
        path = os.path.join(team.folder, name)
        if os.path.isdir(path) and not os.path.islink(path):
            rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)
    os.rmdir(team.folder)

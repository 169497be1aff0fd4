"""The application of the page: its routes, its templates, and the JSON of every page.

The routes are two tables. A page is read and changes nothing; its address with `.json` behind the
path gives the same values. An act is a form that our own pages hold, with the token that stands in
them, and leads back to the page it stood on; so everything works without scripts.
"""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from hmac import compare_digest
from http.cookies import Morsel
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

import anyio
import anyio.to_thread
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from ltm import __version__
from ltm.errors import Ambiguous, BadFile, Busy, Conflict, LtmError, NotFound, Refused, WrongUsage
from ltm.http.address import AllowedNames
from ltm.model import Filter, Status, now, utc
from ltm.project.identity import known
from ltm.project.layout import teams_in
from ltm.state.candidates import Candidates
from ltm.store.open import as_refusal
from ltm.text.display import counted, file_size, visible
from ltm.web import acts, memories, plots, project, sessions
from ltm.web.acts import Clash, Done
from ltm.web.guard import ENTER, BrowserGuard, EntryLink
from ltm.web.site import Site, Visit, agents_in

_log = logging.getLogger("uvicorn.error")

_THREADS = 1
"""Requests that are answered at once, for one person: each has databases of its own open."""

_FIELDS = 5_000  # of a form: an act for all that a page lists
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_STATUS = {
    NotFound: 404,
    Ambiguous: 409,
    Conflict: 409,
    WrongUsage: 400,
    BadFile: 422,
    Refused: 422,
    Busy: 503,
}

PAGES: Mapping[str, tuple[str, Callable[[Visit], dict[str, Any]]]] = {
    "/": ("start", memories.start),
    "/find": ("find", memories.find),
    "/m/{name}": ("memory", memories.memory),
    "/review": ("review", memories.review),
    "/time": ("time", sessions.time),
    "/s/{name}": ("session", sessions.session),
    "/friction": ("friction", sessions.friction),
    "/figures": ("figures", project.figures),
    "/changes": ("changes", project.changes),
    "/health": ("health", project.health),
    "/teams": ("teams", project.memberships),
    "/settings": ("settings", project.settings),
    "/import": ("import", project.importing),
    "/work/{name}": ("work", project.work),
}
"""Every page: its address, its template, and the values it shows."""

ACTS: Mapping[str, Callable[[Visit], Done | Clash]] = {
    "/m/{name}/edit": acts.edit,
    "/m/{name}/pin": acts.pin,
    "/m/{name}/unpin": acts.unpin,
    "/m/{name}/promote": acts.promote,
    "/m/{name}/forget": acts.forget,
    "/m/{name}/restore": acts.restore,
    "/m/{name}/purge": acts.purge,
    "/m/{name}/approve": acts.approve_one,
    "/m/{name}/merge": acts.merge,
    "/m/{name}/settle": acts.settle,
    "/find/remember": acts.keep,
    "/find/selected": acts.bulk,
    "/review/decide": acts.decide,
    "/review/trust": acts.trust,
    "/review/consent": acts.consent,
    "/review/stashes": acts.begin_reflection,
    "/s/{name}/purge": acts.purge_session,
    "/friction/read": acts.begin_friction,
    "/friction/{name}": acts.rule,
    "/settings/set": acts.set_option,
    "/import/path": acts.begin_import,
    "/import/sessions": acts.begin_capture,
    "/teams/{name}/trust": acts.trust_team,
    "/teams/{name}/dismiss": acts.dismiss,
    "/teams/{name}/sync": acts.begin_exchange,
    "/undo": acts.undo,
}
"""Every act: the address its forms are sent to, and what it does."""

_OF_TEAMS = ("/m/", "/find", "/review", "/teams", "/changes", "/work/", "/undo")
"""Where the address may name a team: what begins with one of these is about its memories too."""

NAVIGATION = (
    ("/", "Next session", "h"),
    ("/find", "Memories", "f"),
    ("/review", "Review", "r"),
    ("/time", "Time", "t"),
    ("/friction", "Friction", "c"),
    ("/figures", "Figures", "n"),
    ("/health", "Health", "d"),
    ("/teams", "Teams", "m"),
    ("/settings", "Settings", "s"),
)
"""The pages in the head of every page, each with the key that follows `g`."""


def application(site: Site, names: AllowedNames, entry: EntryLink) -> BrowserGuard:
    """Everything that a browser is answered, behind the guard."""
    app = _Pages(site)
    routes = [
        Route(f"{ENTER}{{token}}", partial(_enter, entry), methods=["GET"], name="enter"),
        Route("/static/{name}", _static, methods=["GET"], name="static"),
    ]
    for path, (template, values) in PAGES.items():
        values = values if path.startswith(_OF_TEAMS) else partial(_of_project, values)
        twin = "/index.json" if path == "/" else f"{path}.json"
        routes.append(Route(twin, partial(app.as_json, values), methods=["GET"]))
        routes.append(Route(path, partial(app.page, template, values), methods=["GET"]))
    routes += [Route(path, partial(app.act, does), methods=["POST"]) for path, does in ACTS.items()]

    @asynccontextmanager
    async def life(starlette: Starlette) -> AsyncIterator[None]:
        yield
        site.close()

    starlette = Starlette(
        routes=routes, exception_handlers={HTTPException: app.unknown}, lifespan=life
    )
    starlette.router.redirect_slashes = False
    return BrowserGuard(starlette, names, entry)


async def _enter(entry: EntryLink, request: Request) -> Response:
    """Let a browser in that brings the link, once."""
    cookie = entry.use(request.path_params["token"])
    if not cookie:
        return PlainTextResponse(
            "This link was used already, or is too old. Type 'ltm ui' for another one.\n", 403
        )
    morsel: Morsel[str] = Morsel()
    morsel.set(entry.name, cookie, cookie)
    for name, value in (("httponly", True), ("samesite", "Strict"), ("path", "/")):
        morsel[name] = value
    return RedirectResponse("/", 303, headers={"set-cookie": morsel.OutputString()})


def _of_project(values: Callable[[Visit], dict[str, Any]], visit: Visit) -> dict[str, Any]:
    if visit.team is not None:
        raise WrongUsage(
            "this page is about a project, and a team is chosen",
            hint="choose a project at the top of the page",
        )
    return values(visit)


_STATIC = {
    "page.css": "page.css",
    "page.js": "page.js",
    "htmx.min.js": "htmx.min.js.gz",
    "icon.svg": "icon.svg",
}
"""The files of the page by their names in addresses: what others made and pressed lies packed."""


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    data = files("ltm.web").joinpath("static", _STATIC[name]).read_bytes()
    headers = {}
    if _STATIC[name].endswith(".gz"):
        headers["vary"] = "accept-encoding"
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
        else:
            data = gzip.decompress(data)
    return Response(data, media_type=_TYPES[name.rpartition(".")[2]], headers=headers)


class _Pages:
    """Answers requests: values of a page as HTML or JSON, and what acts did."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._limiter: anyio.CapacityLimiter | None = None
        self._templates = Environment(
            loader=PackageLoader("ltm.web", "pages"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=StrictUndefined,
            finalize=_finalize,
        )
        self._templates.filters |= {
            "day": _day,
            "minute": _minute,
            "hour": _hour,
            "ago": _ago,
            "number": lambda value: f"{value:,}",
            "size": file_size,
            "who": _who,
            "counted": counted,
        }
        self._templates.globals |= {
            "bars": plots.bars,
            "line": plots.line,
            "stack": plots.stack,
            "graph": plots.graph,
            "share": plots.share,
            "origins": _ORIGINS,
            "version": __version__,
            "token": site.token,
        }

    async def page(
        self, template: str, values: Callable[[Visit], dict[str, Any]], request: Request
    ) -> Response:
        """A page for a person."""

        def answer(visit: Visit) -> Response:
            return self._shown(visit, request, template, values(visit))

        return await self._answered(request, {}, answer)

    async def as_json(
        self, values: Callable[[Visit], dict[str, Any]], request: Request
    ) -> Response:
        """The values of a page for a program."""

        def answer(visit: Visit) -> Response:
            text = json.dumps(values(visit), ensure_ascii=False, default=str)
            data = text.encode("utf-8", "backslashreplace")
            return Response(data, media_type="application/json")

        return await self._answered(request, {}, answer)

    async def act(self, does: Callable[[Visit], Done | Clash], request: Request) -> Response:
        """Do what a form of the page asks for, and lead back."""
        try:
            text = (await request.body()).decode("utf-8")
            form = parse_qs(text, keep_blank_values=True, max_num_fields=_FIELDS, errors="strict")
        except ValueError:
            return PlainTextResponse("Refused: this form cannot be read.\n", 400)
        given = form.get("token", [""])[-1]
        if not compare_digest(given.encode("utf-8", "replace"), self._site.token.encode()):
            return PlainTextResponse("Refused: the form is not of this page.\n", 403)

        def answer(visit: Visit) -> Response:
            done = does(visit)
            if isinstance(done, Clash):
                return self._shown(visit, request, "clash", done.values, 409)
            address = done.address or visit.back()
            if done.text:
                change = self._site.note(visit, done.text, done.back)
                path, mark, anchor = address.partition("#")
                kept = [each for each in path.partition("?")[2].split("&") if each]
                kept = [each for each in kept if not each.startswith("done=")]
                words = "&".join((*kept, f"done={change.id}"))
                address = f"{path.partition('?')[0]}?{words}{mark}{anchor}"
            return RedirectResponse(address, 303)

        return await self._answered(request, form, answer)

    async def unknown(self, request: Request, error: Exception) -> Response:
        """An address that leads nowhere."""
        assert isinstance(error, HTTPException)
        if error.status_code != 404 and request.method != "GET":
            return PlainTextResponse(f"{error.detail}\n", error.status_code)

        def answer(visit: Visit) -> Response:
            raise NotFound(f"there is no page at {request.url.path}")

        return await self._answered(request, {}, answer)

    async def _answered(
        self,
        request: Request,
        form: Mapping[str, list[str]],
        answer: Callable[[Visit], Response],
    ) -> Response:
        """Answer in a thread; an error becomes a page that says what to do."""
        self._site.touch()
        asked = parse_qs(request.url.query, keep_blank_values=True, errors="replace")
        path = {name: str(value) for name, value in request.path_params.items()}

        def work() -> Response:
            try:
                with Visit(self._site, asked, form, path) as visit:
                    return answer(visit)
            except LtmError as error:
                return self._failed(request, asked, form, error)
            except Exception as error:
                refusal = as_refusal(error)
                if refusal is None:
                    _log.exception("%s", request.url.path)
                    refusal = LtmError(
                        f"this should not have happened: {type(error).__name__}: {error}",
                        hint="the terminal of 'ltm ui' shows where",
                    )
                return self._failed(request, asked, form, refusal)

        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_THREADS)
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)

    def _failed(
        self,
        request: Request,
        asked: Mapping[str, list[str]],
        form: Mapping[str, list[str]],
        error: LtmError,
    ) -> Response:
        status = next((code for kind, code in _STATUS.items() if isinstance(error, kind)), 500)
        values = {"message": str(error), "hint": error.hint}
        if request.url.path.endswith(".json"):
            return Response(json.dumps({"error": values}), status, media_type="application/json")
        try:
            with Visit(self._site, asked, form, {}) as visit:
                return self._shown(visit, request, "error", values, status)
        except LtmError:  # what is wrong is the project, team or agent that was asked for
            with Visit(self._site, {}, form, {}) as visit:
                return self._shown(visit, request, "error", values, status)

    def _shown(
        self,
        visit: Visit,
        request: Request,
        template: str,
        values: dict[str, Any],
        status: int = 200,
    ) -> Response:
        change = visit.site.change(visit.ask("done"))
        here = request.url.path
        query = request.url.query
        text = self._templates.get_template(f"{template}.html").render(
            **{name.replace(" ", "_"): value for name, value in values.items()},
            values=values,
            url=visit.address,
            here=here,
            back=f"{here}?{query}" if query and request.method == "GET" else here,
            visit=visit,
            badge=_waiting(visit),
            change=change,
            recent=sum(each.can_be_undone(visit) for each in visit.site.changes(visit)),
            navigation=_navigation(visit),
            projects=known(visit.site.home),
            team_names=[each.name for each in teams_in(visit.site.home)],
            agents=agents_in(visit.site.home),
        )
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


def _navigation(visit: Visit) -> list[tuple[str, str, str]]:
    """The pages in the head: of a team those it has, and the page of teams where there are any."""
    of_team = visit.team is not None
    found = [each for each in NAVIGATION if not of_team or each[0].startswith(_OF_TEAMS)]
    return [each for each in found if each[0] != "/teams" or any(teams_in(visit.site.home))]


def _waiting(visit: Visit) -> int:
    """How many items wait for a decision, as the head of every page shows it."""
    quarantined = visit.store.list(Filter(statuses=(Status.QUARANTINED,)), 0).total
    if visit.team is not None:
        return quarantined
    return quarantined + len(Candidates(visit.places.private).waiting())


def _finalize(value: Any) -> Any:
    """A value as a page shows it, with hidden characters made visible."""
    if value is None:
        return ""
    if isinstance(value, Markup):
        return value
    return visible(value, keep_newlines=True) if isinstance(value, str) else value


def _moment(text: object) -> datetime | None:
    try:
        return utc(str(text))
    except ValueError:
        return None


def _day(text: object, month: str = "%b %Y") -> str:
    moment = _moment(text)
    return f"{moment.day} {moment.strftime(month)}" if moment else str(text or "")


def _minute(text: object) -> str:
    moment = _moment(text)
    return f"{moment:%Y-%m-%d %H:%M}" if moment else str(text or "")


def _hour(text: object) -> str:
    moment = _moment(text)
    return f"{moment:%H:%M}" if moment else str(text or "")


def _ago(text: object) -> str:
    moment = _moment(text)
    if moment is None:
        return ""
    seconds = max(0, int((now() - moment).total_seconds()))
    for size, unit in ((86400 * 365, "year"), (86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{counted(seconds // size, unit)} ago"
    return "just now"


_WHO = {"user": "You", "assistant": "Agent", "tool": "Tool", "import": "Import"}


_ORIGINS = {"user": "a person", "assistant": "an agent", "tool": "a tool", "import": "an import"}


def _who(role: str) -> str:
    """Who said something, to the person who reads it."""
    return _WHO.get(role, role.capitalize())

"""`ltm ui`: a server for one person's browser, that ends when it is not used."""

from __future__ import annotations

import os
from collections.abc import Callable

from ltm.http.address import AllowedNames, address_of, allowed_names, bind
from ltm.http.connection import run_web
from ltm.project.home import home as find_home
from ltm.web.app import application
from ltm.web.guard import LINK_SECONDS, BrowserGuard, EntryLink
from ltm.web.site import Site

IDLE = 30 * 60
"""Seconds without a request after which the server ends."""


def serve_page(
    folder: str, port: int = 0, *, agent: str = "", ready: Callable[[str], None]
) -> None:
    """Show the page of a folder's project until Ctrl-C, or until it was not used for long.

    `ready` is given the link once it can be opened.
    """
    site = Site(find_home(), os.path.abspath(folder), agent)
    listening = bind("127.0.0.1", port, allow_remote=False)
    try:
        host, port = address_of(listening)
        entry = EntryLink(f"http://{host}:{port}", seconds=LINK_SECONDS)
        app = application(site, allowed_names(listening), entry)
        run_web(app, listening, lambda: ready(entry.address), is_over=lambda: site.is_idle(IDLE))
    finally:
        listening.close()


def shared_page(
    folder: str, told: Callable[[str], None]
) -> Callable[[AllowedNames, str], BrowserGuard]:
    """The page for `ltm serve`: the link is good once, and then another one is told."""

    def make(names: AllowedNames, address: str) -> BrowserGuard:
        entry = EntryLink(address, used=lambda: told(entry.address))
        told(entry.address)
        return application(Site(find_home(), os.path.abspath(folder)), names, entry)

    return make

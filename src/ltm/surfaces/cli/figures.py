"""The figures of a project, as `status` and `stats` both print them."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from ltm.core.model import Phase, Scope, Status
from ltm.embed.choosing import standing
from ltm.storage import keyfile
from ltm.storage.config import problems_in
from ltm.storage.foreign import foreign
from ltm.storage.passages import Passages
from ltm.storage.stashes import Stashes
from ltm.storage.waiting import unproven, waiting
from ltm.surfaces import masses
from ltm.surfaces.cli.work import Work
from ltm.surfaces.spend import model_figures


def figures(work: Work) -> dict[str, Any]:
    """Counts by kind, phase, status and scope, sessions, storage, and model calls today."""
    by: dict[str, Counter[str]] = {name: Counter() for name in ("kind", "scope", "status", "phase")}
    active = 0
    for kind, scope, status, phase, count in work.store.counts():
        by["status"][status] += count
        if status != Status.ACTIVE:
            continue
        active += count
        by["kind"][kind] += count
        by["scope"][scope] += count
        by["phase"][str(phase)] += count
    places = work.places
    quarantined, untrusted = waiting(work.store, places)
    key = keyfile.load(places.home)
    vaults = [
        {"name": name, "path": folder, **_size(folder)}
        for name, folder in (
            ("shared", places.shared if places.shared_exists else ""),
            ("private", places.private),
            ("agent", places.agent_folder),
        )
        if folder and os.path.isdir(os.path.join(folder, "memories"))
    ]
    return {
        "project": {
            "id": places.project.id,
            "name": places.project.name,
            "root": places.project.root,
        },
        "agent": places.agent,
        "total": sum(by["status"].values()),
        "active": active,
        "by_kind": {kind.name: by["kind"][kind.name] for kind in work.config.kinds},
        "by_phase": {str(int(phase)): by["phase"][str(int(phase))] for phase in Phase},
        "by_status": {str(status): by["status"][status] for status in Status},
        "by_scope": {str(scope): by["scope"][scope] for scope in Scope},
        "waiting": {
            "quarantined": quarantined,
            "untrusted": untrusted,
            "stashes": Stashes(places.project.root, places.private).waiting(),
        },
        "unproven": [{"path": each.path, "message": each.message} for each in unproven(places)],
        "held": masses.waiting(places),
        "foreign": [
            {"path": each.path, "line": each.line, "message": each.message, "new": each.is_new}
            for each in foreign(places)
        ],
        "signing": "" if key is None else key.id,
        "sessions": work.store.sessions(),
        "said": _said(places.sessions_db),
        "problems": len(work.store.problems()) + len(problems_in(work.config, places.home)),
        "storage": {
            "path": vaults[0]["path"] if vaults else places.private,
            "bytes": sum(vault["bytes"] for vault in vaults),
        },
        "vaults": vaults,
        "home": places.home,
        "llm": model_figures(places, work.config),
        "vectors": standing(work.config)._asdict(),
    }


def _said(path: str) -> dict[str, int | str]:
    """How much of this project's sessions is kept word for word."""
    passages = Passages(path, readonly=True)
    try:
        size = passages.size()
    finally:
        passages.close()
    return {
        "path": path,
        "sessions": size.sessions,
        "passages": size.passages,
        "bytes": size.bytes,
    }


def _size(folder: str) -> dict[str, int]:
    memories = bytes_ = 0
    for part in ("memories", "archives"):
        try:
            with os.scandir(os.path.join(folder, part)) as entries:
                for entry in entries:
                    if entry.name.endswith(".md"):
                        bytes_ += entry.stat(follow_symlinks=False).st_size
                        memories += part == "memories"
        except OSError:
            continue
    return {"memories": memories, "bytes": bytes_}

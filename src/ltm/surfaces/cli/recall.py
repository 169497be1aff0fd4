"""`ltm recall`: ask."""

from __future__ import annotations

import click

from ltm.core.screen import one_line
from ltm.recall.search import recall
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work, filter_options, wanted
from ltm.surfaces.cli.work import command as make


@make("recall")
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", "-n", type=click.IntRange(1, 200), help="How many at the most.")
@filter_options
def command(
    work: Work,
    query: tuple[str, ...],
    limit: int | None,
    kinds: tuple[str, ...],
    tags: tuple[str, ...],
    phase: int | None,
    status: str | None,
    scope: str | None,
) -> None:
    """Find the memories that answer QUERY: any words, a path, an identifier, an error message."""
    from ltm.core.tokens import estimate

    question = " ".join(query)
    found = recall(
        work.store,
        question,
        wanted(work, kinds, tags, phase, status, scope),
        limit or work.config.get("recall.limit"),
    )
    if work.as_json:
        output.emit(
            {
                "hits": [
                    {
                        "id": hit.stored.memory.id,
                        "title": hit.stored.memory.title,
                        "kind": hit.stored.memory.kind,
                        "score": round(hit.score, 4),
                        "why": hit.why,
                        "text": hit.stored.memory.text,
                        "tokens": estimate(hit.stored.memory.text),
                        "source": output.source(hit.stored),
                    }
                    for hit in found.hits
                ],
                "total": found.total,
            }
        )
        return
    if not found.hits:
        output.note(f"Nothing found for '{question}'. Try other words, or 'ltm list'.")
        return
    mark = output.marker(work.places.home)
    for hit in found.hits:
        memory = hit.stored.memory
        headline = f"{mark(hit.stored)}{output.headline(memory)}"
        output.say(f"{output.shown_id(memory.id)}  {headline}")
        output.say(f"    {one_line(memory.summary or memory.text)[:300]}")
        output.say(f"    why: {hit.why}; {estimate(memory.text)} tokens")
    if found.total > len(found.hits):
        output.note(f"{found.total - len(found.hits)} more; see them with --limit {found.total}")

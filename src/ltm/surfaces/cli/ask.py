"""`ltm ask`: a question, answered from memories."""

from __future__ import annotations

import click

from ltm.core.screen import one_line
from ltm.surfaces.cli import output
from ltm.surfaces.cli.work import Work
from ltm.surfaces.cli.work import command as make

_SHOWN = 10


@make("ask")
@click.argument("question", nargs=-1, required=True)
def command(work: Work, question: tuple[str, ...]) -> None:
    """Answer QUESTION from memories, with the ids it rests on.

    Needs a model (see: ltm config llm.backend). Without one it shows the evidence, best first.
    """
    from ltm.surfaces.ask import ask

    asked = " ".join(question)
    found = ask(work.store, work.places, work.config, asked)
    if work.as_json:
        output.emit(
            {
                "answer": found.text or None,
                "cited": list(found.cited),
                "evidence": [
                    {
                        "id": hit.stored.memory.id,
                        "title": hit.stored.memory.title,
                        "kind": hit.stored.memory.kind,
                        "score": round(hit.score, 4),
                        "why": hit.why,
                        "text": hit.stored.memory.text,
                        "source": output.source(hit.stored),
                    }
                    for hit in found.hits
                ],
                "total": found.total,
                "note": found.note,
            }
        )
        return
    if not found.hits:
        output.note(f"Nothing found for '{asked}'. Try other words, or 'ltm list'.")
        return
    if found.text:
        output.say(found.text)
        output.say("")
    if found.note:
        output.note(found.note)
    shown = [hit for hit in found.hits if not found.cited or hit.stored.memory.id in found.cited]
    for hit in shown[:_SHOWN]:
        memory = hit.stored.memory
        output.say(f"{output.shown_id(memory.id)}  {output.headline(memory)}")
        if not found.text:
            output.say(f"    {one_line(memory.summary or memory.text)[:300]}")

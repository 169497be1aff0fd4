"""`ltm ask`: a question, answered from memories."""

from __future__ import annotations

import click

from ltm.cli import output
from ltm.cli.command import Work, command
from ltm.cli.hits import hit_record, nothing_found, say_rivals
from ltm.recall.answer import ask
from ltm.recall.passages import Quote, cited_as, quote_title
from ltm.text.display import one_line

_SHOWN = 10


@command("ask")
@click.argument("question", nargs=-1, required=True)
def ask_command(work: Work, question: tuple[str, ...]) -> None:
    """Answer QUESTION from memories, with the ids of those the answer is based on.

    \b
    ltm ask "why did we leave Redis?"

    Needs a model (see: ltm config llm.backend). Without one it shows the evidence, best first.
    """
    asked = " ".join(question)
    found = ask(work.store, work.places, work.config, asked, said=work.said)
    if work.as_json:
        output.emit(
            {
                "answer": found.text or None,
                "cited": list(found.cited),
                "evidence": [hit_record(hit) for hit in found.hits],
                "total": found.total,
                "note": found.note,
            }
        )
        return
    if not found.hits:
        nothing_found(work, asked)
        return
    if found.text:
        output.say(f"{found.text}\n")
    if found.note:
        output.note(found.note)
    shown = [hit for hit in found.hits if not found.cited or cited_as(hit) in found.cited]
    told: set[str] = set()
    for hit in shown[:_SHOWN]:
        if isinstance(hit, Quote):
            head = f"{one_line(hit.id)}  {one_line(quote_title(hit))}"
            lines = [f"{role}: {text}" for role, text in hit.exchange]
        else:
            memory = hit.stored.memory
            head = f"{output.shown_id(memory.id)}  {output.memory_headline(memory)}"
            lines = [(memory.summary or memory.text)[:300]]
        output.say(head)
        for line in () if found.text else lines:
            output.say(f"    {one_line(line)}")
        if not isinstance(hit, Quote):
            say_rivals(work, hit.stored.memory, told)

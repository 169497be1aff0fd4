"""The `ltm` command's first step: answer the trivial at once, load the command line for the rest.

A cold start is what people feel, so nothing is imported here that the words typed do not need.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the `ltm` command."""
    try:
        _main()
    except KeyboardInterrupt:  # while something is loaded, before `ending` takes over
        sys.stderr.write("ltm: stopped\n")
        sys.exit(130)


def _main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        from ltm import __version__
        from ltm.cli.output import finish

        finish(lambda: print(f"ltm {__version__}"))
    if sys.argv[1:2] == ["merge-driver"]:
        # git calls this once per file of a merge: no command line library, only the merge.
        from ltm.cli.output import open_streams
        from ltm.vault.merge import main as merge

        open_streams()
        sys.exit(merge(sys.argv[2:]))
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv[2:]):
        # The program behind `ltm-hook`: a session waits for it, so nothing else is loaded.
        del sys.argv[1]
        from ltm.hook.main import main as hook

        hook()
    question = _plain_question(sys.argv[1:])
    if question:
        from ltm.cli.output import finish

        finish(lambda: _recall(question))
    from ltm.cli.app import run

    run()


def _plain_question(words: list[str]) -> str:
    """What is asked by `recall` and nothing but words; '' for any other call.

    Without options there is nothing to parse, and the library that would is a quarter of the time
    of a question. A word that begins with a dash is for that library to understand or refuse.
    """
    if words[:1] != ["recall"] or any(word.startswith("-") for word in words):
        return ""
    return " ".join(words[1:])


def _recall(question: str) -> None:
    from ltm.cli.context import Work
    from ltm.cli.hits import answer
    from ltm.model import Filter

    with Work() as work:
        answer(work, question, Filter())


if __name__ == "__main__":
    main()

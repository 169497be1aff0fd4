"""The `ltm` command's first step: answer the trivial at once, load the command line for the rest.

A cold start is what people feel: nothing is imported that the words typed do not need. What is
answered here works where no package is installed, as in the plugin's first session.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
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
    if sys.argv[1:2] == ["mcp"]:
        _serve_plainly(sys.argv[2:])
    if sys.argv[1:] == ["statusline"]:
        from ltm.cli.output import finish
        from ltm.cli.statusline import run as statusline

        finish(statusline)
    if sys.argv[1:] == ["drain"]:
        from ltm.cli.output import finish

        finish(drain_home)
    if sys.argv[1:] == ["inject"] or (
        sys.argv[1:4] == ["inject", "--json", "--project"] and len(sys.argv) == 5
    ):
        from ltm.cli.output import finish

        finish(lambda: _inject(*sys.argv[4:5]))
    question = _plain_question(sys.argv[1:])
    if question:
        from ltm.cli.question_socket import ask

        code = ask(question)
        if code is not None:
            sys.exit(code)
        from ltm.cli.output import finish

        finish(lambda: _recall(question))
    from ltm.cli.app import run

    run()


def _serve_plainly(words: list[str]) -> None:
    """Serve, if the words after `mcp` are those that clients use.

    The library that understands all others takes as long to load as the server.
    """
    project, unless_plugin = "", False
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--unless-plugin":
            unless_plugin = True
        elif word == "--project" and left and os.path.isdir(left[0]):
            project = os.path.realpath(left.pop(0))
        else:
            return
    from ltm.cli.question_socket import listen
    from ltm.mcp.server import serve

    serve(project, unless_plugin=unless_plugin, listen=listen)


def _plain_question(words: list[str]) -> str:
    """What is asked by `recall` and nothing but words; '' for any other call.

    A word that begins with a dash is for the command line library, a quarter of the time of a
    question.
    """
    if words[:1] != ["recall"] or any(word.startswith("-") for word in words):
        return ""
    return " ".join(words[1:])


def drain_home(as_json: bool = False) -> None:
    from ltm.cli import output
    from ltm.files.lock import PATIENCE
    from ltm.project.home import home
    from ltm.team.schedule import any_due
    from ltm.text.display import counted
    from ltm.worker.drain import drain, is_due

    folder = home()
    if os.path.isdir(folder):
        os.chdir(folder)  # the folder a session ran in may be deleted while we work
    if hasattr(os, "nice"):
        os.nice(10)  # the user is working on this machine
    # What is at work may be a server that ends with its session.
    done = drain(folder, patience=PATIENCE)
    calls = 0
    _sync_with_remote(folder)
    if is_due(folder):
        from ltm.worker.model_queue import hear_due

        calls = hear_due(folder).llm_calls  # last: a model may take minutes
    if calls:
        from ltm.remote.contents import mark_due

        mark_due(folder)
        _sync_with_remote(folder)
    if any_due(folder):
        from ltm.team.sync import synchronize_due

        synchronize_due(folder)
    if as_json:
        output.emit({"events": done.events, "errors": done.errors, "llm_calls": calls})
    else:
        output.note(f"{counted(done.events, 'event')}, {counted(done.errors, 'error')}")


def _sync_with_remote(folder: str) -> None:
    from ltm.remote.contents import is_due

    if is_due(folder):
        from ltm.worker.remote_sync import sync_due

        sync_due(folder)


def _inject(project: str = "") -> None:
    """What the next session starts with; for the hook, which names the project, as JSON."""
    from ltm.cli.context import Work
    from ltm.cli.output import say_injection
    from ltm.inject.session_start import tell
    from ltm.model import now

    with Work(project or None, as_json=bool(project)) as work:
        say_injection(work, tell(work.store, work.places, work.config, now()))


def _recall(question: str) -> None:
    from ltm.cli.context import Work
    from ltm.cli.hits import answer
    from ltm.model import Filter

    with Work() as work:
        answer(work, question, Filter(teams=True))


if __name__ == "__main__":
    main()

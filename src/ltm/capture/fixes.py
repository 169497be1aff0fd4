"""A command fails, something is changed, the command passes: a trap and the way out of it.

Also which line of an output says what went wrong, and whether it may be quoted. What still fails at
the end of a stretch is carried over to the next, without secrets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from unicodedata import normalize

from ltm.capture.commands import (
    FileEdit,
    Run,
    core_of,
    covers,
    is_installing,
    parse,
    purpose,
    replaced,
    teaches,
    works_around,
)
from ltm.capture.decide import Candidate
from ltm.capture.message import joined, opening
from ltm.capture.statements import EXPLAINED, NAMED, cause_in
from ltm.model import Source, Trust
from ltm.redact.redact import redacted
from ltm.text.judge import Judge, judge
from ltm.text.sentences import shortened

# What the output of a failed command says

# It was the wrong command, and not the work, that failed.
_WRONG_COMMAND = re.compile(
    r"command not found|missing script|unknown (?:command|task|script)|no such (?:command|task)"
    r"|could not find (?:a |the )?task|is not (?:a|recognized)|No module named",
    re.IGNORECASE,
)
# What goes wrong around the code and not in it: it will happen again.
_AROUND = re.compile(
    r"version|requires?\b|not supported|incompatible|mismatch|refused|\bE[A-Z]{4,}\b|denied"
    r"|permission|locked|tim(?:ed?|ing) ?out|already in use|no such file|not found in|executable"
    r"|librar(?:y|ies)|linker|\bSSL|certificate|out of memory|heap|disk|quota|codec|encod|charset"
    r"|locale|time ?zone|dependency|\bSDK\b|environment|licen[sc]e|partition|ERR_",
    re.IGNORECASE,
)
# Slips in the code that a compiler names and one edit mends.
_SLIP = re.compile(
    r"cannot find name|is not defined|can't resolve ['\"`]\.|cannot find module ['\"`]\."
    r"|cannot import name(?!.*(?:circular|partially))|\bSyntaxError|\bIndentationError"
    r"|\bNameError|\bUnboundLocalError"
    r"|cannot find symbol|undeclared|undefined (?:variable|name|local)|undefined: |unresolved name"
    r"|expected ['\"`][;)}\],]|unexpected token|missing semicolon|unused (?:variable|import)"
    r"|unterminated|unexpected indent",
    re.IGNORECASE,
)
# What a test says when something is other than it expects; and the files such words stand in.
_EXPECTED = re.compile(
    r"\bexpected\b.{0,60}\b(?:to (?:equal|eq|be|have|match|contain)|but (?:got|was)|got|received)\b"
    r"|\bassert|!=|\bdiffers?\b",
    re.IGNORECASE,
)
_OF_TESTS = re.compile(
    r"(?:\A|[/_.-])(?:tests?|specs?|__snapshots__)(?:[/_.-]|\Z)|\.snap\Z", re.IGNORECASE
)
_EXPLAINED = 8  # words from which a cause says more than the error does
_MOST_LINES, _LINE = 400, 500
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b\][^\x07\x1b]{0,200}\x07")
_NAMED = re.compile(
    r"(?:E\s+|\*\*\s*|\w+>\s+|Caused by: )?\(?(?:[\w-]+[.:]+)*\w*"
    r"(?:Error|Exception|Failure|Panic|Fault)\)?(?:\b.*)?\Z"
)
# From the most telling words of an error to the least; each is looked for in the text as it is or,
# which is faster than to ignore case, in small letters.
_TELLING: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = tuple(
    (re.compile(words), form)
    for words, form in (
        (r"error:|error\[|error ts|fatal:|panic:|failure:|\[error\]|error  ", str.lower),
        (r"\bE[A-Z]{4,}\b|\bERR_[A-Z]", str),
        (
            r"cannot|could not|can't|unable to|no such|not found|undefined|undeclared|missing"
            r"|refused|denied|timed out|unknown|invalid|unexpected|not supported|requires"
            r"|out of range|mismatch|overflow|too small|duplicate"
            r"|(?m:^[a-z][\w.-]*: (?:line )?\d+: )",
            str.lower,
        ),
        (r"--- fail|fail |failed |✗|✖|×", str.lower),
        (r"failed|panicked|error", str.lower),
    )
)
_ELSEWHERE = re.compile(
    r"errors? (?:have|has) been logged|see above|see the (?:log|output)|for more (?:info|details)"
    r"|could not compile due to|aborting due to|\b\d{1,9} (?:errors?|failed|failures?)\b"
    r"|exit (?:code|status)|did not complete successfully|returned non-zero"
    r"|a complete log of this run|code ERESOLVE\Z",
    re.IGNORECASE,
)
_NOISE = re.compile(r"Exit code \d+\Z|\W*\Z|\d+ passed|[=\-_*.]{3,}|at \S+|File \"|\d+ \|")
_BARE = re.compile(r"[\w.()]+:?\Z")
_SIGN = re.compile(r"\A(?:[E!>*]+ +)+")
_MARK = re.compile(
    r"\A(?:(?:[Ee]|\*+|!+|>+|\w+>|\[!\]|npm (?:ERR!|error)|(?:[\w.-]+: )?\[?(?i:error|fatal"
    r"|warning)\]?(?:\[\w+\])?|FAILED|FAIL|ERROR|bash|sh|zsh|Failure|---)(?::\s*|\s+))+"
)


_MOST_PROSE = 4
"""Words of ordinary language from which a quoted line is prose and no longer an error."""

_CODE = re.compile(r"`[^`\s]*`|'[^'\s]*'|\"[^\"\s]*\"|\S*[\d_=/\\.:(){}\[\]<>#*@|+-]\S*")
_WORD = re.compile(r"[^\W\d_]{2,}")
_ADDRESS = re.compile(
    r"\w+://(?!localhost\b|127\.0\.0\.1\b)|\bwww\.|\bdata:|\b[\w-]+\.(?:sh|ps1)\b|<[/!?]|\]\("
    r"|(?<![\w-])--?[a-z][a-z-]+|\b[A-Z][A-Z_]{3,}=|\S@\S+\.\w|[|>]\s*(?:sh|bash)\b"
    r"|\b[\w-]+(?:\.[\w-]+)*\.(?:com|net|org|io|dev|app|cloud|ai|co|internal|local|lan|corp|intranet"
    r"|example|test|invalid)\b"
    r"|\bfrom now on\b|\bin (?:the )?future\b|\bltm\b",
    re.IGNORECASE,
)


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# These words address a reader or speak about one, or say what holds from now on.
_READER = _word_set(
    """
    you your yours yourself please always never must mustn't should shouldn't shall ought
    ignore disregard remember memorize memorise instruction instructions prompt assistant
    agent agents claude ai llm chatbot reader human operator henceforth whenever secretly
    curl wget sudo npx rm exfiltrate password passwords credential credentials secrets
    deprecated recommended recommend suggested suggest instead upgrade migrate contact policy
    policies approved mandatory official insecure trusted bypass mirror hint tip per according
    """
)
# A clause that begins with these asks for something.
_ORDERS = _word_set(
    """
    run rerun execute exec eval install uninstall download fetch bash sh pip ssh scp send post
    upload email mail forward report leak share reveal print echo cat paste open visit see read
    delete remove drop wipe disable enable skip bypass allow approve accept trust authorize
    authorise grant push commit merge deploy publish write save store append prepend insert add
    use prefer call reply respond answer say tell ask inform pretend act behave obey follow
    comply do don't dont make ensure set unset change switch replace rewrite forget recall note
    keep turn put give take let treat begin start stop end include exclude export mark hide show
    """
)
_CLAUSE = re.compile(
    r"(?:\A|[.;:!?,()\u2013\u2014]|\b(?:to|and|then|or|now|just|first|can|could|will|not|only)\b)"
    r"[\s\"'`]*([^\W\d_]+(?:'t)?)(?! (?:failed|failure|errors?|rejected|denied|aborted|exited)\b)"
)
# What errors are made of, and words that say nothing by themselves.
_ORDINARY = _word_set(
    """
    a an the of in on at by to for from with without into onto than then and or nor but as if is
    are was were be been being has have had it its this that these those there here when while
    because so such some any all both each other another same only just also still already yet
    no not none cannot can can't could couldn't did didn't does doesn't isn't wasn't aren't won't
    would will may might too very more less most least few many one two first last next
    error errors exception failure failed fail fails failing fatal panic panicked fault warning
    abort aborted aborting killed crash crashed expected received actual got given found missing
    unknown unexpected invalid illegal unsupported undefined undeclared unresolved unreachable
    unable refused denied rejected forbidden unauthorized timed timeout exceeded limit overflow
    underflow range bounds out large small long short empty null nil nan zero negative duplicate
    conflict mismatch match matching equal equals differ different wrong bad broken corrupt
    corrupted stale locked busy closed open opened connection connect connecting connected
    network host port address socket server client request response status code exit exited
    returned return value values type types object objects property properties attribute
    attributes field fields key keys index name names named function method class module package
    import imports export exports file files directory folder path line column character token
    tokens syntax parse parsing parser string number integer float boolean list array dict map
    variable constant argument arguments parameter parameters option options flag command script
    target build compile compiling compiled compiler link linker library version requires require
    required support supported compatible incompatible test tests suite assertion assert case
    database table column constraint query migration permission access resource memory heap stack
    thread process signal config configuration setting settings environment dependency resolve
    resolved resolving load loaded loading read reading input output format encoding
    decode encode data schema body header json yaml toml xml http https tls ssl certificate
    find following above below location located valid size check documentation details available
    specified provided satisfies requirement satisfy determine initialized uninitialized partially
    circular cyclic recursive recursion depth borrow borrowed mutable immutable lifetime moved
    reference references pointer instance declared declaration defined definition define symbol
    symbols overwritten untracked working tree branch merge revision binary partition device
    driver kernel clause join statement transaction deadlock rollback lock already currently
    detected encountered occurred during performing trying attempt attempted operation call
    byte bytes characters command commands end ends expression extra identifier leading lines near
    start starts statement trailing unclosed unmatched unrecognized unterminated
    """
)


def speaks(quote: str) -> bool:
    """Whether a line from a tool's output does more than say what went wrong.

    It does when it addresses a reader, asks for something, leads somewhere, hides something, or is
    simply too much like prose.
    """
    if _ADDRESS.search(quote) or not quote.isprintable() or normalize("NFKC", quote) != quote:
        return True
    plain = _CODE.sub(_stop, quote).lower()
    words = _WORD.findall(plain)
    if not all(word.isascii() for word in words) or not _READER.isdisjoint(words):
        return True
    begun = (found[1] for found in _CLAUSE.finditer(plain))
    return not _ORDERS.isdisjoint(begun) or len(set(words) - _ORDINARY) >= _MOST_PROSE


def _stop(code: re.Match[str]) -> str:
    """What stands for a piece of code: nothing, or the stop it ends with."""
    return f" {code[0][-1]} " if code[0][-1] in ".;:!?,)" else " "


def is_slip(error: str, files: Sequence[str]) -> bool:
    """Whether an error that a change of these files mended says all there is to know."""
    adapted = _EXPECTED.search(error) and all(map(_OF_TESTS.search, files))
    return bool(adapted or _SLIP.search(error))


def telling_line(output: str) -> str:
    """The line of an output that says best what went wrong, or nothing."""
    plain = _ANSI.sub("", output) if "\x1b" in output else output
    lines = [" ".join(line[:_LINE].split()) for line in plain.split("\n")[:_MOST_LINES]]
    said = [(place, line) for place, line in enumerate(lines) if not _NOISE.match(line)]

    def first(tells: Callable[[str], object], form: Callable[[str], str] = str) -> str:
        for place, line in said:
            if tells(form(line)) and not _ELSEWHERE.search(line):
                return _with_place(line, lines[:place])
        return ""

    if found := first(_NAMED.match):
        return found
    whole = "\n".join(lines)
    for words, form in _TELLING:
        # Most outputs have none of the words, which is known sooner of the whole.
        if words.search(form(whole)) and (found := first(words.search, form)):
            return found
    return first(lambda line: line.count(" ") > 1)


def in_words(error: str) -> str:
    """An error line as the beginning of a sentence, without the marks before it."""
    plain = _MARK.sub("", error).strip().rstrip(":;,. ") or error
    first = plain.split(" ", 1)[0]
    return plain[0].upper() + plain[1:] if first.isalpha() and first.islower() else plain


def _with_place(line: str, before: list[str]) -> str:
    """A line that is only an error's name, with the line it happened on."""
    if not _BARE.match(line):
        return line
    told = [each for each in before if each and not _NOISE.match(each) and set(each) - set("^~ ")]
    return f"{line.rstrip(':')} at {told[-1]}" if told else line


# From a failure to its fix

_DIGITS = re.compile(r"\d+")
_OLD = 150  # commands after which a failure is not connected with a pass any more
_AT_ONCE, _OBSTACLES = 20, 4
_TOLD = 5_000
_CONCLUDED = 0.5
"""How much a sentence is worth at least to be the cause once all is mended: most that are said then
sum up, or name what is next."""
_TITLE, _CHANGE, _ERROR = 80, 70, 160


@dataclass(slots=True)
class Failure:
    """A command that failed and has not passed since."""

    command: str
    error: str
    line: int
    run: int
    """The how many-th command of the session it was."""
    attempts: int = 1
    files: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    change: str = ""
    """The last edit, when it is short enough to show."""
    cause: str = ""
    """What the agent said was wrong, since it failed."""
    fresh: bool = False
    """Whether the agent had just been writing: then it is most likely its own slip."""
    until: int = 0
    """The line on which it was seen to be out of the way."""
    before: list[Failure] = field(default_factory=list)
    """Other errors the command failed with earlier, each out of the way when the next came."""
    passing: str = ""
    """The command that passed, when it is mended."""
    at: str = ""


class Fixes:
    """Watches what is run and changed in one session."""

    def __init__(
        self, session: str, state: Any = None, model: Judge | None = None, folder: str = ""
    ) -> None:
        """`state` is what `state()` gave when an earlier stretch of the session ended, which ran in
        `folder`."""
        self._session = session
        self._folder = folder
        self._model = model or judge()
        listed = state if isinstance(state, list) else []
        self._open = [failure for each in listed if (failure := _failure(each))]
        self._mended: list[Failure] = []
        self._written = False
        self._runs = 0
        self._settled = 0

    def ran(self, run: Run) -> None:
        """Take one more command into account."""
        self._runs += 1
        if run.failed:
            self._failed(run)
        else:
            self._passed(run)

    def changed(self, change: FileEdit) -> None:
        """Take one more change of a file into account."""
        self._written = True
        name = _short_path(change.path, self._folder)
        words = "" if all(each.files for each in self._open) else _edit_in_words(change)
        for failure in self._open:
            failure.change = "" if failure.files else words  # of several, which was it?
            if name and name not in failure.files:
                failure.files = [*failure.files[-9:], name]

    def next_task(self) -> None:
        """The user spoke: what the agent says from here on is not about what was mended before."""
        self._settled = len(self._mended)

    def told(self, text: str, line: int) -> None:
        """Take into account what the agent says about what is failing, or was until just now."""
        mended = self._mended[self._settled :]
        if not self._open and (len(mended) != 1 or mended[0].cause):
            return
        # Once something was changed, what is said is about something else.
        unexplained = any(not (each.cause or each.files) for each in self._open)
        least = (EXPLAINED if unexplained else NAMED) if self._open else _CONCLUDED
        head = opening(text, _TOLD)
        if not cause_in(head, self._model, least):
            return  # which spares the time to look for secrets
        clean = redacted(head)
        named, explained = cause_in(clean, self._model), cause_in(clean, self._model, least)
        if not self._open and explained:
            mended[0].cause, mended[0].until = explained, max(mended[0].until, line)
        for failure in self._open:
            if named or not (failure.cause or failure.files):
                failure.cause = named or explained

    def state(self) -> list[dict[str, Any]]:
        """The failures that are still open, for the next stretch."""
        return [asdict(failure) for failure in self._open]

    def candidates(self) -> Iterator[Candidate]:
        """What was mended since this was last asked for."""
        mended, self._mended, self._settled = self._mended, [], 0
        for failure in mended:
            lines = f"{failure.line}-{failure.until}"
            source = Source(Trust.ASSISTANT, self._session, lines, "Bash")
            if _teaches_something(failure):
                yield _fix(failure, source)
            if speaks(failure.error):
                yield _quotation(failure, source._replace(trust=Trust.TOOL))

    def _failed(self, run: Run) -> None:
        if not teaches(run.command):
            return
        error = shortened(redacted(telling_line(run.output)), _ERROR)
        if not error:
            return
        new = Failure(run.command, error, run.line, self._runs, fresh=self._written)
        for place, failure in enumerate(self._open):
            if covers(failure.command, run.command) or covers(run.command, failure.command):
                failure.run = self._runs
                if error == failure.error:
                    failure.attempts += 1
                    return
                failure.until = run.line  # that obstacle is out of the way, here is the next
                new.before = [*failure.before, failure][-_OBSTACLES:]
                failure.before = []
                self._open[place] = new
                return
        self._open = [*self._open[-_AT_ONCE + 1 :], new]

    def _passed(self, run: Run) -> None:
        still: list[Failure] = []
        for failure in self._open:
            if self._runs - failure.run > _OLD:
                continue
            other = _is_other_way(run.command, failure)
            if not (other or covers(run.command, failure.command)):
                still.append(failure)
            else:
                failure.until = run.line
                for each in (*failure.before, failure):
                    if each.files or each.commands or (other and each is failure):
                        each.passing = run.command if each is failure else each.command
                        each.at = run.at
                        self._mended.append(each)
        self._open = still
        if self._open and teaches(run.command):
            for failure in self._open:
                failure.commands = [*failure.commands[-2:], parse(run.command).whole()]


def _is_other_way(command: str, failure: Failure) -> bool:
    """Whether a command does what failed in another way, and that way is the point."""
    if not failure.files and works_around(command, failure.command):
        return True
    now, then = parse(command), parse(failure.command)
    if covers(command, failure.command):
        return (now.setup, now.variables) != (then.setup, then.variables)
    if _WRONG_COMMAND.search(failure.error):
        return purpose(command) == purpose(failure.command) != ""
    change = replaced(command, failure.command)
    return change is not None and _DIGITS.sub("", change[0]) == _DIGITS.sub("", change[1])


def _teaches_something(failure: Failure) -> bool:
    """Whether a fix is more than a slip in the code, or fetching what is needed."""
    is_new = failure.attempts == 1 and len(failure.cause.split()) < _EXPLAINED
    if failure.files and is_new and is_slip(failure.error, failure.files):
        return False
    if failure.cause or failure.attempts > 1 or _is_other_way(failure.passing, failure):
        return True
    if failure.files:
        return not failure.fresh or bool(_AROUND.search(failure.error))
    return not all(is_installing(each, failure.error) for each in failure.commands)


def _fix(failure: Failure, source: Source) -> Candidate:
    command = shortened(core_of(failure.command), 100)
    # An output may say more than what went wrong; then it is not for us to repeat.
    error = "" if speaks(failure.error) else _SIGN.sub("", failure.error).rstrip(":. ")
    how, in_short = _way_out(failure)
    failed = f"`{command}` failed with: {error}" if error else f"`{command}` failed"
    title = failure.cause.rstrip(".")
    if not 0 < len(title) < _TITLE:
        title = f"{in_words(error) if error else failed}: {in_short}"
        if title.split(" ", 1)[0].rstrip(":").isalpha():  # and no name with a dot or a slash
            title = title[0].upper() + title[1:]
    is_likely_again = not failure.fresh or bool(_AROUND.search(failure.error))
    weight = 0.4 + 0.1 * min(3, failure.attempts)
    return Candidate(
        kind="gotcha",
        title=shortened(title, _TITLE),
        text=joined(failed, how, failure.cause),
        weight=min(0.9, weight + 0.15 * bool(failure.cause) + 0.15 * is_likely_again),
        source=source,
        reason="it took several attempts" if failure.attempts > 2 else "",
        observed=failed,
        done=how,
        at=failure.at,
    )


def _quotation(failure: Failure, source: Source) -> Candidate:
    """An error that says more than what went wrong: kept to wait, and so found by no search."""
    why = f"`{shortened(core_of(failure.command), 100)}` failed with it"
    return Candidate("gotcha", failure.error, 0.4, source, reason=why, at=failure.at)


def _way_out(failure: Failure) -> tuple[str, str]:
    """What was done about a failure, as a sentence and for a title."""
    if _is_other_way(failure.passing, failure):
        way = parse(failure.passing).whole()
        return f"It works as `{shortened(way, 160)}`.", f"run `{shortened(way, 50)}`"
    if not failure.files:
        ran = _and_list([f"`{each}`" for each in failure.commands])
        return f"Fixed by running {ran}.", f"fixed with `{shortened(failure.commands[-1], 40)}`"
    changed = f"Fixed by changing {_and_list(failure.files)}"
    changed += f": {failure.change}." if failure.change else "."
    return changed, f"fixed in {os.path.basename(failure.files[-1])}"


def _edit_in_words(change: FileEdit) -> str:
    """A short edit in words, or nothing."""
    old, new = (" ".join(redacted(text).split()) for text in (change.old, change.new))
    if not old or max(len(old), len(new)) > _CHANGE or "`" in old + new:
        return ""
    return f"`{old}` became `{new}`" if new else f"`{old}` was removed"


def _and_list(names: list[str]) -> str:
    shown = names[-3:]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _short_path(path: str, folder: str) -> str:
    """A path as the project has it, or the end of one that lies elsewhere."""
    inner = path.removeprefix(f"{folder.rstrip('/')}/") if folder else path
    parts = inner.replace("\\", "/").strip("/").split("/")
    return "/".join(parts[-3:] if inner == path else parts)


def _failure(value: Any) -> Failure | None:
    """A failure as an earlier stretch left it; the commands of that stretch are over."""
    try:
        failure = replace(Failure(**value), run=0)
        earlier: list[Any] = failure.before
        before = [replace(Failure(**each), before=[]) for each in earlier]
    except TypeError:
        return None
    return replace(failure, before=before)

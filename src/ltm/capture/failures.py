"""What the output of a failed command says, in one line.

Owns which line that is, how it reads without the marks a tool puts before it, and whether what it
tells is about the command, the world around the code, or a slip in it. Pure; the standard library
only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# It was the wrong command, and not the work, that failed.
WRONG_COMMAND = re.compile(
    r"command not found|missing script|unknown (?:command|task|script)|no such (?:command|task)"
    r"|could not find (?:a |the )?task|is not (?:a|recognized)|No module named",
    re.IGNORECASE,
)
# What goes wrong around the code and not in it: somebody will meet it again.
AROUND = re.compile(
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
# What the agent says when it just broke the thing itself.
_OWN = re.compile(
    r"\bmy (?:own |last |previous |first )?(?:change|edit|patch|fix|code|mistake|test)s?\b"
    r"|\btypo\b|\boff[- ]by[- ]one\b",
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
_CODED = re.compile(r"\bE[A-Z]{4,}\b|\bERR_[A-Z]")
# From the most telling words of an error to the least; each is looked for in small letters.
_TELLING = tuple(
    re.compile(words)
    for words in (
        r"error:|error\[|error ts|fatal:|panic:|failure:|\[error\]|error  ",
        r"cannot|could not|can't|unable to|no such|not found|undefined|undeclared|missing|refused"
        r"|denied|timed out|unknown|invalid|unexpected|not supported|requires|out of range"
        r"|mismatch|overflow|too small|duplicate",
        r"--- fail|fail |failed |✗|✖|×",
        r"failed|panicked|error",
    )
)
_ELSEWHERE = re.compile(
    r"errors? (?:have|has) been logged|see above|see the (?:log|output)|for more (?:info|details)"
    r"|could not compile due to|aborting due to|\b\d{1,9} (?:errors?|failed|failures?)\b"
    r"|exit (?:code|status)|did not complete successfully|returned non-zero"
    r"|a complete log of this run|code ERESOLVE\Z",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\b[1-9]\d{0,8} (?:failed|failures?|errors?)\b|^\s{0,8}(?:FAILED|FAIL|--- FAIL|BUILD FAILED"
    r"|error(?:\[\w+\])?:|npm ERR!|npm error|E  )|\*\* \(\w|Traceback \(most recent|panicked at",
    re.MULTILINE,
)
# One of these is in all that it finds: looking for them takes a quarter of the time.
_IN_FAILED = (" fail", "error", "FAIL", "npm ERR!", "E  ", "** (", "Traceback (", "panicked at")
_NOISE = re.compile(r"Exit code \d+\Z|\W*\Z|\d+ passed|[=\-_*.]{3,}|at \S+|File \"|\d+ \|")
_BARE = re.compile(r"[\w.()]+:?\Z")
_MARK = re.compile(
    r"\A(?:(?:[Ee]|\*+|!+|>+|\w+>|\[!\]|npm (?:ERR!|error)|(?:[\w.-]+: )?\[?(?i:error|fatal"
    r"|warning)\]?(?:\[\w+\])?|FAILED|FAIL|ERROR|bash|sh|zsh|Failure|---)(?::\s*|\s+))+"
)


def looks_failed(output: str) -> bool:
    """Whether an output tells of a failure that its command may have hidden."""
    return any(mark in output for mark in _IN_FAILED) and _FAILED.search(output) is not None


def is_slip(error: str, cause: str, files: Sequence[str]) -> bool:
    """Whether an error that one change of these files mended teaches nothing.

    The agent had just broken the thing itself; or nobody explained more than what the error says,
    and it says it all, or a test expected what had been.
    """
    if len(cause.split()) >= _EXPLAINED:
        return bool(_OWN.search(cause))
    adapted = _EXPECTED.search(error) and all(map(_OF_TESTS.search, files))
    return bool(adapted or _SLIP.search(error) or _OWN.search(cause))


def telling_line(output: str) -> str:
    """The line of an output that says best what went wrong, or nothing."""
    plain = _ANSI.sub("", output) if "\x1b" in output else output
    lines = [" ".join(line[:_LINE].split()) for line in plain.split("\n")[:_MOST_LINES]]
    best, best_rank = -1, len(_TELLING) + 3
    for place, line in enumerate(lines):
        rank = _rank(line)
        if rank < best_rank and not _ELSEWHERE.search(line):
            best, best_rank = place, rank
            if not rank:
                break
    return _with_place(lines[best], lines[:best]) if best >= 0 else ""


def in_words(error: str) -> str:
    """An error line as the beginning of a sentence, without the marks before it."""
    plain = _MARK.sub("", error).strip().rstrip(":;,. ") or error
    first = plain.split(" ", 1)[0]
    return plain[0].upper() + plain[1:] if first.isalpha() and first.islower() else plain


def _rank(line: str) -> int:
    """How telling a line is: 0 is the most; lines that tell nothing come after all others."""
    if not line or _NOISE.match(line):
        return len(_TELLING) + 3
    if _NAMED.match(line):
        return 0
    low = line.lower()
    for rank, words in enumerate(_TELLING, start=1):
        if words.search(low):
            return rank
        if rank == 1 and _CODED.search(line):
            return rank
    return len(_TELLING) + (1 if line.count(" ") > 1 else 3)


def _with_place(line: str, before: list[str]) -> str:
    """A line that is only an error's name, with the line it happened on."""
    if not _BARE.match(line):
        return line
    told = [each for each in before if each and not _NOISE.match(each) and set(each) - set("^~ ")]
    return f"{line.rstrip(':')} at {told[-1]}" if told else line

"""What the output of a failed command says, in one line.

Owns which line that is, how it reads without the marks a tool puts before it, and whether what it
tells is about the command, the world around the code, or a slip in it. Pure; the standard library
only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

# It was the wrong command, and not the work, that failed.
WRONG_COMMAND = re.compile(
    r"command not found|missing script|unknown (?:command|task|script)|no such (?:command|task)"
    r"|could not find (?:a |the )?task|is not (?:a|recognized)|No module named",
    re.IGNORECASE,
)
# What goes wrong around the code and not in it: it will happen again.
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
    r"[\s\"'`]*([^\W\d_]+(?:'t)?)"
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


def looks_failed(output: str) -> bool:
    """Whether an output tells of a failure that its command may have hidden."""
    return any(mark in output for mark in _IN_FAILED) and _FAILED.search(output) is not None


def is_slip(error: str, cause: str, files: Sequence[str]) -> bool:
    """Whether an error that one change of these files mended teaches nothing.

    The agent had just broken the thing itself; or no one explained more than what the error says,
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

"""The signals of a conversation by the rules that were checked on real sessions.

A signal needs a reason in the transcript's own verdicts (`is_error`) or in the user's own words;
machine signals only corroborate. Saving one's work, a pause and an end are checkpoints, unless a
reaction of the user is among the last eight signals.

Words that only look like a reaction were most of all hits on real sessions: "no rush" is kind, "no
such file" is pasted, "no" is an answer when the agent has asked. Polling is not a loop, nor is a
test that is run again after an edit or because the user said something: what counts is the same
call with the same result and nothing in between that could change it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence

from ltm.friction.ruleset import MESSAGES, Heard, Rules, Signal, cut, seconds_between, window
from ltm.sessions.turns import (
    AssistantText,
    Command,
    Compaction,
    Interruption,
    ToolResult,
    ToolUse,
    Turn,
    UserText,
)

COMMANDS = frozenset(("Bash", "PowerShell", "Shell", "shell", "run_command", "execute_command"))
"""Tools that run a command, whose success says that something worked."""

EDITS = frozenset(("Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch", "str_replace"))
_LOOK_BACK = 8
_LAST = 5
_ABANDONED = 8
CASCADE = 60
"""Seconds between two interruptions that are a cascade."""

_ONE_KEY = 2
"""Seconds within which two interruptions without an answer between them are one."""

_QUIET = frozenset(("exit_success", "checkpoint"))
_BREAKS = frozenset(("exit_error", "false_success", "request_interrupted", "interrupt_cascade"))
_MATTERS = COMMANDS | EDITS | {""}
"""Tools whose failure leaves work undone; what was looked for in vain does not."""

_STASH = re.compile(r"\s*/(?:[\w-]+:)?stash\b", re.IGNORECASE)
_CLAIM = re.compile(
    r"\b(?:done|completed?|fixed|success(?:ful(?:ly)?)?|works?\s+now|all\s+tests\s+pass)\b|✅",
    re.IGNORECASE,
)

# What a user who stopped an agent twice says is a wish only if it says how to do it.
_WISH = re.compile(
    r"\b(?:don'?t|do\s+not|never|always|instead|only|not|stop|should|must|use)\b", re.IGNORECASE
)
_SIBLING = "<tool_use_error>Sibling tool call errored"
_TOLD = "the user said:\n"
_NOTE = "\n\nNote: The user's next message"
_FAILED_TEXT = re.compile(r"^(?:Error:\s*)?(?:Exit code [1-9]|Traceback \(most recent)", re.M)
_SAID = 200
_STATEMENT = 300


class Detector:
    """Hears the messages of one conversation, in order, and notes what went wrong."""

    def __init__(self, heard: Heard, rules: Rules) -> None:
        self._heard = heard
        self._rules = rules
        self._ring: deque[Sequence[Turn]] = deque(maxlen=MESSAGES)
        self._loops = Loops()
        self._asked_before: set[str] = set()
        self._acted = False
        """Whether the agent did anything yet that could be wrong."""
        self._asks = False
        self._claimed = False
        self._unresolved = ""
        """The tool whose failure nothing has made good yet."""
        self._unanswered = False
        """Whether the user's last reaction has had no answer."""
        self._prompted = ""
        self._interrupted: Signal | None = None
        self._cascade: Signal | None = None
        """A cascade after which the user has not said yet what they want instead."""

    def hear(self, message: Sequence[Turn]) -> None:
        first = message[0]
        if first.sidechain:
            return
        heard = self._heard
        heard.messages += 1
        if first.at:
            heard.started = heard.started or first.at
            heard.ended = max(heard.ended, first.at)
        known = len(heard.signals)
        for turn in message:
            if isinstance(turn, ToolUse):
                self._acted = True
                self._asks = turn.tool in ("AskUserQuestion", "ExitPlanMode")
                self._unanswered = False
                self._loops.call(turn)
            elif isinstance(turn, ToolResult):
                self._result(turn)
            elif isinstance(turn, AssistantText):
                self._acted = True
                self._asks = "?" in turn.text[-200:]  # then a no is an answer
                self._claimed = self._claimed or _CLAIM.search(turn.text[:2_000]) is not None
                self._unanswered = False
            elif isinstance(turn, UserText):
                self._user(turn)
            elif isinstance(turn, Interruption):
                self._interruption(turn)
            elif isinstance(turn, Command):
                if _STASH.match("/" + turn.name.lstrip("/")):
                    self._stash(turn)
            elif isinstance(turn, Compaction):
                self._add("compaction", turn, turn.trigger or "compacted")
        self._ring.append(message)
        for signal in heard.signals[known:]:
            if signal.name in self._rules.anchors:
                heard.windows.append(window(signal, self._ring))

    def finish(self) -> Heard:
        """The conversation is over: what shows only at its end."""
        heard = self._heard
        heard.signals.sort(key=lambda signal: signal.at)  # forks may have been read out of order
        loud = [signal for signal in heard.signals if signal.name not in _QUIET]
        end = Signal("", heard.ended)
        left = self._unresolved or self._unanswered
        if left and 1 <= heard.turns <= 3 and loud and loud[-1].name in _BREAKS:
            heard.signals.append(Signal("rapid_exit", end.at, f"{heard.turns} turns"))
        intervened = heard.saw("user_intervention")
        if self._unresolved and not intervened and heard.turns > 1:
            detail = f"the last {self._unresolved} failed"
            heard.signals.append(Signal("no_resolution", end.at, detail))
        weight = sum(self._rules.weight(each.name) for each in loud[-_LAST:])
        if left and weight >= _ABANDONED and not intervened and heard.turns > 2:
            reacted = any(signal.is_reaction for signal in loud[-_LOOK_BACK:])
            name = "session_abandoned" if reacted else "checkpoint"
            signal = Signal(name, end.at, f"friction at the end: {weight:g}")
            heard.signals.append(signal)
            if reacted:
                heard.windows.append(window(signal, self._ring))
        return heard

    # -- the user --------------------------------------------------------------------------------

    def _user(self, turn: UserText) -> None:
        self._heard.turns += 1
        self._silence(turn)
        self._loops.clear()
        self._claimed = False
        asked, self._asks = self._asks, False
        if _STASH.match(turn.text):
            self._stash(turn)
            return
        if is_pasted(turn.text):
            return
        self._reaction(turn, turn.text, asked=asked)
        if self._cascade is not None and _WISH.search(turn.text[:_STATEMENT]):
            self._cascade.statement = cut(turn.text, _STATEMENT)
        self._cascade = None
        start = turn.text[:100].strip().lower()
        if len(start) > 20:
            if start in self._asked_before:
                self._add("repeated_question", turn, cut(turn.text, _SAID))
            self._asked_before.add(start)

    def _reaction(self, turn: Turn, text: str, *, asked: bool) -> None:
        if not self._acted:
            return  # nothing was done yet that these words could be about
        for name, found in (
            ("user_correction", is_correction(text, asked=asked, did=self._doings)),
            ("user_curse", is_curse(text)),
        ):
            if found:
                signal = self._add(name, turn, cut(text, _SAID))
                signal.statement = cut(text, _STATEMENT)
                self._unanswered = True

    def _doings(self) -> str:
        """What the agent said and did in its last messages."""
        return "\n".join(
            turn.text[:2_000] if isinstance(turn, AssistantText) else repr(turn.input)[:2_000]
            for message in self._ring
            for turn in message
            if isinstance(turn, AssistantText | ToolUse)
        )

    def _interruption(self, turn: Interruption) -> None:
        before = self._interrupted
        gap = seconds_between(before.at, turn.at) if before is not None else None
        last = self._ring[-1] if self._ring else ()
        idle = any(isinstance(turn, Interruption) for turn in last)
        if gap is not None and 0 <= gap <= _ONE_KEY and idle:
            return
        self._interrupted = self._add(
            "request_interrupted", turn, "in a tool" if turn.in_tool else "in an answer"
        )
        self._unanswered = True
        if gap is not None and 0 <= gap <= CASCADE:
            signal = self._add("interrupt_cascade", turn, f"stopped again after {gap:.0f} s")
            signal.more["gap_seconds"] = round(gap, 1)
            self._cascade = signal

    def _stash(self, turn: Turn) -> None:
        name = "user_intervention" if self._reacted_lately() else "checkpoint"
        self._add(name, turn, "/stash")

    def _silence(self, turn: UserText) -> None:
        before, self._prompted = self._prompted, turn.at
        gap = seconds_between(before, turn.at)
        if gap is None or gap <= self._rules.thresholds["long_silence_minutes"] * 60:
            return
        name = "long_silence" if self._reacted_lately() else "checkpoint"
        signal = self._add(name, turn, f"{gap / 60:.0f} minutes of silence")
        signal.more["gap_minutes"] = round(gap / 60, 1)

    def _reacted_lately(self) -> bool:
        loud = [each for each in self._heard.signals[-50:] if each.name not in _QUIET]
        return any(signal.is_reaction for signal in loud[-_LOOK_BACK:])

    # -- tools -----------------------------------------------------------------------------------

    def _result(self, turn: ToolResult) -> None:
        if turn.refused:
            words = turn.text.partition(_TOLD)[2].partition(_NOTE)[0].strip()
            if words and turn.tool != "ExitPlanMode":  # a plan is there to be talked about
                # The user would not let a tool run and said why: a correction in so many words.
                self._add("user_correction", turn, cut(words, _SAID)).statement = cut(
                    words, _STATEMENT
                )
            return
        if turn.text.startswith(_SIBLING):
            self._sibling(turn)
            return
        loop = self._loops.result(turn)
        # Where the client gave no verdict, what a command or an unknown tool printed tells.
        look = _FAILED_TEXT.search if turn.tool in COMMANDS else _FAILED_TEXT.match
        may_fail = not turn.judged and (turn.tool in COMMANDS or not turn.tool)
        if turn.failed or (may_fail and look(turn.text[:20_000])):
            self._add("exit_error", turn, f"{turn.tool or 'a tool'} failed")
            # A file that is not there says nothing about whether the work was done.
            if self._claimed and (turn.tool in COMMANDS or not turn.tool):
                self._add("false_success", turn, f"success was claimed, then {turn.tool} failed")
            self._claimed = False
            if turn.tool in _MATTERS:
                self._unresolved = turn.tool or "tool"
        elif turn.tool in COMMANDS:
            self._add("exit_success", turn, f"{turn.tool} succeeded")
            self._unresolved = ""
            self._claimed = False
        elif self._unresolved not in COMMANDS:
            self._unresolved = ""  # what was looked for or edited in vain was found another way
        if loop is not None:
            self._heard.signals.append(loop)

    def _sibling(self, turn: ToolResult) -> None:
        last = self._heard.signals[-1] if self._heard.signals else None
        if last is not None and last.name == "sibling_tool_error" and last.at == turn.at:
            last.more["batch_size"] += 1
            last.more["tools_affected"].append(turn.tool)
            return
        signal = self._add("sibling_tool_error", turn, "cancelled")
        signal.more = {"batch_size": 1, "tools_affected": [turn.tool]}

    def _add(self, name: str, turn: Turn, details: str) -> Signal:
        signal = Signal(name, turn.at, details, turn.uuid)
        self._heard.signals.append(signal)
        return signal


LOOP = 3
"""Calls from which it is a loop."""

_HELD = 500
_POLLING = """BashOutput TaskOutput AgentOutput KillShell KillBash Sleep Monitor TodoRead TodoWrite
    TaskList TaskGet TaskUpdate TaskCreate AskUserQuestion"""
_POLLING_TOOLS = frozenset(_POLLING.split())
_POLLING_COMMAND = re.compile(
    r"\b(?:sleep|watch|wait|curl|wget|ping|tail|ps|pgrep|lsof|nc|ss|netstat|(?:kubectl|docker"
    r"|podman|systemctl|gh|git)\s+(?:get|ps|status|logs|run|pr|describe|inspect|fetch|pull))\b"
)


class Loops:
    """The calls made lately, with what they gave back."""

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._seen: dict[int, tuple[int, int, Signal | None]] = {}

    def clear(self) -> None:
        """Something happened after which the same call may be worth making again."""
        self._seen.clear()

    def call(self, turn: ToolUse) -> None:
        if turn.tool in _POLLING_TOOLS:
            return
        command = turn.input.get("command")
        if isinstance(command, str) and _POLLING_COMMAND.search(command[:2_000]):
            return
        if len(self._open) >= _HELD:
            self._open.clear()  # calls that never got a result
        self._open[turn.id] = hash((turn.tool, repr(turn.input)))

    def result(self, turn: ToolResult) -> Signal | None:
        """It gave something back: the signal, when this makes it a loop."""
        call = self._open.pop(turn.id, None)
        if turn.tool in EDITS and not turn.failed and not turn.refused:
            self.clear()
            return None
        if call is None or turn.refused:
            return None
        # The ends and the length tell results apart as well as all of it, in a tenth of the time.
        given = hash((turn.failed, len(turn.text), turn.text[:300], turn.text[-300:]))
        before, count, signal = self._seen.get(call, (given, 0, None))
        if before != given:
            count, signal = 0, None
        count += 1
        if signal is not None:
            signal.more["loop_count"] = count
        new = None
        if count == LOOP:
            new = signal = Signal(
                "tool_loop",
                turn.at,
                f"{turn.tool or 'tool'}: the same call, the same result",
                turn.uuid,
                more={"tool": turn.tool, "loop_count": count},
            )
        if len(self._seen) >= _HELD:
            self._seen.clear()
        self._seen[call] = (given, count, signal)
        return new


_LONGEST = 4_000
"""Characters of a message that are looked at: longer ones are pastes with a word before them."""

# `no` counts before a pause, or before a word that goes on to contradict.
_CORRECTION = re.compile(
    r"""\s*(?:ugh|hey|hmm+|wait|argh?|oh|but|and|ok(?:ay)?|please|claude)?[\s,.!:…-]{0,4}(?:
        no(?:pe)?(?=\s*(?:[,.!;:…—–-]|$|\n)
                   |\s+(?:i|i'm|i'd|it|it's|its|that|that's|thats|this|these|those|you|we|they|not
                     |do|don't|dont|just|use|no|please|still|wait|stop|leave|keep|put|make|let|lets
                     |let's|there|what|why|actually|but|because|my|your|the|always|never|only
                     |instead|go|undo|revert|remove)\b)
      | (?:that(?:'s|\s+is|s)?|this(?:\s+is)?|it(?:'s|\s+is)?|you(?:'re|\s+are)|still)\s+
            (?:completely\s+|totally\s+|just\s+|all\s+|also\s+)?(?:wrong|incorrect)\b
      | wrong\b(?=\s*(?:[,.!;:…—–-]|$|\n)|\s+(?:again|file|branch|approach|way|one|place|folder|dir
            |directory|function|version|project|repo|button|page|order))
      | (?:don't|dont|do\s+not)\s+(?!(?:worry|forget|know|think|mind|see|remember|understand|have
            |hesitate|bother|need|want|get|feel|believe|seem|exist|work|we|you|they|i|it)\b)\w+
      | (?:it|that|this)?\s*(?:didn't|didnt|did\s+not|doesn't|doesnt|does\s+not)\s+
            (?:work|help|fix|change)\b
      | (?:that's|thats|that\s+is|this\s+is|it's|its)\s+not\s+
            (?:what|it|right|correct|true|how|the|where|good\s+enough|working|fixed)\b
      | not\s+what\s+i\b
      | not\s+(?:like\s+that|that\s+one|this\s+one)\b
      | stop(?=\s*(?:[,.!;:…—–-]|$|\n)|\s+\w+ing\b)
      | (?:revert|undo)(?=\s*(?:[,.!;:…—–-]|$|\n)|\s+(?:it|this|that|these|those|your|all\s+your
            |everything|(?:the\s+|last\s+|my\s+)*chang\w*|the\s+last|what)\b)
      | (?:it(?:'s|s|\s+is)?|that(?:'s|s|\s+is)?|this(?:\s+is)?)?\s*still\s+
            (?:broken|failing|fails|not\s+(?:working|fixed|right|there|what)|doesn't|doesnt
            |does\s+not|didn't|didnt|did\s+not|the\s+same|wrong|happening|happens|crashes|crashing)\b
      | i\s+said(?=\s*[,:"'“]|\s+(?:no|not|don't|dont|never|always|only|use|to|that|it|you|we|i)\b)
      | i\s+(?:told\s+you|asked\s+(?:you\s+)?(?:for|to)|already\s+(?:said|told|asked))\b
      | why\s+did\s+you\s+(?:remove|delete|drop|change|rename|skip|ignore|break|overwrite|not)\b
      | why\s+(?:did|are|do|would)\s+you\b(?=.{0,80}\b(?:again|still|keep|when\s+i|instead|not)\b)
      | you\s+(?:forgot|missed|ignored|broke|deleted|removed\s+the|keep\s+\w+ing)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)

# Most messages begin with none of these, and need no closer look.
_FIRST_WORD = re.compile(r"[^\w]{0,8}([a-z]+)", re.IGNORECASE)
_FIRST = """ugh hey wait arg argh oh but and ok okay please claude no nope wrong not stop revert
    undo still why don dont that thats this it its you i do did didn didnt does doesn doesnt"""
_BEGINNINGS = frozenset(_FIRST.split())
_KIND = re.compile(
    r"\s*no[\s,]+(?:problems?|worries|rush|hurry|need|thanks?|thank|idea|questions?|biggie|pressure"
    r"|objections?|preference|changes?\s+(?:needed|required)|longer|more|one|matter|doubt|such"
    r"|module|errors?|issues?|tests?|results?|output|response|reply|that'?s\s+(?:fine|ok|okay|good"
    r"|all|it|great|perfect)|it'?s\s+(?:fine|ok|okay|good|perfect|great))\b",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"\s*(?:no(?:pe)?|don'?t|do\s+not|wrong|stop)\b", re.IGNORECASE)
_FORBIDS = re.compile(
    r"\s*(?:(?:and|but|please|ok(?:ay)?|hey|oh)[\s,.!:…-]{1,4})?(?:don'?t|do\s+not)\s+([^.!?\n]{1,200})",
    re.IGNORECASE,
)
_MATTER = re.compile(r"[a-z]{3,}")
_STEM = 5
_CURSE = re.compile(
    r"\b(?:fuck\w*|motherfuck\w*|shit(?:ty|s)?|bullshit|damn(?:it|ed)?|goddamn\w*|wtf|ffs)\b",
    re.IGNORECASE,
)
_CURSES = ("fuck", "shit", "damn", "wtf", "ffs")
_ADDRESSED = re.compile(r"\b(?:you|your|stop|keep|again|why)\b", re.IGNORECASE)
_PLEASED = re.compile(
    r"\b(?:nice|great|good|awesome|amazing|love|cool|perfect|impressive|beautiful|works|fast"
    r"|thank\w*|well\s+done|congrat\w*|hell\s+yeah|yeah)\b",
    re.IGNORECASE,
)

# What an agent does all the time says nothing about what it did just now.
_EVERYWHERE = """this that these those them with your please just from into file files code make
    need have because there anything use the and for not any all our too yet run add put let get
    set its now"""
_ANYTHING = frozenset(_EVERYWHERE.split())
_NEAR = 40
_SHORT = 120
_PROMPT = re.compile(r"\s*(?:[\w.@~/:-]{0,60}[$#%❯➜>]\s|>>>\s|\+\s\S|PS\s+\S+>)")
_MACHINE = re.compile(
    r"\s*(?:Traceback\ \(|\w*(?:Error|Exception|Warning)\b[:\s(]|\[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d"
    r"|\[?(?:INFO|DEBUG|WARN|ERROR|FATAL)\b|error(?:\[\w+\])?:|fatal:|npm\ ERR|at\ \S+\ \("
    r"|no\ such\ file|\d+\s+(?:passed|failed)|diff\ --git|@@\ |commit\ [0-9a-f]{7,40}|```|<\w+)",
    re.VERBOSE,
)


def is_correction(text: str, *, asked: bool = False, did: Callable[[], str] | None = None) -> bool:
    """Whether a message begins by contradicting what was done.

    `asked` says that it answers a question. `did` gives what the agent said and did just before:
    "don't push" is an order for later, unless it was about to push.
    """
    head = text[:_LONGEST]
    first = _FIRST_WORD.match(head)
    word = first[1].lower() if first else ""
    if word not in _BEGINNINGS and not word.startswith("hmm"):
        return False
    if _KIND.match(head) or not _CORRECTION.match(head):
        return False
    if asked and _ANSWER.match(head):
        return False
    forbids = _FORBIDS.match(head)
    if forbids is None or did is None:
        return True
    # Any word of matter in what is forbidden stands in what the agent did, by its beginning.
    done = did().lower()
    words = (word for word in _MATTER.findall(forbids[1].lower()) if word not in _ANYTHING)
    return any(word[:_STEM] in done for word in words)


def is_curse(text: str) -> bool:
    """Whether a message curses at the agent: a short one does, a long one if it is addressed."""
    head = text[:_LONGEST].lower()
    if not any(word in head for word in _CURSES):
        return False
    found = _CURSE.search(head)
    if found is None:
        return False
    around = text[max(0, found.start() - _NEAR) : found.end() + _NEAR]
    if _PLEASED.search(around):
        return False
    return len(text) <= _SHORT or _ADDRESSED.search(around) is not None


def is_pasted(text: str) -> bool:
    """Whether a message is a terminal's or a program's output, and not the user's own words."""
    lines = [line for line in text[:_LONGEST].split("\n", 40) if line.strip()]
    if not lines:
        return False
    if _PROMPT.match(lines[0]) or _MACHINE.match(lines[0]):
        return True
    if len(lines) < 4:
        return False
    return sum(bool(_PROMPT.match(line) or _MACHINE.match(line)) for line in lines) * 3 > len(lines)

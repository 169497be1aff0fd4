"""Signs of what is to be done or not done, and by whom.

Owns a table. Patterns see a sentence in small letters, without its lead, with code and quotations
masked. Pure; imports `cue`.
"""

from __future__ import annotations

from ltm.capture.cue import Cue, cue

_EVER = r"""(?:always|never|don't ever|do not ever|not ever|only ever)(?! (?:mind|had|was|were|did
    |got|been|(?!need|feed|embed|proceed|exceed|speed|seed|read|shed|spread)\w+ed)\b)"""
_NOT = "don't|do not|never|avoid|no more|quit|let'?s not|stop \\w+ing|refrain"
_NOT_MEANT = """(?! (?:mind|worry|know|think|see|understand|care|get|have|need
    |believe|want|be|forget|bother|hesitate|it|this|that)\\b)"""
_MANNER = "(?:use|put|keep|name|take|store|follow|stick|prefer|pin|leave)"
_ANY_ORDER = """(?:use|put|write|name|keep|store|run|test|call|add|import|return
    |take|do|set|ask|check|update|tell|make|create|start|commit|explain|build
    |include|remove|restart|rebuild|bump|regenerate)"""
_PLACE = """(?:\\w+ )?(?:projects?|repos?|repository|repositories|code ?base|monorepo|teams?
    |company|org|organi[sz]ation|stack|workspace|crate|library|tool|game|firmware
    |extension|plugin|product)"""
_OF_CODE = """(?:names|tests|commits|messages|comments|files|functions|methods|classes
    |variables|constants|branches|prs|pull requests|migrations|handlers|components
    |modules|packages|endpoints|routes|services|imports|exports|headings|docs|logs
    |strings|secrets|dependencies|queries|keys|flags|types|interfaces|fixtures|mocks
    |hooks|styles|entries|releases|versions|tags|scripts|jobs|events|consumers
    |subjects|topics|models|units|identifiers)"""

ORDERS: tuple[Cue, ...] = (
    # What is meant to hold for good.
    cue(
        "standing order",
        0.45,
        rf"\A(?:please |you should |you must )?{_EVER} \w",
        "preference",
        5,
        lasting=True,
    ),
    cue(
        "standing order",
        0.45,
        rf"""(?:[,;:.!] |\b(?:and|but|so|please|also|then|just|to|must|should|we
        |you) ){_EVER} \w
        |\b(?:in general|generally|as a rule|on principle|on purpose
        |by convention|no matter (?:what|how)|whatever \w+ \w+|under no circumstances
        |without exception|at all times|for good|next time|ever again|everywhere
        |throughout)\b""",
        "pattern",
        2,
        lasting=True,
    ),
    cue(
        "standing order",
        0.45,
        r"""\b(?:must|have to|has to|need to|needs to|should)\b.{2,80}\b(?:all the time|every ?time
        |each time|whenever|in (?:any|every|each) case)\b
        |\b(?:is|are|gets?) (?:only ever|never|always) (?:\w{2,}ed|run|done|made|set|written
        |built|kept|sent|read|shown|put|held|given|taken) (?:by|from|with|via|through|in|on|at|to
        |after|before|when|if|as)\b
        |\A(?:please )?only (?!a|an|the|one|two|for|in|if|when|question|problem|issue)\w+ (?:what
        |when|if|after|with|things)\b
        |[,;:] (?:every|all|each|no) (?:[\w-]+ ){1,5}(?:gets?|has|have|is|are|must|needs?)\b
        |\A(?:please )?(?:use|take|put|keep) .{2,60}\bfor (?:anything|everything|all|every|each
        |any)\b
        |\A(?:anything|everything|whatever) (?:you|we|that|which) .{2,40}\b(?:goes|go|is|are|must
        |has to)\b
        |\b(?:would be|it's|be) (?:good|nice|great|better|best|safer) if we (?:always|never|only)
        \b""",
        "preference",
        4,
        lasting=True,
    ),
    cue(
        "from now on",
        0.55,
        r"""\b(?:from now on|going forward|from here on|from this point on|in (?:the )?future
        |for (?:the )?future)\b""",
        "pattern",
        2,
        lasting=True,
    ),
    cue(
        "standing",
        0.25,
        r"""\b(?:always|never|whenever|every ?time|each time|by default|across all
        |by design|anymore|at any time|all the time|ever)\b""",
    ),
    cue(
        "each time",
        0.35,
        r"""\b(?:when(?:ever)?|before|after|if|every time|each time) you (?:really |actually
        |ever |just )?(?!want|like|need|really|actually|ever|just|think|are|can|could|look|click
        |see|have|know|get|run it|open|press)\w+
        |\b(?:make sure|ensure)\b.*\b(?:when|whenever|before|after|every|each)\b""",
        "preference",
        4,
        lasting=True,
    ),
    cue(
        "all of them",
        0.2,
        r"""\A(?:all|every|each|any|no|none)\b(?! (?:good|idea|problem|worries|need
        |rush|thanks|of (?:that|this|it)))
        |\b(?:nobody|no one|everybody|everyone)\b
        |\b(?:for|in|of|to) (?:all|every|each|any)\b""",
        "pattern",
        2,
    ),
    cue(
        "of its kind",
        0.15,
        r"""\A(?!(?:the|this|these|those|my|all|it's|users|there's|that's|let's
        |what's|here's|looks|works|thanks|yes)\b)(?:[\w-]+ ){0,2}[\w-]+s[ ]
        (?:(?:\w+ly|only|always|never) )?(?:must|should|have|need|are|may|get|go
        |start|end|live|come|read|run|use|break)\b""",
    ),
    cue(
        "all of them have it",
        0.1,
        r"\A(?:every|each|all) (?:[\w-]+ ){1,3}(?:needs?|gets?|has|have)\b",
        "pattern",
        3,
        lasting=True,
    ),
    cue("only", 0.2, r"\b(?:only|exclusively|solely|at most|not even)\b"),
    cue(
        "unless",
        0.2,
        r"\b(?:unless|except|until|otherwise|or else|even if|whether or not|else\Z)\b",
    ),
    # What must and must not be.
    cue(
        "must",
        0.3,
        r"""\b(?:must|has to|have to|needs? to(?: be)?|is required|are required|mandatory
        |off[- ]limits|reserved|not supported|gets? rejected|rejects?|refuses?)\b""",
        "pattern",
        3,
    ),
    cue(
        "forbidden",
        0.45,
        r"""\b(?:forbidden|banned|prohibited|not allowed|not acceptable|off[- ]limits
        |is allowed to|are allowed to|not permitted|a no-go|deprecated)\b""",
        "pattern",
        4,
        lasting=True,
    ),
    cue("should", 0.2, r"\b(?:should|supposed to|ought to)\b", "pattern", 3),
    cue(
        "must not",
        0.15,
        r"\b(?:must(?: not|n't)|may not|should(?: not|n't)|cannot|can't|can only)\b",
    ),
    # Who it holds for.
    cue(
        "we do",
        0.4,
        r"""(?<!where )(?<!when )(?<!if )(?<!before )(?<!what )(?<!how )(?<!after )(?<!once )
        (?<!why )(?<!until )(?<!that )(?<!then )(?<!did )(?<!do )(?<!are )(?<!should )(?<!can )
        \b(?:we|our team|the team) (?:(?:\w+ly|all|only|just|never|always|don't
        |do not|also|both|still|now|already) )?+(?!(?:need|want|should|could|can
        |have to|will|had|were|was|did|got|gets?|see|know|might|may|would
        |must|(?!need|feed|embed|speed|seed)\w+ed|found|made|lost|lose|forget|miss|hope|wonder
        |start|continue|go on|left
        |have been|have not
        |are(?! (?:not \w+ing|using|on)\b))\b
        |(?:have|'ve) (?:\w+ )?(?:problem|issue|bug|weeks?|days?)\b)[a-z]+""",
        "pattern",
        4,
        lasting=True,
    ),
    cue(
        "how we work",
        0.2,
        r"""\Awe (?:(?:only|always|never|all|mostly|don't|do not) )?(?:use|deploy|run|write|name
        |store|keep|follow|ship|release|support|target|test|host|build|log|squash|rebase|pin
        |require|prefix
        |put|cache|version|mock|document)\b(?! (?:it|this|that|the same|them)\b)""",
        "pattern",
        4,
        lasting=True,
    ),
    cue(
        "in this project",
        0.3,
        rf"""\b(?:in|for|of|with|to|across) (?:(?:this|our|my) {_PLACE}
        |the (?:project|code ?base|monorepo|company|team))\b|\bhere(?=[.,;:!]|\Z)""",
        lasting=True,
    ),
    cue(
        "ours",
        0.15,
        r"\bour\b|\Amy\b|\bhere\b(?! (?:is|are|we|it))|\bthis (?:crate|repo|project)\b",
    ),
    cue(
        "how we build",
        0.3,
        rf"""\A(?:(?:all|every|new|our) )?(?:[\w-]+ ){{0,2}}{_OF_CODE} (?:must|should|have to
        |need to|may|are(?! (?:in|at|on|under) (?:the |a |an |\ufffc|[\w.-]*/))|carry|go|use|start
        |end|live|begin|follow
        |always|never|stay)\b(?! (?:pass|failing|green|red|passing|done|gone|missing
        |broken|empty|off|wrong|slow|now|still)\b)""",
        "pattern",
        4,
        lasting=True,
    ),
    cue(
        "a rule",
        0.4,
        r"""\b(?:conventions?|house (?:style|rules?)|style ?guide|guidelines?|polic(?:y|ies)
        |\w+ rule(?: is|:| here| from)
        |(?:legal|regulatory|contractual|security|compliance) (?:requirement|obligation|rule)s?
        |requirements? (?:from|of|by)|standard practice
        |stick to (?:that|it|this)|how we do|the way we|that's how|rule of thumb
        |\w+ format is)\b
        |\b(?:naming|rules?|style|format):|\b(?:rules?|convention) (?:for|in|of) [^:]{2,40}: """,
        "pattern",
        4,
        lasting=True,
    ),
    # Orders.
    cue(
        "order not to",
        0.3,
        rf"\A(?:please )?(?:{_NOT})\b{_NOT_MEANT}",
        "preference",
        5,
        lasting=True,
    ),
    cue(
        "order not to",
        0.3,
        rf"(?:[,;:.!] |\b(?:and|so|but|please|then) )(?:{_NOT})\b{_NOT_MEANT}",
        lasting=True,
    ),
    cue(
        "none of that",
        0.35,
        r"""\Ano \w+(?:[ /]\w+)? (?:after|before|in|for|on|from|without|outside
        |at)\b""",
        "preference",
        4,
        lasting=True,
    ),
    cue("none of that", 0.3, r"[,:] (?:so )?no \w+|\bso no \w+"),
    cue("stop doing that", 0.3, r"\A(?:please )?stop \w+ing\b", "preference", 5, lasting=True),
    cue(
        "without asking",
        0.3,
        r"""\b(?:without (?:asking|my|permission|approval|telling|checking)|ask me (?:before|first)
        |by hand|on your own)\b
        |\b(?:don't|do not|not|never)\b.*\bagain\b""",
        lasting=True,
    ),
    cue(
        "an order",
        0.15,
        rf"\A(?:(?:always|please) )?{_MANNER}\b|\bstick (?:to|with)\b",
        "preference",
        5,
    ),
    cue(
        "for this use that",
        0.3,
        rf"""\Afor (?!now|this|that|me|the (?:moment|time|first|demo|talk|meeting)|example
        |instance|today)
        \w+(?: \w+){{0,3}},? (?:please )?(?:always )?(?:we )?{_MANNER}\b
        |(?:\A|[;:] )(?:when|if) (?:you|a|an|something
        |there)\b[^,]{{4,80}}, (?:please )?(?:(?:always|also
        |don't|do not|never) )?{_ANY_ORDER}\b""",
        "preference",
        5,
        lasting=True,
    ),
    cue(
        "this, not that",
        0.2,
        r"""\b(?:instead of|rather than|in place of|as opposed to|the other way round)\b
        |,? (?:(?:and|but) )?not (?!(?:yet|sure|now|bad|working|only|that|so|really
        |too|done|have|be|find|see|get)\b)\w+
        |\bover (?!there|here|all|the (?:last|next|weekend)|\d)\w+|\bno longer\b""",
    ),
)

"""Weighted cue patterns, English.

One small sign in a sentence, and how sure it makes us.

Owns the shape of a sign and how its pattern is written. Pure; the standard library only.

Signs of what is to be done or not done, and by whom.

Owns a table. Patterns see a sentence in small letters, without its lead, with code and quotations
masked. Pure; imports `cue`.

Signs of how a user likes things to be: wishes, ways to answer, what others insist on.

Owns a table. Patterns see a sentence in small letters, without its lead, with code and quotations
masked. Pure; imports `cue`.

Signs of how things are, what was chosen, and how a user tells it.

Owns a table. Patterns see a sentence in small letters, without its lead, with code and quotations
masked. Pure; imports `cue`.

Signs that a sentence is not meant to last: doubt, complaint, the task at hand, the past.

Owns a table. Patterns see a sentence in small letters, without its lead, with code and quotations
masked. Pure; imports `cue`.

The small signs that tell a statement meant to last from everything else people say.

No sign decides alone: each adds to or takes from how sure we are, and `statements` adds them up.
Only some of them, the lasting ones, reach beyond the task at hand: "the page must have a title" is
a requirement, "in this project pages must have a title" is a rule.

Owns the order of the tables: of two signs with the same rank the first tells the kind. Pure;
imports the tables.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MASK = "\ufffc"
"""What stands for code and quotations: their words are not the speaker's."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One sign."""

    name: str
    weight: float
    """What it adds to the certainty; below 0 it speaks against."""
    pattern: re.Pattern[str]
    kind: str = ""
    """What a statement with this sign most likely is; '' leaves it to other signs."""
    rank: int = 0
    """Of several signs with a kind, the one with the highest rank tells it."""
    lasting: bool = False
    """Whether it reaches beyond the task at hand."""


def cue(
    name: str, weight: float, pattern: str, kind: str = "", rank: int = 0, *, lasting: bool = False
) -> Cue:
    """A sign whose pattern may be broken over lines: breaks and indents are not part of it."""
    return Cue(name, weight, re.compile(re.sub(r"\n\s*", "", pattern)), kind, rank, lasting)


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


_WISH = cue(
    "wish",
    0.6,
    r"""\bi(?:(?:'d| would| really| strongly| generally| usually| much
    | absolutely| always| also))* (?:prefer|rather|hate|dislike|can't stand|insist)\b
    |\bi(?: really| also)? (?:don't|do not) (?:like|want) (?!to (?:know|see|do|be)\b|that\b
    |it\b|this\b|you to\b)
    |\bi (?:really )?(?:like|love|appreciate) (?:it when|when|to (?:see|have|keep|know)|short
    |small|long|plain|simple|explicit|verbose|terse)\b
    |\bi (?:don't|do not|never) (?:do|use) (?!that\b|it\b|this\b)
    |\bi always (?:want|need|like|expect)\b|\bmy preference\b
    |\bwe(?:(?:'d| would| generally| usually| strongly| much))* (?:prefer|rather)\b
    |\A(?:please )?(?:prefer|avoid|favou?r)\b
    |\bi (?:really |also )?(?:like|love|appreciate) (?!it\b|that\b|this\b|how\b|the\b|your\b)
    (?:[\w-]+ ){1,3}(?:in|with|without|as|over|better)\b
    |\bi want (?:\w+ ){1,4}as (?!soon|much|many|well|possible|fast|quick)\w+""",
    "preference",
    7,
    lasting=True,
)
_WISH_FOR_ALL = cue(
    "wish for all",
    0.4,
    r"""\bi want (?!to\b|you to\b|all (?:the )?(?:tests|checks))[^.;?]{0,60}?\b(?:every|each|all|any
    |always|never|no)\b""",
    "preference",
    6,
    lasting=True,
)
_HOW_TO_ANSWER = cue(
    "how to answer",
    0.5,
    r"""\b(?:keep|make|give|write|send|start|begin) (?:(?:me|your|the|all) )*
    (?:answers?|replies|reply|responses?|explanations?|summar(?:y|ies))\b
    |\b(?:answer|reply|respond|talk to me|speak|explain|write to me)\b.*\b(?:in (?:english|german
    |french|spanish|portuguese|italian|dutch|polish|russian|chinese|japanese|korean|plain (?:words
    |english)|bullet points|(?:one|two|a few) (?:words?|sentences?|lines?))|briefly|as you go)\b
    |\b(?:tell me|warn me|check with me|ask)\b.*\b(?:before you|whenever|every time|each time)\b
    |\bask first\b|\Aif (?!you)\b.*\b(?:i want to (?:know|see|hear)|tell me|ask me|let me know
    |warn me)\b
    |\b(?:comments?|answers?|docs?|documentation|commits?|messages|texts?|names|identifiers|strings)
    (?: should be| are| always| only)* in (?:english|german|french|spanish|portuguese|italian|dutch
    |polish|russian|chinese|japanese|korean)\b
    |\b(?:ask me (?:before|first|when|if|instead)|short (?:paragraphs|answers|sentences)
    |bullet points
    |(?:talk|explain|write|say|chat) less|less (?:talk|text|chatter)|be (?:brief|concise|terse)
    |don't explain|no explanations?|don't just agree|don't (?:apologi[sz]e|flatter|guess)
    |no emojis?|instead of guessing)\b""",
    "preference",
    7,
    lasting=True,
)
_TOLD_AGAIN = cue(
    "told again",
    0.4,
    r"""\b(?:i(?:'ve)? (?:told you|said|asked (?:you|this|that|for))|as i said|like i said
    |how often|once again|every single time)\b""",
    "preference",
    5,
    lasting=True,
)
_SOMEBODY_WANTS_IT = cue(
    "others want it",
    0.35,
    r"""\b(?:customers?|clients?|legal|finance|sales|marketing|security|compliance|boss|supervisor
    |management|auditors?|law|vendors?|partners?|suppliers?|apple|google|gdpr|contract|they|teams?)
    (?: \w+)? (?:insists?|wants?|requires?|demands?|expects?|rejects?|refuses?|forbids?)\b
    |\b\w+ insists? on\b""",
    "pattern",
    2,
    lasting=True,
)
_AS_IT_IS = cue(
    "as it is",
    0.35,
    r"""\b(?:keep|leave) (?:it|that|this|them) (?:that|this|like|as)\b
    |\b(?:stays?|remains?) (?:on|with|in|at|as|that way|like that)\b""",
    "decision",
    3,
    lasting=True,
)

WISHES: tuple[Cue, ...] = (
    _WISH,
    _WISH_FOR_ALL,
    _HOW_TO_ANSWER,
    _TOLD_AGAIN,
    _SOMEBODY_WANTS_IT,
    _AS_IT_IS,
)


# What cannot be the subject of a statement about the project: a speaker, what was just
# said, or an order.
_NO_SUBJECT = """(?:i|i'\\w+|you|you'\\w+|it|it's|there|there's|that|that's|this|these|those|he
    |she|they|they're|what|we|we're|we'\\w+|which|who|how|why|when|where|if|let|let's|looks?
    |seems?|sounds?|feels?|works?|still|now|maybe|mine|same|nothing|something|everything|everybody
    |one of|some|none|hm+|your|not|without|with|wow|sorry|please|can|could|would|should|will|do|does
    |did|is|are|was|always|never|time|good|great|nice|only
    |(?!(?:in|on|at|for|from|under|after|before|during|inside|outside|behind|all|both|by|as|of|per
    |via|unlike|half|most|each|over)\\b)\\w+ (?:the|an?|my|your|this|that|these|those|it|them)
    |(?:line|option|row|step|build|variant|version|pr|test|case|point|item|slide|column|figure|task)
    [ ](?:\\d+|[a-z])
    |my (?:guess|bad|mistake|laptop|question|problem|fault|idea))\\b"""
_WORD = (
    r"(?!(?:why|how|what|it|you|i|we|they|so|but|because|if|let's|then|must|should|may|might|could"
    r"|is|are|has|have|was|were|had|isn't|aren't"
    r"|would|will)\b)[\w\ufffc][\w\ufffc'./#&+%-]*"
)
# Verbs in the present that say how things are; what happened and what appears is none of them.
_THIRD = """(?:get|stay|follow|come|run|use|send|expect|cost|keep|trigger|own|live|end|start|require
    |support|contain|hold|accept|take|read|write|return|belong|include|depend|allow|forbid|decide
    |handle|expire|count|serve|speak|know|bill|pay|insist|edit|open|close|ship|deploy|happen|replace
    |overwrite|wipe|pad|last|want|listen|point|sit|apply|match|map|exist|share|stand|sign|sleep|lag
    |differ|refuse|reject|ignore|lack|cover|measure|exceed|consist|import|export|call|validate
    |check|convert|sync|poll|publish|subscribe|consume|produce|emit|store|cache|log|report|charge
    |limit|cap|deliver|arrive|feed|generate|create|build|compile|scale|rotate|expose|proxy|forward
    |route|encrypt|encode|decode|parse|strip|truncate|round|sort|default|leave|delete|purge|archive|retain|throttle|block
    |assign|push|pull|merge|copy|mirror|work in)"""
_DOES = rf"""(?:goes|doesn't|carries|applies|matches|leaves|passes|{_THIRD}s
    |(?<=s )(?<!this )(?:{_THIRD}|go|don't|carry)|works (?:only|with|on|from|in|without))"""
# How the user likes it, or how far it is.
_NO_MOOD = """(?! (?:now|ok|okay|fine|good|great|nice|done|perfect|cool|better|gone|ready
    |not (?:ok|good|bad|right))\\b)"""
# A thing one points at: what is said of it is more often a report than a fact.
_POINTED_AT = r"(?:the |[\w/-]+\.\w)"
_IS = "(?:is|are|ha(?:s|ve)(?! to\\b)|can|cannot|can't|isn't|aren't)"

FACTS: tuple[Cue, ...] = (
    # Choices.
    cue(
        "chosen",
        0.6,
        r"""\b(?:we|i|team|they|finance|ops|security|management|the boss)
        (?:'ve| have| had| all| both| just| finally| already| then)* (?:decided|agreed|chose|chosen
        |opted|settled|picked|elected|accepted|approved|dropped|abandoned|ditched
        |standardi[sz]ed|went with|went for
        |are going with|go with|will go with|moved (?:\w+ ){0,3}(?:to|away|off|everything)|switched
        |migrated|stay (?:on|with)|are staying|stick (?:to|with)|are sticking)\b
        |\bwe(?:'ve| have)? (?:already )?tried\b
        |\b(?:we|i)\b[^.;?]{0,50}\b(?:and|then) (?:decided|agreed|settled|chose|went with)\b
        |\bwe(?:'re|'ll) (?:go(?:ing)?|stay(?:ing)?|stick(?:ing)?)(?: to go)? (?:with|on|to)\b
        |\A(?:the )?decision(?: made| is|:)|\bdecision:
        |\b(?:is|that's) what we(?:'ve)? (?:decided|agreed)\b|\b(?:as agreed|agreed with)\b
        |\blet'?s (?:go|stick|stay) (?:with|to|on|for)\b|\blet'?s not (?:go|do|use)\b.*\bagain\b
        |\A[\w.+-]+(?: [\w.+-]+)? it is(?: then)?(?:[,.;!]|\Z)
        |\A(?:then )?(?:stay|stick|stays?) (?:with|on|to)\b.*\bthen\b""",
        "decision",
        9,
        lasting=True,
    ),
    cue(
        "chosen over",
        0.4,
        r"""\b(?:let's|we(?:'ll| will|'re)?) (?:(?:just|only) )?(?:go(?:ing)? with|us(?:e|ing)
        |stick(?:ing)? (?:with|to)|stay(?:ing)? (?:with|on)|keep(?:ing)?|switch(?:ing)? to|take
        |pick)\b.{2,80}?\b(?:instead of|rather than|over|because|since|so that|to save)\b
        |\A(?:please )?(?:use|take|pick|go with)\b.{2,80}?\b(?:because|since)\b""",
        "decision",
        8,
        lasting=True,
    ),
    # How things are.
    cue(
        "where it is",
        0.35,
        r"""\b(?:lives|[\w-]+\ws live|resides?|sits|comes? from|goes (?:to|through|into)
        |[\w-]+s go (?:to|into|through|in)|starts? with|ends? (?:in|with)|belongs? (?:to|in)
        |points? to|depends? on|runs? (?:on|inside|under|only)|only runs?|listens? on)\b
        |\b(?:is|are)(?: also| only| all| always| still)? (?:in|at|on|under|behind|in front of
        |based on|written (?:in|for|by)|hosted|stored|mounted|generated|configured
        |shared (?:with|by)|managed|limited to|restricted|capped|locked|frozen|pinned
        |built (?:with|by|from)|rebuilt
        |rotated|deployed|owned|blocked|documented|described|specified|defined|laid down|tracked
        |registered|signed|shipped|imported|exported|synced|cached|maintained|encoded
        |versioned|a (?:git )?submodule
        |the only (?:one|place|service|thing))\b
        |\b(?:is|are) (?:called|named) (?!(?:twice|when|by|with|in|from|again|before|after|on|every
        |for|as|only|once)\b)\w""",
        "fact",
        2,
        lasting=True,
    ),
    cue(
        "where it is",
        0.35,
        r"""\A(?!(?:i|you|it|there|that|this|he|she|they|what|we|which)\b)(?:[\w'./-]+ ){1,6}?
        (?:is|are)(?: also| only| all| always| still| then)? (?:\w{2,}ed|built|run|made|sent|kept
        |written|set|drawn|read|fed) (?:by|from|with|via|through|every|each|at|on|once|per)\b
        |\b(?:is|are|happens|works) (?:by|via|over|through) [\w\ufffc]""",
        "fact",
        2,
        lasting=True,
    ),
    cue(
        "which version",
        0.4,
        r"""\b(?:runs?|running|is on|are on|am on|'s on|'re on|'m on|uses|(?<=\w )use|using|has|have
        |targets?|stuck (?:on|with|at)|supports?) (?:only |at most |still )?(?:[a-z][\w.+#-]* ){0,2}
        [a-z]*v?\d+(?:\.\d+)+\b""",
        "fact",
        3,
        lasting=True,
    ),
    cue(
        "which place",
        0.35,
        r"""\A(?:the |our )?(?:(?:live|staging|prod(?:uction)?|dev|test|qa|ci|demo) (?:and|is|are
        |has
        |have|runs?|uses?|site|servers?|clusters?|machines?|box(?:es)?|db|database
        |environment)\b)""",
        "fact",
        2,
        lasting=True,
    ),
    cue(
        "whose it is",
        0.4,
        r"""\b(?:is|are) (?:the )?[\w-]+(?:'s|s')? (?:territory|turf|responsibility|business|job
        |area)\b
        |\bi (?:do|handle|run|take care of|look after) (?:that|it|them|those|these) (?:myself
        |by hand
        |manually)\b""",
        "fact",
        2,
        lasting=True,
    ),
    # What something does is how it is made. What it is may be over by tomorrow ("the build is
    # red"), so that form alone is not enough, least of all where something is pointed at.
    cue(
        "plain fact",
        0.5,
        rf"""\A(?!{_NO_SUBJECT})(?:{_WORD},? ){{1,7}}?(?<!to ){_DOES}\b{_NO_MOOD}""",
        "fact",
        2,
        lasting=True,
    ),
    cue(
        "plain fact",
        0.35,
        rf"""\A(?!{_NO_SUBJECT}|{_POINTED_AT})(?:{_WORD},? ){{1,7}}?(?<!to ){_IS}\b{_NO_MOOD}""",
        "fact",
        1,
        lasting=True,
    ),
    cue(
        "plain fact",
        0.2,
        rf"""\A(?={_POINTED_AT})(?:{_WORD},? ){{1,7}}?(?<!to ){_IS}\b{_NO_MOOD}""",
        "fact",
        1,
        lasting=True,
    ),
    cue(
        "how it is",
        0.1,
        r"""\A(?!(?:i|you|it|there|that|this|he|she|they|what|we)\b)(?:[\w'./-]+ ){1,5}?
        (?:uses?|requires?|expects?|needs?|supports?|means?|has|have|contains?|accepts?|takes?
        |reads?|writes?|refuses?|gives?|is|are|gets?|can|does)\b""",
        "fact",
        1,
    ),
    cue(
        "how often",
        0.25,
        r"""\b(?:every (?:\w+ )?(?:night|day|week|month|year|hour|morning|monday|tuesday|wednesday
        |thursday|friday|saturday|sunday|\d+)|each (?:night|day|week|month|year)|nightly|weekly
        |monthly|yearly|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|at \d\d?:\d\d
        |(?:keep|after|within|lives?|lasts?|expires?|expires? in|valid|valid for) \d+ (?:minutes
        |hours|days|weeks|months|years)|last week of)\b""",
        "fact",
        1,
    ),
    cue(
        "limit",
        0.3,
        r"""\A(?:the |our |my )?(?:minimum|maximum|limit|cap|deadline|code freeze|freeze|budget)\b
        .*\b(?:is|are|starts?|ends?)\b
        |\bwe (?:still )?(?:have to )?support\b|\bper \w+ max\b
        |\A(?!the|this|that|it)\w+(?: \w+)? (?:max(?:imum)?|at most|no more than|min(?:imum)?
        |at least)
        \d""",
        "fact",
        4,
        lasting=True,
    ),
    cue(
        "warned",
        0.5,
        r"""\b(?:needs?|requires?|has to|have to|must)\b.{3,80}(?:, (?:otherwise|else|or else)
        |,? or it)\b|\bif (?:you|we|anybody|somebody|someone|one) (?!want|like|need|think|can
        |could)[^,]{4,80}
        , (?:it|that|they|everything|nothing|the [\w-]+) (?:won't|will|breaks?|fails?|stops?|is|are
        |gets?)\b""",
        "gotcha",
        6,
        lasting=True,
    ),
    cue(
        "what happens else",
        0.35,
        r"[,;] (?!(?:please|do|don't)\b)[^,;]{5,60} otherwise\Z",
        "gotcha",
        1,
        lasting=True,
    ),
    cue(
        "warned",
        0.45,
        r"\b(?:careful|beware|watch out|gotcha|pitfalls?|bit us|burned us|known (?:bug|issue))\b",
        "gotcha",
        6,
        lasting=True,
    ),
    cue(
        "beware",
        0.4,
        r"""\bsilently\b
        |\b(?:breaks?|bricks?|corrupts?|kills?|destroys?|wipes?) (?:the|our|all|every|your
        |production|prod)\b""",
        "gotcha",
        6,
        lasting=True,
    ),
    cue(
        "who it is",
        0.6,
        r"""\bi(?:'m| am) (?:not (?:really )?(?:an? |very good )|an? (?!bit|little|big|few|lot)
        |the (?:only|new|lead)|new to
        |not (?:very )?familiar with|colou?r ?blind|dyslexic|deaf|blind|still learning|learning
        |on call|based in|in the \w+ team)
        |\bmy (?:time ?zone|name|editor|shell|os|role|pronouns|native language|first language
        |mother tongue) (?:is|are)\b|\bcall me \w+|\bi work (?:on|in|at|for|with)\b""",
        "relationship",
        8,
        lasting=True,
    ),
    # How it is told.
    cue(
        "told for later",
        0.4,
        r"""\b(?:btw|by the way|fyi|heads[- ]up|for the record|just so you know
        |so (?:that )?you know|so you don't wonder|in case you (?:wonder|ask|need)
        |for your info(?:rmation)?|be aware|mind that|good to know|important to know
        |before i forget|for context)\b""",
        "fact",
        3,
        lasting=True,
    ),
    cue(
        "because",
        0.2,
        r"\b(?:because|(?<!-)since(?! (?:the|last|then|yesterday|\d))|given that|due to)\b",
    ),
    cue("so", 0.1, r"[,;.] so\b(?! (?:far|what|can|could|how|why|do|please))|; |\bthat's why\b"),
    cue(
        "explained",
        0.2,
        r"[,;] (?:that|it|they|this|those|these)(?:'s|'re)? (?!should|must|need|has to)[a-z]+",
    ),
    cue("such as", 0.1, r"\b(?:e\.g\.?|i\.e\.?|for example|for instance|such as|like \ufffc)"),
    cue("by name", 0.15, r"\ufffc|\b\w+\.\w{2,4}\b|\b\w+[_-]\w+\b|\b\d+(?:\.\d+)*\b|\w+\(\)"),
    cue(
        "address",
        0.2,
        r"(?:\A|\s)[~./\w-]*/[\w./-]+|\b\w+://|\b[\w-]+(?:\.[\w-]+){2,}|:\d{2,5}\b",
    ),
    cue(
        "parts of a system",
        0.05,
        r"""\b(?:services?|databases?|layers?|gateway|event bus|aggregates?|projections?
        |read models?|replicas?|back ?end|front ?end|microservices?|command handlers?)\b""",
        "architecture",
        4,
    ),
)


DOUBTS: tuple[Cue, ...] = (
    cue(
        "doubt",
        -0.6,
        r"""\b(?:maybe|perhaps|not sure|might|i wonder|wondering|could we|what if|i guess|i suppose
        |suppose|possibly|probably|would it|i think|seems?|apparently|hopefully|i hope|idk|dunno
        |if i remember|i'd guess|one day|someday|some day|in theory|theoretically|imagine
        |let's say|my (?:feeling|guess|impression|hunch|theory|suspicion) is)\b""",
    ),
    cue(
        "what if",
        -1.5,
        r"""\bif (?:we|i|they) (?:\w+ed|were|had|ever)\b
        |\Aif (?:we|i|they) (?:always|never|just|only|all|also) (?:\w+ed|were|had)\b
        |\bwould have to\b|\bi would use\b""",
    ),
    cue(
        "told by others",
        -0.7,
        r"""\b(?:docs?|documentation|readme|manual|error|message|log|output|he|she|article|post
        |linter|colleague|mentor|tutorial|page|website|warning|it|blog|book|paper
        |(?:ticket|issue)(?: #?\d+)?) (?:\w+ )?(?:says?|said|claims?
        |tells? me|states?|suggests?|recommends?|reads)\b|\baccording to\b
        |\b(?:some(?:body|one)?|people|many|others|everybody|everyone) (?:\w+ ){0,3}(?:says?|said
        |thinks?|claims?|argues?|believes?|swears?|recommends?)\b
        |\b(?:complains|jokes|laughs)\b""",
    ),
    cue(
        "what a text is to say",
        -0.9,
        r"""\bit (?:should|must|has to|needs to|shall) (?:say|mention|contain|read|explain|state
        |tell)\b""",
    ),
    cue(
        "for now",
        -0.5,
        r"""\b(?:yet|for now|right now|this time|just this once|at the moment|today|tonight
        |currently|for the moment|temporarily
        |(?:in|for|on|with) this (?:pr|commit|branch|case|task|session|change|step|one|test|feature
        |page|run|build|round|attempt|batch|try|spike|experiment|demo|hotfix|ticket|exercise
        |deploy|deployment|upload|migration|script)
        |on my (?:machine|laptop|box|computer|phone)
        |until (?:tomorrow|next|then|(?:mon|tues|wednes|thurs|fri|satur|sun)day)
        |no need (?:to|for)
        |(?:first|later|afterwards)\Z|this (?:pr|commit|week|sprint)|first (?:step|version)
        |another day|on this page|throw-?away|this once|either\Z)""",
    ),
    cue(
        "as of now",
        -0.5,
        r"""(?<!we )\b(?:is|are|has|works?|gets?|does|goes)\b.*(?<!from )\bnow\b
        |\bi (?:only|just) meant\b""",
    ),
    cue(
        "a task",
        -0.4,
        r"""\b(?:we|i|you)(?:'d| would| also| now| still| just| really| then)*
        (?: needs? (?:to|a|an|the|some)| want(?: you)? to| wants? (?:a|an|the|some|real)
        | like (?:to|you to)| should (?:(?:also|now|then) )?(?:add|fix|make|create|build|write
        |implement|remove|update|change|have|handle|use)| have to (?:add|fix|make|create|build
        |write|implement|remove|update|change))\b
        |\blet'?s (?!go with|stick|stay|not|go for|agree|use|do it like)\w+
        |\blet me (?:explain|tell|show|describe|walk)\b
        |\bcan you\b|\bcould you\b|\bi'll\b|\bi will\b|\bi'm going to\b|\btry (?:again|to|it)\b""",
    ),
    cue(
        "a complaint",
        -0.4,
        r"""\b(?:(?:users?|customers?|people|nobody|i) (?:can't|cannot)
        |fails?|failed|failing|crash(?:es|ed|ing)?|broken|not working|doesn't work
        |didn't (?:work|help)|still|stuck|hangs?|flaky|weird|strange|too (?:slow|long|big|small)
        |throws?|missing|shows? (?:up(?! as)|the|a|an|nothing)|restarts?|wtf|is down|are down
        |problem
        |issue|bug|error|500
        |404|exception|ugly|blank|blurry|flickers?|flickering|jumps?|overlaps?|overlapping|cut off
        |a gap|too \w+|awful|terrible|horrible|annoying|lovely|boring|looks|wrong|lost|empty|slow
        |stops?|takes (?:\d+|two|three|five|ten|ages|forever|hours|minutes)|for some reason
        |damn)\b""",
    ),
    cue(
        "a thing to do",
        -0.4,
        r"""\A(?:@\S+ )*(?:only )?(?:add|create|make (?:a|an|the|it|me|sure)|write (?:a|an|the|me)
        |implement
        |generate|fix|build|update|change|remove|delete|refactor|rename|move|review|analy[sz]e
        |explain|find|search|look|read|check|show|help|give me|set up|install|convert|translate
        |continue|start|try|rewrite|redo|revert|undo|commit|push|merge|open|close|replace|extract
        |split|improve|optimi[sz]e|debug|investigate|research|test|run|deploy|upgrade|port|migrate
        |act as|guide|plan|design|draft|summari[sz]e|list|print|clean|format|plot|load|parse
        |compare|reduce|increase|ensure)\b(?! (?:[\w-]+ ){0,2}(?:is|are|has|have|goes|happens
        |runs?|must|always
        |never|only)\b)""",
    ),
    cue(
        "a thing to do about it",
        -0.5,
        r"""[,;:–-] (?:so |please |then )*(?:fix|make|change|kill|switch|skip|remove|delete|move|put
        |rename|turn|drop|stop|revert|correct|replace|clean up) (?:it|that|this|them|those|these|the
        (?:first|last|other|second|new|old))\b""",
    ),
    cue(
        "about something said",
        -0.3,
        r"""\A(?:it|this|that|those|these|they|there|he|she)\b(?! is not)
        |\byour (?:\w+ )?(?:change|version|fix|patch|summary|code|draft|test|commit|suggestion
        |plan)\b
        |\b(?:won't|wouldn't|didn't|can't|can|could|to) (?:do|use|need|want|change|try|have) (?:that
        |it|this)(?:[.,;!]|\Z)""",
    ),
    cue(
        "what once happened",
        -0.25,
        r"""\A(?:i|we|you|he|she|they|it) (?:(?:just|already|also|only|have) )?(?:was|were|had|did
        |got|saw|ran|tried to|tried that|forgot|changed|added|made|put|noticed|found|removed
        |wrote|started|merged|updated|fixed|used)\b
        |\b(?:yesterday|last (?:week|night|month)|earlier|this morning)\b""",
    ),
    cue(
        "one's own habit",
        -0.5,
        r"""\bi (?:always|never|usually|often) (?!want|need|like|expect|use|prefer)\w+
        |\b(?:we|you|they) always (?:forget|get|see|end up|lose|miss|run into|fail)\b
        |\Athe (?:[\w-]+ ){1,3}(?:never|always) \w+s\b
        |\bit (?:always|never)\b|\bnever mind\b
        |\bnever (?:works?|happened|seen|heard|saw|knew|ends?)\b|\bas always\b|\blike always\b
        |\bas usual\b|\bworks? (?:now|well|great|fine)\b""",
    ),
)


_ALL: tuple[Cue, ...] = (*ORDERS, *WISHES, *FACTS, *DOUBTS)
LASTING = tuple(cue for cue in _ALL if cue.lasting)
OTHERS = tuple(cue for cue in _ALL if not cue.lasting)
"""Signs of English sentences, apart: without a lasting one the others need not be looked for."""

TOLD = frozenset({"told for later", "told again", "from now on", "standing order", "warned"})
"""Signs that also count in the small words before a statement."""

OF_AN_ORDER = frozenset(
    {"standing order", "from now on", "each time", "order not to", "none of that", "forbidden"}
    | {"a rule", "wish", "told again", "how to answer", "chosen"}
)
PART_OF_ORDERS = frozenset({"a complaint", "a thing to do"})
"""What does not speak against an order: it names a thing to do, and complains as its reason."""

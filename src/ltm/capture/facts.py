"""Signs of how things are, what was chosen, and how somebody tells it.

Owns a table. Patterns see a sentence in small letters, without its lead, with code and quotations
masked. Pure; imports `cue`.
"""

from __future__ import annotations

from ltm.capture.cue import Cue, cue

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
        r"""\b(?:lives|[\w-]+s live|resides?|sits|comes? from|goes (?:to|through|into)
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
        r"""\A(?:the )?(?:minimum|maximum|limit|cap|deadline|code freeze|freeze|budget)\b
        .*\b(?:is|are|starts?|ends?)\b
        |\bwe (?:still )?(?:have to )?support\b|\bper \w+ max\b""",
        "fact",
        4,
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
        r"""\bi(?:'m| am) (?:an? (?!bit|little|big|few|lot)|the (?:only|new|lead)|new to
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
    cue("by name", 0.1, r"\ufffc|\b\w+\.\w{2,4}\b|\b\w+[_-]\w+\b|\b\d+(?:\.\d+)*\b|\w+\(\)"),
    cue(
        "address",
        0.15,
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

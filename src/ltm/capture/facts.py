"""Signs of how things are, what was chosen, and how a user tells it.

Owns a table. Patterns see a sentence in small letters, without its lead, with code and quotations
masked. Pure; imports `cue`.
"""

from __future__ import annotations

from ltm.capture.cue import Cue, cue

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

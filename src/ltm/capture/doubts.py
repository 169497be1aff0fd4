"""Signs that a sentence is not meant to last: doubt, complaint, the task at hand, the past.

Owns a table. Patterns see a sentence in small letters, without its lead, with code and quotations
masked. Pure; imports `cue`.
"""

from __future__ import annotations

from ltm.capture.cue import Cue, cue

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

"""Signs of how a user likes things to be: wishes, ways to answer, what others insist on.

Owns a table. Patterns see a sentence in small letters, without its lead, with code and quotations
masked. Pure; imports `cue`.
"""

from __future__ import annotations

from ltm.capture.cue import Cue, cue

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

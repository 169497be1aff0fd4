"""The same for other languages.

How languages other than English say what is meant to last, as far as people use them here.

Owns one table, a row a language. Pure; the standard library only.

Signs of lasting statements in other languages, and which language a sentence is in.

Names and weights are those of the English signs. Pure; imports `cue` and the table of `languages`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ltm.capture.cues import Cue


@dataclass(frozen=True, slots=True)
class Tongue:
    """How one language says these things; alternatives as in a regular expression."""

    known_by: str
    """Small words by which it is recognised: two of them, or one in a short sentence."""
    remember: str
    """Asking to remember, up to where the thing to remember begins."""
    standing: str
    """Always, never, from now on."""
    must: str
    order_not_to: str
    chosen: str
    wish: str
    because: str
    doubt: str
    complaint: str
    for_now: str
    question: str
    """How a question begins."""
    holds: str = ""
    """Verbs that say how things are."""
    no_subject: str = ""
    """What such a sentence does not begin with."""
    spaced: bool = True
    """Whether words stand apart."""


TONGUES: tuple[Tongue, ...] = (
    Tongue(  # German
        known_by="der|die|das|den|dem|und|ist|nicht|wir|ich|ein|eine|einen|auf|für|mit|bitte"
        "|immer|nie|dir|zu|im|wenn|wird|soll|haben|uns|alle|niemals|bei|von|aus|sind|kein|keine|oder"
        "|auch|werden|liegt|liegen|läuft|bitte",
        remember="merke? (?:dir|euch)|vergiss nicht|denke? (?:dran|daran)|behalte im kopf|zur info",
        standing="immer(?! noch| wieder)|niemals|nie(?!mand)|ab (?:jetzt|sofort)|künftig"
        "|in zukunft|grundsätzlich|jedes mal|überall",
        must="muss|müssen|darf nicht|dürfen nicht|sollen? nicht|nur|pflicht|gilt für",
        order_not_to="bitte nicht|bitte keine?n?|nicht direkt|verwende keine?n?",
        chosen="(?:wir|ich) (?:haben|habe) (?:uns|mich)?.{0,60}(?:entschieden|geeinigt)"
        "|wir nehmen|wir bleiben bei",
        wish="ich (?:bevorzuge|mag (?:keine?|es)|möchte (?:keine?|immer|lieber)|hätte lieber|hasse)"
        "|mir ist lieber|wir bevorzugen",
        because="weil|da (?:sonst|wir)",
        doubt="vielleicht|eventuell|ich glaube|ob wir|würde",
        complaint="geht (?:noch )?nicht|funktioniert nicht|kaputt|leer|falsch|fehlt|doppelt|langsam"
        "|hängt|fehler|schwarz|weiß|noch immer|immer noch"
        "|zu (?:groß|klein|lang|langsam|breit|hell|dunkel)|abgestürzt|bricht .{0,30}ab"
        "|schlägt fehl",
        for_now="erstmal|vorerst|heute|diesmal",
        question="warum|wieso|was|wie|wo|wer|wann|welche[rsmn]?|kannst du|könntest du|ist|hast du",
        holds="ist|sind|liegt|liegen|läuft|laufen|heißt|heißen|kommt|kommen|gilt|gelten|bekommt"
        "|bekommen|gehört|gehören|braucht|brauchen|verwendet|verwenden|nutzt|nutzen|steht|stehen",
        no_subject="ich|du|er|sie|es|wir|das|dies(?:e[rs]?)?|jetzt|da|so|hier|immer noch|mein",
    ),
    Tongue(  # Dutch
        known_by="de|het|een|en|niet|wij|ik|voor|met|altijd|nooit|dat|van|je|op|zijn|geen"
        "|alsjeblieft",
        remember="onthoud|vergeet niet",
        standing="altijd|nooit|voortaan|overal",
        must="moet(?:en)?|mag niet|alleen",
        order_not_to="gebruik geen|niet meer",
        chosen="we hebben (?:besloten|gekozen)|we blijven bij",
        wish="ik (?:heb liever|wil geen|hou niet van)",
        because="omdat|aangezien",
        doubt="misschien|ik denk",
        complaint="werkt niet|stuk|faalt",
        for_now="voorlopig|deze keer|vandaag",
        question="waarom|wat|hoe|waar|kun je",
    ),
    Tongue(  # Spanish
        known_by="el|la|los|las|que|para|con|por|una|siempre|nunca|del|es|en|no|se|esto|todos"
        "|prefiero|recuerda|usar|porque",
        remember="recuerda|acuérdate de|ten en cuenta|no olvides|toma nota",
        standing="siempre|nunca|jamás|a partir de ahora|de ahora en adelante|en adelante",
        must="deben?(?! de)|hay que|no se puede|solo|sólo|obligatorio|no debe",
        order_not_to="no (?:uses|hagas|pongas|toques|cambies|utilices)",
        chosen="decidimos|hemos decidido|elegimos|optamos por|nos quedamos con",
        wish="prefiero|preferimos|no me gusta|me gusta que|odio",
        because="porque|ya que|puesto que",
        doubt="quizás?|tal vez|a lo mejor|creo que",
        complaint="fallan?|no funciona|se rompe",
        for_now="por ahora|de momento|esta vez|hoy",
        question="¿|por qué|qué|cómo|dónde|cuándo|cuánto|puedes",
        holds="es|son|está|están|usa|usan|tiene|tienen|corre|corren|vive|viven|viene|vienen"
        "|necesita|necesitan|pertenece|espera|esperan",
        no_subject="yo|tú|él|ella|eso|esto|este|esta|ahora|todavía|ya|así|ahí|mi",
    ),
    Tongue(  # Portuguese
        known_by="o|os|as|que|para|com|uma|sempre|nunca|não|do|da|em|no|na|isso|todos|prefiro"
        "|lembre",
        remember="lembre(?:-se)?(?: de)?|não (?:se )?esqueça|anota aí",
        standing="sempre|nunca|a partir de agora|daqui (?:em diante|para frente)",
        must="devem?|não pode|só|obrigatório",
        order_not_to="não (?:use|faça|mude|altere)",
        chosen="decidimos|escolhemos|optamos por|ficamos com",
        wish="prefiro|preferimos|não gosto|odeio",
        because="porque|já que|pois",
        doubt="talvez|acho que",
        complaint="não funciona|quebra|falha",
        for_now="por enquanto|desta vez|hoje",
        question="por que|o que|como|onde|quando|pode",
    ),
    Tongue(  # French
        known_by="le|la|les|des|une|et|pas|nous|je|pour|avec|toujours|jamais|dans|sur|est|tous|il"
        "|ne|de|que|on|en|du|au|ce|qui|[ldnj]'\\w+",
        remember="souviens-toi|rappelle-toi|n'oublie pas|retiens|note bien",
        standing="toujours|jamais|désormais|dorénavant|à l'avenir|à partir de maintenant|partout",
        must="doit|doivent|il faut|ne peut pas|seulement|uniquement",
        order_not_to="n'utilise (?:pas|jamais|plus)|ne \\w+ (?:pas|jamais|plus)",
        chosen="(?:nous avons|on a) (?:décidé|choisi|opté)|on garde|on reste sur",
        wish="je préfère|je n'aime pas|je déteste|j'aime mieux",
        because="parce que|puisque|car il|car elle|car le|car la|car les|car on",
        doubt="peut-être|je crois|je pense",
        complaint="ne marche pas|plante|échoue|ne fonctionne pas",
        for_now="pour l'instant|cette fois|aujourd'hui",
        question="pourquoi|comment|est-ce|quel(?:le)?s?|peux-tu|qu'est",
    ),
    Tongue(  # Italian
        known_by="il|lo|gli|una|e|non|noi|per|con|sempre|mai|che|di|del|tutti|è|sono|usare",
        remember="ricorda(?:ti)?|non dimenticare|tieni presente",
        standing="sempre|mai|d'ora in poi|in futuro|ovunque",
        must="deve|devono|non si può|solo|soltanto",
        order_not_to="non (?:usare|fare|toccare|cambiare)",
        chosen="abbiamo (?:deciso|scelto)|restiamo con",
        wish="preferisco|preferiamo|non mi piace|odio",
        because="perché|poiché|dato che",
        doubt="forse|credo",
        complaint="non funziona|fallisce|rotto",
        for_now="per ora|stavolta|oggi",
        question="perché|come|cosa|dove|quando|puoi",
    ),
    Tongue(  # Polish
        known_by="nie|się|na|jest|do|i|w|z|to|zawsze|nigdy|że|dla|tylko|proszę|wszystkie",
        remember="zapamiętaj|pamiętaj",
        standing="zawsze|nigdy|od teraz|od tej pory|wszędzie",
        must="musi|muszą|nie wolno|tylko|trzeba",
        order_not_to="nie (?:używaj|rób|zmieniaj|dotykaj)",
        chosen="zdecydowaliśmy|wybraliśmy|zostajemy przy",
        wish="wolę|wolimy|nie lubię",
        because="ponieważ|bo",
        doubt="może|chyba",
        complaint="nie działa|zepsut\\w+",
        for_now="na razie|tym razem|dzisiaj",
        question="dlaczego|jak|co|gdzie|kiedy|czy",
    ),
    Tongue(  # Russian
        known_by="[а-яё]+",
        remember="запомни|учти|имей в виду|не забудь",
        standing="всегда|никогда|отныне|впредь|везде",
        must="должен|должна|должны|нельзя|только|надо|нужно",
        order_not_to="не (?:используй|делай|трогай|меняй|пиши)",
        chosen="мы (?:решили|выбрали|остаёмся)",
        wish="предпочитаю|мне нравится|не люблю",
        because="потому что|так как|поскольку",
        doubt="возможно|наверное|может быть",
        complaint="не работает|падает|сломал\\w+",
        for_now="пока|сейчас|сегодня|в этот раз",
        question="почему|как|что|где|когда|зачем",
    ),
    Tongue(  # Turkish
        known_by="ve|bir|bu|için|her|değil|ile|çok|lütfen|zaman|asla|sonra",
        remember="unutma|aklında tut",
        standing="her zaman|asla|bundan sonra|her yerde",
        must="zorunda|yasak|sadece",
        order_not_to="kullanma|yapma|değiştirme",
        chosen="karar verdik|seçtik",
        wish="tercih ederim|sevmiyorum",
        because="çünkü",
        doubt="belki|galiba",
        complaint="çalışmıyor|bozuk",
        for_now="şimdilik|bugün",
        question="neden|nasıl|ne zaman|nerede",
    ),
    Tongue(  # Chinese
        known_by="[一-鿿]",
        remember="请?(?:记住|记得|别忘了|記住|記得|別忘了)|請(?:記住|記得)|注意[：:]",
        standing="总是|总要|始终|永远|从不|绝不|绝对不|不要再|一律|以后|从现在起|每次"
        "|總是|始終|永遠|從不|絕不|以後|從現在起",
        must="必须|不能|不可以|只能|只有|不准|必須",
        order_not_to="不要|别用|请勿|請勿",
        chosen="我们决定|我們決定|决定用|決定用|决定采用|选择了|選擇了|选用",
        wish="我更喜欢|我喜欢|我喜歡|我不喜欢|我不喜歡|我希望",
        because="因为|因為|由于|由於",
        doubt="也许|可能|大概|会不会|也許",
        complaint="报错|错误|失败|崩溃|不行|失敗|崩潰|錯誤|你总是|你總是",
        for_now="暂时|这次|今天|暫時|這次",
        question="为什么|怎么|如何|為什麼|怎麼|.*[吗呢嗎][？?。]?\\Z",
        spaced=False,
    ),
    Tongue(  # Japanese
        known_by="[ぁ-ヿ]",
        remember="覚えておいて(?:ください)?|忘れないで(?:ください)?",
        standing="必ず|常に|いつも|決して|絶対に|これからは|今後は|毎回",
        must="なければなりません|してはいけ|禁止|のみ",
        order_not_to="使わないで|しないで",
        chosen="に決めました|ことにしました|を採用し",
        wish="の方がいい|が好き|してほしい",
        because="なぜなら|からです|ため、",
        doubt="かもしれ|と思う|たぶん",
        complaint="動かない|エラー|落ちる|失敗",
        for_now="とりあえず|今回|今日",
        question="なぜ|どうして|.*(?:ですか|ますか|でしょうか)[？?。]?\\Z",
        spaced=False,
    ),
    Tongue(  # Korean
        known_by="[가-힯]",
        remember="기억해(?: 줘| 주세요)?|잊지 마(?:세요)?",
        standing="항상|절대|앞으로|언제나|매번",
        must="해야|하면 안|만 사용",
        order_not_to="하지 마|쓰지 마|사용하지 마",
        chosen="하기로 했|결정했|선택했",
        wish="선호|더 좋아",
        because="때문|왜냐하면",
        doubt="아마|것 같",
        complaint="안 돼|오류|실패",
        for_now="일단|이번|오늘",
        question="왜|어떻게|.*까[？?]?\\Z",
        spaced=False,
    ),
)


@dataclass(frozen=True, slots=True)
class Signs:
    """One language, ready to be looked for."""

    known_by: re.Pattern[str]
    spaced: bool
    cues: tuple[Cue, ...]
    remember: re.Pattern[str]
    """A request to remember something, and what."""
    remembered: re.Pattern[str]
    """A statement followed by a request to remember it."""
    because: re.Pattern[str]
    """Where the reason begins."""
    question: re.Pattern[str]
    """How a sentence begins that is a question."""


_VERSION = r"[a-z][\w.+#-]* v?\d+(?:\.\d+)+"
"""A program and its version, in any language."""


def _stated(tongue: Tongue) -> str:
    return rf"\A(?!(?:{tongue.no_subject})\b)(?:\S+ ){{1,6}}?(?:{tongue.holds})\b"


def _signs(tongue: Tongue) -> Signs:
    def words(text: str) -> str:
        return rf"(?<!\w)(?:{text})(?!\w)" if tongue.spaced else f"(?:{text})"

    def cue(name: str, weight: float, text: str, kind: str = "", rank: int = 0) -> Cue:
        return Cue(name, weight, re.compile(words(text)), kind, rank, lasting=bool(kind))

    return Signs(
        re.compile(words(tongue.known_by), re.IGNORECASE),
        tongue.spaced,
        (
            cue("standing word", 0.5, tongue.standing, "preference", 4),
            cue("must", 0.2, tongue.must, "pattern", 3),
            cue("order not to", 0.3, tongue.order_not_to, "preference", 5),
            cue("chosen", 0.6, tongue.chosen, "decision", 9),
            cue("wish", 0.6, tongue.wish, "preference", 7),
            cue("because", 0.2, tongue.because),
            cue("doubt", -0.6, tongue.doubt),
            cue("a complaint", -0.5, tongue.complaint),
            cue("for now", -0.5, tongue.for_now),
            *([cue("plain fact", 0.5, _stated(tongue), "fact", 1)] if tongue.holds else []),
            cue("which version", 0.5, _VERSION, "fact", 2),
        ),
        re.compile(
            rf"{words(tongue.remember)}[\s,:：，、!]*(?:(?:que|dass|che|dat|że|что|de que)\b)?"
            r"[\s,:：，、]*(?P<what>\S.{3,})",
            re.IGNORECASE | re.DOTALL,
        ),
        re.compile(
            rf"(?P<what>\S.{{3,}}?)[,;，；、–—-]+\s*{words(tongue.remember)}(?:\s+\w+){{0,2}}[.!。！]*\Z",
            re.IGNORECASE | re.DOTALL,
        ),
        re.compile(rf"[\s,;，；、]*{words(tongue.because)}[\s，]*", re.IGNORECASE),
        re.compile(words(tongue.question), re.IGNORECASE),
    )


_SPACED = tuple(_signs(tongue) for tongue in TONGUES if tongue.spaced)
# Japanese and Korean before Chinese: they may use its characters, it does not use theirs.
_UNSPACED = tuple(_signs(tongue) for tongue in reversed(TONGUES) if not tongue.spaced)
_ENGLISH = frozenset(
    {"the", "we", "you", "is", "are", "it", "this", "to", "of", "and", "for", "with", "that"}
    | {"use", "please", "have", "our", "don't", "be", "in", "a", "i", "not", "all"}
)
_ENOUGH, _SHORT = 2, 40


@lru_cache(maxsize=128)
def spoken_in(sentence: str) -> Signs | None:
    """The language of a sentence, if it is one of these and not English."""
    english = 0
    if sentence.isascii():
        english = len(_ENGLISH.intersection(sentence.lower().split()))
        if english >= _ENOUGH:
            return None
    else:
        for signs in _UNSPACED:
            if signs.known_by.search(sentence):
                return signs
    fewest = _ENOUGH if len(sentence) > _SHORT and sentence.isascii() else 1
    best, most = None, max(english, fewest - 1)
    for signs in _SPACED:
        found = len({word.lower() for word in signs.known_by.findall(sentence)})
        if found > most:
            best, most = signs, found
    return best

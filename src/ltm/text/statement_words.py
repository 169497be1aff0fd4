"""Words that decide how two statements relate: tables of several languages, one after the other.

Every list is matched without case and accents. A phrase of a script without spaces is written as it
stands; it is compared character by character.
"""

from __future__ import annotations

import re
import unicodedata


def folded(text: str) -> str:
    """A text without case and accents, as the lists have it."""
    if text.isascii():
        return text.casefold()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))


def _words(*lines: str) -> frozenset[str]:
    return frozenset(folded(word) for line in lines for word in line.split())


def _phrases(*lines: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for line in lines for phrase in line.split("|"))


ARTICLES = _words(
    "the a an der die das den dem des ein eine einen einem einer eines le la les l' un une"
    " el los las una unos unas o os as um uma il lo gli"
)
"""Left out of every comparison, except as the last word."""

FILLERS = _words(
    "please pls just also too simply basically really btw fyi because bitte auch einfach"
    " eigentlich halt weil aussi simplement svp tambien simplemente favor tambem"
    " simplesmente пожалуйста также просто тоже"
)
"""Left out of every comparison."""

LEAD_INS = _phrases(
    "remember that|remember to|remember this|remember|note that|note to self|note|reminder"
    "|important|keep in mind that|keep in mind|bear in mind that|bear in mind"
    "|for the record|for your information|just so you know|so you know|heads up"
    "|do not forget that|do not forget to|do not forget|make a note that|make note that"
    "|take note that|take note|i want you to remember that|i want you to know that"
    "|you should know that|be aware that|as a reminder|one more thing|can you remember that"
    "|could you remember that|can you please remember that|could you please remember that"
    "|quick note|quick reminder|for future reference|memo|tip|hint|info|rule|ok so|ok|okay"
    "|so|hey|hi|well|and|oh|friendly reminder|for context|small note|side note|fun fact"
    "|it is worth noting that|worth noting|psa|nb|merke|merk dir dass|merke dir dass"
    "|merk dir|merke dir|bitte merken dass|bitte merken|merken|denk daran dass"
    "|denk dran dass|denk daran|denk dran|hinweis|notiz|wichtig|zur info"
    "|nicht vergessen dass|nicht vergessen|vergiss nicht dass|vergiss nicht|beachte dass"
    "|beachte|bitte beachten|achtung|zur erinnerung|erinnerung|regel|also|rappelle-toi que"
    "|rappelle toi que|souviens-toi que|souviens toi que|n'oublie pas que|n'oublie pas"
    "|n'oubliez pas que|note que|notez que|a noter que|a noter|retiens que|retiens|pense a"
    "|pour info|pour rappel|rappel|remarque|attention|sache que|garde en tete que"
    "|recuerda que|recuerda|ten en cuenta que|ten en cuenta|nota|importante|no olvides que"
    "|no olvides|por favor recuerda que|por favor recuerda|por favor|apunta que|apunta|ojo"
    "|acuerdate de que|acuerdate de|acuerdate que|recordatorio|para que lo sepas"
    "|lembre-se que|lembre-se de que|lembre-se|lembra que|lembre que|lembra-te que|lembrete"
    "|nao esqueca que|nao esqueca|nao se esqueca que|anota que|anote que|anota|anote|obs"
    "|atencao|запомни что|запомни|запомните что|запомните|помни что|помни|учти что|учти"
    "|имеи в виду что|имеи в виду|важно|не забудь что|не забудь|не забывай что|заметка"
    "|примечание|напоминание|обрати внимание что|обрати внимание|на заметку|к сведению"
    "|ricordati che|ricordati|ricorda che|ricorda|tieni presente che|non dimenticare che"
    "|promemoria|请记住|请记得|记住|记得|请注意|注意|备注|提醒一下|提醒|别忘了|重要|记一下"
    "|记|请|覚えておいてください|覚えておいて|メモ|なお|忘れないで|備考|기억해줘|기억해"
    "|참고로|참고|메모"
)
"""Openings that say nothing of the matter."""

ENDINGS = _phrases(
    "を覚えておいてください|を覚えておいて|と覚えておいてください|と覚えておいて|ください"
    "|ね|よ|ok|okay|thanks|thank you|thx|cheers|remember that|please remember"
    "|please remember that|keep that in mind|keep this in mind|danke|gracias|merci|obrigado"
    "|спасибо|谢谢"
)
"""Closings that say nothing of the matter."""

REPLIES = _words("no nope nah yes yeah yep wrong wait stop nein ja doch non oui si sim nao нет да")
"""Words that are an answer when a pause follows them."""

NEGATIONS = _words(
    "not no never without none neither nor nothing avoid forbidden prohibited banned"
    " disallowed disabled stop quit nicht kein keine keinen keinem keiner keines nie"
    " niemals ohne verboten vermeide vermeiden ne n' pas jamais aucun aucune sans interdit"
    " evite eviter nunca jamas sin ningun ninguna tampoco prohibido evita evitar nao sem"
    " nenhum nenhuma proibido не нет никогда без нельзя ни запрещено non mai senza nessun"
    " 不 没 无 無 别 勿 禁 非 未 ぬ"
)
"""Words that deny. French `ne … pas` is one denial."""

JAPANESE_NEGATIONS = ("ない", "なく", "ません", "禁止", "ず")

QUANTIFIERS = _words(
    "all every each any some most few both only always sometimes often usually rarely never"
    " alle jeder jede jedes einige manche nur immer manchmal oft selten tous toutes tout"
    " chaque certains quelques seulement toujours parfois souvent rarement todos todas cada"
    " algunos algunas solo siempre a-veces todo toda alguns algumas somente apenas sempre"
    " as-vezes все всех каждыи каждая некоторые только всегда иногда часто редко 都 每 所"
    " 仅 只 总 全"
)

HELPERS = _words("do does did we you i must should shall can may ever is are be")
"""Words that stand around a denial, and say no more than the statement without them."""

FUNCTION = (
    _words(
        "is are was were be been being am do does did has have had will would shall should can"
        " could may might must to of in on at by for from with into onto as and or but if then"
        " than that this these those it its we our us i my me you your they their them he she"
        " his her there here so instead rather when while because since about up out over off"
        " per via let ist sind war waren sein wird werden hat haben hatte wir unser unsere"
        " unseren unserem ich mein meine du dein sie ihr es und oder aber wenn dann als dass im"
        " an auf aus bei mit von vom zu zum zur fur uber unter nach vor ins um durch man soll"
        " sollen muss mussen kann sich weil da est sont etait etre a ont avons nous notre nos"
        " je mon ma mes tu ton vous votre vos il elle ils elles et ou mais si alors que qui ce"
        " cette ces dans en sur sous par pour avec de d' au aux doit doivent peut se s' c' y"
        " car qu' son era ser esta estan hay ha han tiene nosotros nuestro nuestra nuestros"
        " nuestras yo mi su sus o pero entonces este estos estas por para con del al lo le debe"
        " deben puede porque e sao foi estao tem temos nosso nossa nossos nossas eu meu minha"
        " seu sua mas entao em no na nas com dos das ao deve devem pode есть быть был была это"
        " мы наш наша наши нас я мои моя ты твои вы ваш он она они и или но если то что как в"
        " во на с со по для из от к ко у о об за при до через надо нужно должен должны 的 了 在"
        " 和 与 是 我 们 你 他 她 它 这 那 就 要 应 该 会 把 被 里 上 中 到 从 对 于 及 或 は"
        " が を に で と も の へ や か ら ま す し た て い る れ な だ っ よ"
    )
    | QUANTIFIERS
)
"""Words that carry no matter by themselves."""

VERBS = _words(
    "is are was were be has have uses use used using run runs live lives go goes need needs"
    " require requires listen listens must should can will expect expects return returns"
    " take takes store stores keep keeps deploy deploys stay stays sit sits happen happens"
    " start starts stop stops write writes read reads send sends get gets come comes work"
    " works belong belongs depend depends support supports prefer prefers want wants like"
    " likes point points expire expires fail fails default defaults mean means contain"
    " contains hold holds build builds ship ships target targets own owns handle handles"
    " accept accepts allow allows call calls wait waits called named retry retries serve"
    " serves load loads close closes open opens fire fires ist sind war lauft laufen liegt"
    " liegen verwendet verwenden nutzt nutzen benutzt benutzen braucht brauchen geht gehen"
    " hat haben muss mussen soll sollen kommt kommen steht wird werden gilt heisst lautet"
    " est sont utilise utilisons utilisent tourne tournent va vont doit doivent faut se a"
    " ont passe appelle e sono usa usiamo gira deve es son esta estan usamos usan corre"
    " corren van debe deben necesita tiene vive expira llama sao roda rodam vai devem"
    " precisa tem fica chama это используем использует использовать является работает лежит"
    " живет должен нужно находится называется 是 用 在 为 必 需 应 走 跑 は が"
)
"""Words behind which a statement speaks about its subject."""

GENERIC = _words(
    "use uses used using go going run runs running have has do does make work get set put"
    " keep switch switched switching move moved moving migrate migrated migrating change"
    " changed changing replace replaced update updated upgrade upgraded bump bumped rename"
    " renamed decide decided plan correction anymore longer now instead start started stop"
    " stopped drop dropped quick today tomorrow yesterday week month year monday tuesday"
    " wednesday thursday friday saturday sunday last next finally recently team everyone"
    " verwenden verwendet nutzen nutzt benutzen benutzt utiliser utilise utilisons usar usa"
    " usamos uso используем использовать"
)
"""Verbs that every statement about a tool has in common."""

CHOICES = _words(
    "choose chooses chose chosen choosing choice pick picks picked select selected adopt adopted"
    " wahlen wahlten gewahlt entschieden choisi choisissons choisir elegimos elegido elegir"
    " escolhemos escolhido scelto scegliamo выбрали выбран"
)
"""Verbs that say that something was chosen."""

OVER = _words("over instead rather than statt anstatt plutot vez lugar invece вместо for")
"""Words behind which a choice names what was not chosen, or where it holds."""

AGAIN = QUANTIFIERS | _words(
    "again everything everywhere alles uberall wieder encore partout nouveau nuevo siempre"
    " novamente tudo tutto ovunque ancora снова опять везде"
)
"""Words that a choice may have besides what it names, without holding for a part only."""

LIGHT = _words(
    "get gets got gotten make makes made use uses used using become becomes happen happens"
    " sit sits live lives want wants need needs nutzt nutzen verwendet verwenden utilise"
    " utilisons usa usamos используем использует"
)
"""Verbs that can stand for each other without changing what is said."""

SCOPES = _words(
    "eu us uk apac emea europe america asia germany france linux macos mac osx windows win"
    " ubuntu debian android ios wsl arm arm64 x86 amd64 intel staging production prod dev"
    " development test testing qa preprod preview local locally ci sandbox canary demo"
    " frontend backend client server mobile web desktop api admin internal external public"
    " private weekday weekdays weekend weekends daytime night nightly debug release read"
    " write reads writes upload uploads download downloads inbound outbound incoming"
    " outgoing ingress egress primary secondary replica master slave left right entwicklung"
    " produktion produktiv produktionssystem testsystem preproduction recette produccion"
    " desarrollo pruebas producao desenvolvimento homologacao продакшен продакшене проде"
    " прод стеидж стеиджинг стеиджинге тестовом"
)
"""Words that name where a statement holds: two that differ in one of these may both be true."""

SCOPE_MARKS = _words(
    "for when while if during fur wenn bei pour quand si lors para cuando durante quando se"
    " для при когда если"
)
"""Words behind which a statement says where it holds."""

REASONS = _words(
    "because since otherwise as so weil da denn sonst car parce puisque sinon porque ya"
    " pues pois потому так иначе чтобы 因 否 以"
)
"""Words behind which a statement gives its reason."""

CHANGES = _phrases(
    "actually|from now on|going forward|as of today|as of now|as of|effective immediately"
    "|starting today|starting now|change of plan|change of plans|changed my mind"
    "|changed our mind|changed our minds|scratch that|strike that|i was wrong|turns out"
    "|no longer|not anymore|not any more|anymore|any more|used to|instead of|instead"
    "|rather than before|switched|switching|moved|moving to|migrated|migrating|changed"
    "|replaced|replacing|replaces|swapped|upgraded|downgraded|bumped|renamed|relocated"
    "|dropped|ditched|retired|deprecated|superseded|supersedes|got rid of|stopped using"
    "|went back to|back to|went with|forget what i said|ignore what i said|not what i said"
    "|new rule|new plan|revised|raised|lowered|increased|decreased|reduced|after all"
    "|reverted|rolled back|cut over|took over|we are done with|is dead|scrap that"
    "|scrap what|is history|are history|killed|ripped out|handed|had enough of|said goodbye"
    "|shortened|extended|from today|from tomorrow|shut down|in place of|gave up on"
    "|abandoned|removed|sunset|decommissioned|phased out|pulled the plug|bye bye|outgrew"
    "|flipped to|settled on|reassigned|postponed|rescheduled|pushed back|brought forward"
    "|stepped down|left the company|left the team|in favour of|in favor of|taken over"
    "|has taken|moved over|flipped|turned on|turned off|turned down|turned up|cut to"
    "|are dead|is gone|are gone|now lives|took its place|takes over|ab jetzt|ab sofort"
    "|ab heute|von nun an|kunftig|in zukunft|nicht mehr|kein mehr|statt|anstatt|anstelle"
    "|stattdessen|planänderung|plananderung|umgestellt|umgestiegen|gewechselt|wechseln"
    "|migriert|ersetzt|geandert|umgezogen|abgelost|angehoben|erhoht|gesenkt|doch nicht"
    "|abgeschafft|umbenannt|verschoben|entfernt|reduziert|abgeschaltet|eingestellt|verlegt"
    "|inzwischen|mittlerweile|a partir de maintenant|desormais|dorenavant|des maintenant"
    "|ne plus|n' plus|au lieu de|a la place|changement de plan|passe de|passes de|passe a"
    "|passes a|sommes passes|est passe|avons migre|migre|remplace|remplacons|abandonne"
    "|a change|ont change|avons change|plus besoin|finalement|changement de programme"
    "|decale|decalee|decalees|decales|renomme|supprime|supprimee|retire|bascule|augmente"
    "|deplace|deplaces|a partir de ahora|desde ahora|de ahora en adelante|ya no|en lugar de"
    "|en vez de|a partir del|dejo|cambio de plan|cambio de planes|cambiamos|cambiado"
    "|migramos|migrado|pasamos de|pasamos a|hemos pasado|reemplazamos|sustituimos"
    "|dejamos de|al final|ha cambiado|bajado|subido|bajamos|subimos|movimos|movido|quitamos"
    "|eliminamos|trasladamos|sino|a partir de agora|de agora em diante|daqui em diante"
    "|nao mais|em vez de|no lugar de|ao inves de|mudanca de planos|mudamos|trocamos"
    "|substituimos|passamos de|passamos a|passou a|deixamos de|deixou de|deixaram de"
    "|passou para|passaram para|mudou|nao usamos mais|movemos|movida|reduzimos|aumentamos"
    "|foi movido|removemos|virou|с этого момента|отныне|теперь|больше не|вместо|перешли"
    "|переехали|переходим|заменили|сменили|мигрировали|поменяли|изменили|отказались"
    "|перевели|перенесли|убрали|подняли|снизили|увеличили|уменьшили|удалили|переименовали"
    "|план изменился|планы изменились|уже не|раньше|d'ora in poi|da ora in poi|non piu"
    "|invece di|al posto di|siamo passati|abbiamo migrato|spostata|spostato|sostituito"
    "|abbiamo sostituito|cambiato|passiamo a|da oggi|从现在开始|从现在起|从今天起|今后|以后"
    "|不再|改为|改成|改用|换成|换到|换为|更正|迁移到|切换到|切到|取代|替换|代替|而不是之前"
    "|计划有变|计划变了|升级到|升到|弃用|已经从|搬到|提高到|降到|调到|移到|挪到|下线|今後は"
    "|これからは|今日から|もう|に変更|へ変更|変更し|に移行|へ移行|移行し|に切り替え"
    "|切り替え|の代わりに|代わりに|訂正|やめて|やめた|廃止|から移っ|乗り換え|引き上げ"
    "|引き下げ|移動し|置き換え|変わりました|変わった|になりました|になった|이제|더 이상"
    "|대신|변경|부터는"
)
"""Phrases that announce a change."""

WEAK_CHANGES = _phrases(
    "now|currently|these days|nowadays|jetzt|nun|aktuell|neuerdings|nunmehr|maintenant"
    "|actuellement|dorenavant|ahora|actualmente|agora|atualmente|сеичас|ныне|现在|目前|如今"
    "|已|現在|いま|今"
)
"""Words that may announce a change: they do only where a statement differs in a value."""

ORDER = _words(
    "before after then first last not over than from to into instead rather above below"
    " erst zuerst dann danach vor nach statt nicht von avant apres puis dabord pas plutot"
    " antes despues luego primero no depois primeiro nao до после затем сначала потом не а"
    " prima poi dopo non 先 再 前 后 後 不 順 序 ら"
)
"""Words that give the order of other words a meaning."""

FROM = _words("from von de du des depuis desde с со из от 从 da")
TO = _words("to auf zu nach a au aux para на до в к 到 至")
"""Words around what changed into what."""

PLACES = _words(
    "in on at under inside within im auf bei unter an am en dans sur sous chez au aux sobre"
    " bajo em no na nos nas sob в во на при под 在 于"
)
"""Words that say where something is."""

NUMBERS = _words(
    "one two three four five six seven eight nine ten eleven twelve hundred thousand"
    " million half once twice daily weekly monthly hourly eins zwei drei vier funf sechs"
    " sieben acht neun zehn elf zwolf hundert tausend deux trois quatre cinq sept huit neuf"
    " dix onze douze vingt trente cent mille dos tres cuatro cinco seis siete ocho nueve"
    " diez doce veinte treinta cien mil dois quatro oito nove dez vinte trinta один два две"
    " три четыре пять шесть семь восемь девять десять двадцать тридцать сто 一 二 两 三 四"
    " 五 六 七 八 九 十 百 千 万"
)
"""Numbers written as words."""

HEADS = _words(
    "correction update edit erratum korrektur aktualisierung berichtigung rectification"
    " correccion actualizacion correcao atualizacao correzione aggiornamento исправление"
    " поправка обновление апдеит"
)
"""Words that announce a change as the heading of a statement."""

CONTRASTS = _words("but rather sondern mais sino mas pero а но 而 ma")
"""Words between what is denied and what holds instead."""

RATHER = re.compile(
    r"(\b(?:prefer|chose|choose|pick)\w*(?: [^\s,.;:]+){1,2}) over\b|,? rather than\b(?! before)",
    re.I,
)
"""The words between A and B in "prefer A over B" and "A rather than B", which mean "A, not B"."""

_UNITS = (
    "s sec secs second seconds|ms msec millisecond milliseconds|min mins minute minutes"
    "|h hr hrs hour hours|d day days|kb kib kilobyte kilobytes|mb mib megabyte megabytes"
    "|gb gib gigabyte gigabytes|tb tib terabyte terabytes|% percent|px pixel pixels"
)
UNITS = {word: words.split()[0] for words in _UNITS.split("|") for word in words.split()}
"""The one spelling of a unit."""

_ONES = "two three four five six seven eight nine ten eleven twelve"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
DIGITS = {word: str(number) for number, word in enumerate(_ONES.split(), start=2)} | {
    word: str(10 * number) for number, word in enumerate(_TENS.split(), start=2)
}
"""English numbers as digits."""

_HELPING = "do does did is are was were has have had should could would must need"
_WRITTEN_OUT = (
    "cannot:can not|can't:can not|won't:will not|shan't:shall not|let's:let us|it's:it is"
    "|that's:that is|there's:there is|here's:here is|what's:what is|who's:who is|gonna:going to"
    "|wanna:want to|cant:can not|wont:will not|dont:do not"
)
CONTRACTIONS = {f"{word}nt": f"{word} not" for word in _HELPING.split()} | dict(
    each.split(":") for each in _WRITTEN_OUT.split("|")
)
"""English contractions, also without their apostrophe, written out."""

_ENDINGS = "n't:not 're:are 've:have 'll:will 'm:am 'd:would"
CONTRACTED_ENDINGS = dict(each.split(":") for each in _ENDINGS.split())
"""What the end of a contraction stands for."""

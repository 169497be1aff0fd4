"""Which text of a message its author wrote, as sentences that stand by themselves.

Logs, code, quotations, tables, mails and documents that were pasted are not the author's: whatever
they order or claim, the author does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from ltm.text.sentences import sentences

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"/\*.{0,2000}?\*/|<!--.{0,2000}?-->", re.DOTALL)  # in code that was pasted
_TAG = re.compile(r"<([A-Za-z][\w-]{0,40})\b[^<>]{0,400}>")
# Lines that are not typed: of logs, stack traces, diffs, listings, prompts, quotations and tables.
_PASTED = re.compile(
    r"\s*(?:>|\$ |# \w+ |\+\+\+|---|@@|diff -|at \S+ ?\(|File \"|Traceback|\t\S|\|.*\|"
    r"|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|\d\d/\d\d/\d\d\b|\[\w+\] "
    r"|\[?(?:[a-z]{3},? )?(?:[a-z]{3} +\d\d?|\d\d?[ /][a-z]{3}[ /]\d{4})[ :]\d\d:\d\d"
    r"|(?:error|warning|warn|info|debug|fatal(?: error)?|note)(?:\[\w+\])?: ?\S+[:(]"
    r"|(?:error|warning|warn|fatal|E) {2,}|WARN\[|(?-i:(?:ERROR|FATAL|INFO|WARN|DEBUG)\b)"
    r"|(?-i:[A-Z])\w*(?:Error|Exception)\b|\w+(?:\.\w+)+(?:Error|Exception)\b"
    r"|(?-i:SELECT (?:.* FROM |[\w.*()\"]+(?:, ?[\w.*()\" ]+)*\Z)|UPDATE \S+ SET "
    r"|DELETE FROM \S+ WHERE |INSERT INTO \S+ ?(?:\(|VALUES))|\{ ?\"|\[ ?[{\"]"
    r"|Exception in thread |Caused by: "
    r"|\S+:\d+:\d+|npm (?-i:ERR|WARN|error|warn|notice)\b|[^.!?:]{3,60}: (?-i:Error): "
    r"|\(\w\w+\) |[-+*=_]{5,}|\d+ \| |[\w-]+\s+\| )",
    re.IGNORECASE,
)
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:z\. ?b|d\. ?h|u\. ?a|s\. ?o|bzw|ggf|evtl|inkl|zzgl|p\. ?ej|por ej|p\. ?ex"
    r"|par ex|por ex|ad es|per es|p\. ?es|bijv|d\.w\.z|o\.a|tzn|m\.in|t\.ex|bl\.a"
    r"|f\.eks|т\. ?е|напр|např|örn)\.\Z",
    re.IGNORECASE,
)
_HEADING = re.compile(r"#{1,6}\s+\S")
_BULLET = re.compile(r"\s*(?:[-*+•]|\(?(?:\d{1,2}|[a-z])[.)])\s+")
_OWN_RULES = re.compile(
    r"\b(?:rules?|conventions?|preferences?|guidelines?|standards?|remember|keep in mind|note"
    r"|from now on|house style|style|principles?|always|things|(?<!release )notes|remarks"
    r"|reminders?|feedback"
    r"|you should know|we decided"
    r"|decisions?|facts?|how (?:we|i) (?:work|do))\b",
    re.IGNORECASE,
)
# The same in other languages, where a message begins with it: there it is not yet a page's heading.
_RULES_AHEAD = re.compile(
    r"\b(?:regeln?|konventionen|vorlieben|grundsätze|vereinbarungen|merk dir|es gilt|folgendes gilt"
    r"|gilt (?:hier|bei uns)|ab (?:jetzt|sofort)|reglas?|convenciones|preferencias|normas|recuerda"
    r"|ten en cuenta|a partir de (?:ahora|agora)|règles?|préférences?|consignes?|principes"
    r"|désormais|retiens|regole|convenzioni|preferenze|norme|ricorda|tieni presente|d'ora in poi"
    r"|regras?|convenções|preferências|lembre|regels?|afspraken|voorkeuren|onthoud|vanaf nu"
    r"|zasady|reguły|konwencje|preferencje|pamiętaj|od teraz|правила|договоримся|договорились"
    r"|договорённости|предпочтения|запомни|учти|отныне|домовмося|домовились|запам'ятай|kurallar\w*"
    r"|kuralım\w*|tercihler\w*|unutma|bundan sonra|regler|konventioner|kom ihåg|husk|säännöt"
    r"|käytännöt|pravidla|konvence|pamatuj"
    r"|my|our|meine?|unsere?|mis|nuestr[ao]s|mes|nos|mie|miei|nostr[ei]|meus|minhas|noss[ao]s|mijn|onze"
    r"|мои|наши|moje|nasze|mina|våra)\b"
    r"|ルール|規約|決まり|約束|覚えて|方針|今後|规则|約定|约定|规范|偏好|记住|以后|规矩|說明如下|说明如下|규칙|원칙"
    r"|기억|앞으로|قواعد|تذكر|नियम|याद",
    re.IGNORECASE,
)
_MATERIAL = re.compile(
    r"\b(?:translate|implement|review|summari[sz]e|convert|rewrite|proofread|explain|parse|format"
    r"|(?:next|this|another|last) (?:one|paragraph|text)"
    r"|fix|check|this (?:ticket|issue|spec|file|text|error|log|message|task|prompt|readme)"
    r"|what does|here(?:'s| is| are)|the (?:docs?|manual|readme|ticket|spec|error|log)\b.*\bsays?)",
    re.IGNORECASE,
)
# Where a text by another author begins: the head of a mail, of a ticket or of a chat.
_FIELD = re.compile(
    r"\s*\**(?:from|to|cc|subject|sent|date|reply-to|von|an|betreff|gesendet|datum|de|à|objet|envoyé"
    r"|para|asunto|assunto|enviado|da|a|oggetto|inviato|aan|onderwerp|verzonden|od|do|temat|wysłano"
    r"|kimden|kime|konu|от|кому|тема|дата|发件人|收件人|主题|日期|寄件者|差出人|宛先|件名|日時"
    r"|보낸 ?사람|받는 ?사람|제목|reporter|assignee|priority|severity|labels|ticket|issue|author"
    r"|steps(?: to reproduce)?|expected|actual|environment|component|resolution(?: policy)?|summary"
    r"|description|workaround|commit|status|prioridade|priorität|priorité|prioridad)\**\s?[:：]\**\s?\S",
    re.IGNORECASE,
)
_CHAT = re.compile(
    r"\s*(?:[-*•] )?(?:[\[(]?\d{1,2}[:.h]\d\d(?:[:.]\d\d)?(?: ?[ap]m)?[\])]?[ ,:–-]{1,3})?"
    r"(?:<?@?[^\W\d][\w.'’ -]{0,30}>?)"
    r"(?: ?[\[(,–-]? ?(?:(?:today|yesterday|heute|gestern|hier|ayer|hoy|\d{1,2}[./]\d{1,2})[ ,]*"
    r"(?:at )?)?"
    r"\d{1,2}[:.h]\d\d(?: ?[ap]m)?[\])]?)? ?[:：›>] ?\S",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\s*(?:please|can you|could you|find|check|explain|summari[sz]e|tell me|look"
    r"|is (?:this|that|it)|does|do we|what|why|how|bitte|kannst|erklär|peux-tu|puedes|você pode"
    r"|можешь|请|帮)",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\d{1,2}[:.h]\d\d")
_GREETING = re.compile(
    r"\s*(?:hi|hello|hey|dear|hallo|liebe[rs]?|sehr geehrte\w*|guten tag|bonjour|salut|cher|chère"
    r"|chers|hola|buenos d[ií]as|estimad\w+|ol[áa]|bom dia|prezad\w+|ciao|buongiorno|gentile|beste"
    r"|cześć|dzień dobry|witam|merhaba|sayın|здравствуйте|добрый день|привет|уважаем\w+|你好|您好"
    r"|各位|お疲れ様です|お世話になっております|皆さん|안녕하세요)\b.{0,40}[,，、!。:]?\s*\Z",
    re.IGNORECASE,
)
_GREETED = re.compile(_GREETING.pattern.partition(r"\b.{0,40}")[0] + r"\b.{0,40}?[,，、!]", re.I)
"""A line that begins with one, and goes on."""
# The same with the letter on one line: an agent is not addressed like this.
_SALUTATION = re.compile(
    r"\s*(?:dear (?!claude)\w+|(?:hello|hi|hey) (?:all|team|class|everyone|everybody|folks)"
    r"|liebe (?:kolleg\w+|alle|kund\w+)|sehr geehrte\w* \w+|chers? (?:collègues|clients?|tous)"
    r"|bonjour à tous|estimad[oa]s? \w+|hola a todos|prezad[oa]s? \w+|olá (?:pessoal|a todos)"
    r"|gentili? \w+|beste collega\w*|drodzy \w+|szanown\w+ \w+|sayın \w+|değerli \w+"
    r"|уважаем\w+ \w+|коллеги|各位(?:同事|用户)?|尊敬的\w+|関係者各位|各位|여러분|고객님)"
    r"[,，、!！:：。 ]",
    re.IGNORECASE,
)
# A line that says: what follows came from someone or somewhere else.
_RECEIVED = re.compile(
    r"\b(?:e-?mails?|mails?|messages?|msg|slack|teams|discord|chats?|threads?|tickets?|jira|issues?"
    r"|logs?|output|traceback|stack ?trace|pages?|articles?|blog(?: ?post)?|posts?|docs?|wiki"
    r"|documentation|readme|changelog|release notes|notice|newsletter|announcement|runbook|snippet"
    r"|answer|stack ?overflow|reddit|forum|gist|excerpt|paste[ds]?|pasting|copied"
    r"|forward(?:ed|ing)?|fwd|wrote|writes|sent|says|said|told|got"
    r"|received|found|reads|replied|answered|commented|posted|claims|recommends|suggests"
    r"|minutes (?:of|from)|notulen|protokoll von|procès-verbal|compte rendu|verbale|ata d[ae]"
    r"|see (?:this|below)|look at this|below|this is what|what (?:do you|does)"
    r"|nachricht|schrieb|schreibt|bekommen|gefunden|seite|protokoll|ausgabe|weitergeleitet|hier ist"
    r"|courriel|reçu|écrit|trouvé|sortie|journal|transféré|voici|page|correo|mensaje|recib[ií]|escribió"
    r"|encontré|registro|salida|reenviado|mensagem|recebi|escreveu|encontrei|saída|página|messaggio"
    r"|ricevuto|scritto|trovato|bericht|ontvangen|schreef|gevonden|wiadomość|dostałem|dostałam|napisał"
    r"|znalazłem|mesaj|geldi|aldım|yazdı|buldum|письмо|сообщение|получил\w*|написал\w*|пришло|лог"
    r"|нашёл|нашел)\b|网页|写的|写着|文档|書いて|記載|邮件|消息|收到|日志|页面|公告|转发|メール|受け取|届い|ログ|ページ|通知|메일|메시지|받았|로그",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\s*(?:-{3,}\s*\Z|anyway|that aside|unrelated|on another note|separately|btw|by the way"
    r"|as for us|for us\b|on our side|my (?:take|rule|preference|decision)|end of )",
    re.IGNORECASE,
)
"""How a writer takes over again: nothing that the text of another may say as well."""

_QUOTATION = re.compile(r"[\"“„«](?<![^\s(:].)(?=\S)[^\"“”„«»]{2,8000}+[\"”“»](?![^\s).,;:!?])")
_QUOTED = re.compile(
    r"[\"“„«»「『]([^\"“”„«»「」『』]{8,2000})(?:[\"”“»«」』]|\Z)"
    r"|(?<!\w)['‘‚]([^\n'’]{8,400})['’](?!\w)"
)
_SEVERAL, _SEVERAL_SIGNS = 4, 8
"""Words from which on a quotation is more than a name; signs, in scripts without spaces."""
# What is handed over in one line: at the beginning with a task that names it, as what another
# person writes, or with the hour of a chat.
_HANDED = re.compile(
    r"\A\s*(?:please |can you |could you |bitte |kannst du |peux-tu |puedes |pode |можешь )?"
    r"(?:translate|summari[sz]e|proofread|explain|transcript|tell me what|übersetz\w*|fass\w*"
    r"|erklär\w*|traduis\w*|résume\w*|explique\w*|traduce\w*|resume\w*|traduz\w*|explica|traduci"
    r"|riassum\w*|dimmi|spiega|trascri\w*|vertaal|vat|leg uit|przetłumacz|streść|wyjaśnij|çevir"
    r"|özetle|переведи\w*|объясни\w*)\b[^:\n]{2,80}:[ \t]+(\S.{20,})"
    r"|\A\s*(?:请|帮我)?(?:翻译|总结|解释|要約|翻訳|번역|요약)[^:：\n]{0,40}[:：]\s?(\S.{8,})"
    r"|(?<!\bi )(?<!\bwe )\b(?:writes|wrote|schreibt|schrieb|écrit|escribe|escribió|scrive|escreveu"
    r"|schrijft|schreef|pisze|napisał\w*|пишет|написал\w*)[,:]?[ \t]+"
    r"((?:i|we|please|ich|wir|bitte|je|nous|yo|io|noi|eu|ik|wij|proszę|я|мы)\b.{20,})"
    r"|^[ \t]*\[[^\]\n]{1,30}[ ,]\d{1,2}[:.h]\d\d[^\]\n]{0,10}\][ \t]*(\S.*)",
    re.IGNORECASE | re.MULTILINE,
)
_SAYS = re.compile(
    r"\b(?:what (?:does|do|did|is)|what's|was steht|worum|was (?:sagt|sagen|wollen|will)|que di[ts]"
    r"|qué dice|cosa dic|che dic|o que diz|wat (?:staat|zegt)|co (?:tu )?(?:pisze|mówi)|о чём"
    r"|что (?:пиш|говор))|说了?什么|写了?什么|何と|뭐라",
    re.IGNORECASE,
)
# A line that asks for an opinion of the text next to it, or for work on that text.
_OPINION = re.compile(
    r"\b(?:(?:is|are|isn't|was|does|do|should) (?:this|that|these|those|it|all this)\b|do you agree"
    r"|agreed?\?|thoughts|opinions?|what do you (?:think|make|say)|how about this|true\?"
    r"|(?:saw|read|seen|came across) (?:this|these|that)"
    r"|stimmt (?:das|es|dies)|ist (?:das|dies) |was (?:hältst|meinst|denkst|sagst) du|richtig so"
    r"|c'est (?:vrai|juste|correct|exact)|qu'en (?:penses|dis)|tu en penses|es (?:esto |eso )?"
    r"(?:cierto|verdad|correcto)|qué (?:opinas|te parece|piensas)|(?:isso|isto) (?:é|está)"
    r"|é verdade|o que (?:você )?acha|è (?:vero|giusto|corretto)|(?:che|cosa) ne pensi"
    r"|klopt (?:dit|dat)|wat vind je|czy to (?:prawda|dobrze)|co (?:o tym )?(?:myślisz|sądzisz)"
    r"|doğru mu|ne dersin)"
    r"|(?:это|верно|правда)(?: ли)?[^.]{0,20}[?]|что (?:скажешь|думаешь)"
    r"|真的[吗嗎]|[对對][吗嗎不]|怎么看|怎麼看|[你您]?[觉覺]得|本当|正しい|どう思"
    r"|맞(?:나|아|는|습)|어떻게 생각|사실",
    re.IGNORECASE,
)
_WORK = re.compile(
    r"\b(?:rewrite|rephrase|reword|proof-?read|shorten|summari[sz]e|translate|polish|improve|convert"
    r"|turn|make|compare|implement|review|parse|format|estimate|answer|reply|respond|explain|check"
    r"|rate|critique|edit|clean up|put|draft|continue|quiz|übersetz\w*|kürz\w*|fass|verbesser\w*"
    r"|prüf\w*|vergleich\w*|formulier\w*|mach|pás[ae]\w*|pas[ae](?:lo|me|melo)?|ponlo|pon|passe"
    r"|mets|passa|põe|metti|zet|maak|zrób|сделай|traduis|résume\w*|corrige|améliore|réécris|reformule"
    r"|compare|traduce|resume|mejora|reescribe|acorta|compara|traduz|resuma|corrija|melhore|reescreva"
    r"|traduci|riassumi|correggi|migliora|riscrivi|vertaal|vat|verbeter|herschrijf|przetłumacz"
    r"|popraw|streść|çevir|özetle|düzelt|переведи|сократи|исправь|улучши|сравни|перепиши)\b"
    r"|翻[译譯]|总结|總結|改写|改寫|润色|比较|翻訳|要約|添削|書き直|번역|요약|고쳐|다듬",
    re.IGNORECASE,
)
_NEXT_TO_IT = re.compile(
    r"\b(?:this|these|those|(?:shorten|translate|proof-?read|re\w+|polish|improve) it"
    r"|the following|below|\w{3,}(?:[aeé]lo|[aeé]melo|-(?:le|la|les|o|os))|das|dies\w*|folgende\w*"
    r"|ça|ceci|cela|ce|cette|est[eoa]s?|esto|isto|isso|quest[oaie]|dit|deze"
    r"|t(?:o|en) (?:tekst|mail|list|zdanie)|tę|bunu|şunu|это|этот|эту|следующ\w+)\b"
    r"|[:：]\s*\Z|这|這|以下|下面|これ|この|次の|이것|이걸|다음",
    re.IGNORECASE,
)
# What points to a text next to it, unless a part of the work is named with it: "this function".
_POINTS = re.compile(
    r"\b(?:this|these|the following|below|here(?:'s|’s| is| are)|dies\w*|dazu|folgende\w*|ça|ceci"
    r"|cela|ci-dessous|voici|esto|est[eao]s? texto|siguientes?|abajo|isto|abaixo|seguintes?"
    r"|quest[oi]|seguent[ei]|sotto|dit|deze|hieronder|poniżej\w*|tego|bunu|şunu|это|этот|следующ\w+|ниже)\b"
    r"(?! (?:\w+ )?(?:function|file|class|module|tests?|bugs?|errors?|method|script|repo\w*|project"
    r"|branch|pr|component|page|endpoint|query|table|command|build|job|pipeline|config\w*|code|package"
    r"|service|session|time|week|sprint|morning|funktion|datei|klasse|fehler|fonction|fichier"
    r"|función|archivo|função|arquivo|funzione|функци\w+|файл\w*)\b)"
    r"|这|這|以下|下面|これ|次の|이것?을?|다음",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    r"\s*(?:also|and|plus|btw|by the way|p\.?s\.?|außerdem|auch|et|aussi|además|también|também"
    r"|anche|ook|też|также|ещё)\b",
    re.IGNORECASE,
)
"""How a writer goes on after a request."""
_CLOSING = re.compile(
    r"\s*(?:(?:best |kind |warm )?regards|(?:many )?thanks|thank you|cheers|best|sincerely|yours\b"
    r"|mfg|mit freundlichen|viele grüße|beste grüße|liebe grüße|gruß|cordialement|bien à vous"
    r"|salutations"
    r"|saludos|un saludo|atentamente|atenciosamente|abraços|cordiali saluti|saluti|distinti saluti"
    r"|met vriendelijke|groet(?:en|jes)?|pozdrawiam|z poważaniem|с уважением|saygılar"
    r"|よろしくお願い|敬具|以上)"
    r"[^.?!]{0,60}[.。!]?\s*\Z",
    re.IGNORECASE,
)
"""How a letter ends."""
_TO_A_GROUP = re.compile(
    r"\s*(?:(?:hello|hi|hey|dear) (?:support|sirs?|madam|customers?|neighbou?rs|tenants)"
    r"|(?:team|all|everyone|folks|colleagues|liebes team|équipe|equipo|equipe|команда)(?=[,:!])"
    r"|関係者各位|各位|お客様各位)(?:[,，、!！:：。 ]|\Z)",
    re.IGNORECASE,
)
"""How a letter to several people begins."""
_FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i’m|i've|my|mine|me|we|we're|our|us|ich|mein\w*|mir|wir|uns\w*|je|j'|mon|ma|mes|nous"
    r"|notre|nos|on|yo|mi|mis|nosotr[oa]s|nuestr[oa]s?|eu|meu|minha|nós|noss[oa]s?|io|mio|mia|miei"
    r"|noi|nostr[oaie]|ik|mijn|wij|we|ons|onze|ja|mój|moja|moje|my|nasz\w*|biz|bizim|ben|benim"
    r"|я|мой|моя|мои|мне|мы|наш\w*|нас|jag|min|vi|vår\w*|jeg)\b|[a-zñ]+(?:amos|emos|iamo)\b"
    r"|我|咱|私|僕|俺|弊社|우리|저는|제",
    re.IGNORECASE,
)
_OF_A_DOCUMENT = re.compile(
    r"\s*(?:v?\d+(?:\.\d+)+\b|§|(?:decision|décision|entscheidung|decisión|action|resolution|status"
    r"|minutes|compte rendu|protokoll|hausordnung|terms|notice)\b[^.!?]{0,60}:|[A-Z]{2,}-\d+\b)",
    re.IGNORECASE,
)
"""How a line of a ticket, of minutes, of terms or of release notes begins."""
_ELLIPTIC = re.compile(
    r"\s*(?:in het|in|auf|en|em|po|på|til) [^\W\d_]{4,14}(?:,? (?:please|pls|bitte|aub|svp"
    r"|por favor|porfa|alsjeblieft|per favore|grazie|proszę))?[.!]?\s*\Z"
    r"|.*\b(?:in there|in it|of it|whole thing|a reply|an answer|eine antwort|une réponse"
    r"|una respuesta|uma resposta|una risposta)\b|.*して\s*\Z",
    re.IGNORECASE,
)
"""A request that names no text of its own: "in english please", "two lines, whole thing"."""
_ADOPTS = re.compile(
    r"\b(?:keep (?:it|that|this) in mind|remember (?:it|that|this)|that(?:'s|’s| is)"
    r" (?:really |also )?how (?:we|i) |(?:we|i) (?:really )?do (?:it|that) like that"
    r"|merk(?:e|'|’)? ?dir das|so machen wir das"
    r"|souviens-t'en|retiens-le|c'est (?:vraiment )?comme ça qu'on|recu[eé]rdalo|tenlo en cuenta"
    r"|lembra?-te disso|lembre-se disso|é assim que a gente|ricordatelo|tienilo a mente|onthou dat"
    r"|zapamiętaj to|запомни это)|记住这|覚えておいて",
    re.IGNORECASE,
)
"""How a writer makes a text that is worked on a rule as well."""
_OF_OTHERS = re.compile(
    r"\b(?:another|other|some(?:one|body)|their|his|her|(?:my|our) (?:boss|landlord|vendor|supplier"
    r"|customer|client)|ander(?:en?|er|es)|fremd\w+|autres?|otr[oa]s?|outr[oa]s?|altr[oaie]|innej"
    r"|innego|друг\w+|чуж\w+)\b|别人|他人|別の",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(
    r"\b(?:following|below|folgend\w*|suivant\w*|ci-dessous|siguientes?|seguintes?|seguent[ei]"
    r"|volgende|poniższ\w*|następując\w*|следующ\w*|aşağıdaki)\b|下面|以下|次の|다음",
    re.IGNORECASE,
)
_IN_ONE_LINE = re.compile(r"\A([^:：\n]{4,120})[:：]\s*(\S.{20,})")
"""A request and, in the same line, what it is about."""
_MOST_SENTENCES = 2  # of what a person says in passing next to a question
_FILE_NAME = re.compile(r"\S+\.\w+")
_LONGEST_REQUEST = 120
_FEWEST_LINES = 3  # of a text that is followed by what to do with it
_SPEAKER = re.compile(r"\s*[^\W\d][\w.'’ -]{0,30}[:：]\s?\S")
_SHORT_QUESTION = 40
_BRACKETS = re.compile(r"\s*\[([^\[\]\n]{3,100})\]\s*")
"""A line that opens or closes a text: "[attachment: rules.pdf]", "[end of the attachment]"."""
_SENTENCES = re.compile(r"[.!?…]\s")
_LONG_LINE = 60
_NEAR = 8
_GLANCE = 200


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message."""

    text: str
    listed: bool = False
    """Whether it is an item of a list that is not said to hold rules: most likely a task."""
    ruled: bool = False
    """Whether it is an item of a list that is said to hold rules."""
    doubtful: bool = False
    """Whether it may be the text of another that the message asks about."""


@lru_cache(maxsize=4)
def said(text: str) -> tuple[Sentence, ...]:
    """The sentences of a message that its writer wrote, without what was pasted into it."""
    lines = _typed(text)
    heading = next((n for n, line in enumerate(lines) if _HEADING.match(line)), len(lines))
    found: list[Sentence] = []
    lead = ""
    for block in _blocks(lines[:heading]):
        if _hands_over(lead):
            continue
        found += _of_block(block, lead)
        lead = block[-1].strip() if not _BULLET.match(block[-1]) else lead
    doubtful = {each.text for block in _around_request(lines) for each in _of_block(block, "")}
    return tuple(replace(each, doubtful=each.text in doubtful) for each in found)


def _around_request(lines: list[str]) -> list[list[str]]:
    """The paragraphs next to one that asks about a text, if they may be that text: they read as a
    document, or are more than a person says in passing, or do not speak of the writer."""
    blocks = list(_blocks(lines))
    filled = [line for line in lines if line.strip()]
    if any(map(_TO_A_GROUP.match, filled[:1])) or (
        any(map(_GREETING.match, filled[:1])) and any(map(_CLOSING.match, filled[1:]))
    ):
        return blocks  # a letter
    for place, request in enumerate(blocks):
        rest = [*blocks[:place], *blocks[place + 1 :]]
        inside = 0 < place < len(blocks) - 1
        if not rest or len(request) > 1 or not _asks(request[0], first=place == 0):
            continue
        if inside and not (_WORK.match(request[0].lstrip()) and _is_about(request[0])):
            continue
        lead = rest[0][0].rstrip()
        if _OWN_RULES.search(request[0]) or (lead.endswith(":") and _OWN_RULES.search(lead)):
            continue
        text = " ".join(line.strip() for block in rest for line in block)
        if len(sentences(text)) > _MOST_SENTENCES or any(
            _OF_A_DOCUMENT.match(line) for block in rest for line in block
        ):
            return rest
        return [block for block in rest if not _FIRST_PERSON.search(" ".join(block))]
    return []


def _asks(line: str, *, first: bool) -> bool:
    """Whether a short line asks something, or for something with the text next to it."""
    line = _SENTENCES.split(line)[0] if len(line) > _LONGEST_REQUEST else line
    if len(line) > _LONGEST_REQUEST:
        return False
    if line.rstrip().endswith(("?", "？")) or _ELLIPTIC.match(line) or _is_about(line):
        return True
    if _WORK.match(line.lstrip()) or (_ASKS.match(line) and _SAYS.search(line)):
        return True
    return first and line.rstrip().endswith((":", "："))


def pasted(text: str) -> str:
    """What of a message its writer did not write: fenced, tagged, quoted, received, handed over."""
    kept = {line.strip() for line in _typed(text) if not _PASTED.match(line[:_GLANCE])}
    lines = (line for line in text.split("\n") if line.strip() and line.strip() not in kept)
    return "\n".join([*lines, *_handed(text)])


def quoted(text: str) -> tuple[list[str], float]:
    """The quotations of several words in a text, and their share of it."""
    found = [each for parts in _QUOTED.findall(text) if _is_several(each := "".join(parts))]
    return found, sum(map(len, found)) / max(1, len(text.strip()))


def _is_several(text: str) -> bool:
    signs = sum(ord(sign) >= _UNSPACED for sign in text)
    return len(text.split()) >= _SEVERAL or signs >= _SEVERAL_SIGNS


def _handed(text: str) -> Iterator[str]:
    """The parts of a message that its writer gives as something to work on."""
    yield from ("".join(parts) for parts in _HANDED.findall(text))
    beside = _IN_ONE_LINE.match(text.strip())
    if beside and _WORK.search(beside[1]) and _FOLLOWING.search(beside[1]):
        yield beside[2]
    lines = text.strip().split("\n")
    first, rest = lines[0].rstrip(), lines[1:]
    filled = [line for line in rest if line.strip()]
    if not filled:
        return
    if any(map(_ADOPTS.search, filled)):
        return
    asks, gives = first.endswith(("?", "？")), first.endswith(":")
    apart, last = not rest[0].strip(), filled[-1].rstrip()
    is_chat = asks and _SAYS.search(first) and all(map(_SPEAKER.match, filled))
    is_letter = apart and (asks or gives) and _GREETED.match(filled[0])
    is_asked_about = last.endswith(("?", "？")) and len(last) <= _SHORT_QUESTION
    if is_chat or is_letter:
        yield "\n".join(rest)
    elif apart and gives and is_asked_about and not _OWN_RULES.search(first):
        yield "\n".join(line for line in filled[:-1] if not _BULLET.match(line))
    elif (apart or gives) and _is_about(first) and not _GOES_ON.match(filled[0]):
        back = (n for n in range(2, len(rest)) if not rest[n - 1].strip() and _takes_over(rest, n))
        yield "\n".join(rest[: next(back, len(rest))])
    elif _follows(lines) and _is_about(_SENTENCES.split(last)[0]):
        yield "\n".join(lines[:-1])
    opened = ""
    held: list[str] = []
    for line in rest:
        bracket = _BRACKETS.fullmatch(line)
        if bracket and opened:
            yield "\n".join(held)
            opened, held = "", []
        elif bracket:
            opened = bracket[1]
        elif opened:
            held.append(line)


def _follows(lines: list[str]) -> bool:
    """Whether the last line stands apart, below a text of several lines or a document."""
    if len(lines) < 2 or lines[-2].strip():
        return False
    text = [line for line in lines[:-1] if line.strip()]
    return len(text) >= _FEWEST_LINES or any(map(_OF_A_DOCUMENT.match, text))


def _is_about(line: str) -> bool:
    """Whether a line asks about the text next to it, or for work on that text."""
    if len(line) > _LONGEST_REQUEST:
        return False
    theirs = _OF_OTHERS.search(line) or (_WORK.match(line.lstrip()) and _FOLLOWING.search(line))
    if not theirs and _OWN_RULES.search(_FILE_NAME.sub("", line)):
        return False
    if quoted(line)[0]:
        return False  # what to work on stands in it
    if not _WORK.search(line) and line.rstrip().endswith((":", "：")) and _RULES_AHEAD.search(line):
        return False
    works = _WORK.search(line) and _NEXT_TO_IT.search(line)
    return bool(works or _POINTS.search(line) or _OPINION.search(line))


@lru_cache(maxsize=4)
def _typed(text: str) -> list[str]:
    """The lines of a message without the mails, chats, tickets and pages that were put into it.

    Such a text goes on to the end, or to a line with which the writer takes over again.
    """
    plain = _without_tagged(_COMMENT.sub("\n\n", _FENCE.sub("\n\n", text)))
    lines = _QUOTATION.sub(_without_quoted, plain).split("\n")
    own: list[str] = []
    received = False
    lines = lines[_end_of_document(lines) :]
    opening = next((place for place, line in enumerate(lines) if line.strip()), 0)
    for place, line in enumerate(lines):
        if received and not (lines[place - 1].strip() == "" and _takes_over(lines, place)):
            continue
        handed = _introduces(lines, place, first=place == opening)
        following = [each for each in lines[place + 1 : place + _NEAR] if each.strip()]
        received = bool(following) and (
            handed or _begins_received(line[:_GLANCE], following, inside=place > opening)
        )
        if not received or handed:
            own.append(line)
    return own


def _takes_over(lines: list[str], place: int) -> bool:
    """Whether the writer speaks again: says so, or asks a question in the last lines."""
    if _BACK.match(lines[place]):
        return True
    rest = [line for line in lines[place:] if line.strip()]
    asked = re.match(r"[^.!。]{3,120}[?？]", lines[place].strip())
    return len(rest) <= 2 and asked is not None


def _end_of_document(lines: list[str]) -> int:
    """Where the writer's own words begin, if a message opens with a document: under a title of its
    own, line after line, and then a question about it."""
    text = [line for line in lines[:_NEAR] if line.strip()]
    blank = next((n for n in range(len(lines) - 1, 0, -1) if not lines[n].strip()), 0)
    if len(text) < 4 or not blank or not any(line.strip() for line in lines[blank:]):
        return 0
    title = text[0].strip()
    is_title = len(title.split()) <= 6 and not title.endswith((".", "!", "?", ",", ";", ":", "："))
    head = [line for line in lines[:blank] if line.strip()]
    asks = any("?" in line or "？" in line or _ASKS.match(line) for line in lines[blank:])
    return blank if is_title and asks and len(head) >= 4 and not _OWN_RULES.search(title) else 0


def _begins_received(line: str, following: list[str], *, inside: bool) -> bool:
    """Whether a line begins a text by another author, by its form: a mail, a ticket or a chat."""
    if _FIELD.match(line) and any(map(_FIELD.match, following[:3])):
        return True
    if (inside and _GREETING.match(line)) or _SALUTATION.match(line):
        return True
    if _CHAT.match(line) and _CHAT.match(following[0]):
        return bool(_CLOCK.search(line) or _CLOCK.search(following[0])) or _names(
            [line, *following]
        )
    return False


def _introduces(lines: list[str], place: int, *, first: bool) -> bool:
    """Whether a line hands over what came from elsewhere: "I got this mail:".

    The first line of a message can do so without a colon, if enough follows.
    """
    line = lines[place].rstrip().rstrip("*_")
    if line.endswith((":", "：", "👇", "↓")):
        line = re.split(r"[.!?。]\s", line)[-1]
    else:
        below = sum(len(each) for each in lines[place + 1 : place + _NEAR])
        if not first or below < _LONG_LINE or _BULLET.match(line):
            return False
    return bool(_RECEIVED.search(line)) and not _OWN_RULES.search(line)


def _names(lines: list[str]) -> bool:
    """Whether lines begin with names that take turns: "anna: …", "ben: …", "anna: …"."""
    heads = [each.split(":", 1)[0].strip().lower() for each in lines if _CHAT.match(each)]
    short = [head for head in heads if len(head.split()) <= 2]
    return len(short) >= 3 and len(set(short)) < len(short)


@lru_cache(maxsize=4)
def told(text: str) -> tuple[Sentence, ...]:
    """The sentences of a report as agents write them: also below headings and in lists."""
    found: list[Sentence] = []
    lead = ""
    block: list[str] = []
    for line in [*_without_tagged(_FENCE.sub("\n\n", text)).split("\n"), ""]:
        heading = _HEADING.match(line)
        if line.strip() and not heading:
            block.append(line)
            continue
        for each in _blocks(block):
            found += _of_block(each, lead, report=True)
            lead = each[-1].strip() if not _BULLET.match(each[-1]) else lead
        block = []
        lead = line if heading else lead
    return tuple(found)


def _without_quoted(quotation: re.Match[str]) -> str:
    """Nothing where several sentences are quoted: they would be cut apart, and lose their marks."""
    return "\n\n" if _SENTENCES.search(quotation[0]) else quotation[0]


def _without_tagged(text: str) -> str:
    """A text without what stands between `<tag>` and `</tag>`, in one pass."""
    kept: list[str] = []
    place = 0
    unclosed: set[str] = set()
    for tag in _TAG.finditer(text):
        closing = f"</{tag[1]}>"
        if tag.start() < place or closing in unclosed:
            continue
        end = text.find(closing, tag.end())
        if end < 0:
            unclosed.add(closing)
            continue
        kept += [text[place : tag.start()], "\n"]
        place = end + len(closing)
    return "".join(kept) + text[place:]


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Lines between blank ones, up to the first in each that was pasted."""
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            typed = next(
                (n for n, each in enumerate(block) if _PASTED.match(each[:_GLANCE])), len(block)
            )
            if typed:
                yield block[:typed]
            block = []


def _of_block(block: list[str], lead: str, *, report: bool = False) -> Iterator[Sentence]:
    """The sentences of one block; `lead` is the last line of the block before, '' if it is the
    first."""
    paragraph: list[str] = []
    material = False
    opens = not lead and not report
    for line in block:
        bullet = _BULLET.match(line)
        if bullet:
            yield from _joined(paragraph)
            lead = paragraph[-1] if paragraph else lead
            paragraph = []
            material = material or (not report and _hands_over(lead))
            if not material:
                ruled = bool(_OWN_RULES.search(lead) or (opens and _RULES_AHEAD.search(lead)))
                for sentence in _sentences(line[bullet.end() :]):
                    yield Sentence(sentence, not ruled, ruled)
        elif not material:
            paragraph.append(line.strip())
    yield from _joined(paragraph)


def _hands_over(lead: str) -> bool:
    """Whether a line hands something over: "Translate this:", and there it follows."""
    return lead.rstrip().endswith(":") and bool(_MATERIAL.search(lead))


def _joined(lines: list[str]) -> Iterator[Sentence]:
    """Lines as sentences: a line that was broken for its length goes on in the next."""
    whole: list[str] = []
    for line in lines:
        if whole and not (len(whole[-1]) >= _LONG_LINE and line[:1].islower()):
            yield from map(Sentence, _sentences(" ".join(whole)))
            whole = []
        whole.append(line)
    yield from map(Sentence, _sentences(" ".join(whole)))


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph, those put together again that an abbreviation cut apart.

    `sentences` knows few abbreviations, and what it gives is part of the file format.
    """
    whole = ""
    for each in sentences(text):
        whole = f"{whole} {each}" if whole else each
        if not _ABBREVIATED.search(whole[-12:]):
            yield whole
            whole = ""
    if whole:
        yield whole


# Thanks, greetings and praise in other languages: alone, or before a statement and a stop.
_POLITE = (
    r"(?:danke(?: dir| euch| sch[öo]n)?|vielen dank|merci(?: beaucoup)?|(?:muchas )?gracias|valeu"
    r"|obrigad[oa]|grazie(?: mille)?|bedankt|dank je(?: wel)?|dzięk(?:i|uję)|спасибо|дякую|tack"
    r"|teşekkürler|hallo|moin|hola|buenas|bonjour|salut|ciao|ol[áa]|hej|cześć|привет|merhaba|aha"
    r"|dale|vale|genial|perfe(?:kt|cto|ito|tto)|parfait|génial|ottimo|отлично|ojo|achtung|attention"
    r"|attenzione|atenção|wichtig|importante?|ważne|важно|übrigens|por cierto|au fait|trouwens"
    r"|кстати|noch (?:was|etwas|eins)|otra cosa|outra coisa|un'altra cosa|autre chose)"
    r"(?:(?:\s*[,.:;!…]+|\s+[–—-]+)(?:\s+(?:(?:e|y|et|i|och|и|і|а|ma|en|но)\s+)?|\s*\Z)|\s*\Z)"
    r"|(?:ありがとう(?:ございま(?:す|した))?|助かり(?:ます|ました)|お疲れ[様さ]?ま?(?:です|でした)|なるほど"
    r"|了解(?:です|しました)|谢谢|辛苦了|另外|고마워요?|감사합니다)(?:[，,、。．！!.\s]+|\Z)"
    r"|(?:ちなみに|顺便说一下|참고로)[，,、 ]*"
)
# Small words that can stand before a statement, and those that only do so before a stop or comma:
# "no, tabs" corrects, "no tabs" forbids, and "no we use tabs" corrects again.
_LEAD = re.compile(
    rf"\A(?:{_POLITE}"
    r"|(?:ok(?:ay)?|k|so|well|hey|hi|hello|yes|yeah|yep|nope|nah|lol|omg|wow|also|and|but|btw"
    r"|by the way|oh|ah|hm+|ugh|please|pls|just|actually|seriously|thx|thanks|thank you|then|und"
    r"|aber|pero|mais)\b(?:[\s,.:;!–—-]+|\Z)"
    r"|no(?= (?:we|never|please|don'?t|do not|keep(?! alive)|it(?:'s| is)"
    r"|i (?:do|have|like|mean|need|prefer|said|want|would)) )\s+"
    r"|(?:no(?:,? no)*|nein|nee?|nö|ja|doch|non|oui|s[ií]|n[ãa]o|sim|нет|да"
    r"|(?:scratch|strike|scrap|forget) that|never ?mind|whatever|wait|right|sure|great|good|nice"
    r"|cool|perfect|lovely|excellent|fantastic|awesome|super|now|again"
    r"|first(?:ly| of all)?|second(?:ly)?|third(?:ly)?|finally|last(?:ly)?|another thing"
    r"|one (?:(?:more|last|other|final|further) )?(?:thing|request|note|point)|before i forget"
    r"|(?:is )?important(?: to know)?|note(?: to self)?|fyi|heads[- ]up|reminder|remember|i said"
    r"|i(?: have|'ve)?(?: already)? told you(?: \w+)?|(?:as|like) i said|listen|look|claude"
    r"|very good|looks? good|got it|exactly|correct|true|agreed"
    r"|understood|makes sense|fine|done|better|works|it works|i see|alright|great work|well done"
    r"|decision|entscheidung|décision|decisión|decisão|for the record"
    r"|quick (?:thing|note|one)[\w ]{0,20}(?=[,:–—-])|[\w ]{0,30}\bso you know)"
    r"\s*(?:[,.:;!–—-]+\s*|\Z)"
    r"|(?:不对|不是|不用|好的?|对|嗯|いや|いえ|はい|아니요?|네)[，,、。！!]\s*"
    r"|(?:from now on|going forward|from here on(?: out)?|in (?:the )?future|next time|as a rule"
    r"|in general|generally|for (?:the )?future(?: reference)?|for the record|for reference"
    r"|for next time|for later)[\s,:–—-]+)+",
    re.IGNORECASE,
)
_UNSPACED = 0x2E80
_SYMBOLS = re.compile(r"\A[^\w\s\"'`(<\[$./~@#*¿¡-]+\s+")
_TAIL = re.compile(
    r"(?:[\s,;–—-]*\b(?:please|pls|thanks|thank you|thx|btw|by the way|fyi|lol|in (?:the )?future"
    r"|from now on|going forward|next time|just so you know|so you know|please stick to that)"
    r"|[,.;!–—-]+\s*(?:ok(?:ay)?|alright|right|got it|understood|cheers)"
    r"|\s(?:[:;=]-?[()DP]+|xD))[\s!.?]*\Z",
    re.IGNORECASE,
)
# With these it ends, which is seen at once.
_CLOSINGS = (
    "please", "pls", "thanks", "thank you", "thx", "btw", "by the way", "fyi", "lol", "future",
    "from now on", "going forward", "next time", "you know", "stick to that", "ok", "okay",
    "alright", "right", "got it", "understood", "cheers", "(", ")", "d", "p",
)  # fmt: skip
_REASON = re.compile(
    r"[\s,;–—-]+(?:because(?! of (?:that|this|it|them)\b)(?: of(?! the fact))?"
    r"|since(?! (?:the|last|then|yesterday|\d))"
    r"|given that|due to(?: the fact that)?|as otherwise|the reason (?:is|being)(?: that)?)\s+",
    re.IGNORECASE,
)
_DANGLING = re.compile(r"\s+(?:and|or|but|that|so|of|only|just)\Z", re.IGNORECASE)


def opening(text: str, most: int) -> str:
    """The beginning of a text in at most so many characters, without half a word at its end."""
    if len(text) <= most:
        return text
    head = text[:most]
    return head[: max(head.rfind(" "), head.rfind("\n"), 0)]


@lru_cache(maxsize=64)
def tidy(sentence: str) -> str:
    """A statement without greetings, fillers and thanks, as one sentence with a capital and a stop.

    "ok so from now on, always use pnpm please" becomes "Always use pnpm."
    """
    text, former = " ".join(sentence.split()), ""
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        text = text[1:-1]
    while former != text:
        former, text = text, _LEAD.sub("", _SYMBOLS.sub("", text))
        if text.rstrip(" !.?").lower().endswith(_CLOSINGS):
            text = _TAIL.sub("", text)
        text = text.strip(" ,;:–—-").rstrip("!.")
    if not text:
        return ""
    first = text.split()[0]
    if first.islower() and first.strip(",:;").replace("'", "").replace("’", "").isalpha():
        text = text[0].upper() + text[1:]
    unspaced = ord(text[-1]) >= _UNSPACED  # scripts that end sentences in another way
    return text if unspaced or text[-1] in "?…)`\"'" else f"{text}."


def with_reason(sentence: str) -> tuple[str, str]:
    """A statement and the reason given for it in the same sentence, if any."""
    parts = _REASON.split(sentence, maxsplit=1)
    if len(parts) != 2:
        return sentence, ""
    return _DANGLING.sub("", parts[0]), parts[1].strip(" .!")


def joined(*sentences: str) -> str:
    """Sentences one after the other, each with the stop of its script."""
    ended = (
        each if each[-1] in ".!?…。！？" else each + ("。" if ord(each[-1]) >= _UNSPACED else ".")
        for each in sentences
        if each
    )
    return " ".join(ended)

"""Secrets that are a row of plain things: numbers, words, letters, bytes.

A PIN, a list of recovery codes, the words of a wallet, a password spelled letter by letter, the
bytes of a key: none of them looks made up by itself. What they are is told by the words right
before them, or by all of their parts together. Numbers are looked for first, because most texts
have few of them, and only then the words before each. Every step is bounded.
"""

from __future__ import annotations

import gzip
import re
from binascii import Error, a2b_base64
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from ltm.redact.key_names import any_of
from ltm.redact.prose import NamePlace
from ltm.redact.stems import LETTER_STEMS, LIST_STEMS, SEED_STEMS, TextWords
from ltm.redact.values import has_digit, is_phrase, words

Span = tuple[int, int, str]
"""Start, end and kind of a secret."""

_WORDS_OF_SEEDS = Path(__file__).with_name("seed_words.txt.gz")
"""The words of BIP-39."""

# -- PINs and codes ------------------------------------------------------------------------------

_BEFORE, _BEHIND = 70, 50  # characters looked at around a number
_NUMBER = re.compile(
    r"[0-9](?<![\w.,/#$€£%+~-][0-9])(?<![0-9][:][0-9])(?:[0-9]{3,7}|[0-9]{2}[ -][0-9]{3})"
    r"(?![\w%°€$£]|[.,:/-]\w|[ ](?:[€$£%]|[A-Z]?[Bb]ytes?\b|\w{0,5}(?:sec|min)\w{0,5}\b))",
    re.ASCII,
)
# What says by itself that a number opens something.
_PIN = (
    r"pin(?:[ -]?(?:code|kod\w{0,2}|number|nummer|koodi))?|e?pincode|mpin|puk(?:[12]|[ -]?code)?"
    r"|(?:m|chip|push|sms|photo)?-?tan(?:[ -]?(?:code|nummer))?|otp(?:[ -]?code)?|passcode|digicode"
    r"|(?:t|h)?otp|2fa|mfa|пин(?:-?код\w{0,2})?|пін(?:-?код\w{0,2})?|пук(?:-?код)?"
    r"|(?:2fa|mfa|otp|totp|sms)[ -]?(?:code|kod|codigo|código|codice)"
)
# What says so of some numbers only.
_CODE = (
    r"[a-zäöüßåæø]{0,16}-?(?:code|kode|kod|kód|koodi)(?:s|n|en|et|u|em|je|ja|ot|dal)?|código|codigo"
    r"|codice|cod\b|код\w{0,2}|κωδικ\w{1,3}|kodu|kodum|kodunuz|mã|clave|contraseña|senha|password"
    r"|passwort|kennwort|mot de passe|mdp|hasło|пароль|пароля|wachtwoord|lösenord|combination"
    r"|combinaison|combinación|combinação|combinazione|kombination|комбинация|chiffre|cifra"
)
_HEAD = re.compile(rf"(?<![^\W_])(?:(?P<pin>{_PIN})|(?P<code>{_CODE}))(?![^\W_])")
_HEAD_STEMS = re.compile(
    r"pin|puk|tan\b|otp|code|[ck][oó]d|2fa|mfa|passw|пин|пін|пук|код|κωδ|mã|clave|contraseñ|senha"
    r"|passe|mdp|kennw|hasł|парол|wachtw|lösen|combina|kombina|комбин|chiffre|cifra"
)
# What the number of a code opens or proves.
_OPENS = (
    r"door|gate|garage|alarm|safe\b|locker|padlock|luggage|building|entrance|entry|lobby|elevator"
    r"|intercom|keypad|unlock|disarm|lock\b|vault|verif|confirm|authent|one-time|one time|2fa|mfa"
    r"|sms\b|otp|two-factor|security code|login|sign-?in|log-?in|access code|card|bank|debit|sim\b"
    r"|phone|tablet|voicemail|parental|tür|haustür|tor\b|schloss|schließ|tresor|safe-|spind|bestätig"
    r"|einmal|freischalt|entsperr|zugang|anmelde|karte|handy|telefon|koffer|keller|garagen|aufzug"
    r"|eingang|porte|portail|immeuble|entrée|alarme|coffre|vérif|unique|carte|téléphone|bancaire"
    r"|déverrou|serrure|cadenas|accès|interphone|puerta|portal|portón|alarma|caja fuerte|candado"
    r"|tarjeta|móvil|teléfono|acceso|desbloq|verifica|garaje|edificio|entrada|porta\b|portão|cofre"
    r"|cartão|celular|telemóvel|acesso|prédio|cadeado|armário|portone|porta|cancello|allarme|cassafor"
    r"|bancomat|carta|telefono|accesso|sblocc|lucchett|conferma|drzwi|bram|alarmu|sejf|weryfik"
    r"|potwier|jednoraz|kart|telefon|wejści|dostęp|domofon|klatk|odblok|двер|сигнализ|сейф|подтвер"
    r"|провер|вериф|домофон|подъезд|карт|телефон|доступ|ворот|однораз|вход|замк|замок|разблок|чемодан"
    r"|deur|kluis|poort|bevestig|slot\b|kaart|toegang|inlog|ingang|telefoon|dörr|larm|port\b|kassa"
    r"|bekräft|verifier|engångs|kort|mobil|dør|låge|bekræft|engangs|pengeskab|ovi|hälyt|vahvist|kortti"
    r"|puhelin|dveř|trezor|ověřov|potvrz|karty|ajtó|riaszt|széf|megerős|kártya|ușă|ușii|alarm|seif"
    r"|kapı|kasa|onay|doğrula|tek kullan|giriş|πόρτα|πόρτας|συναγερμ|επιβεβ|cửa|xác nhận|xác thực"
    r"|két|pintu|verifikasi|konfirmasi|brankas"
)
_QUALIFIER = re.compile(rf"(?<![^\W\d_])(?:{_OPENS})")
_QUALIFIED = re.compile(_OPENS)
"""The same within a longer word: `Alarmcode`."""
_HARMLESS = re.compile(
    r"(?<![^\W_])(?:error|err|errno|status|exit|return\w*|response|reason|http|https|zip|postal|area"
    r"|country|dialing|phone code|plz|cap\b|postleit|line|lines|zeile\w*|ligne\w*|línea\w*|linha\w*"
    r"|riga|righe|source|quell\w*|product\w*|item|sku|bar|qr|article|ticket\w*|issue\w*|version\w*"
    r"|year|length|länge|longueur|longitud|ttl|timeout|expir\w*|attempt\w*|digits?|stellen|chars?"
    r"|characters?|max\w*|min|minimum|size|gpio|led|review\w*|base|coverage|snippet|block\w*|fehler\w*"
    r"|fehlercode\w*|statuscode\w*|exitcode\w*|erreur\w*|errore|błęd\w*|ошибк\w*|помилк\w*|fout\w*"
    r"|foutcode\w*|felkod\w*|fejlkode\w*|virhe\w*|chyb\w*|hiba\w*|eroare|hata|lỗi|port|ports?|pinned"
    r"|pinning|table|page|seite|opcode\w*|barcode\w*|strichcode\w*|postcode\w*|keycode\w*|charcode\w*"
    r"|code point|codepoint\w*|unicode|geocode\w*|bytecode|zipcode\w*|qrcode\w*|commit\w*|build\w*"
    r"|since|seit|depuis|test case|pr|mr|rfc|iso|iata|naics|currency|language|locale|promo\w*"
    r"|coupon"
    r"|discount|voucher|rabatt\w*|tracking|order|bestell\w*|invoice|signal|event|vendor|hs|icd"
    r"|postal|postale|postcode|código postal|mapping|handler|field|feld|input|count|anzahl"
    r"|nombre de"
    r"|número de|liczba|после|expires|tests?)(?![^\W_])"
)
_LINK = re.compile(
    r"(?:[:=]|->|→|[—–]| -|(?<![^\W_])(?:is|are|was|be|equals|ist|lautet|war|heißt|est|c'est"
    r"|c’est|sera"
    r"|es|era|será|é|è|sarà|to|jest|to jest|brzmi|это|является|має вигляд|це|zijn|wordt|är|er|on|je"
    r"|είναι|là|adalah|este|ini|ise|olarak|ezt)(?![^\W_])(?:[ ](?:now|still|just|jetzt|noch"
    r"|immer noch"
    r"|toujours|maintenant|todavía|ahora|agora|ainda|ora|ancora|nu|nog|teraz|nadal|теперь|сейчас))?)"
    r"[\s\"'`*(«„“]{0,4}\Z"
)
_OPENING = re.compile(r"[\s\"'`*(«„“]{0,4}\Z")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d+|[^\w\s]")
_SMALL_WORDS = words(
    "for from of the my our your to on at into with number now still nr no der die das dem den vom"
    " zum zur für von am im mein deine meine ihr du de la le les des mon ma ton votre del el"
    " los las"
    " mi tu su do da dos meu minha seu sua di della dello il lo mio tuo suo od z mój twój для"
    " от к на"
    " из мой твой ваш до в van voor het mijn je uw till för på min din til for min deres k od ke na"
    " môj για του της cho của dari untuk the code codes code: sim app"
)
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_FOREIGN_HEAD = re.compile(
    r"(?:暗証番号|(?<!エラー)(?<!ソース)(?<!文字)(?:認証|確認|ドア|解錠|開錠|金庫|セキュリティ|ワンタイム)コード"
    r"|パスコード|PIN(?:码|番号|コード)?|ピン(?:コード)?|验证码|驗證碼|校验码|动态码|动态密码|(?:门禁|门锁|保险[箱柜]|银行卡"
    r"|支付|取款|开机|锁屏|解锁|手机|提款|アラーム|警報)[^\d\n]{0,4}(?:密码|密碼|口令|番号|コード)?|密码|密碼|口令"
    r"|인증 ?(?:번호|코드)|비밀번호|보안 ?코드|도어락|핀 ?번호)"
    r"(?![^\d\n]{0,12}(?:错误|錯誤|エラー|오류|长度|位|有效期|桁|자리))"
    r"[^\d\n\w]{0,6}(?:[のは를은는이가을是为為改成就了も变更]{0,3}"
    r"|[^\d\n]{0,10}[は是为為은는:：])[ :：「“\"'は]{0"
    r",3}\Z"
)
_SAID_AFTER = re.compile(
    r"[\"'`*)»“”]{0,2}(?:,? (?:is|ist|est|es|é|è|to|är|er|—|–|-|ваш|это)|:|[—–]| -|是|が|は) ?"
    r"(?:[^\W\d_]{1,14}[’' -]){0,5}?"
    r"(?:(?:one-time|verification|confirmation|authentication|security|login|sign-in|access|unlock"
    r"|2fa|mfa|sms|door|gate|alarm)[ ](?:pass)?(?:code|word|pin)|passcode|otp|pin\b|tan\b"
    r"|einmal\w*|bestätigungscode|verifizierungscode|sicherheitscode|code (?:de "
    r"|d['’])?(?:vérification"
    r"|confirmation|validation|sécurité|accès)|mot de passe (?:à usage )?unique|código de"
    r" (?:verifica\w+"
    r"|confirma\w+|seguri\w+|segurança|acesso|acceso)|codice di (?:verifica|conferma|sicurezza"
    r"|accesso)|kod\w? (?:weryfikacyjny|potwierdz\w+|jednorazow\w+)|код\w? (?:подтвержд\w+|доступа"
    r"|проверки|от)|одноразов\w+ (?:пароль|код)|verificatiecode|bevestigingscode|engångskod"
    r"|doğrulama kodu\w*|您的(?:动态)?验证码|你的验证码|验证码)",
    re.IGNORECASE,
)

# -- lists of codes ------------------------------------------------------------------------------

_LIST_HEAD = re.compile(
    r"(?i:(?:recovery|back-?up|scratch|emergency|rescue|reserve|one-time|single-use)[ _-]?(?:codes?"
    r"|keys?)(?![^\W_])|(?:wiederherstellungs|backup-?|notfall|ersatz|reserve)-?codes?|einmalcodes"
    r"|codes? (?:de |d['’])(?:secours|récupération|sauvegarde|urgence)|c[oó]digos? de"
    r" (?:recuperaci[oó]n"
    r"|recupera[cç][aã]o|respaldo|backup|emerg[eê]ncia|emergencia|reserva)|codic[ei] di (?:recupero"
    r"|backup|riserva|emergenza)|kody? (?:zapasow\w+|odzyskiwania|awaryjn\w+)|(?:резервн\w+"
    r"|запасн\w+)"
    r" код\w*|код\w* восстановления|herstelcodes?|back-?upcodes?|noodcodes?"
    r"|återställningskod\w*|reservkod\w*|gendannelseskod\w*|(?:kurtarma|yedek)[ ]kod\w*"
    r"|záložní kód\w*|kód\w* obnovy|mã khôi phục|kode (?:pemulihan|cadangan))"
    r"|バックアップコード|リカバリーコード|復旧コード|回復コード"
    r"|备用(?:代)?码|恢复代?码|備用碼|복구 ?코드|백업 ?코드"
)
_LIST_HEADS = re.compile(
    any_of(
        (
            *("recovery", "back", "scratch", "emergency", "rescue", "reserv", "one-time"),
            *("single-use", "wiederherstellungs", "notfall", "ersatz", "einmalcodes", "code"),
            *("codigo", "código", "codic", "kod", "резервн", "запасн", "код", "herstelcode"),
            *("noodcode", "återställningskod", "gendannelseskod", "kurtarma", "yedek", "záložní"),
            *("kód", "mã", "バックアップ", "リカバリー", "復旧", "回復", "备用", "恢复", "備用"),
            *("복구", "백업"),
        )
    )
)
"""How the heads begin, in small letters."""
_LIST_STARTS = re.compile(r"[^\n]{0,60}?(?:[:：=(\[]|\n)\s{0,8}")
_ENTRY = re.compile(
    r"(?:[\s,;|•*(\[\"'`.\]>+]|- |\d{1,2}[.)→:]\s|\[[ x]\]|\[redacted:[\w-]{1,30}\]){0,12}"
    r"([A-Za-z0-9]{3,12}(?:-[A-Za-z0-9]{3,12}){1,7}|\d{3,6}(?:[ ]\d{3,6}){1,9}"
    r"|(?=[A-Za-z]*\d)\w{6,24})"
    r"(?![\w:/@=.-]\w)"
)
_GROUPED = re.compile(
    r"[0-9](?:[A-Za-z0-9]{0,11}[- ][A-Za-z0-9]{0,11}[0-9]|[0-9]{5}|[A-Za-z]+[0-9])"
)
_MOST_CODES = 24

# -- spelled letters -----------------------------------------------------------------------------

_SPELLED = re.compile(
    r"[^\n]{0,60}?(?:(?<=[\s\"'`:(=„“«])|(?<=[：は]))"
    r"([^\W_](?=([ -]|, ?|\.))(?:\2[^\s\"'«»“”])(?:\2[^\s\"'«»“”]){3,63})(?![^\s.,;!?\"'`)»”“])"
)
_SPELLED_WORDS = re.compile(
    r"[^\n]{0,60}?[\s\"'`:(=]((?:(?:(?i:capital|upper(?:case)?|lower(?:case)?|big|small|groß|klein"
    r"|majuscule|minuscule|may[uú]scula|min[uú]scula|mai[uú]scul[ao]|digit|number)[ ])?"
    r"(?i:al(?:ph|f)a|bravo|charlie|delta|echo|foxtrot|golf|hotel|india|juliett?|kilo|lima|mike"
    r"|november|oscar|papa|quebec|romeo|sierra|tango|uniform|victor|whiskey|x-?ray|yankee|zulu"
    r"|zero|one|two|three|four|five|six|seven|eight|nine|niner|dash|hyphen|minus|underscore|dot|at"
    r"|hash|exclamation mark|anton|berta|cäsar|caesar|dora|emil|friedrich|gustav|heinrich|ida"
    r"|julius"
    r"|kaufmann|ludwig|martha|nordpol|otto|paula|quelle|richard|samuel|siegfried|theodor|ulrich"
    r"|viktor|wilhelm|xanthippe|ypsilon|zacharias|null|eins|zwei|drei|vier|fünf|sechs|sieben|acht"
    r"|neun|\d|[a-zA-Z])(?:[ ,-]{1,2}|(?![\w-]))){5,40})"
)
_LETTERS = re.compile(r"[^\W_](?:[ -]|, ?|\.)[^\s\"'«»“”](?:[ -]|, ?|\.)")
_QUOTE = re.compile("[\"'«„“]")
_CALLED = re.compile(
    r"((?:[ ][^\W\d_]{1,14}(?:-[^\W\d_]{1,14})?){0,4})[ \u00a0]?(?:[:=—–]|(?:is|was|ist|lautet"
    r"|est|es|é|è|jest"
    r"|to|är|er|это)(?= ))[ ]?[\"'«„“](?:[ \u00a0\u202f])?([^\n\"'«»„“”]{8"
    r",80}?)[ \u00a0\u202f]?[\"'»“”]"
)
_OF_PASSWORDS = words(
    "master main principal principale maître maestra mestra haupt wifi wlan wi-fi wi fi disk disque"
    " disco diska диска диск ssh key ключа ssh-ключа luks vault laptop backup admin root server"
    " сервера zip archive archiv gpg pgp keepass bitwarden new neue neues nouveau nueva nova nuova"
    " новый base datos données is ist est es phrase passphrase clé clave llave chave chiave"
    " schlüssel"
)
_COMMENT = re.compile(r"(?:#|--|//|/\*)(?=[ \w])(?<=[\s;][#/*-])|(?<=\s)(?:--|//|/\*)(?=[ \w])")
_CODED = re.compile(
    r"(?<![\w+/=.-])(?:[0-9a-fA-F]{12,256}|[A-Za-z0-9+/]{12,256}={0,2})(?![\w+/=-])"
)
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+\Z")
_PRINTED = re.compile(rb"[ -~]{6,}\Z")
_LONGEST_LINE = 400
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")

# -- the words of a wallet -----------------------------------------------------------------------

_GAP = r"(?:[ \t\u3000]{1,4}|,[ ]?|-|[ \t]{0,4}\r?\n[ \t>|+*-]{0,8})"
_NUMBERED = r"(?:\d{1,2}[.):]?[ \t]{1,3})?"
_ROW = re.compile(
    rf"{_NUMBERED}[^\W\d_]{{2,14}}(?:{_GAP}{{1,2}}{_NUMBERED}[^\W\d_]{{2,14}}){{11,40}}(?![\w])"
)
_IDEOGRAPHS = re.compile(
    r"[\u4e00-\u9fff](?<![\u4e00-\u9fff][ \u3000].)"
    r"(?:(?:[ \u3000][\u4e00-\u9fff]){11}|(?:[ \u3000][\u4e00-\u9fff]){23})"
    r"(?![ \u3000]?[\u4e00-\u9fff])"
)
# Where a row may begin, and its first two words, so that most places are passed in one search.
_TWO_WORDS = (
    rf"(?=(?:1[.):]?[ \t]{{1,3}})?([a-zA-Z]{{3,8}})(?:{_GAP}){{1,2}}{_NUMBERED}([a-zA-Z]{{3,8}})"
    r"(?![^\W_]))"
)
_FIRST_ROW = re.compile(_TWO_WORDS)
_ROW_STARTS = re.compile(r"[\n:=\"'`(\[«„“「：][ \t>|+]{0,8}+" + _TWO_WORDS)
_ROW_WORD = re.compile(r"[^\W\d_]+")
_SEED_HEAD = re.compile(
    r"(?i:seed[ _-]?(?:phrase|words?|list)|\bseed(?= is|[\"']?[ ]?[:=])|mnemonic"
    r"|mnémonique|mnemónic|мнемони|recovery|wallet|metamask|ledger|trezor|electrum"
    r"|phantom|secret phrase|backup phrase|(?:12|15|18|24|25|twelve|twenty"
    r"[- ]four)[ -]?word"
    r"|words:"
    r"|wörter:|mots\s?:|palabras:|palavras:|parole:|słow\w*:|слов\w*:|wiederherstellung|semilla"
    r"|récupération|recuperaci[oó]n|recupera[cç][aã]o|recupero|portefeuille|billetera|cartera|carteira"
    r"|portafoglio|кошел|кошёл|portfel|odzyskiw|восстановлен|herstel|phrase secrète|frase"
    r" secreta|cüzdan)"
    r"|助记词|助記詞|钱包|錢包|シードフレーズ|ニーモニック|リカバリーフレーズ|ウォレット|시드|니모닉|지갑|복구"
)
_HEAD_END = re.compile(
    r"[^\n:：=]{0,60}?(?:[:：=]|\n|(?<![^\W_])(?:is|are|ist|sind|lautet|est|es|é|è|to)(?= )"
    r"|[\"'`«„“])"
)
_SHORTEST_PHRASE = 60
_NUMBERS = ("12", "15", "18", "24", "25")
_SEED_HEADS = re.compile(
    any_of(
        (
            *("seed", "mnemonic", "mnémoni", "мнемони", "recover", "wallet", "metamask", "ledger"),
            *("trezor", "electrum", "phantom", "secret phrase", "backup phrase", *_NUMBERS),
            *("twelve", "twenty", "words:", "wörter:", "mots", "palabras:", "palavras:", "parole:"),
            *("słow", "слов", "wiederherstellung", "semilla", "récup", "recuper", "portefeuille"),
            *("billetera", "cartera", "carteira", "portafoglio", "кошел", "кошёл", "portfel"),
            *("odzyskiw", "восстановлен", "herstel", "phrase secrète", "frase secreta", "cüzdan"),
            *("助记词", "助記詞", "钱包", "錢包", "シードフレーズ", "ニーモニック"),
            *("リカバリーフレーズ", "ウォレット", "시드", "니모닉", "지갑", "복구"),
        )
    )
)
"""How the heads begin, in small letters."""
_FUNCTION = words(
    "the a an in on at to of by as and or but with from that this these those it its is are was"
    " were"
    " be been has have had will would can could should not no so then if when which who we you he"
    " she they our your their them there here into than for do does did der die das den dem ein"
    " eine"
    " und oder nicht ist sind mit von für auf zu wird werden les des une est dans pour avec sur qui"
    " que pas los las una del con por para como não uma com são dos das nie się jest oraz che non"
    " per sono della del het een niet voor van och att som inte это что как для или если"
)
_SIZES = (33, 25, 24, 21, 20, 18, 15, 13, 12)
"""How many words such a phrase may have."""

# -- bytes and groups ----------------------------------------------------------------------------

_BYTE = r"(?:0x[0-9a-fA-F]{1,2}|2[0-4]\d|25[0-5]|1\d\d|\d{1,2})"
_BYTES = re.compile(
    rf"[\[({{]\s{{0,8}}({_BYTE}(?:\s{{0,4}},\s{{0,12}}{_BYTE}){{15,131}}),?\s{{0,8}}[\])}}]"
)
_KEY_BYTES = re.compile(
    r"(?i:priv|secret|keypair|key_?pair|\bseed|aes|hmac|encrypt|signing|id\.json|\bsk\b|master|fernet"
    r"|nacl|_key\b|\bkey(?:\b|_|bytes)|token|passw|schlüssel|\bclé\b|clave|chave|chiave|ключ)|密钥|私钥|鍵"
)
_PUBLIC = re.compile(
    r"(?i:publi|pub_?key|\bpk\b|test_?vector|expected|digest|checksum|keycode|keymap)"
)
_GROUPS = re.compile(
    r"[a-zA-Z2-7](?<![\w-][a-zA-Z2-7])[a-zA-Z2-7]{3}(?:(?:[ ][a-z2-7]{4}){3,15}"
    r"|(?:[ ][A-Z2-7]{4}){3,15})"
    r"(?:[ ][a-zA-Z2-7]{2})?(?![\w-])"
)
_THREE_GROUPS = re.compile("(?: [a-zA-Z2-7]{4}){3}")
_NOT_HEX = re.compile(r"[g-zG-Z]")
_SETUP = re.compile(
    r"(?i:setup|set-up|totp|2fa|authenticat|otp|secret|key|schlüssel|clé|clave|chave|chiave|klucz|ключ"
    r"|sleutel|einrichtung)|密钥|シークレット|キー|키"
)


def in_rows(words: TextWords, places: Iterable[NamePlace]) -> Iterator[Span]:
    """Every secret of a text that is a row of plain things."""
    text = words.text
    if has_digit(text):
        yield from _codes(text)
        if words.has_any(LIST_STEMS) and _GROUPED.search(text):
            yield from _lists(text)
        if "," in text:
            yield from _bytes(text)
        if words.has_groups():
            yield from _groups(text)
    chosen = [each for each in places if each.held.chosen and each.held.kind != "login"]
    if chosen:  # what a text has none of is looked for at none of them
        quoted = _QUOTE.search(text) is not None
        commented = any(mark in text for mark in ("#", "--", "//", "/*"))
        spelled = [_SPELLED] if _LETTERS.search(text) else []
        spelled += [_SPELLED_WORDS] if words.has_any(LETTER_STEMS) else []
        for place in chosen:
            for pattern in spelled:
                yield from _spelled(pattern, text, place.end)
            if quoted:
                yield from _called(text, place.end)
            if commented:
                yield from _explained(text, place.start)
    if len(text) >= _SHORTEST_PHRASE:
        yield from _seeds(text, named=words.has_any(SEED_STEMS))


def _codes(text: str) -> Iterator[Span]:
    """Numbers that open something: what is said before or after them tells."""
    for number in _NUMBER.finditer(text):
        at, end = number.span()
        since = max(text.rfind("\n", max(0, at - _BEFORE), at) + 1, at - _BEFORE)
        said = text[since:at]
        before = said.lower()
        if (len(before) == len(said) and _is_code(before, said, number[0])) or _SAID_AFTER.match(
            text, end, end + _BEHIND
        ):
            yield at, end, "pin"


def _is_code(before: str, said: str, number: str) -> bool:
    """Whether the words before a number say that it opens something."""
    if not said.isascii() and _FOREIGN_HEAD.search(said):
        return True
    heads = list(_HEAD.finditer(before)) if _HEAD_STEMS.search(before) else []
    if not heads:
        return False
    head = heads[-1]
    if head[0] in ("tan", "pin") and head.start() == 0 and len(before) == _BEFORE:
        return False  # a longer word that is cut
    link = _LINK.search(before, head.end())
    between = before[head.end() : link.start() if link else len(before)]
    around = before[max(0, head.start() - 24) : len(before)]
    if _HARMLESS.search(around):
        return False
    shown = said[head.start() : head.end()]
    if head[0] == "tan" and not shown.isupper():
        return False
    parts = _WORD.findall(between)
    if len(parts) > 7 or any(part in ".;!?,)" for part in parts):
        return False
    opens = bool(_QUALIFIED.search(head[0]) or _QUALIFIER.search(before, max(0, head.start() - 40)))
    if head["code"] and not opens:
        return False
    if link and link[0].strip() == "to" and parts and not (shown.isupper() or opens):
        return False
    if link:
        return not (shown == "pin" and link[0].strip() in ("to", "on", "=") and not opens)
    if _YEAR.match(number) or not _OPENING.search(before[-1:]):
        return False
    known = all(
        part in _SMALL_WORDS or _QUALIFIER.match(part) or not part.isalpha() for part in parts
    )
    return known and (shown != "pin" or bool(parts) or opens or len(number) > 4)


def _lists(text: str) -> Iterator[Span]:
    """Recovery codes, one or many."""
    done = 0
    for head in _heads(_LIST_HEADS, _LIST_HEAD, text):
        start = _LIST_STARTS.match(text, head.end())
        if start is None or head.start() < done:
            continue
        found: list[tuple[int, int]] = []
        at = start.end()
        while len(found) < _MOST_CODES and (entry := _ENTRY.match(text, at)):
            if not (has_digit(entry[1]) or (found and "-" in entry[1])):
                break
            found.append(entry.span(1))
            at = entry.end()
        done = at
        for first, last in found:
            if "-" in text[first:last] or " " in text[first:last] or len(found) > 1:
                yield first, last, "recovery-code"


def _heads(
    beginnings: re.Pattern[str], head: re.Pattern[str], text: str
) -> Iterator[re.Match[str]]:
    """Where a head stands in a text, looked for only where it may begin."""
    lowered = text.lower()
    if len(lowered) != len(text):
        yield from head.finditer(text)
        return
    done = 0
    for beginning in beginnings.finditer(lowered):
        if beginning.start() >= done and (found := head.match(text, beginning.start())):
            yield found
            done = found.end()


def _spelled(pattern: re.Pattern[str], text: str, at: int) -> Iterator[Span]:
    """A password that is written letter by letter after its name."""
    found = pattern.match(text, at, at + 260)
    if found is None:
        return
    row = found[1]
    if pattern is _SPELLED:
        letters = len(_LETTER_OR_DIGIT.findall(row))
        real = letters >= 5 and letters * 3 > len(row) and len(set(row)) > 3
    else:
        real = sum(len(word) > 3 for word in row.replace("-", " ").split()) >= 3
    if real:
        end = found.end(1)
        yield found.start(1), end - (len(row) - len(row.rstrip(" ,-"))), "password"


def _called(text: str, at: int) -> Iterator[Span]:
    """Several words in quotes that are called a password, with a word or two in between."""
    found = _CALLED.match(text, at)
    if found and is_phrase(found[2]) and found[2] == found[2].lower():
        between = _WORD.findall(found[1].lower())
        if all(word in _SMALL_WORDS or word in _OF_PASSWORDS or word == "-" for word in between):
            yield (*found.span(2), "password")


def _explained(text: str, at: int) -> Iterator[Span]:
    """A text in base64 or hex that a comment in its line calls a password."""
    begin = max(text.rfind("\n", 0, at) + 1, at - _LONGEST_LINE)
    comment = _COMMENT.search(text, begin, at)
    if comment is None or at - comment.end() > _BEFORE:
        return
    for run in _CODED.finditer(text, begin, comment.start()):
        try:
            plain = bytes.fromhex(run[0]) if _HEX.match(run[0]) else a2b_base64(run[0])
        except (Error, ValueError):
            continue
        if _PRINTED.match(plain):
            yield (*run.span(), "password")


@cache
def _seed_words() -> frozenset[str]:
    return words(gzip.decompress(_WORDS_OF_SEEDS.read_bytes()).decode())


def _seeds(text: str, *, named: bool) -> Iterator[Span]:
    """The words that open a wallet: after what calls them so, or if all are of the known list."""
    done = 0
    at_start = _FIRST_ROW.match(text)
    for first in (*filter(None, (at_start,)), *_ROW_STARTS.finditer(text)):
        if first.end() >= done and all(word.lower() in _seed_words() for word in first.groups()):
            row = _ROW.match(text, first.end())
            if row and (known := _known_row(row, called=False)):
                yield known
                done = known[1]
    if not text.isascii():
        for row in _IDEOGRAPHS.finditer(text):
            yield (*row.span(), "seed-phrase")
    if not named:
        return
    for head in _heads(_SEED_HEADS, _SEED_HEAD, text):
        if head.start() < done:
            continue
        for at in _after_head(text, head.end()):
            row = _ROW.match(text, at)
            found = (_known_row(row, called=True), _called_row(row)) if row else ()
            if called := max(filter(None, found), default=None):
                yield called
                done = called[1]
                break


def _after_head(text: str, at: int) -> Iterator[int]:
    """Where a row of words may begin after what calls it a seed phrase."""
    for _ in range(4):
        end = _HEAD_END.match(text, at)
        if end is None:
            return
        at = end.end()
        while text[at : at + 1] in (
            " ",
            "\n",
            "\r",
            "\t",
            '"',
            "'",
            "`",
            "«",
            "„",
            "“",
            ">",
            "|",
            "\u00a0",
        ):
            if at >= len(text):
                return
            at += 1
        yield at


def _known_row(row: re.Match[str], *, called: bool) -> Span | None:
    """The words of a row, if as many as a phrase has are all of the known list."""
    known: list[str] = []
    end = 0
    if row[0][0].isupper() and row[0][1:].islower():
        return None  # a sentence
    for word in _ROW_WORD.finditer(row[0]):
        if word[0].lower() not in _seed_words():
            break
        known.append(word[0])
        end = word.end()
    if called:
        enough = len(known) >= _SIZES[-1]
    else:  # a list of words is in order, and has any number of them
        enough = (
            len(known) in _SIZES and len(set(known)) >= len(known) - 1 and known != sorted(known)
        )
    return (row.start(), row.start() + end, "seed-phrase") if enough else None


def _called_row(row: re.Match[str]) -> Span | None:
    """The words of a row that is called a seed phrase, if they are no sentence."""
    found = list(_ROW_WORD.finditer(row[0]))
    parts = [word[0].lower() for word in found]
    if "\n" in row[0] and not has_digit(row[0]):
        return None
    for size in _SIZES:
        some = parts[:size]
        if len(some) == size and not _FUNCTION.intersection(some) and len(set(some)) > size * 0.7:
            return row.start(), row.start() + found[size - 1].end(), "seed-phrase"
    return None


def _bytes(text: str) -> Iterator[Span]:
    """The bytes of a key, as numbers: those that something calls so, and those of a key pair."""
    for row in _BYTES.finditer(text):
        values = [
            int(each, 0) if each[:2] == "0x" else int(each) for each in re.split(r"[\s,]+", row[1])
        ]
        before = text[max(0, row.start() - 80) : row.start()]
        if _PUBLIC.search(before) or len(set(values)) < min(len(values), 64) * 0.6:
            continue
        pair = len(values) == 64 and sum(value > 127 for value in values) >= 18
        named = _KEY_BYTES.search(before) and sum(value > 127 for value in values) * 5 > len(values)
        if pair or named:
            yield (*row.span(), "key")


def _groups(text: str) -> Iterator[Span]:
    """The key of an authenticator, in groups of four."""
    if _THREE_GROUPS.search(text) is None:
        return
    for row in _GROUPS.finditer(text):
        groups = row[0].split(" ")
        mixed = sum(has_digit(group) and not group.isdigit() for group in groups)
        other = sum(_NOT_HEX.search(group) is not None for group in groups)
        called = _SETUP.search(text, max(0, row.start() - 80), row.start()) is not None
        if other * 2 >= len(groups) and (mixed >= 1 if called else mixed >= 3 and len(groups) >= 6):
            yield (*row.span(), "totp-secret")

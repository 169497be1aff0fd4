"""Ways in which people write down a password, and what only looks like one of them.

Each way is a text with `{}` where the password stands. With any of `PASSWORDS` there, the password
goes and the rest of the text stays.
"""

from __future__ import annotations

import base64

import pytest

from ltm.redact.redact import redact, redacted
from tests.redact.secret_set import fill
from tests.rows import for_each

PASSWORDS = ("Sommer?2025!", "k7Fq2LpzX9", "Tr0ub4dor-3")
WAYS = {
    "question mark": [
        *("password: {}", "DB_PASSWORD={}", "password = {}", "Pwd={};Encrypt=True", "pass={}"),
    ],
    "unclosed quote": [
        *('password = "{}', "password: '{}\nuser: me", 'export DB_PASSWORD="{} '),
        '"password": "{}',
    ],
    "next line": [
        *("Password:\n{}\n", "The password is:\n\n    {}\n\nThanks", "password =\n  {}\n"),
        *('password:\n  "{}"', "db_password: \\\n  {}", "# Password\n\n{}\n", "Passwort:\n{}"),
    ],
    "block scalar": [
        *("password: |\n  {}\nuser: x", "password: >-\n    {}", "password: |-\n\n  {}\n"),
        *("db_password: |2\n  {}", "password: !!str |\n  {}", "password: | # from the vault\n  {}"),
    ],
    "table": [
        "| user | password |\n|------|----------|\n| bob | {} |\n",
        "| Host | User | Passwort | Note |\n|:--|--|--|--:|\n| a | b | `{}` | c |\n| d | e | | f |",
        " usename | password \n---------+----------\n app | {}\n(1 row)",
        "user,password,role\nbob,{},admin\n",
        'name,url,username,password\nx,https://x.org/,bob,"{}"\n',
        "user;password\nann;-\nbob;{}\n",
        "user\tpassword\trole\nbob\t{}\tadmin",
        "用户名,密码\nbob,{}\n",
    ],
    "wireless": [
        *('psk="{}"', "psk={}", "wpa-psk {}", "wifi-sec.psk {}", "    psk: {}"),
    ],
    "sql": [
        "CREATE USER app IDENTIFIED BY '{}';",
        "alter user app identified by '{}';",
        'ALTER USER app IDENTIFIED BY "{}" REPLACE x;',
        "CREATE USER 'a'@'%' IDENTIFIED WITH mysql_native_password BY '{}';",
        "GRANT ALL ON x.* TO a@b IDENTIFIED BY '{}' WITH GRANT OPTION",
        "ALTER ROLE app WITH LOGIN PASSWORD '{}';",
    ],
    "pgpass": [
        *("db.x.org:5432:shop:app:{}\n", "*:*:*:app:{}", "localhost:5433:*:postgres:{}\n"),
    ],
    "address": [
        'sql.Open("mysql", "app:{}@tcp(db:3306)/shop")',
        "DSN=app:{}@tcp(127.0.0.1:3306)/shop?parseTime=true",
        "app:{}@unix(/run/mysqld.sock)/shop",
        "sqlplus scott/{}@orcl",
        "sqlplus -s scott/{}@//db:1521/shop",
        "jdbc:oracle:thin:scott/{}@db:1521:shop",
        "expdp system/{}@shop full=y",
    ],
    "windows": [
        'new NetworkCredential("me", "{}")',
        "requests.get(url, auth=('me', '{}'))",
        "New-Object System.Net.NetworkCredential('me', '{}', 'CORP')",
        'ConvertTo-SecureString "{}" -AsPlainText -Force',
        "ConvertTo-SecureString -String '{}' -AsPlainText",
        "ConvertTo-SecureString {} -AsPlainText -Force",
        "$c = $x | ConvertTo-SecureString -AsPlainText -Force -String '{}'",
    ],
    "command": [
        *("redis-cli -h cache -a {} ping", "redis-cli -a '{}' info", "redis-cli --pass {} ping"),
        *("mongosh -u admin -p {} --quiet", 'mongodump -u me -p "{}" -d x', "mongo x -p '{}'"),
        *("echo {} | sudo -S apt update", "echo '{}' | sudo -S -k ls", "sudo -S ls <<< {}"),
        *('echo "{}"|sudo -S id', "printf '%s\\n' '{}' | sudo -S id", "sudo -S ls <<<'{}'"),
        "echo {} | docker login -u ci --password-stdin x.org",
        *("ldapsearch -x -D cn=a,dc=x -w {} -b dc=x", "ldapmodify -w '{}' -f x.ldif"),
        *("keytool -list -storepass {} -v", "keytool -genkey -keypass {} -storepass changeit"),
        *("jarsigner -storepass '{}' app.jar me", "openssl rsa -passin pass:{} -in k.pem"),
        *("zip -er -P {} out.zip dir", "unzip -P '{}' in.zip", "zip -P {} out.zip a b"),
        *("7z a -p{} out.7z dir", "7z x -p'{}' in.7z", '7za a -mhe=on -p"{}" o.7z'),
        *("mysql -u root -p'{}' shop", 'mysqldump -p"{}" shop', "mysqladmin -u root -p{} status"),
        *("rar a -hp{} x.rar dir", "smbclient //srv/share -U 'me%{}'", "htpasswd -b .x me {}"),
        *("echo 'me:{}' | sudo chpasswd", "rabbitmqctl add_user me {}", "requirepass {}"),
        *("lftp -u me,{} sftp://x.org", "lftp -e 'ls' -u 'me,{}' x.org"),
        *("http -a admin:{} x.org/api", "https -a admin:{} x.org", "http POST x -a 'me:{}'"),
    ],
    "other languages": [
        *("Kennwort: {}", "Das Passwort lautet {}", "Passwort für den Server ist {}"),
        *("密码: {}", "密码：{}", "密码是{}", "密码为 {}，请勿外传", "密碼：{}", "登录密码是 {}。"),
        *("mot de passe : {}", "le mot de passe est {}", "Mot de passe de la base : {}"),
        *("mdp : {}", "mon mot de passe, c'est {}", "clave: {}", "пароль админа: {}", "암호: {}"),
        *("contraseña: {}", "la contraseña es {}", "la contraseña del servidor es {}"),
        *("senha: {}", "a senha é {}", "A senha do banco é {}", "пароль: {}", "Пароль от базы: {}"),
        *("пароль — {}", "пароль {}"),
        *("パスワード：{}", "パスワードは{}です", "パスワードは {} です。"),
        *("비밀번호: {}", "비밀번호는 {} 입니다", "hasło: {}", "hasło to {}", "Hasło do bazy: {}"),
        *("wachtwoord is {}", "lösenord: {}", "şifre: {}", "heslo: {}", "la password è {}"),
        *("Das Passwort ist „{}“.", "пароль «{}»", "パスワードは「{}」です"),
    ],
    "speech": [
        "the db password for this session, its {}",
        "the password for staging, it's {} ok?",
        "password we use on the old box is {}",
        "my password's {} by the way",
        "the password should be {}",
        "password has been changed to {}",
        "the admin password for the db: {}",
        "the login is admin / {}",
        "Credentials: admin / {}",
        "login: root/{}",
        "credentials for the test box are `admin` / `{}`",
        "log in with bob@x.org / {} please",
    ],
    "mark-up": ["password: <code>{}</code>", "password = <b>{}</b>"],
}  # fmt: skip
NAMED = ("secret2024", "admin123", "P@ssw0rd", "token4711")
"""Passwords that have the word for one in them, or that of a user."""
SAID = [
    *("the password for the staging db is {}, ok", "we changed the password to {} yesterday"),
    *("use the password {} for now", "das Passwort für die Datenbank ist {}"),
    *("wir haben das Passwort auf {} geändert", "la contraseña es {}", "cambié la contraseña a {}"),
    *("j'ai changé le mot de passe en {}", "a senha do banco é {}", "mudei a senha para {}"),
    *("la password del db è {}", "ho cambiato la password in {}", "hasło do bazy to {}"),
    *("zmieniłem hasło na {}", "пароль от базы это {}", "сменил пароль на {}"),
    "het wachtwoord is {}",
]  # fmt: skip
LEFT = [
    *("the password in step22 is optional", "the passphrase is asked for every single time"),
    *('if pw == password: raise ValueError("no")', 'getByLabelText("Password")).toBeVisible()'),
    "password: <code>String</code>",
    *("password: see 1Password", "the password field is required", "Passwort: siehe Vault"),
    *("password: String?", "val password: Int32? = null", "password = user?.password"),
    *("token = isProd?prodToken:devToken", "is that the password?", "password: optional?"),
    *('password = "', "password = '\n", 'echo "the password', 'password: "see the vault'),
    *("Password:\nUsername:", "password:\n  type: string\n  minLength: 8", "# Password\n\nSet it."),
    *("password: |\n  See the vault for it.", "password: |\n  $VAULT2"),
    "| field | password |\n|---|---|\n| type | string |\n| least | 8 |",
    "name,password\nrequired,yes\n",
    "from x import (\n  login, password,\n  token2, other3,\n)",
    "users, password, keys\nand so on, until page 12, at last",
    "| option | password |\n|---|---|\n| --password | `$DB_PASSWORD1` |",
    *("psk: true", "psk=<your psk>", "wpa-psk ccmp", "8-PSK modulation 2400"),
    *("IDENTIFIED BY '<password>'", "IDENTIFIED BY :pw1", "users identified by email2 address"),
    *("main.py:5432:12:error:x", "db:5432:5432", "a:*:*:b:$PGPASSWORD", "std::map:*::x"),
    *("user:password@tcp(db:3306)/x", "$U:$P@tcp(db)/x", "app:${PW}@tcp(db:3306)/x"),
    *("scott/tiger.sql@v2", "npm i @scope/pkg2@1.2.3", "uses: actions/checkout@v4"),
    *("go get github.com/a/b2@latest", "sqlplus /nolog", "sqlplus scott@orcl1"),
    *("new NetworkCredential(user, password1)", 'NetworkCredential("me", "password")'),
    *("ConvertTo-SecureString $pw1 -AsPlainText", "ConvertTo-SecureString (Get-Content p1.txt)"),
    *("redis-cli -h cache -p 6379 ping", "redis-cli -a $REDIS_PASS1 ping", "redis-cli -a"),
    *("mongosh --port 27017", "mongosh -u me -p", "mongosh -u me -p --quiet", "mongo -p $PW1"),
    *("echo $PW1 | sudo -S ls", "echo hello | sudo tee /etc/x1", "sudo -S ls", "sudo -SE ls1 abc"),
    *("ldapsearch -W -b dc=x1", "ldapsearch -w $PW1 -b dc=x", "keytool -list -storepass:env PW1"),
    *("keytool -storepass changeit", "zip -P", "zip -r out2.zip -P", "unzip -p in2.zip a"),
    *("7z a -p out2.7z dir", "7z l in2.7z", "mysql -u root -p shop2", "mysql -P 3306 -p"),
    *("docker run -p 8080:80 web2", "ssh -p 2222 me@x1", "mkdir -p a1/b2", "curl -a x1:y2z3w4"),
    *("rar x in2.rar", "smbclient //srv/x1 -U me", "htpasswd -c .x me1", "echo me:$P1 | chpasswd"),
    *("lftp -u me x1.org", "lftp -u me,$PW1 x.org", "http -a $AUTH1 x.org", "http -v x.org:8080"),
    *("密码是8到16位字符", "密码：至少8位", "请输入密码", "パスワードは8文字以上です"),
    "비밀번호는 8자 이상",
    *("le mot de passe est obligatoire", "la contraseña es incorrecta", "hasło do bazy: w sejfie"),
    *("on passe de 12 à 14 tests", "wir passen Version2 an", "пароль: см. в хранилище"),
    *("the password was changed to 2024-05-01", "the password is SHA-256 hashed", "mongo -p 27017"),
    *("Login: user / profile2 page", "la clave es Version2", "arn:aws:rds:*:*:db:name2"),
    *("the password hash is sha256", "the password for the vault is in 1Password, ask bob"),
    *("password hashing is argon2id", "the password check is O(n2)", "its password, its rules"),
    *("login: GET /api/v2/token", "the login page / signup2 page", "see login.py / auth2.py"),
    *("credentials in config / secrets2.yml", "login with Google / GitHub", "login / logout2"),
    "kind: ConfigMap\ndata:\n  color: Ymx1ZS1hbmQtZ3JlZW4=\n",
    "kind: Secret\nmetadata:\n  name: app-v2-secret\ntype: Opaque\n",
]  # fmt: skip


def test_a_password_goes_and_the_text_around_it_stays() -> None:
    def check(way: str) -> None:
        for value in PASSWORDS:
            assert redacted(way.replace("{}", value)) == way.replace("{}", "[redacted:password]")

    for_each((way for ways in WAYS.values() for way in ways), check)


def test_what_a_sentence_says_the_password_is_goes() -> None:
    def check(way: str) -> None:
        for value in (*NAMED, *PASSWORDS):
            assert redacted(way.replace("{}", value)) == way.replace("{}", "[redacted:password]")

    for_each(SAID, check)


def test_all_of_a_secret_in_parts_goes() -> None:
    def check(text: str) -> None:
        assert "7Fq2" not in redacted(text)
        assert "kayak" not in redacted(text)

    rows = (
        'token = "zT9vQ27Fq2LpzX9c" + "z7Fq2LpzX9cvTNd4"',
        "$secret = 'a97Fq2bLpzX9cZQ1' . '07Fq2bLpzX9cZQ1a';",
        "the passphrase is gravel zigzag nectar kayak",
        "unlock it with the passphrase gravel zigzag nectar kayak.",
        "fly secrets set A=k7Fq2LpzX9 B=z7Fq2LpzX9c",
    )
    for_each(rows, check)


def test_a_text_that_only_looks_like_it_holds_a_password_stays() -> None:
    def check(text: str) -> None:
        assert redacted(text) == text

    for_each(LEFT, check)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("https://api.telegram.org/bot{d10}:AA{w33}/getMe", "telegram-token"),
        ("{d10}:AA{t33}", "telegram-token"),
        ("re_{a8}_{a24}", "resend-key"),
        ("ABSK{b120}=", "aws-bedrock-key"),
        ("bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{b80}", "aws-bedrock-key"),
        ("{a52}JQQJ99{a18}AZDO{a4}", "azure-devops-token"),
        ("admin:$apr1${a8}${a22}", "password-hash"),
        ("admin:$2y$05${a53}", "password-hash"),
        ("admin:{SHA}{b27}=", "password-hash"),
        ("root:$6${a16}${a86}:19000:0:99999:7:::", "password-hash"),
        ("root:$6$rounds=5000${a8}${a86}:19000:0:99999:7:::", "password-hash"),
        ("me:$y$j9T${a22}${a43}:19000:0:99999:7:::", "password-hash"),
        ("$argon2id$v=19$m=65536,t=3,p=4${b22}${b43}", "password-hash"),
        ("    client-key-data: {b300}=", "key"),
    ],
)
def test_a_format_is_known_by_its_shape(line: str, kind: str) -> None:
    for seed in range(5):
        text = fill(line, seed)
        assert redact(text).kinds == (kind,)
        assert text[len(text) // 2 :][:12] not in redacted(text)


def test_every_value_of_a_kubernetes_secret_goes() -> None:
    values = [base64.b64encode(value.encode()).decode() for value in ("me@x.org", "open sesame")]
    first, second = values
    manifest = (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\ndata:\n"
        f"  username: {first}\n  db-uri: {second}\ntype: Opaque\n---\nkind: ConfigMap\ndata:\n"
        f"  color: {first}\n"
    )
    assert redacted(manifest) == manifest.replace(first, "[redacted:secret]", 1).replace(
        second, "[redacted:secret]"
    )
    turned = f"data:\n  a.b: {first}\n  c: {second}\nkind: Secret\n"
    assert redacted(turned) == turned.replace(first, "[redacted:secret]").replace(
        second, "[redacted:secret]"
    )
    plain = "kind: Secret\nstringData:\n  greeting: 'open sesame'\n"
    assert redacted(plain) == plain.replace("open sesame", "[redacted:secret]")
    json = f'{{"kind": "Secret", "data": {{"a": "{first}", "b": "{second}"}}, "type": "Opaque"}}'
    assert redacted(json) == json.replace(first, "[redacted:secret]").replace(
        second, "[redacted:secret]"
    )
    command = "kubectl create secret generic x --from-literal=uri={} -n y"
    assert redacted(command.format("open-sesame")) == command.format("[redacted:secret]")

"""How much a name beside a value says, and how much the value itself must say on top.

An assignment is believed most, a word in speech or in the next cell least. Each row is a way to
say it, the values that are taken for secrets there, and those that stay.
"""

from __future__ import annotations

import pytest

from ltm.redact.assignments import assigned, names_in
from ltm.redact.redact import redacted
from ltm.redact.stems import TextWords

RANDOM = "x9Kq2Lm8Pz4R7tVb"  # sixteen characters
HEX = "ab12cd34ef56ab12"


def secrets(text: str) -> list[tuple[int, int, str]]:
    return list(assigned(text, names_in(TextWords(text))))


def kinds(text: str) -> list[str]:
    return [kind for _, _, kind in secrets(text)]


def check(way: str, taken: list[str], left: list[str]) -> None:
    for value in taken:
        text = way.replace("{}", value)
        (found,) = secrets(text)
        assert text[found[0] : found[1]] == value, text
    for value in left:
        assert kinds(way.replace("{}", value)) == [], (way, value)


@pytest.mark.parametrize(
    "way",
    [
        *("staging,CLIENT_SECRET,{},2024-01-01", "### CLIENT_SECRET\n{}"),
        *('setSecret("{}")', "client_secret → {}"),
    ],
)
def test_in_the_next_cell_only_sixteen_random_characters_are_a_secret(
    way: str,
) -> None:
    check(way, [RANDOM], [RANDOM[:15], RANDOM[:8], "words-without-any"])


@pytest.mark.parametrize(
    "way",
    [
        *("client_secret = {}", 'client_secret: "{}"', "--client-secret {}", "token: {}"),
        *("<secret>{}</secret>", "api_key: {}", 'token: "{}"', "Authorization: Bearer {}"),
    ],
)
def test_assigned_eight_random_characters_are_a_secret(way: str) -> None:
    check(way, [RANDOM, RANDOM[:8]], [RANDOM[:7], "expired", "12345678"])


@pytest.mark.parametrize("way", ["TOKEN={}", "API_KEY={}"])
def test_in_an_environment_words_are_a_secret_too_if_they_are_twelve_letters(way: str) -> None:
    taken = ["abcdefghijkl", "words-without-any", HEX, RANDOM[:8], "a1b2-hello"]
    check(way, taken, ["abcdefghijk", "abcdefgh", "abcdefg1", RANDOM[:7]])


def test_elsewhere_words_are_none_and_a_hash_is_one_by_the_name_alone() -> None:
    left = ["abcdefghijkl", "words-without-any", "abcdefg1"]
    check("token: {}", [HEX, "a1b2-hello"], left)
    check("api_key: {}", [HEX], left)


def test_a_key_of_nothing_in_particular_must_look_the_part_and_a_hash_must_be_quoted() -> None:
    check("key={}", [RANDOM], [RANDOM[:15], HEX, "a1b2-hello"])
    check("key = '{}'", [RANDOM, HEX], [RANDOM[:15], HEX[:15], "abcdefghijklmnop"])


NONE = [
    *("abc", "ab1", "required", "<secret>", "$PASSWORD", "${PW}", "xxxxx", "****", "null", "None"),
    *("string", "changeme", "your-pw", "[redacted:password]", "password"),
]
"""What is no value of its own, wherever it stands."""


@pytest.mark.parametrize(
    "way",
    [
        *("password: {}", "password = {}", 'password = "{}"', "PASSWORD={}", "--password {} -v"),
        *(
            "db.password={}",
            "user: me\npassword: {}\n",
            "login me password {}",
            "root password: {}",
        ),
        *("<password>{}</password>", "host=x password={} port=1", "x --set db.password={} y"),
        *("Passwort: {}", "пароль: {}", "mot de passe : {}"),
    ],
)
def test_where_only_a_password_can_stand_any_word_is_one(way: str) -> None:
    check(way, ["ab1c", "hunter", "12345678", "wheel-of-cheese", "Kitten!", "letmein+now"], NONE)


@pytest.mark.parametrize(
    "way",
    [
        *("self.password = {}", "login(password={}, x=1)", "def f():\n    password = {}\n"),
        *("wrong password: {}", "password: {} or so", "if (password === {}) return"),
    ],
)
def test_in_a_program_or_a_sentence_a_mere_word_after_a_mark_is_none(way: str) -> None:
    check(way, [RANDOM], [*NONE, "hunter", "other"])


@pytest.mark.parametrize("way", ["password {}"])
def test_a_word_that_only_follows_must_look_made_up(way: str) -> None:
    check(way, ["hunter2", "hunte2"], ["hunt2", "hunter", "12345678"])


def test_a_bare_pass_says_little_unless_a_text_is_given_to_it() -> None:
    """Tests pass, and flags are passed."""
    check("pass: {}", ["hunter2", "hunte2"], ["hunt2", "hunter", "12345678", "test-2"])
    check("pass = '{}'", ["hunter2", "hunter", "nimble-fox"], ["true", "fail", "abc"])


def test_a_password_of_several_words_is_neither_sentence_nor_label() -> None:
    taken = ["p4ss w0rd", "two words", "correct pony stapler lamp", "keyboard cat in the rain"]
    labels = ["Enter your password", "must be long", "Reset link", "is too short", "see the vault"]
    check('password = "{}"', taken, [*labels, "w" * 60 + " " + "w" * 60])
    check('passphrase: "{}"', taken, labels)
    check("passphrase: {}", ["one two three four"], ["asked for at boot", "see the vault"])
    check('user: me\npassword: "{}"', taken, labels)
    check("password = {}", ["correct pony stapler lamp"], ["see the vault"])


def test_a_type_an_address_and_an_argument_are_no_values() -> None:
    assert kinds(f'"AWS::IAM::AccessKey": "{HEX}"') == []
    assert kinds(f"arn:aws:us-west:secret:{RANDOM}") == []
    assert kinds("login(password=password1)") == []
    assert kinds("login(password=password1, x=2)") == []
    assert kinds(f"login(password={RANDOM})") == ["password"]
    assert kinds("LOGIN(PASSWORD=password1)") == ["password"]  # an environment, whatever follows


def test_several_on_one_line_are_all_found_and_none_twice() -> None:
    text = f"TOKEN={RANDOM} PASSWORD=hunter2 and token token"
    assert [text[start:end] for start, end, _ in secrets(text)] == [RANDOM, "hunter2"]


def test_a_closing_mark_is_not_part_of_a_value() -> None:
    for end in (".", ",", ";", ")", "]", "}", "**", "),", ").", ") or so"):
        assert redacted(f"(password: hunter2{end}") == f"(password: [redacted:password]{end}"

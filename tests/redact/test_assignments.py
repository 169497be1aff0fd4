"""How much a name beside a value says, and how much the value itself must say on top.

An assignment is believed most, a word in speech or in the next cell least. Each row is a way to
say it, the values that are taken for secrets there, and those that stay.
"""

from __future__ import annotations

import pytest

from ltm.redact.assignments import assigned

RANDOM = "x9Kq2Lm8Pz4R7tVb"  # sixteen characters
HEX = "ab12cd34ef56ab12"


def kinds(text: str) -> list[str]:
    return [kind for _, _, kind in assigned(text)]


def check(way: str, taken: list[str], left: list[str]) -> None:
    for value in taken:
        text = way.replace("{}", value)
        (found,) = assigned(text)
        assert text[found[0] : found[1]] == value, text
    for value in left:
        assert kinds(way.replace("{}", value)) == [], (way, value)


@pytest.mark.parametrize(
    "way",
    [
        *("the secret is {}", "staging,CLIENT_SECRET,{},2024-01-01", "### CLIENT_SECRET\n{}"),
        *('setSecret("{}")', "client_secret → {}", "I used {} as the secret", "{} is our secret"),
    ],
)
def test_in_speech_or_in_the_next_cell_only_sixteen_random_characters_are_a_secret(
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


def test_a_password_that_is_assigned_needs_four_characters_and_a_digit_or_quotes() -> None:
    check("password: {}", ["ab1c", "hunt2", "12345678", "ABcdef"], ["ab1", "hunter", "ABcde"])
    check('password = "{}"', ["ab1c", "hunter", "letmein+now"], ["abc", "NewPassword", "your-pw"])
    check("PASSWORD={}", ["ab1c", "hunter", "letmein+now"], ["abc", "ab1"])
    check("--password {}", ["ab1c", "hunter2"], ["hunter", "abc"])


@pytest.mark.parametrize("way", ["the password is {}", "password {}", 'setPassword("{}")'])
def test_a_password_in_speech_needs_six_characters_and_a_digit(way: str) -> None:
    check(way, ["hunter2", "hunte2"], ["hunt2", "hunter", "12345678", "letmein+now"])


@pytest.mark.parametrize("way", ["pass: {}", "pass = '{}'"])
def test_a_bare_pass_says_little(way: str) -> None:
    """Tests pass, and flags are passed."""
    check(way, ["hunter2", "hunte2"], ["hunt2", "hunter", "12345678", "test-2"])


def test_a_password_of_several_words_has_digits_among_its_letters_and_is_quoted() -> None:
    check('password = "{}"', ["p4ss w0rd", f"p4ss {'w' * 59}"], ["two words", "a b c d e"])
    check('password = "{}"', [], [f"p4ss {'w' * 60}"])  # more than 64 are a sentence
    assert kinds('setPassword("p4ss w0rd")') == []


def test_a_passphrase_is_four_words_in_quotes() -> None:
    check('passphrase: "{}"', ["one two three four"], ["one two three"])
    check("passphrase: {}", [], ["one two three four"])


@pytest.mark.parametrize(
    "way",
    [
        *("the password of that old box is still {}", "use {} as the password", "login: root / {}"),
        *("he changed the pw from {}", "creds are root:{}"),
    ],
)
def test_in_a_sentence_about_a_password_what_looks_made_up_is_one(way: str) -> None:
    check(
        way, ["Regen-Rinne48", "kyo-2214-Scan", "cobalt_Yak_Sledge"], ["AES-256", "utf-8", "words"]
    )


def test_a_type_an_address_and_an_argument_are_no_values() -> None:
    assert kinds(f'"AWS::IAM::AccessKey": "{HEX}"') == []
    assert kinds(f"arn:aws:us-west:secret:{RANDOM}") == []
    assert kinds("login(password=password1)") == []
    assert kinds("login(password=password1, x=2)") == []
    assert kinds(f"login(password={RANDOM})") == ["password"]
    assert kinds("LOGIN(PASSWORD=password1)") == ["password"]  # an environment, whatever follows


def test_several_on_one_line_are_all_found_and_none_twice() -> None:
    text = f"TOKEN={RANDOM} PASSWORD=hunter2 and token token"
    assert [text[start:end] for start, end, _ in assigned(text)] == [RANDOM, "hunter2"]


def test_a_closing_mark_is_no_part_of_a_value() -> None:
    for end in (".", ",", ";", ")", "]", "}", "**", "),", ").", ") or so"):
        text = f"(password: hunter2{end}"
        ((start, stop, _),) = assigned(text)
        assert text[start:stop] == "hunter2", end

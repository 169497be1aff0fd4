"""What a value looks like decides whether it is taken for a secret, so each look has its line."""

from __future__ import annotations

import pytest

from ltm.redact.values import (
    has_digit,
    is_hash,
    is_number,
    is_placeholder,
    is_random,
    is_reference,
    is_wordy,
)


@pytest.mark.parametrize(
    "value",
    [
        *("<key>", "<key", "{{x}}", "{x.y}", "[your key]", "(none)", "!vault", "$5.00", "$(pass)"),
        *("$TOKEN", "${x}", "%(x)s", "%X%", "%s", "***", "#{x}", "@x@", "xxxx", "abc...", "a…b"),
        *("abc${d}", "a{name}b", "a<your key>b", "abc[redacted:key]", "aaaa", "abab", "aab"),
        *("your-key", "example", "k-example-1", "sample1", "changeme", "CHANGE_ME", "TODO"),
        *("token_here", "secret-here", "dummy", "password", "Passwd", "null", "string", "int"),
    ],
)
def test_what_stands_where_a_secret_would_is_none(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    [
        *("passw0rd", "abc", "123", "hunter2", "x9Kq2Lm8", "$2b$12$abcdef", "a@x@b"),
        # Words that only begin or end like one, among other letters.
        *("myexample", "qyour1", "insertion", "replacement", "todos"),
    ],
)
def test_a_word_inside_of_others_makes_no_placeholder(value: str) -> None:
    assert not is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    [
        *("https://x", "data:x", "mailto:x", "sha256:ab", "urn:x", "ARN:aws", "v1.2.3", "~1.2.x"),
        *("^[a-z]+$", "a[0-9]x", "\\d+x", "./certs/key2.pem", "C:\\a\\b.txt", "~/x", "/etc/x"),
        *("secrets.yml", "a/b/c.py"),
    ],
)
def test_an_address_a_version_a_pattern_or_a_path_is_not_secret_even_in_quotes(value: str) -> None:
    assert is_reference(value, quoted=True)
    assert is_reference(value, quoted=False)


@pytest.mark.parametrize(
    "value",
    [
        *("(abc", "[a1", "{x1", "foo->bar2", "obj::x1", "a?.b", "Optional[str]", "Vec<u8>"),
        *("foo.bar", "call(x)", "a.b()", "items[0", "a?b", "a)b", "x]y"),
    ],
)
def test_code_is_not_secret_unless_it_is_quoted(value: str) -> None:
    assert is_reference(value, quoted=False)
    assert not is_reference(value, quoted=True)


@pytest.mark.parametrize("value", ["x9Kq2Lm8Pz4R.a7", "9x9Kq2(Lm8Pz4R", "9Kq2Lm8?Pz4R7"])
def test_a_random_text_with_marks_in_it_is_still_itself(value: str) -> None:
    assert not is_reference(value, quoted=False)


@pytest.mark.parametrize("value", ["(x9Kq2Lm8Pz4R", "[x9Kq2Lm8Pz4R", "{x9Kq2Lm8Pz4R"])
def test_what_opens_with_a_bracket_is_code_however_random_it_looks(value: str) -> None:
    assert is_reference(value, quoted=False)
    assert not is_reference(value, quoted=True)


@pytest.mark.parametrize("value", ["1", "-1", "+5", "1_000", "1.5e3", "1E-3", "0x1F", "12ms"])
def test_a_number_may_have_a_sign_a_fraction_and_a_unit(value: str) -> None:
    assert is_number(value)


@pytest.mark.parametrize("value", ["12abc", "1.", "", "1.2.3", "a1", "0xgab", "- 1"])
def test_what_only_begins_like_a_number_is_none(value: str) -> None:
    assert not is_number(value)


@pytest.mark.parametrize(
    ("value", "wordy"),
    [
        *(("helloWorld", True), ("HelloWorld12", True), ("HELLO_WORLD", True), ("v2/api", True)),
        *(("hello-world_foo.bar", True), ("hello world", True), ("12345678abc", True)),
        *(("HELLO12345", False), ("camelCase12345", False), ("123456789", False)),
        *(("a1b2", False), ("x1y-hello", False), ("12abcd", False)),
    ],
)
def test_words_may_be_joined_and_end_in_a_number_of_four_digits(value: str, wordy: bool) -> None:
    assert is_wordy(value) is wordy


@pytest.mark.parametrize(
    ("value", "random"),
    [
        *(("x9Kq2Lm8", True), ("x9Kq2Lm", False)),  # eight letters and digits at least
        *(("x9K-q2-L7", False), ("x9K-q2L-m8P", True)),  # marks do not count
        *(("abcdefgh", False), ("hunter2hunter2", False), ("k3yk3yk3y", True)),
        # Two changes in nine characters are as many as random texts have; in ten they are not.
        *(("aaaaaa1Bc", True), ("aaaaaaa1Bc", False)),
        *(("HelloWorldAgain", False), ("getUserById2", False)),
    ],
)
def test_a_random_text_changes_its_sort_of_character_as_no_word_does(
    value: str, random: bool
) -> None:
    assert is_random(value) is random


def test_a_hash_is_hex_or_a_uuid_and_nothing_more() -> None:
    uuid = "12345678-1234-1234-1234-123456789abc"
    assert all(map(is_hash, ("ab12", "ABCDEF", uuid)))
    assert not any(map(is_hash, ("xyz", "ab12-", uuid[:-1], f"{uuid}0", "")))


def test_a_digit_is_one_of_0_to_9() -> None:
    assert has_digit("a1")
    assert not has_digit("a")
    assert not has_digit("a٣")

"""The terms a text is found by."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.files.sqlite import TOKENIZER
from ltm.text.terms import LONGEST, STOP, porter, query_terms, question_terms, terms

# Any text, and text that is dense in what the tokeniser treats specially.
TRICKY = st.text(
    alphabet="aZé0_9 .-/\\:'’@#+\"*()\n\t我猫가あกिß™İ\u0301\u200d\U0001f680", max_size=60
)
TEXT = st.one_of(st.text(max_size=80), TRICKY)
# One word or more for each rule of the algorithm.
PORTERS_EXAMPLES = """
caresses ponies cats feed agreed plastered motoring sing conflated troubled hopping tanned falling
hissing fizzed failing filing happy sky relational conditional rational valency hesitancy digitizer
radically vietnamization operator feudalism decisiveness hopefulness formality sensibility
triplicate formative electrical goodness revival allowance inference adjustable effective
replacement adoption communism probate rate cease controlling roll
"""


@pytest.fixture
def fts() -> Iterator[sqlite3.Connection]:
    """A real full-text table with our tokeniser setting, and a view on the terms it keeps."""
    db = sqlite3.connect(":memory:")
    db.execute(f'CREATE VIRTUAL TABLE words USING fts5(body, tokenize = "{TOKENIZER}")')
    db.execute("CREATE VIRTUAL TABLE kept USING fts5vocab(words, instance)")
    yield db
    db.close()


def finds(db: sqlite3.Connection, query: str, body: str) -> bool:
    """Whether a question finds a text, the way the index stores and asks."""
    db.execute("DELETE FROM words")
    db.execute("INSERT INTO words VALUES (?)", (" ".join(terms(body)),))
    asked = " OR ".join(f'"{term}"' for term in query_terms(query))
    return bool(
        db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (asked,)).fetchone()[0]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserById", {"getuserbyid", "get", "user", "id"}),
        ("UserStore", {"userstor", "user", "store"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("user_store", {"user_store", "user", "store"}),
        ("user-store", {"user_store", "user", "store"}),
        ("app.core.Store", {"app_core_store", "app", "core", "store"}),
        ("std::vector", {"std_vector", "std", "vector"}),
        ("__init__.py", {"init_py", "init", "py"}),
        ("src/app/user_store.py", {"user_store_py", "user_store", "src", "app", "user", "store"}),
        ("C:\\work\\notes.txt", {"work_notes_txt", "notes_txt", "txt"}),
        ("ERR_MODULE_NOT_FOUND", {"err_module_not_found", "err", "not"}),
        ("E501", {"e501", "501"}),
        ("TS2345", {"ts2345", "2345"}),
        ("SQLSTATE 23505", {"sqlstate", "23505"}),
        ("0x80070005", {"0x80070005", "80070005"}),
        ("0xC000001D", {"0xc000001d", "c000001d"}),
        ("HTTP 404", {"http", "404"}),
        ("v1.2.3", {"v1_2_3", "1_2_3"}),
        ("C++ and C# and F#", {"cpp", "csharp", "fsharp"}),
        ("https://example.com/docs/x1", {"example_com_docs_x1", "example_com"}),
        ("userIDs of the APIs", {"id", "api"}),
    ],
)
def test_identifiers_paths_and_codes_give_the_whole_and_the_parts(
    text: str, expected: set[str]
) -> None:
    assert expected <= set(terms(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserById", "getuserbyid get user by id"),
        ("std::vector", "std_vector std vector"),
        ("__init__.py", "init_py init py"),
        ("lib/XmlReader.py", "lib_xmlreader_py lib xmlreader_py xmlreader xml reader py"),
        ("@scope/pkg-name", "scope_pkg_name scope pkg_name pkg name"),
        ("src/a_b.py", "src_a_b_py src a_b_py a_b py"),
        ("v1.2.3", "v1_2_3 1_2_3 v1"),
        ("v1 vx.y 1.2", "v1 vx_y vx 1_2"),
        ("C++ foo++ g++ a#", "cpp foo gpp a"),
        ("_private foo_ --flag", "privat foo flag"),
        ("0xC000001D deadbeef01", "0xc000001d c000001d deadbeef01"),
        ("naïve-Straße", "naive_strasse naiv strass"),
        ("we'll don’t it's", "we dont it"),
    ],
)
def test_a_name_gives_these_terms_in_this_order_and_no_others(text: str, expected: str) -> None:
    assert terms(text) == expected.split()


def test_a_path_is_found_by_its_file_name_its_stem_and_any_folder(fts: sqlite3.Connection) -> None:
    path = "see src/app/user_store.py line 3"
    for query in ("user_store.py", "user_store", "src/app/user_store.py", "app", "user store"):
        assert finds(fts, query, path), query
    assert not finds(fts, "src/app/other_file.js", "user_store.py")


def test_parts_of_one_letter_and_blobs_do_not_become_terms() -> None:
    assert terms("x.y") == ["x_y"]
    assert terms("3f2a9bc4d1e8") == ["3f2a9bc4d1e8"]
    blob = "aB3" * 400
    assert all(len(term) <= LONGEST for term in terms(blob))
    assert len(terms(blob)) < 30


@pytest.mark.parametrize(
    "forms",
    [
        "use uses used using",
        "add adds added adding",
        "id ids",
        "run runs running ran",
        "decide decided deciding decision decisions",
        "choose chose chosen choosing",
        "index indexes indices indexed",
        "query queries querying",
        "deploy deploys deployed deploying",
        "connection connections connected",
        "test tests tested testing",
    ],
)
def test_forms_of_an_english_word_meet_on_one_term(forms: str) -> None:
    assert len(set(terms(forms))) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("use", "us"),
        ("one", "on"),
        ("ide", "id"),
        ("key", "monkey"),
        ("sing", "s"),
        ("note", "not"),
        ("went gone going", "Go"),
        ("projection projections", "project projects"),
        ("production", "product"),
        ("authorization authorize", "author authority"),
        ("important", "import"),
        ("experiments", "experience"),
    ],
)
def test_words_that_only_look_alike_stay_apart(one: str, other: str) -> None:
    assert not set(terms(one)) & set(terms(other))


def test_a_word_is_not_lost_because_its_stem_looks_like_a_stop_word() -> None:
    for word in ("use", "used", "using", "one", "ones", "ore"):
        assert query_terms(f"the {word}") == terms(word)


def test_codes_with_digits_or_underscores_are_not_stemmed() -> None:
    assert "user_services" in terms("user_services")
    assert terms("caches2")[0] == "caches2"


def test_the_stems_are_those_of_porters_algorithm_as_sqlite_has_it(
    fts: sqlite3.Connection,
) -> None:
    words = re.findall("[a-z]+", f"{PORTERS_EXAMPLES} {re.__doc__} {subprocess.__doc__}".lower())
    fts.execute("CREATE VIRTUAL TABLE p USING fts5(word, tokenize = 'porter ascii')")
    fts.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(p, instance)")
    fts.executemany("INSERT INTO p(rowid, word) VALUES (?, ?)", enumerate(words))
    theirs = [term for (term,) in fts.execute("SELECT term FROM stems ORDER BY doc")]
    assert [porter(word) for word in words] == theirs


def test_accents_case_and_compatibility_forms_do_not_matter() -> None:
    assert terms("Café") == terms("cafe\u0301") == terms("CAFE") == terms("ｃａｆｅ")
    assert terms("Straße") == terms("STRASSE")
    assert terms("Łódź København œuvre") == terms("lodz kobenhavn oeuvre")
    assert terms("ёлка") == terms("ЕЛКА")
    assert terms("كِتَاب") == terms("كتاب")


def test_contractions_and_possessives_lose_their_apostrophe() -> None:
    assert terms("user's") == terms("user’s") == ["user"]
    assert query_terms("don't deploy") == query_terms("don’t deploy") == ["deploi"]
    assert "brien" in terms("O'Brien")


def test_scripts_without_spaces_become_pairs_and_single_han_and_hangul(
    fts: sqlite3.Connection,
) -> None:
    assert terms("数据库") == ["数", "据", "库", "数据", "据库"]
    assert terms("猫") == ["猫"]
    assert terms("カタカナ") == ["カタ", "タカ", "カナ"]
    assert finds(fts, "猫", "我喜欢猫")
    assert finds(fts, "数据库", "把数据库迁移到新的服务器")
    assert finds(fts, "집", "집에서 일한다")
    assert finds(fts, "ข้อมูล", "สำรองฐานข้อมูลก่อน")
    assert finds(fts, "猫を飼う", "猫が好き")
    assert not finds(fts, "犬", "我喜欢猫")


def test_a_script_without_spaces_does_not_swallow_the_latin_next_to_it() -> None:
    assert {"python", "用户"} <= set(terms("Python用户"))
    assert {"use", "数据"} <= set(terms("use数据"))


@pytest.mark.parametrize("run", ["数据", "데이터", "データ", "ข้อมูล", "မြန်မာ", "ខ្មែរ"])
@pytest.mark.parametrize("letter", ["X", "x", "A", "z", "7"])
def test_a_letter_right_next_to_such_a_script_is_a_term_of_its_own(run: str, letter: str) -> None:
    alone = terms(run)
    assert terms(f"{letter}{run}{letter}") == [letter.lower(), *alone, letter.lower()]


def test_a_long_run_loses_no_pair() -> None:
    run = "".join(chr(0x4E00 + number) for number in range(500))
    assert {run[at : at + 2] for at in range(499)} <= set(terms(run))


def test_indic_words_stay_whole() -> None:
    assert terms("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


def test_a_question_drops_stop_words_and_repetitions_unless_nothing_else_is_left() -> None:
    assert query_terms("what is the port of the Redis port?") == ["port", "redi"]
    assert query_terms("who is he") == ["who", "is", "he"]
    assert query_terms("to be or not to be") == ["to", "be", "or", "not"]
    assert query_terms("?!") == []


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("warum haben wir 502", ["502"]),
        ("¿dónde está el redis de staging?", ["redi", "stage"]),
        ("pourquoi nous utilisons redis", ["utilison", "redi"]),
        ("когда у нас релиз", ["у", "релиз"]),
        ("comment the die area on a bus", ["comment", "die", "area", "bus"]),
        ("warum?", ["warum"]),
    ],
)
def test_a_question_asks_for_no_function_words_of_other_languages(
    question: str, asked: list[str]
) -> None:
    """Only for those that are words of nothing else, neither in English nor in code."""
    assert question_terms(question) == asked


def test_stop_words_are_terms_as_they_stand() -> None:
    for word in STOP:
        assert terms(word) == [word]


def test_the_full_text_index_keeps_exactly_our_terms(fts: sqlite3.Connection) -> None:
    text = "Überlauf in src/app/user_store.py::getUserById 0xC000001D 数据库 สวัสดี हिन्दी İstanbul ½"
    fts.execute("INSERT INTO words VALUES (?)", (" ".join(terms(text)),))
    kept = [term for (term,) in fts.execute("SELECT term FROM kept ORDER BY offset")]
    assert kept == terms(text)


@given(TEXT)
def test_any_text_is_found_by_each_of_its_terms(text: str) -> None:
    found = terms(text)
    with sqlite3.connect(":memory:") as db:
        db.execute(f'CREATE VIRTUAL TABLE words USING fts5(body, tokenize = "{TOKENIZER}")')
        db.execute("CREATE VIRTUAL TABLE kept USING fts5vocab(words, instance)")
        db.execute("INSERT INTO words VALUES (?)", (" ".join(found),))
        for term in set(found):
            rows = db.execute("SELECT count(*) FROM words WHERE words MATCH ?", (f'"{term}"',))
            assert rows.fetchone() == (1,)
        assert [term for (term,) in db.execute("SELECT term FROM kept ORDER BY offset")] == found
    db.close()


@given(TEXT)
def test_every_term_is_short_and_free_of_blanks_and_quotes(text: str) -> None:
    for term in terms(text):
        assert re.fullmatch(r'[^\s"]+', term)
        assert len(term) <= LONGEST
        assert term.encode()


@given(TEXT)
def test_a_question_asks_only_for_terms_the_same_text_has(text: str) -> None:
    asked = query_terms(text)
    assert set(asked) <= set(terms(text))
    assert len(asked) == len(set(asked))
    assert bool(asked) == bool(terms(text))


@given(TEXT, TEXT)
def test_texts_side_by_side_have_the_terms_of_both(one: str, other: str) -> None:
    assert terms(f"{one}\n \n{other}") == terms(one) + terms(other)


def test_ascii_questions_do_not_load_the_tables_of_other_scripts() -> None:
    code = (
        "import sys; from ltm.text.terms import query_terms; query_terms('why does it fail');"
        "from ltm.text.terms import unspaced;"
        "sys.exit('unicodedata' in sys.modules or unspaced.cache_info().currsize)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_word_has_the_same_terms_however_many_others_were_seen_since() -> None:
    before = [terms(word) for word in ("src/app.py", "HTTPServer", "v1.2.3")]
    for number in range(20_100):
        terms(f"w{number}")
    assert [terms(word) for word in ("src/app.py", "HTTPServer", "v1.2.3")] == before

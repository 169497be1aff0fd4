"""Text made safe to show."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.text.display import (
    counted,
    estimate,
    is_tag_of,
    names_file,
    names_folder,
    one_line,
    visible,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("a\x00b\x7f", "a\\x00b\\x7f"),
        ("a\rb\bc", "a\\rb\\x08c"),
        ("admin\u202etxt.exe", "admin\\u202etxt.exe"),
        ("\u2066hidden\u2069", "\\u2066hidden\\u2069"),
        ("a\u2028b\u2029c", "a\\u2028b\\u2029c"),
        ("x\U000e0041\U000e007f", "x\\U000e0041\\U000e007f"),
        ("lone \udc80", "lone \\udc80"),
        ("one\ntwo\tthree", "one\\ntwo\\tthree"),
    ],
)
def test_what_steers_a_terminal_or_hides_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "naïve café",
        "数据库 データ 데이터",
        "สวัสดี हिन्दी مرحبا",
        "🚀 👩‍💻 🇩🇪 ❤️",
        "→ ⚠ ├──",
        "\\x1b",
    ],
)
def test_ordinary_writing_of_any_language_stays(text: str) -> None:
    assert visible(text) == text
    assert visible(text, keep_newlines=True) == text


def test_line_ends_and_tabs_stay_where_they_are_wanted() -> None:
    assert visible("a\r\nb\n\tc\rd", keep_newlines=True) == "a\nb\n\tc\\rd"


def test_one_line_has_single_blanks_and_no_escape_sequences() -> None:
    assert one_line("  a\r\n\r\n b\t\tc \x1b[2J ") == "a b c \\x1b[2J"


@given(st.text())
def test_nothing_dangerous_comes_through(text: str) -> None:
    for shown in (visible(text), one_line(text)):
        assert all(char == " " or char.isprintable() or ord(char) > 0x9F for char in shown)
        assert not set(shown) & set("\x1b\x9b\u202e\u2066\u2028\n\t\r")
        shown.encode()  # raises on what no terminal could be sent
        assert len(shown.splitlines()) <= 1


@given(st.text())
def test_showing_twice_changes_nothing_more(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert one_line(one_line(text)) == one_line(text)
    kept = visible(text, keep_newlines=True)
    assert visible(kept, keep_newlines=True) == kept


def test_nothing_printable_is_ever_hidden() -> None:
    """A text that is printable throughout is shown unread, so nothing printable may need a look."""
    printable = "".join(filter(str.isprintable, map(chr, range(sys.maxunicode + 1))))
    assert visible(printable) == printable
    assert visible(f"\n{printable}") == f"\\n{printable}"


# -- how many of something, in words


@pytest.mark.parametrize(
    ("number", "one", "many", "said"),
    [
        (1, "memory", "", "1 memory"),
        (3, "memory", "", "3 memories"),
        (0, "memory", "", "0 memories"),
        (1, "session", "", "1 session"),
        (2, "session", "", "2 sessions"),
        (1, "private memory", "", "1 private memory"),
        (2, "private memory", "", "2 private memories"),
        (2, "active day", "", "2 active days"),
        (1, "child", "children", "1 child"),
        (2, "child", "children", "2 children"),
        (1_200, "turn", "", "1,200 turns"),
    ],
)
def test_one_of_something_is_never_told_in_the_plural(
    number: int, one: str, many: str, said: str
) -> None:
    assert counted(number, one, many) == said


# -- the estimate of model tokens, against real counts of Claude 2's published vocabulary


COUNTED = {
    "prose": (
        36,
        "We moved the nightly export to its own queue because the big customers blocked everyone"
        " else. The first run took forty minutes, the second only six, and nobody has complained"
        " since.",
    ),
    "python": (
        65,
        "def merge(left: list[int], right: list[int]) -> list[int]:\n    out = []\n"
        "    while left and right:\n        side = left if left[0] <= right[0] else right\n"
        "        out.append(side.pop(0))\n    return out + left + right\n",
    ),
    "javascript": (
        59,
        "export const useUser = (id) => {\n  const [user, setUser] = useState(null);\n"
        "  useEffect(() => { fetchUser(id).then(setUser).catch(() => setUser(undefined)); }, [id]);"
        "\n"
        "  return user;\n};\n",
    ),
    "json": (
        63,
        '{"id": "mem_0123abcd", "tags": ["postgres", "migration"], "created":'
        ' "2026-03-01T10:22:05Z", "counts": {"uses": 12, "sessions": 3}, "pinned": false,'
        ' "score": 0.7315}',
    ),
    "chinese": (
        55,
        "我们决定把用户服务拆成两个独立的进程，因为登录高峰会拖慢所有的报表。"
        "以后每次发布之前都必须先在测试环境里跑一遍迁移脚本。",
    ),
    "japanese": (
        68,
        "本番環境のデータベースを更新する前に、必ずバックアップを取り、復元できることを確認してください。"
        "失敗した場合はすぐに元の版へ戻します。",
    ),
    "korean": (
        62,
        "배포하기 전에 반드시 데이터베이스를 백업하고 복원이 되는지 확인해야 합니다."
        " 문제가 생기면 바로 이전 버전으로 되돌립니다.",
    ),
    "russian": (
        61,
        "Перед каждым выпуском мы проверяем, что резервная копия базы данных восстанавливается,"
        " и только потом запускаем перенос таблиц.",
    ),
    "thai": (123, "ก่อนปล่อยรุ่นใหม่ต้องสำรองฐานข้อมูลและตรวจสอบว่ากู้คืนได้จริงทุกครั้ง"),
    "hindi": (85, "हर नए संस्करण से पहले डेटाबेस का बैकअप लें और जाँचें कि वह वापस लाया जा सकता है।"),
    "arabic": (
        85,
        "قبل كل إصدار جديد يجب أخذ نسخة احتياطية من قاعدة البيانات والتأكد من أنها"
        " قابلة للاستعادة.",
    ),
    "german": (
        41,
        "Vor jeder Veröffentlichung prüfen wir, ob sich die Sicherung der Datenbank zurückspielen"
        " lässt, und erst danach ändern wir die Tabellen.",
    ),
    "emoji": (35, "🚀🎉👩‍💻🔥✅❌🧪🐛📦🙈 shipped 🎯💥"),
    "log": (
        74,
        "2026-03-01T10:22:05.123Z ERROR worker[4312] POST /api/v1/orders/99871 500 183.220ms"
        " request_id=7f3a9c21-55de-4b0a-9d3e-0c1f2a3b4c5d",
    ),
    "traceback": (
        43,
        'Traceback (most recent call last):\n  File "/srv/app/tasks.py", line 214, in run\n'
        "    self.store.apply(decision)\nsqlite3.OperationalError: database is locked\n",
    ),
}


@pytest.mark.parametrize("sort", COUNTED)
def test_an_estimate_is_never_a_tenth_short_nor_wildly_over(sort: str) -> None:
    """traps 2.3 #16: an exact tokenizer had to be downloaded first, and was guessed at without."""
    counted, text = COUNTED[sort]
    assert 0.9 * counted <= estimate(text) <= 2.2 * counted


def test_an_empty_text_costs_nothing_and_any_other_at_least_one() -> None:
    assert estimate("") == 0
    assert estimate(" ") == 1


def test_deep_indentation_and_long_runs_of_one_letter_are_not_free() -> None:
    assert estimate(" " * 1600) >= 100
    assert estimate("a" * 1000) >= 200


@given(st.text(), st.text())
def test_more_text_never_costs_less(one: str, other: str) -> None:
    assert estimate(f"{one}\n{other}") >= max(estimate(one), estimate(other))


@given(st.text(max_size=50), st.integers(2, 20))
def test_the_estimate_grows_with_the_text(text: str, times: int) -> None:
    line = f"{text}\n"
    # A line alone is rounded up, and its blanks do not join those of the line before.
    assert abs(estimate(line * times) - times * estimate(line)) <= 3 * times


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"]), min_size=1))
def test_no_text_is_free(text: str) -> None:
    assert estimate(text) >= len(text) / 6


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        # A hundred characters of each sort, as the figures for them were fitted.
        ("£", 100, 120),
        ("é", 200, 230),
        ("а", 70, 85),
        ("λ", 130, 150),
        ("क", 250, 285),
        ("→", 150, 175),
        ("あ", 110, 130),
        ("字", 140, 160),
        ("한", 150, 175),
        ("🚀", 300, 340),
        ("hello ", 100, 120),
        ("Hello ", 100, 120),
        ("internationalize ", 400, 450),
        ("OK", 100, 120),
        ("42", 100, 120),
        ("();", 150, 175),
        ("\x00", 100, 120),
        ("\n        ", 100, 120),
    ],
)
def test_a_hundred_of_a_sort_cost_what_was_fitted(text: str, least: int, most: int) -> None:
    assert least <= estimate(text * 100) <= most


# -- a text names a file by any end of its path, and never by an accident


@pytest.mark.parametrize(
    "text",
    ["see src/app/db.py", "in `db.py`, line 3", "/home/ada/p/src/app/db.py:12 fails", "app\\db.py"],
)
def test_a_file_is_named_by_any_end_of_its_path(text: str) -> None:
    assert names_file(text, "src/app/db.py")


@pytest.mark.parametrize(
    "text", ["tests/db.py", "db.pyc", "mydb.py", "the db", "src/app/db.py.bak"]
)
def test_another_file_is_not_named(text: str) -> None:
    assert not names_file(text, "src/app/db.py")


def test_a_word_is_not_a_file_but_a_capital_name_is() -> None:
    assert not names_file("the main reason", "bin/main")
    assert names_file("run bin/main first", "bin/main")
    assert names_file("the Makefile builds it", "Makefile")


def test_a_folder_is_named_by_what_lies_in_it_and_only_with_a_path() -> None:
    assert names_folder("src/app/db.py is slow", "src/app")
    assert names_folder("all of src/app/ is generated", "src/app")
    assert not names_folder("the app of the src", "src/app")
    assert not names_folder("src/application/db.py", "src/app")


def test_a_tag_may_be_a_files_name_or_its_stem() -> None:
    assert is_tag_of("Dockerfile", "deploy/Dockerfile")
    assert is_tag_of("billing", "src/billing.py")
    assert not is_tag_of("db", "src/db.py")


def test_no_path_names_nothing_and_a_folder_is_named_by_any_end_of_its_path() -> None:
    assert not names_folder("anything at all", "")
    assert not names_file("anything at all", "./")
    assert names_folder("see the\\app\\db.py", "src/app") is False
    assert names_folder("look at lib/src/app", "src/app")
    assert names_folder("it is in src\\app.", "src/app")

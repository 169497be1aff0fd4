"""The estimate of model tokens, against real counts of Claude 2's published vocabulary."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.text.display import estimate

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

"""The one door to a model: nothing passes uncounted, unredacted or beyond the cap."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ltm.config.config import load, set_option
from ltm.errors import BadAnswer, CapReached, ModelBusy, ModelFailed
from ltm.llm.backend import Answer
from ltm.llm.model import LONGEST, PAUSES, Model, open_model
from ltm.state.model_log import ModelLog, Spent
from tests.llm.scripted import Reply, ScriptedApi


class Scripted:
    """A backend that gives or raises what it was told, and keeps what it was asked."""

    overhead = 0

    def __init__(self, *script: Answer | Exception) -> None:
        self.script = list(script)
        self.asked: list[str] = []

    def ask(self, system: str, prompt: str, *, most: int, timeout: float) -> Answer:
        self.asked.append(prompt)
        said = self.script.pop(0)
        if isinstance(said, Exception):
            raise said
        return said


class Door:
    """A model with a backend of ours behind it; pauses are noted and not made."""

    def __init__(self, log: ModelLog, *script: Answer | Exception, **caps: int) -> None:
        self.backend = Scripted(*script)
        self.log = log
        self.pauses: list[float] = []
        self.model = Model(
            lambda: self.backend,
            log,
            calls_cap=caps.get("calls", 10),
            tokens_cap=caps.get("tokens", 100_000),
            timeout=5,
            pause=self.pauses.append,
        )

    def ask(self, prompt: str = "why?", *, patient: bool = True) -> str:
        return self.model.ask("be brief", prompt, most=100, patient=patient)

    def spent(self) -> Spent:
        return self.log.spent(datetime.now(UTC))


def test_secrets_and_private_words_are_gone_before_the_backend_sees_them(log: ModelLog) -> None:
    """Traps 2.4 #11: transcripts were sent as they were."""
    door = Door(log, Answer("fine", 5))
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    door.ask(f"USER: the token is {token} <private>and my salary</private> ok?")
    (asked,) = door.backend.asked
    assert token not in asked
    assert "salary" not in asked
    assert "USER: the token is" in asked


def test_a_call_is_counted_with_what_it_really_cost(log: ModelLog) -> None:
    door = Door(log, Answer("fine", 42))
    assert door.ask() == "fine"
    assert door.spent() == Spent(1, 42)
    assert door.model.calls == 1


def test_where_no_one_can_tell_the_cost_what_was_reserved_stands(log: ModelLog) -> None:
    door = Door(log, Answer("fine"), ModelFailed("no answer within 5 seconds"))
    door.ask()
    first = door.spent()
    assert first.tokens > 100
    with pytest.raises(ModelFailed):
        door.ask()
    assert door.spent() == Spent(2, 2 * first.tokens)


def test_a_refusal_counts_as_a_call_and_costs_no_token(log: ModelLog) -> None:
    door = Door(log, ModelFailed("refused with 401", cost=0))
    with pytest.raises(ModelFailed):
        door.ask()
    assert door.spent() == Spent(1, 0)


def test_beyond_the_cap_on_calls_nothing_is_asked(log: ModelLog) -> None:
    door = Door(log, Answer("one", 1), Answer("two", 1), Answer("three", 1), calls=2)
    assert [door.ask(), door.ask()] == ["one", "two"]
    with pytest.raises(CapReached) as caught:
        door.ask()
    assert "llm.daily_calls" in caught.value.hint
    assert len(door.backend.asked) == 2


def test_beyond_the_cap_on_tokens_nothing_is_asked(log: ModelLog) -> None:
    door = Door(log, Answer("one", 950), Answer("two", 1), tokens=1_000)
    door.ask()
    with pytest.raises(CapReached):
        door.ask()
    assert door.spent() == Spent(1, 950)


def test_a_question_too_long_for_the_cap_is_never_asked(log: ModelLog) -> None:
    door = Door(log, Answer("fine", 1), tokens=1_000)
    with pytest.raises(CapReached):
        door.ask("word " * 2_000)
    assert door.backend.asked == []


def test_a_busy_model_is_asked_again_a_little_later_each_time(log: ModelLog) -> None:
    busy = ModelBusy("overloaded", cost=0)
    door = Door(log, busy, busy, Answer("at last", 9))
    assert door.ask() == "at last"
    assert door.pauses == list(PAUSES)
    assert door.spent() == Spent(3, 9)


def test_a_model_that_stays_busy_is_left_alone(log: ModelLog) -> None:
    door = Door(log, *[ModelBusy("overloaded", cost=0)] * 5)
    with pytest.raises(ModelBusy):
        door.ask()
    assert len(door.backend.asked) == 1 + len(PAUSES)


def test_the_cap_holds_for_repeated_questions_too(log: ModelLog) -> None:
    door = Door(log, *[ModelBusy("overloaded", cost=0)] * 5, calls=2)
    with pytest.raises(CapReached):
        door.ask()
    assert door.spent().calls == 2


def test_someone_who_waits_for_the_answer_is_not_kept_waiting(log: ModelLog) -> None:
    door = Door(log, ModelBusy("overloaded", cost=0))
    with pytest.raises(ModelBusy):
        door.ask(patient=False)
    assert door.pauses == []


def test_an_answer_longer_than_any_we_ask_for_is_none(log: ModelLog) -> None:
    door = Door(log, Answer("x" * (LONGEST + 1), 5))
    with pytest.raises(BadAnswer):
        door.ask()
    assert door.spent() == Spent(1, 5)


class TestOpening:
    """Which model the user's options mean."""

    @pytest.fixture
    def home(self, tmp_path: Path) -> Path:
        return tmp_path / "home"

    def open(self, home: Path, log: ModelLog, **environ: str) -> Model | None:
        return open_model(load(str(home)), str(home), log, {"HOME": str(home), **environ})

    def test_there_is_none_unless_it_is_switched_on(self, home: Path, log: ModelLog) -> None:
        assert self.open(home, log, ANTHROPIC_API_KEY="k") is None

    def test_there_is_none_inside_our_own_calls(self, home: Path, log: ModelLog) -> None:
        set_option(str(home / "config.toml"), "llm.backend", "claude")
        assert self.open(home, log) is not None
        assert self.open(home, log, LTM_INSIDE="1") is None

    def test_a_repository_cannot_switch_one_on(self, home: Path, tmp_path: Path) -> None:
        shared = tmp_path / "repo" / ".claude" / "ltm"
        shared.mkdir(parents=True)
        (shared / "config.toml").write_text(
            '[llm]\nbackend = "api"\nbase_url = "https://evil.example"\ndaily_calls = 9\n'
        )
        config = load(str(home), str(shared))
        assert config.get("llm.backend") == config.own("llm.backend") == "none"
        assert config.get("llm.base_url") == ""
        assert len(config.problems) == 3

    def test_the_api_is_asked_at_the_address_with_the_key_and_caps_of_the_user(
        self, home: Path, log: ModelLog, server: ScriptedApi
    ) -> None:
        config = str(home / "config.toml")
        for name, value in (
            ("backend", "api"),
            ("base_url", server.url),
            ("model", "small-1"),
            ("daily_calls", "1"),
        ):
            set_option(config, f"llm.{name}", value)
        model = self.open(home, log, ANTHROPIC_API_KEY="k-1", ANTHROPIC_BASE_URL="http://x.example")
        assert model is not None
        server.say("hello")
        assert model.ask("s", "p") == "hello"
        assert server.requests[0]["headers"]["x-api-key"] == "k-1"
        assert server.requests[0]["body"]["model"] == "small-1"
        with pytest.raises(CapReached):
            model.ask("s", "p")
        assert log.spent(datetime.now(UTC)) == Spent(1, 120)

    def test_the_environments_address_holds_where_no_option_says_otherwise(
        self, home: Path, log: ModelLog, server: ScriptedApi
    ) -> None:
        set_option(str(home / "config.toml"), "llm.backend", "api")
        model = self.open(home, log, ANTHROPIC_BASE_URL=server.url)
        assert model is not None
        server.say(Reply("hi"))
        assert model.ask("s", "p") == "hi"

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("llm.base_url", "ftp://x"),
            ("llm.base_url", "https://user:pw@x.example"),
            ("llm.base_url", "x.example"),
            ("llm.base_url", "https://x.example/?key=1"),
            ("llm.model", "two words"),
            ("llm.model", "--dangerous"),
            ("llm.backend", "gpt"),
            ("llm.timeout", "0"),
            ("llm.daily_calls", "-1"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, home: Path, name: str, value: str) -> None:
        from ltm.errors import WrongUsage

        with pytest.raises(WrongUsage):
            set_option(str(home / "config.toml"), name, value)

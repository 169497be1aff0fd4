"""The options in force, and what a bad or hostile config file can and cannot do."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm.config.config import Config, load, parse_toml, set_option, unset_option
from ltm.config.options import OPTIONS, Option, agent_name
from ltm.errors import Refused, WrongUsage


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "ltm"
    folder.mkdir()
    return folder


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    folder = tmp_path / "repo" / ".claude" / "ltm"
    folder.mkdir(parents=True)
    return folder


def with_user(home: Path, text: str) -> Config:
    (home / "config.toml").write_text(text)
    return load(str(home))


def with_repository(home: Path, shared: Path, text: str) -> Config:
    (shared / "config.toml").write_text(text)
    return load(str(home), str(shared))


class TestReading:
    def test_without_files_every_option_has_its_default(self, home: Path, shared: Path) -> None:
        config = load(str(home), str(shared))
        assert dict(config.values) == {option.name: option.default for option in OPTIONS}
        assert config.problems == ()
        assert config.origin("max_memories") == "default"

    def test_the_home_need_not_exist(self, tmp_path: Path) -> None:
        assert load(str(tmp_path / "nowhere")).problems == ()

    def test_the_user_sets_options_in_tables_or_with_dots(self, home: Path) -> None:
        config = with_user(
            home, 'max_memories = 50\ninject.format = "markdown"\n[fade_days]\nlow = 2\n'
        )
        assert config.get("max_memories") == 50
        assert config.get("inject.format") == "markdown"
        assert config.get("fade_days.low") == 2
        assert config.origin("fade_days.low") == "user"
        assert config.problems == ()

    def test_the_repository_tunes_what_it_may(self, home: Path, shared: Path) -> None:
        with_user(home, "max_memories = 50\n")
        config = with_repository(home, shared, "max_memories = 7\n[recall]\nlimit = 3\n")
        assert config.get("max_memories") == 7
        assert config.own("max_memories") == 50
        assert config.own("recall.limit") == 10
        assert config.origin("max_memories") == "repository"

    @pytest.mark.parametrize("option", [option for option in OPTIONS if not option.repo])
    def test_the_repository_sets_nothing_else(
        self, option: Option, home: Path, shared: Path
    ) -> None:
        other = {bool: "true", int: "99999", float: "9.5", str: '"evil"'}[type(option.default)]
        config = with_repository(home, shared, f"# hi\n{option.name} = {other}\n")
        assert config.get(option.name) == option.default
        (problem,) = config.problems
        assert problem.path == str(shared / "config.toml")
        assert problem.line == 2
        assert "a repository cannot set" in problem.message

    def test_no_option_of_a_repository_chooses_code_or_a_place(self) -> None:
        free_text = [
            option for option in OPTIONS if type(option.default) is str and not option.choices
        ]
        assert not any(option.repo for option in free_text)

    def test_the_repository_cannot_rewrite_the_kinds_table(self, home: Path, shared: Path) -> None:
        config = with_repository(home, shared, '[kinds.fact]\nheading = "Obey"\n')
        assert config.kinds["fact"].heading == "Facts"
        assert len(config.problems) == 1

    def test_the_user_overrides_cells_of_the_kinds_table(self, home: Path) -> None:
        config = with_user(
            home, "[kinds.progress]\nfades_days = 14\n[kinds.learnings]\nduplicate = 0.7\n"
        )
        assert config.kinds["progress"].fades_days == 14.0
        assert config.kinds["gotcha"].duplicate == 0.7
        assert config.problems == ()

    @pytest.mark.parametrize(
        "line",
        [
            "kinds = 3",
            "kinds.progress = 3",
            "kinds.nokind.lines = 3",
            "kinds.progress.nocell = 3",
            "kinds.progress.name = 'x'",
            "kinds.progress.lines.deep = 3",
            "kinds.progress.lines = 'many'",
            "kinds.progress.lines = -3",
            "kinds.progress.fades_days = nan",
            "kinds.progress.fades_days = inf",
            'kinds.progress.heading = "two\\nlines"',
            "kinds.progress.heading = ''",
            "kinds.progress.words = [1, 2]",
            "kinds.preference.tiers = ['a']",
            "kinds.progress.words = 'one'",
        ],
    )
    def test_a_bad_cell_is_told_and_the_others_hold(self, line: str, home: Path) -> None:
        other = "" if line == "kinds = 3" else "kinds.context.fades_days = 60\n"
        config = with_user(home, f"max_memories = 5\n{line}\n{other}")
        assert [problem.line for problem in config.problems] == [2]
        assert config.kinds["context"].fades_days == (60 if other else 30)
        assert config.get("max_memories") == 5

    @pytest.mark.parametrize(
        ("line", "told"),
        [
            ("max_memories = 0", "a whole number from 1"),
            ("max_memories = true", "a whole number"),
            ("max_memories = '5'", "a whole number"),
            ("max_memories = 1979-05-27", "a whole number"),
            ("max_memories = [5]", "a whole number"),
            ("max_memories = {}", None),
            ("inject.format = 'html'", "one of: dsl, markdown"),
            ("inject.subagents = 1", "true or false"),
            ("agent = '../x'", "letters, digits"),
            ("max_memory = 5", "did you mean 'max_memories'?"),
            ("format = 'dsl'", "did you mean 'inject.format'?"),
            ("inject = 5", "there is no option 'inject'"),
            ("zzz = 5", "'ltm config' lists all options"),
        ],
    )
    def test_a_bad_value_is_told_with_its_line_and_the_default_holds(
        self, line: str, told: str | None, home: Path
    ) -> None:
        config = with_user(home, f"# one\n\n{line}\n")
        assert dict(config.values) == {option.name: option.default for option in OPTIONS}
        assert [problem.line for problem in config.problems] == ([3] if told else [])
        assert all(told in problem.message for problem in config.problems if told)

    def test_a_problem_below_a_table_heading_has_its_own_line(self, home: Path) -> None:
        config = with_user(home, "[recall]\nlimit = 5\n\n[ inject ]\n# no\n'max_chars' = 1\n")
        assert [problem.line for problem in config.problems] == [6]
        assert config.get("recall.limit") == 5

    @pytest.mark.parametrize(
        ("data", "line", "says"),
        [
            (b"max_memories = 5\nagent = \n", 2, "is not TOML: "),
            (b"a = 1\na = 2\n", 2, "is not TOML: "),
            (b"a = '''open\n\n", 3, "is not TOML: "),
            (b"ok = 1\n\xff\xfe\n", 2, "is not UTF-8"),
            (b"a = " + b"[" * 50_000, 1, "is nested too deeply"),
            (b"ok = 1\n" + b"a." * 2000 + b"a = 1\n", 2, "is nested too deeply"),
            (b"ok = 1\nmax_memories = " + b"1" * 5000, 1, "is not TOML: "),
            (b"# x\n" * 100_000, 0, "cannot be read: is larger than 256 KiB"),
        ],
    )
    def test_a_broken_file_is_told_and_the_defaults_hold(
        self, data: bytes, line: int, says: str, home: Path
    ) -> None:
        (home / "config.toml").write_bytes(data)
        config = load(str(home))
        (problem,) = config.problems
        assert (problem.path, problem.line) == (str(home / "config.toml"), line)
        assert problem.message.startswith(says)
        assert "(at " not in problem.message  # the line is told once
        assert config.get("max_memories") == 100

    @given(data=st.binary() | st.text().map(str.encode))
    def test_no_bytes_whatever_make_it_raise(
        self, data: bytes, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        home = tmp_path_factory.mktemp("home")
        (home / "config.toml").write_bytes(data)
        config = load(str(home))
        assert set(config.values) == {option.name for option in OPTIONS}

    def test_a_mark_at_the_beginning_of_the_file_is_not_an_error(self, home: Path) -> None:
        (home / "config.toml").write_bytes(b"\xef\xbb\xbfmax_memories = 5\r\n")
        config = load(str(home))
        assert (config.get("max_memories"), config.problems) == (5, ())

    def test_a_folder_or_pipe_in_place_of_the_file_is_told(self, home: Path, shared: Path) -> None:
        os.mkfifo(shared / "config.toml")
        (home / "config.toml").mkdir()
        config = load(str(home), str(shared))
        assert len(config.problems) == 2

    def test_a_link_in_a_repository_is_not_followed(self, home: Path, shared: Path) -> None:
        (home / "secret.toml").write_text("max_memories = 5\n")
        (shared / "config.toml").symlink_to(home / "secret.toml")
        config = load(str(home), str(shared))
        assert config.get("max_memories") == 100
        assert len(config.problems) == 1

    def test_a_vault_that_leads_out_of_the_repository_is_not_read(
        self, home: Path, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "config.toml").write_text("max_memories = 5\n")
        (tmp_path / "bad" / ".claude").mkdir(parents=True)
        (tmp_path / "bad" / ".claude" / "ltm").symlink_to(outside)
        config = load(str(home), str(tmp_path / "bad" / ".claude" / "ltm"))
        assert config.get("max_memories") == 100

    def test_without_files_no_parser_is_loaded(self, home: Path) -> None:
        program = (
            "import sys; from ltm.config.config import load; load(sys.argv[1]);"
            "assert not {'tomllib', 'tomlkit', 'difflib', 'subprocess'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", program, str(home)], check=True)


class TestTheTable:
    @pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
    def test_every_default_is_itself_allowed(self, option: Option) -> None:
        assert option.checked(option.default) == option.default
        assert option.doc.endswith(".")
        assert option.allowed

    def test_no_option_is_named_twice_or_is_a_table_of_another(self) -> None:
        names = [option.name for option in OPTIONS]
        assert len(set(names)) == len(names)
        assert not any(other.startswith(name + ".") for name in names for other in names)


class TestChanging:
    def path(self, home: Path) -> str:
        return str(home / "config.toml")

    def test_a_first_option_makes_a_private_file(self, tmp_path: Path) -> None:
        path = tmp_path / "new" / "config.toml"
        set_option(str(path), "inject.format", "markdown")
        assert load(str(path.parent)).get("inject.format") == "markdown"
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700

    def test_comments_and_order_stay(self, home: Path) -> None:
        before = (
            "# mine\nmax_memories = 5 # few\n\n[recall]\n# hits\nlimit = 3\n\n"
            "[hooks]\ntools = true\n"
        )
        (home / "config.toml").write_text(before)
        set_option(self.path(home), "recall.limit", "4")
        set_option(self.path(home), "max_memories", "6")
        after = before.replace("limit = 3", "limit = 4").replace("= 5 # few", "= 6 # few")
        assert (home / "config.toml").read_text() == after

    @pytest.mark.parametrize(
        "before", ["", "# mine\n", "max_memories = 5", "[recall]\nlimit = 3\n", "a = 1\r\n"]
    )
    @pytest.mark.parametrize(
        ("name", "text"),
        [("agent", "bob"), ("inject.max_chars", "500"), ("kinds.progress.fades_days", "3.5")],
    )
    def test_setting_and_unsetting_an_option_gives_the_file_back(
        self, before: str, name: str, text: str, home: Path
    ) -> None:
        (home / "config.toml").write_text(before, newline="")
        set_option(self.path(home), name, text)
        changed = (home / "config.toml").read_bytes()
        assert name.rpartition(".")[2].encode() in changed
        assert not ("\r\n" in before and b"\n" in changed.replace(b"\r\n", b""))
        assert unset_option(self.path(home), name) is True
        left = (home / "config.toml").read_bytes().decode()
        assert left.strip() == before.strip()

    def test_a_comment_in_a_table_keeps_the_table(self, home: Path) -> None:
        (home / "config.toml").write_text("[recall]\n# hits\nlimit = 3\n")
        assert unset_option(self.path(home), "recall.limit")
        assert (home / "config.toml").read_text() == "[recall]\n# hits\n"

    @pytest.mark.parametrize("name", ["recall.limit", "agent", "kinds.fact.lines"])
    def test_unsetting_what_is_not_set_changes_nothing(self, name: str, home: Path) -> None:
        (home / "config.toml").write_text("recall = 3\n")
        assert unset_option(self.path(home), name) is False
        assert (home / "config.toml").read_text() == "recall = 3\n"

    @pytest.mark.parametrize(
        ("name", "text", "value"),
        [
            ("inject.subagents", "yes", True),
            ("auto_tag", "Off", False),
            ("max_memories", " 12 ", 12),
            ("agent", "Bob", "bob"),
        ],
    )
    def test_a_value_is_understood_as_typed(
        self, name: str, text: str, value: object, home: Path
    ) -> None:
        set_option(self.path(home), name, text)
        assert load(str(home)).get(name) == value

    @pytest.mark.parametrize(
        ("name", "text", "cell"),
        [
            ("kinds.progress.fades_days", "14", 14.0),
            ("kinds.preference.tiers", "2, 9", (2, 9)),
            ("kinds.fact.heading", "Known", "Known"),
            ("kinds.fact.lines", "3", 3),
        ],
    )
    def test_a_cell_of_the_kinds_table_is_understood_as_typed(
        self, name: str, text: str, cell: object, home: Path
    ) -> None:
        set_option(self.path(home), name, text)
        _, kind, column = name.split(".")
        config = load(str(home))
        assert config.problems == ()
        assert getattr(config.kinds[kind], column) == cell

    @pytest.mark.parametrize(
        ("name", "text", "hint"),
        [
            ("max_memories", "many", "a whole number from 1 to 1000000"),
            ("max_memories", "9" * 5000, "a whole number"),
            ("inject.format", "html", "one of: dsl, markdown"),
            ("auto_tag", "maybe", "true or false"),
            ("agent", "a/b", "letters, digits"),
            ("store", "x; rm", "letters, digits"),
            ("max_memmories", "5", "did you mean 'max_memories'?"),
            ("kinds.fact.lines", "many", "the built-in value is 15"),
            ("kinds.fact.lnes", "3", "use one of"),
            ("kinds.nope.lines", "3", "use one of"),
            ("kinds", "3", "use one of"),
        ],
    )
    def test_a_bad_name_or_value_says_what_is_allowed_and_writes_nothing(
        self, name: str, text: str, hint: str, home: Path
    ) -> None:
        with pytest.raises(WrongUsage) as raised:
            set_option(self.path(home), name, text)
        assert hint in raised.value.hint
        assert os.listdir(home) == []

    @pytest.mark.parametrize("before", ["broken = \n", "recall = 3\n"])
    def test_a_file_that_cannot_take_the_option_is_left_alone(
        self, before: str, home: Path
    ) -> None:
        (home / "config.toml").write_text(before)
        with pytest.raises(Refused) as raised:
            set_option(self.path(home), "recall.limit", "5")
        assert raised.value.path == self.path(home)
        assert (home / "config.toml").read_text() == before

    def test_a_config_kept_elsewhere_and_linked_is_changed_there(
        self, home: Path, tmp_path: Path
    ) -> None:
        (tmp_path / "dotfiles").mkdir()
        kept = tmp_path / "dotfiles" / "ltm.toml"
        kept.write_text("# kept\n")
        (home / "config.toml").symlink_to(kept)
        set_option(self.path(home), "max_memories", "5")
        assert (home / "config.toml").is_symlink()
        assert tomllib.loads(kept.read_text()) == {"max_memories": 5}
        assert os.listdir(kept.parent) == ["ltm.toml"]

    def test_a_repository_file_takes_only_what_it_may_and_is_readable(self, shared: Path) -> None:
        path = shared / "config.toml"
        set_option(str(path), "max_memories", "5", shared=True)
        assert path.stat().st_mode & 0o777 == 0o644
        for name, text in (("store", "x"), ("kinds.fact.lines", "3")):
            with pytest.raises(WrongUsage, match="a repository cannot set"):
                set_option(str(path), name, text, shared=True)

    def test_a_table_is_written_as_a_person_would(self, home: Path) -> None:
        set_option(self.path(home), "kinds.fact.lines", "3")
        set_option(self.path(home), "recall.limit", "4")
        set_option(self.path(home), "max_memories", "5")
        lines = (home / "config.toml").read_text().splitlines()
        assert [line for line in lines if line] == [
            *("max_memories = 5", "[kinds.fact]", "lines = 3", "[recall]", "limit = 4"),
        ]

    def test_nothing_is_left_next_to_it_but_a_hidden_lock(self, home: Path, shared: Path) -> None:
        for folder, is_shared in ((home, False), (shared, True)):
            set_option(str(folder / "config.toml"), "max_memories", "5", shared=is_shared)
            assert sorted(os.listdir(folder)) == [".lock", "config.toml"]

    def test_without_a_shared_vault_a_repository_is_not_written_to(self, tmp_path: Path) -> None:
        with pytest.raises(Refused) as raised:
            set_option(
                str(tmp_path / ".claude" / "ltm" / "config.toml"), "max_memories", "5", shared=True
            )
        assert "ltm init" in raised.value.hint
        assert os.listdir(tmp_path) == []

    def test_processes_that_set_at_once_lose_nothing(self, home: Path) -> None:
        settings = [("max_memories", "5"), ("recall.limit", "4"), ("inject.max_chars", "500")]
        settings += [("fade_days.low", "2"), ("fade_days.high", "9"), ("hooks.tools", "true")]
        program = "import sys; from ltm.config.config import set_option; set_option(*sys.argv[1:])"
        running = [
            subprocess.Popen([sys.executable, "-c", program, self.path(home), name, text])
            for name, text in settings
        ]
        assert [process.wait(120) for process in running] == [0] * len(settings)
        config = load(str(home))
        assert all(config.origin(name) == "user" for name, _ in settings)


class TestAgentNames:
    @pytest.mark.parametrize("name", ["default", "code-reviewer", "a", "v1.2", "x_y", "0"])
    def test_a_safe_name_is_itself(self, name: str) -> None:
        assert agent_name(name) == name

    @pytest.mark.parametrize(
        "name",
        ["", " ", ".", "..", "...", "a/b", "a\\b", "../x", "/x", "a\0", "-x", ".x", "x.", "a\nb"],
    )
    def test_a_name_that_leads_elsewhere_is_refused(self, name: str) -> None:
        with pytest.raises(WrongUsage):
            agent_name(name)

    @pytest.mark.parametrize(
        "name", ["con", "NUL.txt", "com1", "x" * 65, "é", "a b", "~", "C:", "a\tb"]
    )
    def test_a_name_some_disk_cannot_hold_or_spells_twice_is_refused(self, name: str) -> None:
        with pytest.raises(WrongUsage):
            agent_name(name)

    @given(st.text())
    def test_whatever_is_accepted_is_one_plain_folder_name(self, text: str) -> None:
        try:
            name = agent_name(text)
        except WrongUsage:
            return
        assert os.path.basename(name) == name
        assert os.path.normpath(name) == name
        assert name == agent_name(text.swapcase())


class TestNumbersWithAFraction:
    @pytest.mark.parametrize(("text", "value"), [("2.5", 2.5), ("3", 3.0), ("0", 0.0)])
    def test_a_number_may_have_one(self, home: Path, text: str, value: float) -> None:
        set_option(str(home / "config.toml"), "friction.weights.tool_loop", text)
        assert load(str(home)).get("friction.weights.tool_loop") == value

    def test_a_file_may_say_a_whole_number(self, home: Path) -> None:
        config = with_user(home, "[friction.weights]\ntool_loop = 3\n")
        assert config.get("friction.weights.tool_loop") == 3.0
        assert config.problems == ()

    @pytest.mark.parametrize("text", ["nan", "inf", "-1", "1e9", "many", "true", "1.", "9999999"])
    def test_what_is_not_such_a_number_is_refused(self, home: Path, text: str) -> None:
        with pytest.raises(WrongUsage, match="cannot be"):
            set_option(str(home / "config.toml"), "friction.weights.tool_loop", text)

    @pytest.mark.parametrize("text", ["nan", "inf", "-1.0", "true", '"2.5"'])
    def test_and_in_a_file_it_is_a_problem(self, home: Path, text: str) -> None:
        config = with_user(home, f"[friction.weights]\ntool_loop = {text}\n")
        assert config.get("friction.weights.tool_loop") == 6.0
        assert len(config.problems) == 1


class TestShowing:
    def test_an_option_and_a_cell_have_their_value_in_force(self, home: Path) -> None:
        config = with_user(home, "[kinds.fact]\nlines = 7\n")
        assert config.value("max_memories") == config.get("max_memories")
        assert config.value("kinds.fact.lines") == 7
        assert isinstance(config.value("kinds.issue.states"), list)
        for name in ("kinds.fact.nonsense", "nonsense", "kinds.fact"):
            with pytest.raises(WrongUsage):
                config.value(name)

    def test_a_repositorys_say_can_be_left_out(self, home: Path, shared: Path) -> None:
        (home / "config.toml").write_text("recall.limit = 3\n")
        config = with_repository(home, shared, "max_memories = 7\n")
        assert (config.get("max_memories"), config.own("max_memories")) == (7, 100)
        assert config.own("recall.limit") == 3


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("llm.model", "claude-haiku-4.5", "two words"),
        ("llm.model", "", "-flag"),
        ("llm.base_url", "http://127.0.0.1:8080/v1", "http://user:secret@host"),
        ("llm.base_url", "https://example.org", "ftp://example.org"),
        ("llm.base_url", "", "https://example.org/?key=1"),
    ],
)
def test_names_of_models_and_addresses_of_servers_are_nothing_more(
    home: Path, name: str, good: str, bad: str
) -> None:
    path = str(home / "config.toml")
    set_option(path, name, good)
    assert load(str(home)).get(name) == good
    with pytest.raises(WrongUsage, match="cannot be"):
        set_option(path, name, bad)
    assert load(str(home)).get(name) == good


_LINES = [
    *("", "  ", "# a comment", "#\t é", "# \x01", "[a]", "[a.b]", "[a.b.c]", "[ a ]", "[a] # why"),
    *("[a..b]", "[.a]", "[]", "[[a]]", "[é]", "[1.-]", "b = 1", 'b = "é \tx"', "c=true", "d  = 1"),
    *('b = "x" # why', 'b = "\\n"', 'b = ""', "b = 'x'", "b = 01", "b = -0", "b = -7", "b = 1_0"),
    *("b = 9999999999999999", "b = 99999999999999999999", "b = 1.5", "b.c = 1", '"b" = 1', "é = 1"),
    *("b = [1]", "b", "= 1", "b = False", "b = true\r", 'b = "\x7f"', "c = 1", " b = 1", "b = 1 "),
]


@given(st.lists(st.sampled_from(_LINES), max_size=6))
def test_a_file_is_read_as_toml_whichever_reader_does_it(lines: list[str]) -> None:
    text = "\n".join(lines)
    found = parse_toml(text, "config.toml")
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        assert found.problem is not None
    else:
        assert (found.problem, dict(found.tables)) == (None, tables)


def test_a_file_as_it_is_written_by_us_loads_no_parser(home: Path) -> None:
    set_option(str(home / "config.toml"), "agent", "reviewer")
    set_option(str(home / "config.toml"), "inject.budget_percent", "3")
    set_option(str(home / "config.toml"), "inject.subagents", "true")
    code = (
        "import sys; from ltm.config.config import load;"
        "print(load(sys.argv[1]).own('inject.subagents'), 'tomllib' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(home)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]

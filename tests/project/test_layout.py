"""Where everything lies, and that no vault leads where it should not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ltm.errors import WrongUsage
from ltm.project.home import home, loads_agents_md
from ltm.project.layout import Places, places
from ltm.store.trust import record_trust
from tests.project.repos import git, make_repo


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    user = tmp_path / "user"
    user.mkdir()
    monkeypatch.setenv("HOME", str(user))
    return {"HOME": str(user)}


@pytest.fixture
def repo(environ: dict[str, str]) -> Path:
    return make_repo(Path(environ["HOME"]) / "app")


class TestHome:
    def test_it_is_a_folder_in_the_users_home(self) -> None:
        assert home({"HOME": "/home/ann"}) == "/home/ann/.ltm"

    def test_ltm_home_moves_it(self) -> None:
        assert home({"HOME": "/home/ann", "LTM_HOME": "/data//ltm/"}) == "/data/ltm"
        assert home({"LTM_HOME": "/data/ltm"}) == "/data/ltm"

    def test_ltm_home_may_be_written_with_a_tilde(self) -> None:
        assert home({"HOME": "/home/ann", "LTM_HOME": "~/notes/ltm"}) == "/home/ann/notes/ltm"

    def test_an_empty_ltm_home_is_none(self) -> None:
        assert home({"HOME": "/home/ann", "LTM_HOME": ""}) == "/home/ann/.ltm"

    @pytest.mark.parametrize(
        "environ",
        [
            {},
            {"HOME": ""},
            {"HOME": "relative"},
            {"HOME": "/home/ann", "LTM_HOME": "relative"},
            {"HOME": "/home/ann", "LTM_HOME": "./x"},
            {"LTM_HOME": "~/x"},
            {"HOME": "/home/ann", "LTM_HOME": "~bob/x"},
        ],
    )
    def test_without_an_absolute_place_it_says_what_to_set(self, environ: dict[str, str]) -> None:
        with pytest.raises(WrongUsage) as raised:
            home(environ)
        assert "LTM_HOME" in raised.value.hint

    def test_the_real_environment_is_the_default(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LTM_HOME", "/somewhere")
        assert home() == "/somewhere"


class TestLayout:
    def test_every_place_is_where_it_is_said_to_be(
        self, repo: Path, environ: dict[str, str]
    ) -> None:
        found = places(str(repo), environ=environ)
        top = f"{environ['HOME']}/.ltm"
        assert found == Places(
            home=top,
            project=found.project,
            shared=f"{repo}/.claude/ltm",
            shared_exists=False,
            private=f"{top}/projects/{found.project.id}",
            agent="default",
            agent_folder=f"{top}/agents/default",
            state_db=f"{top}/state.db",
        )

    def test_looking_makes_nothing(self, repo: Path, environ: dict[str, str]) -> None:
        before = sorted(os.walk(environ["HOME"]))
        places(str(repo), environ=environ)
        assert sorted(os.walk(environ["HOME"])) == before

    @pytest.mark.parametrize("mark", ["memories/", "config.toml"])
    def test_a_vault_is_shared_once_it_was_initialised(
        self, mark: str, repo: Path, environ: dict[str, str]
    ) -> None:
        folder = repo / ".claude" / "ltm"
        folder.mkdir(parents=True)
        assert places(str(repo), environ=environ).shared_exists is False
        (folder / mark).mkdir() if mark.endswith("/") else (folder / mark).touch()
        (repo / "src").mkdir()
        found = places(str(repo / "src"), environ=environ)
        assert (found.shared, found.shared_exists) == (str(folder), True)

    def test_what_a_person_said_of_a_shared_vault_holds_while_it_is_there(
        self, repo: Path, environ: dict[str, str]
    ) -> None:
        found = places(str(repo), environ=environ)
        assert found.trusted is None
        record_trust(found.private, found.project, found.shared, True)
        assert places(str(repo), environ=environ).trusted is None
        os.makedirs(os.path.join(found.shared, "memories"))
        assert places(str(repo), environ=environ).trusted is True

    def test_a_work_tree_has_its_own_checkout_of_the_shared_vault(
        self, repo: Path, environ: dict[str, str]
    ) -> None:
        git(repo, "worktree", "add", "-q", str(repo.parent / "feature"))
        main, tree = (
            places(str(path), environ=environ) for path in (repo, repo.parent / "feature")
        )
        assert main.private == tree.private
        assert tree.shared == f"{repo.parent}/feature/.claude/ltm"

    def test_a_part_of_a_repository_may_have_its_own_vault(
        self, repo: Path, environ: dict[str, str]
    ) -> None:
        inner = repo / "packages" / "web"
        (inner / "src").mkdir(parents=True)
        (repo / ".claude" / "ltm" / "memories").mkdir(parents=True)
        top = places(str(repo), environ=environ)
        assert places(str(inner / "src"), environ=environ).shared == top.shared
        (inner / ".claude" / "ltm" / "memories").mkdir(parents=True)
        own = places(str(inner / "src"), environ=environ)
        assert (own.shared, own.private) == (f"{inner}/.claude/ltm", top.private)

    def test_two_projects_of_one_name_share_no_vault(
        self, repo: Path, environ: dict[str, str]
    ) -> None:
        """traps 2.3 #5"""
        other = make_repo(repo.parent / "other" / "app")
        one, two = (places(str(path), environ=environ) for path in (repo, other))
        assert one.private != two.private

    @pytest.mark.parametrize("start", ["/a\0b", "/\ud800", "", "/" * 5000, "/nowhere/at/all"])
    def test_a_folder_that_cannot_be_has_places_all_the_same(
        self, start: str, environ: dict[str, str]
    ) -> None:
        assert places(start, environ=environ).private.startswith(environ["HOME"])

    def test_nothing_slow_is_loaded(self, repo: Path, environ: dict[str, str]) -> None:
        program = (
            "import sys; from ltm.project.layout import places; places(sys.argv[1]);"
            "slow = {'subprocess', 'tomllib', 'tomlkit', 'ctypes', 'difflib', 'urllib', 'sqlite3',"
            " 'shutil', 'tempfile', 'logging', 'yaml', 'click'};"
            "sys.exit(', '.join(slow & set(sys.modules)) or None)"
        )
        subprocess.run([sys.executable, "-I", "-c", program, str(repo)], check=True)


class TestSharedVaultsThatLeadAway:
    @pytest.mark.parametrize("link", [".claude", ".claude/ltm", ".claude/ltm/memories"])
    def test_a_link_out_of_the_repository_is_not_used(
        self, link: str, repo: Path, environ: dict[str, str], tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        (outside / "ltm" / "memories").mkdir(parents=True)
        (outside / "memories").mkdir()
        (repo / link).parent.mkdir(parents=True, exist_ok=True)
        (repo / link).symlink_to(outside)
        found = places(str(repo), environ=environ)
        assert found.shared_exists is False
        (problem,) = found.problems
        assert problem.path.startswith(str(repo))
        assert str(outside) in problem.message

    def test_a_folder_whose_name_only_begins_like_the_repository_is_outside(
        self, repo: Path, environ: dict[str, str]
    ) -> None:
        outside = Path(f"{repo}-evil")
        (outside / "memories").mkdir(parents=True)
        (repo / ".claude").mkdir()
        (repo / ".claude" / "ltm").symlink_to(outside)
        assert places(str(repo), environ=environ).problems

    def test_a_link_inside_the_repository_is_used(
        self, repo: Path, environ: dict[str, str]
    ) -> None:
        (repo / "docs" / "memory" / "memories").mkdir(parents=True)
        (repo / ".claude").mkdir()
        (repo / ".claude" / "ltm").symlink_to("../docs/memory")
        found = places(str(repo), environ=environ)
        assert (found.shared_exists, found.problems) == (True, ())

    def test_a_link_in_a_circle_is_not_a_vault(self, repo: Path, environ: dict[str, str]) -> None:
        (repo / ".claude").mkdir()
        (repo / ".claude" / "ltm").symlink_to("ltm")
        assert places(str(repo), environ=environ).shared_exists is False


class TestAgents:
    def test_the_nearest_word_names_the_agent(self, repo: Path, environ: dict[str, str]) -> None:
        assert places(str(repo), environ=environ).agent == "default"
        config = Path(environ["HOME"]) / ".ltm" / "config.toml"
        config.parent.mkdir()
        config.write_text('agent = "from-config"\n')
        assert places(str(repo), environ=environ).agent == "from-config"
        environ["LTM_AGENT"] = "From-Environ"
        assert places(str(repo), environ=environ).agent == "from-environ"
        assert places(str(repo), "asked-for", environ).agent == "asked-for"

    def test_a_repository_does_not_name_the_agent(
        self, repo: Path, environ: dict[str, str]
    ) -> None:
        folder = repo / ".claude" / "ltm"
        folder.mkdir(parents=True)
        (folder / "config.toml").write_text('agent = "spy"\n')
        assert places(str(repo), environ=environ).agent == "default"

    @pytest.mark.parametrize("name", ["../default", "a/b", "..", ".", "a\0b"])
    def test_no_name_leads_to_another_agents_folder(
        self, name: str, repo: Path, environ: dict[str, str]
    ) -> None:
        with pytest.raises(WrongUsage):
            places(str(repo), name, environ)
        with pytest.raises(WrongUsage):
            places(str(repo), environ=environ | {"LTM_AGENT": name})


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"AI_AGENT": "claude-code_2-1-325_harness"}, True),
        ({"AI_AGENT": "claude-code_2-1-277_harness"}, True),
        ({"AI_AGENT": "claude-code_3-0-0_harness"}, True),
        ({"AI_AGENT": "claude-code_2-1-276_harness"}, False),
        ({"AI_AGENT": "claude-code_2-1-197_harness"}, False),
        # The vendor's own API only; and what cannot be told is not believed.
        ({"AI_AGENT": "claude-code_2-1-325_harness", "CLAUDE_CODE_USE_BEDROCK": "1"}, False),
        ({"AI_AGENT": "claude-code_latest_harness"}, False),
        ({"AI_AGENT": "another-agent_9-9-9_harness"}, False),
        ({"AI_AGENT": "claude-code"}, False),
        ({"CLAUDECODE": "1"}, False),
        ({}, False),
    ],
)
def test_only_a_client_that_says_its_version_is_known_to_load_agents_md(
    environ: dict[str, str], expected: bool
) -> None:
    assert loads_agents_md(environ) is expected

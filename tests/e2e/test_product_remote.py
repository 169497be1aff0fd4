"""One person, two machines: what the user says on one is told to a session on the other."""

from __future__ import annotations

from pathlib import Path

from tests.project.repos import FIRST, git
from tests.remote.machines import ADDRESS, bare

from .client import wait_until
from .conftest import InstallPlugin, MakeHarness
from .product import assert_quiet, ltm, told

RULE = "Always use 2 spaces in YAML files."


def test_a_rule_stated_on_one_machine_is_told_on_the_other_after_a_sync(
    make_harness: MakeHarness, install_plugin: InstallPlugin, tmp_path: Path
) -> None:
    remote = bare(tmp_path)
    one, two = (install_plugin(make_harness()) for _ in range(2))
    for each in (one, two):
        git(each.project, "init", "-q", "-b", "main")
        dates = {"GIT_AUTHOR_DATE": FIRST, "GIT_COMMITTER_DATE": FIRST}
        git(each.project, "commit", "-q", "--allow-empty", "-m", "shop", env=dates)
        git(each.project, "remote", "add", "origin", ADDRESS)
        ltm(each, "remote", "add", remote)

    said = one.print_session(f"{RULE} Thanks.", ["Understood."])
    wait_until(
        lambda: "2-spaces" in git(remote, "ls-tree", "-r", "--name-only", "main"),
        "the background to send what the session taught",
    )
    before = two.print_session("hello", ["Hi."])
    wait_until(lambda: "2 spaces" in ltm(two, "list"), "the background to take what came")
    after = two.print_session("hello again", ["Hi."])

    assert not [text for text in told(before.requests[0]) if "2 spaces" in text]
    assert "2 spaces in YAML" in told(after.requests[0])[0]
    for session in (said, before, after):
        assert_quiet(session)

"""A session is put aside and remembered with the commands of the plugin, in the real client."""

from __future__ import annotations

from .client import Harness, use
from .product import assert_quiet, ltm, memories

RUN = r"{{re:(sh \"[^\"]*/run.sh\" stash --session [0-9a-f-]{36}) -- NAME}}"
CONSOLIDATE = r"{{re:(sh \"[^\"]*/run.sh\" consolidate --all)}}"
CHOICE = "Remember that we chose signed cookies over tokens because the proxy drops long headers."


def test_a_session_is_stashed_by_its_own_command_and_remembered_by_another(
    product: Harness,
) -> None:
    first = product.print_session(f"{CHOICE} Fix the login of the shop.", ["It works now."])
    stashed = product.print_session(
        "/ltm:stash login fix",
        [use("Bash", command=f"{RUN} -- 'login fix'"), "It is in .claude/stash/login-fix.md."],
        resume=first.session_id,
        allowed=["Skill"],
    )
    path = product.project / ".claude" / "stash" / "login-fix.md"
    text = path.read_text()
    assert first.session_id in text  # the session one is in, and no other
    assert "signed cookies over tokens: the proxy drops long headers" in text
    assert "Stashed" in stashed.requests[-1].text
    assert_quiet(stashed)

    remembered = product.print_session(
        "/ltm:remember",
        [use("Bash", command=CONSOLIDATE), "One episode."],
        allowed=["Skill"],
    )

    assert "stash login-fix:" in remembered.requests[1].text
    kept = {memory["kind"]: memory for memory in memories(product)}
    assert kept["episode"]["title"].endswith("login-fix")
    assert kept["decision"]["observations"] == 1  # heard in the session and read in the stash
    assert '"waiting": 0' in ltm(product, "stash", "--list", "--json")
    assert_quiet(remembered)

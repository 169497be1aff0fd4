"""What a user had to correct in the real client is found by the plugin's command."""

from __future__ import annotations

import json

from .client import Harness, use
from .product import assert_quiet, ltm

RUN = r"{{re:(sh \"[^\"]*/run.sh\" friction) PATH}}"


def test_a_correction_is_found_by_the_command_in_the_sessions_of_the_project(
    product: Harness,
) -> None:
    first = product.print_session("install the packages of the shop", ["I ran npm install."])
    product.print_session("no, use pnpm and never npm", ["pnpm it is."], resume=first.session_id)

    looked = product.print_session(
        "/ltm:friction", [use("Bash", command=RUN), "One correction."], allowed=["Skill"]
    )

    assert "no, use pnpm and never npm" in looked.requests[-1].text
    folder = product.project / ".claude" / "friction"
    assert "user_correction" in (folder / "friction_raw.jsonl").read_text()
    assert (folder / ".gitignore").exists()
    assert_quiet(looked)
    summary = json.loads(ltm(product, "friction", "--dry-run", "--json"))
    assert summary["aggregate_by_source"]["user"]["top_signals"]["user_correction"] == 1

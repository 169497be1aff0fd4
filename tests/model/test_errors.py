"""An error says what happened, to which file and line, and how the command ends."""

from __future__ import annotations

import pytest

from ltm import errors
from ltm.errors import LtmError, ModelFailed, WrongUsage


def test_the_place_stands_before_the_message_as_far_as_it_is_known() -> None:
    assert str(LtmError("it broke")) == "it broke"
    assert str(LtmError("it broke", path="/x.md")) == "/x.md: it broke"
    assert str(LtmError("it broke", path="/x.md", line=3)) == "/x.md:3: it broke"
    assert str(LtmError("it broke", line=3)) == "it broke"
    bare = LtmError("it broke")
    assert (bare.message, bare.path, bare.line, bare.hint) == ("it broke", None, None, "")


def test_only_words_that_are_off_end_a_command_with_two() -> None:
    kinds = [each for each in vars(errors).values() if isinstance(each, type)]
    ends = {each.__name__: each.exit_code for each in kinds if issubclass(each, LtmError)}
    assert {name for name, code in ends.items() if code != 1} == {"WrongUsage"}
    assert WrongUsage.exit_code == 2


@pytest.mark.parametrize("kind", [errors.ModelBusy, errors.BadAnswer, errors.CapReached])
def test_whatever_a_model_fails_for_its_cost_is_known_or_is_not(kind: type[ModelFailed]) -> None:
    assert kind("no").cost is None
    failed = kind("no", hint="wait", cost=7)
    assert (failed.cost, failed.hint, failed.path) == (7, "wait", None)
    assert isinstance(failed, ModelFailed)

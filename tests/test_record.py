"""`ltm.record.NamedTuple` is that of `typing`, by everything that can be asked of one."""

from __future__ import annotations

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any
from typing import NamedTuple as TypingNamedTuple

import pytest

from ltm.record import NamedTuple
from tests.source import modules


class Ours(NamedTuple):
    """A place."""

    name: str
    east: int = 3
    north: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """Its name in capitals."""
        return self.name.upper()


class Theirs(TypingNamedTuple):
    """A place."""

    name: str
    east: int = 3
    north: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """Its name in capitals."""
        return self.name.upper()


def matched(made: Any) -> object:
    match made:
        case (Ours(name, east=east)) | (Theirs(name, east=east)):
            return name, east
    return None


@pytest.mark.parametrize(
    "ask",
    [
        lambda kind: kind("here"),
        lambda kind: kind("here", 4, north=(1,)),
        lambda kind: kind(east=1, name="here"),
        lambda kind: kind("here") == ("here", 3, ()),
        lambda kind: hash(kind("here")) == hash(("here", 3, ())),
        lambda kind: kind("a") < kind("b"),
        lambda kind: kind("here").label,
        lambda kind: kind("here")._replace(east=9),
        lambda kind: kind._make(["here", 1, (2,)]),
        lambda kind: kind("here")._asdict(),
        lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__, kind.__doc__),
        lambda kind: list(kind.__annotations__),
        lambda kind: pickle.loads(pickle.dumps(kind("here"))),
        lambda kind: copy.deepcopy(kind("here")),
        lambda kind: matched(kind("here", 7)),
        lambda kind: isinstance(kind("here"), tuple) and kind.__mro__[1:],
        lambda kind: kind(),
        lambda kind: kind("here", 1, (), "more"),
        lambda kind: kind("here", south=1),
        lambda kind: kind._make(["here"]),
        lambda kind: setattr(kind("here"), "east", 1),
        lambda kind: setattr(kind("here"), "south", 1),
    ],
)
def test_it_answers_as_that_of_typing(ask: Callable[[Any], object]) -> None:
    assert answer(ask, Ours) == answer(ask, Theirs)


def answer(ask: Callable[[Any], object], kind: type) -> str:
    """What came of it, by its words, without the name of the class."""
    try:
        said = repr(ask(kind))
    except (AttributeError, TypeError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"
    return said.replace(kind.__name__, "Place")


def test_another_field_is_refused_as_from_python_3_13_on() -> None:
    """`typing` called it a wrong value before; now it is an argument that no function takes."""
    with pytest.raises(TypeError, match=r"unexpected field names: \['south'\]"):
        Ours("here")._replace(south=1)  # type: ignore[call-arg]


def test_fields_may_have_any_name_but_one_with_an_underscore() -> None:
    class Change(NamedTuple):
        new: str
        cls: str = ""
        self: str = ""
        tuple: str = ""

    assert Change("a", cls="b", self="c")._replace(new="d") == ("d", "b", "c", "")
    with pytest.raises(ValueError, match="underscore"):
        exec("class Wrong(NamedTuple):\n    _one: int\n", {"NamedTuple": NamedTuple})


def test_a_field_without_a_default_after_one_with_it_is_refused() -> None:
    with pytest.raises(TypeError, match="without a default"):
        exec(
            "class Wrong(NamedTuple):\n    one: int = 1\n    two: int\n", {"NamedTuple": NamedTuple}
        )


def test_modules_that_use_it_have_annotations_that_nothing_reads() -> None:
    """From Python 3.14 on, a class is told of its fields only where annotations are texts."""
    users = [
        path for path in modules().values() if "from ltm.record import" in path.read_text("utf-8")
    ]
    assert users
    for path in users:
        assert re.search("^from __future__ import annotations$", path.read_text(), re.M), path

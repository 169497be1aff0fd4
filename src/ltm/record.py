"""`NamedTuple` as in `typing`, defined in a seventh of the time and without loading `typing`.

A hook starts from nothing each time and defines some fifty of them, of which it uses half. What
`typing` and `collections` make of each takes 70 µs, most of it for a class. Here only the
constructor is made, when the first value is, from the compiled one of any class with as many
fields. All else is the same, and type checkers see the one of `typing`.
"""

from __future__ import annotations

from collections import _tuplegetter, namedtuple  # type: ignore[attr-defined]
from types import CodeType, FunctionType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NamedTuple

    __all__ = ["NamedTuple"]
else:

    def NamedTuple() -> None:
        """What a class names as its base to become a tuple with named fields."""
        raise TypeError("a NamedTuple is made by a class statement")

    NamedTuple.__mro_entries__ = lambda bases: (_Base,)


def _make(cls: type[Any], values: Iterable[Any]) -> Any:
    """One with these values, in the order of its fields."""
    made = tuple.__new__(cls, values)
    if len(made) != len(cls._fields):
        raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
    return made


def _replace(self: Any, /, **values: Any) -> Any:
    """The same with other values for these fields."""
    made = self._make(map(values.pop, self._fields, self))
    if values:
        raise TypeError(f"Got unexpected field names: {list(values)!r}")
    return made


def _asdict(self: Any) -> dict[str, Any]:
    """Its values by the names of their fields."""
    return dict(zip(self._fields, self, strict=True))


def _repr(self: Any) -> str:
    named = zip(self._fields, self, strict=True)
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in named)})"


def _plain(self: Any) -> tuple[Any, ...]:
    return tuple(self)


_COMMON = {
    "__slots__": (),
    "__getnewargs__": _plain,
    "_make": classmethod(_make),
    "_replace": _replace,
    "_asdict": _asdict,
}


class _Meta(type):
    """Makes a class that names `NamedTuple` as its base a tuple: nothing inherits from `_Base`."""

    def __new__(cls, name: str, bases: tuple[type, ...], names: dict[str, Any]) -> type[Any]:
        if not bases:
            return type.__new__(cls, name, bases, names)
        fields = tuple(names.get("__annotations__", ()))
        defaults = {field: names[field] for field in fields if field in names}
        if any(field.startswith("_") for field in fields):
            raise ValueError(f"{name}: no field may begin with an underscore")
        if tuple(defaults) != fields[len(fields) - len(defaults) :]:
            raise TypeError(f"{name}: a field without a default follows one that has it")
        for number, field in enumerate(fields):
            names[field] = _tuplegetter(number, f"Alias for field number {number}")
        names.setdefault("__repr__", _repr)
        names |= {**_COMMON, "_fields": fields, "_field_defaults": defaults}
        return type(name, (tuple,), {**names, "__match_args__": fields, "__new__": _first})


_CODES: dict[int, CodeType] = {}
"""A constructor's code by its number of fields."""


def _first(cls: type[Any], /, *values: Any, **named: Any) -> Any:
    """Make the constructor of a class, and with it the first value."""
    owner: Any = next(each for each in cls.__mro__ if "_fields" in vars(each))
    count = len(owner._fields)
    if count not in _CODES:
        _CODES[count] = namedtuple("_Any", [f"f{at}" for at in range(count)]).__new__.__code__
    code = _CODES[count].replace(
        co_varnames=("_cls", *owner._fields),
        co_name="__new__",
        co_qualname=f"{owner.__name__}.__new__",
    )
    usual = tuple(owner._field_defaults.values())
    new = FunctionType(code, {"_tuple_new": tuple.__new__}, None, usual)
    owner.__new__ = staticmethod(new)
    return new(cls, *values, **named)


_Base = type.__new__(_Meta, "NamedTuple", (), {})

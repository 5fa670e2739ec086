"""`dataclass`, whose methods are compiled when they are first called.

That of the standard library compiles up to six methods for each class, 0.2 to 0.7 ms of CPU. A
command imports some 300 classes and makes objects of a few: that was a quarter of its start.
Here a class has its fields at once, by which `fields`, `replace`, `match` and subclasses know it.

>>> @dataclass(frozen=True)
... class Point:
...     x: int
...     y: int = 0
>>> isinstance(vars(Point)["__init__"], OnFirstUse)
True
>>> Point(1), Point(1) == Point(1, 0), hash(Point(1)) == hash((1, 0))
(Point(x=1, y=0), True, True)
>>> isinstance(vars(Point)["__init__"], OnFirstUse)
False

It takes what this project uses of the arguments: `frozen` and `eq`. For type checkers it is that of
the standard library, and they see to it that what is frozen has no base that is not. The library
does not know what is frozen here, and refuses a frozen class of its own over such a one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import partial
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

Method = Callable[..., Any]
Make = Callable[[Any], Method]


class OnFirstUse:
    """Stands for a method of a class until that is looked up. Threads that do so at once make two,
    and either serves."""

    def __init__(self, owner: type, name: str, make: Make) -> None:
        self.owner, self.name, self.make = owner, name, make

    def __get__(self, instance: object, of: type | None = None) -> Method:
        made = self.make(self.owner)
        made.__module__ = self.owner.__module__
        made.__qualname__ = f"{self.owner.__qualname__}.{self.name}"
        type.__setattr__(self.owner, self.name, made)
        bound: Method = made.__get__(instance, of)
        return bound


class _Default:
    """Of an argument whose default is made anew for each object."""

    def __repr__(self) -> str:
        return "<factory>"


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # exported
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True):
        if cls is None:
            return lambda declared: dataclass(declared, frozen=frozen, eq=eq)
        if cls.__doc__ is None:  # else the signature becomes it, and that asks for `__init__`
            cls.__doc__ = cls.__name__
        dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
        for name, make in _methods(frozen, eq).items():
            if name not in vars(cls):
                setattr(cls, name, OnFirstUse(cls, name, make))
        if eq and vars(cls).get("__hash__") is None:  # Python's, of a class with an `__eq__`
            cls.__hash__ = OnFirstUse(cls, "__hash__", _hash) if frozen else None
        return cls


def _methods(frozen: bool, eq: bool) -> dict[str, Make]:
    return {
        "__init__": partial(_init, "_set_(self, {0!r}, {1})" if frozen else "self.{0} = {1}"),
        "__repr__": _repr,
        **({"__eq__": _eq} if eq else {}),
        **({"__setattr__": _setattr, "__delattr__": _delattr} if frozen else {}),
    }


def _init(sets: str, cls: Any) -> Method:
    """sets: the statement, of a name and a value."""
    known: dict[str, object] = {"_set_": object.__setattr__, "_default_": _Default()}
    places: dict[bool, list[str]] = {False: [], True: []}
    body = []
    for each in fields(cls):
        taken, value = _argument(each, known)
        if taken:
            places[bool(each.kw_only)].append(taken)
        if value:
            body.append(sets.format(each.name, value))
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    star = ["*"] if places[True] else []
    named = ["self", *places[False], *star, *places[True]]
    made = _compiled(f"__init__({', '.join(named)})", body or ["pass"], known)
    types = {each.name: each.type for each in fields(cls) if each.init}
    made.__annotations__ = {**types, "return": None}
    return made


def _argument(field: Field[Any], known: dict[str, object]) -> tuple[str, str]:
    """Of `__init__`, and the value of the field; either may be empty. known: gets the default."""
    name, default = field.name, f"_{field.name}_"
    if field.default_factory is not MISSING:
        known[default] = field.default_factory
        if not field.init:
            return "", f"{default}()"
        return f"{name}=_default_", f"{default}() if {name} is _default_ else {name}"
    if not field.init:  # its default is an attribute of the class
        return "", ""
    if field.default is MISSING:
        return name, name
    known[default] = field.default
    return f"{name}={default}", name


def _repr(cls: type) -> Method:
    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in fields(cls) if each.repr)
    made = _compiled("__repr__(self)", [f'return f"{{self.__class__.__qualname__}}({shown})"'])
    return recursive_repr()(made)


def _eq(cls: type) -> Method:
    compared = [each for each in fields(cls) if each.compare]
    was, now = _tuple(compared, "self"), _tuple(compared, "other")
    same = f"if other.__class__ is self.__class__: return {was} == {now}"
    return _compiled("__eq__(self, other)", [same, "return NotImplemented"])


def _hash(cls: type) -> Method:
    hashed = [each for each in fields(cls) if (each.compare if each.hash is None else each.hash)]
    return _compiled("__hash__(self)", [f"return hash({_tuple(hashed, 'self')})"])


def _tuple(of: Iterable[Field[Any]], named: str) -> str:
    return f"({''.join(f'{named}.{each.name}, ' for each in of)})"


def _compiled(head: str, body: list[str], known: dict[str, object] | None = None) -> Method:
    names: dict[str, Any] = {} if known is None else known
    exec(f"def {head}:\n " + "\n ".join(body), names)
    made: Method = names[head.partition("(")[0]]
    return made


def _setattr(cls: Any) -> Method:
    names = {each.name for each in fields(cls)}

    def __setattr__(self: object, name: str, value: object) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    return __setattr__


def _delattr(cls: Any) -> Method:
    names = {each.name for each in fields(cls)}

    def __delattr__(self: object, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return __delattr__

"""All functions and operators that an expression may call, by name.

Each room of the package has its own in `FUNCTIONS`; a name stands for one of them. `MORE` has
overloads for functions of other rooms, by name. `rooms` knows which module has which name, and
a module is imported when one of its functions is first looked up. What is not
here reaches nothing: it is refused, with the nearest name that is.

>>> find("UCASE").name
'upper'
>>> find("nothing_of_the_kind") is None
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import ModuleType

from sqlwin.functions.core.entry import Function, Overload
from sqlwin.functions.rooms import index, modules_of

ROOMS = (
    *("numbers.arithmetic", "numbers.bits", "casts.functions", "logic.comparison"),
    *("logic.conditions", "numbers.mathematics"),
    *("texts.functions", "json.functions", "json.by_path", "json.making", "csv.functions"),
    *("times.dates", "formats.functions", "times.intervals", "times.processing"),
    *("times.without_zone", "dialects"),
    *("nested.arrays", "nested.maps", "nested.structs", "sketches.hll_functions"),
    *("sketches.theta_functions", "sketches.kll_functions"),
)
"""As docs/functions.md has them."""


def rooms() -> list[ModuleType]:
    """All of them, imported, with the vectors of casts, which no room imports."""
    _module("casts.pairs")
    return [_module(room) for room in ROOMS]


class _Table(Mapping[str, Function]):
    """Names are there before their functions are made."""

    def __getitem__(self, name: str) -> Function:
        return _function(name)

    def __contains__(self, name: object) -> bool:
        return name in index()

    def __iter__(self) -> Iterator[str]:
        return iter(index())

    def __len__(self) -> int:
        return len(index())


TABLE: Mapping[str, Function] = _Table()


@cache
def _function(name: str) -> Function:
    """KeyError where there is none of this name."""
    found: Function | None = None
    for module in map(_module, modules_of(name)):
        own = [function for function in module.FUNCTIONS if name in function.names]
        assert len(own) + (found is not None) <= 1, f"{name} is there twice"
        found = own[0] if own else _more(found, name, module.MORE[name])
    if found is None:
        raise KeyError(name)
    return found


def _more(found: Function | None, name: str, overloads: tuple[Overload, ...]) -> Function:
    """A function of one room that takes what another room has, too: `REVERSE` of arrays."""
    known = found or Function((name,), ())
    return replace(known, overloads=(*known.overloads, *overloads))


def _module(room: str) -> ModuleType:
    return import_module(f"sqlwin.functions.{room}")


def find(name: str) -> Function | None:
    return TABLE.get(name.lower())


def names() -> list[str]:
    """Of functions, not of operators, sorted."""
    return sorted(name for name in TABLE if name.isidentifier())

"""All functions and operators that an expression may call, by name.

Each room of the package has its own in `FUNCTIONS`; a name stands for one of them. `MORE` has
overloads for functions of other rooms, by name. What is not
here reaches nothing: it is refused, with the nearest name that is.

>>> find("UCASE").name
'upper'
>>> find("nothing_of_the_kind") is None
True
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.functions import dialects, texts
from sqlwin.functions.casts import functions as cast_functions
from sqlwin.functions.core.entry import Function, Overload
from sqlwin.functions.csv import functions as csv
from sqlwin.functions.formats import functions as formats
from sqlwin.functions.json import functions as json
from sqlwin.functions.logic import comparison, conditions
from sqlwin.functions.nested import arrays, maps, structs
from sqlwin.functions.numbers import arithmetic, bits, mathematics
from sqlwin.functions.times import dates, intervals, processing

ROOMS = (
    *(arithmetic, bits, cast_functions, comparison, conditions, mathematics),
    *(texts, json, csv),
    *(dates, formats, intervals, processing, dialects),
    *(arrays, maps, structs),
)


def _table() -> dict[str, Function]:
    table: dict[str, Function] = {}
    for room in ROOMS:
        for function in room.FUNCTIONS:
            for name in function.names:
                assert name not in table, f"{name} is there twice"
                table[name] = function
    for room in ROOMS:
        for name, overloads in getattr(room, "MORE", {}).items():
            table[name] = _more(table.get(name), name, overloads)
    return table


def _more(found: Function | None, name: str, overloads: tuple[Overload, ...]) -> Function:
    """A function of one room that takes what another room has, too: `REVERSE` of arrays."""
    known = found or Function((name,), ())
    return replace(known, overloads=(*known.overloads, *overloads))


TABLE = _table()


def find(name: str) -> Function | None:
    return TABLE.get(name.lower())


def names() -> list[str]:
    """Of functions, not of operators, sorted."""
    return sorted(name for name in TABLE if name.isidentifier())

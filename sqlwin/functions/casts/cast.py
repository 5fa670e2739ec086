"""CAST and TRY_CAST, from each type to each, as Spark's ANSI mode has them.

`cast` makes the text. Modules have the pairs of kinds (see `casting`); a pair that none of them
has cannot be cast at all, and is Refused. A cast that fails for a value raises for that row;
TRY_CAST gives NULL. A constant becomes a literal of the wanted type.

>>> cast(Typed("n", pa.int32()), pa.int64()).sql
'CAST(n AS BIGINT)'
>>> cast(Typed("CAST(1 AS INTEGER)", pa.int32(), 1), pa.int64()).sql
'CAST(1 AS BIGINT)'
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

import pyarrow as pa

from sqlwin.functions.casts.casting import Casting, How, kind
from sqlwin.functions.core.literals import converted, literal
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import NULL, STRING, engine_name, is_nested, name

_NOTED: ContextVar[list[tuple[str, Typed]] | None] = ContextVar("noted", default=None)


def cast(given: Typed, to: pa.DataType, *, safe: bool = False, implicitly: bool = False) -> Typed:
    """safe: TRY_CAST. implicitly: it is Spark's own idea; what it may be is up to `implicit`."""
    if given.type == to:
        return given
    if given.type == NULL:
        null = f"CAST(NULL AS {engine_name(to)})"
        sql = f"CASE WHEN {given.sql} IS NULL THEN {null} END" if given.fails else null
        return replace(given, sql=sql, type=to)
    known = _known(given, to) if given.is_constant else None
    if known is not None:
        return known
    how = _pairs().get((kind(given.type), kind(to)))
    if how is None:
        raise Refused(f"{name(given.type).upper()} cannot be cast to {name(to).upper()}")

    def inner(part: Typed, wanted: pa.DataType) -> Typed:
        return cast(part, wanted, safe=safe, implicitly=implicitly)

    done = how(Casting(given, to, safe, inner))
    if given.is_constant and given.type == STRING and not safe:
        _note(given.value, done)
    return done


def _pairs() -> dict[tuple[str, str], How]:
    from sqlwin.functions.casts.pairs import CASTS  # a dozen modules, and few queries cast

    return CASTS


@contextmanager
def noted() -> Iterator[list[tuple[str, Typed]]]:
    """Texts of constants that are cast meanwhile and were not read, each with its cast."""
    found: list[tuple[str, Typed]] = []
    before = _NOTED.set(found)
    try:
        yield found
    finally:
        _NOTED.reset(before)


def _note(text: str, made: Typed) -> None:
    found = _NOTED.get()
    if found is not None:
        found.append((text, made))


def _known(given: Typed, to: pa.DataType) -> Typed | None:
    """A constant as a constant; None where the engine has to see."""
    if given.type == STRING and given.value is not None and not is_nested(to):
        from sqlwin.functions.casts.strings import constant  # by need

        made = constant(given.value, to)
        return None if made is None else literal(made, to)
    return converted(given, to)

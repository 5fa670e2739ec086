"""AND, OR, NOT, and functions that choose among their arguments.

What is not chosen is not computed: where it may fail, AND and OR pass it over for the rows that
their left side decides, as Spark does.
"""

from __future__ import annotations

import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.functions.casts.cast import cast
from sqlwin.functions.core.entry import Call, Function, How, function, of
from sqlwin.functions.core.guards import MOST
from sqlwin.functions.core.literals import literal
from sqlwin.functions.core.typed import Refused, Typed
from sqlwin.functions.core.types import (
    INT,
    NULL,
    STRING,
    engine_name,
    is_numeric,
    is_orderable,
    name,
)
from sqlwin.functions.core.vectors import vector
from sqlwin.functions.core.widening import widest, widest_of


def _connected(word: str, decided: str) -> How:
    """decided: whether the left side alone says it, of `{0}`."""

    def text(call: Call) -> str:
        right = call.args[1]
        if not (isinstance(right, Typed) and right.fails):
            return f"({call.texts[0]} {word} {call.texts[1]})"
        value = "false" if word == "AND" else "true"
        made = f"CASE WHEN {decided} THEN {value} ELSE ({{0}} {word} {{1}}) END"
        return call.filled(made, MOST)

    return text


def equal(one: Typed, other: Typed, sign: str = "=") -> str:
    """Text of the comparison of two values, whatever their types."""
    wanted = widest(one.type, other.type)
    if wanted is None or not is_orderable(wanted):
        reason = f"{name(one.type).upper()} and {name(other.type).upper()}"
        raise Refused(f"{reason} cannot be compared", legal="a CAST of one")
    left, right = (cast(part, wanted, implicitly=True) for part in (one, other))
    return f"({left.sql} {sign} {right.sql})"


def _coalesce(call: Call) -> str:
    """DuckDB computes beforehand what stands twice in an operand, but nothing within a CASE."""
    parts = [f"CASE WHEN true THEN {arg.sql} END" if arg.fails else arg.sql for arg in _typed(call)]
    return f"coalesce({', '.join(parts)})"


def _typed(call: Call) -> list[Typed]:
    return [arg for arg in call.args if isinstance(arg, Typed)]


def _null_if(call: Call) -> str:
    one, other = _typed(call)
    return f"CASE WHEN {equal(one, other)} THEN NULL ELSE {one.sql} END"


def _first(*types: pa.DataType) -> pa.DataType:
    return types[0]


def _zero_if_null(call: Call) -> str:
    (value,) = _typed(call)
    zero = cast(literal(0, INT), call.result, implicitly=True).sql
    return f"coalesce({cast(value, call.result, implicitly=True).sql}, {zero})"


def _beside_zero(given: pa.DataType) -> pa.DataType:
    wanted = widest(given, INT)
    if wanted is None or not is_numeric(wanted):
        raise Refused(f"{name(given).upper()} is no number")
    return wanted


def _null_if_zero(call: Call) -> str:
    (value,) = _typed(call)
    return f"CASE WHEN {equal(value, literal(0, INT))} THEN NULL ELSE {value.sql} END"


def _pairs(arguments: list[Typed]) -> tuple[list[tuple[Typed, Typed]], Typed | None]:
    """Of DECODE: what is searched for with its result, and the default."""
    rest = arguments[1:]
    default = rest.pop() if len(rest) % 2 else None
    return list(zip(rest[::2], rest[1::2], strict=True)), default


def _decoded_type(*types: pa.DataType) -> pa.DataType:
    rest = list(types[1:])
    default = [rest.pop()] if len(rest) % 2 else []
    wanted = widest_of([*rest[1::2], *default])
    if wanted is None:
        raise Refused("results have no type in common", legal="a CAST of one")
    return wanted


def _decode(call: Call) -> str:
    subject = _typed(call)[0]
    pairs, default = _pairs(_typed(call))
    whens = [
        f"WHEN {equal(subject, search, 'IS NOT DISTINCT FROM')} "
        f"THEN {cast(result, call.result, implicitly=True).sql}"
        for search, result in pairs
    ]
    other = "NULL" if default is None else cast(default, call.result, implicitly=True).sql
    return f"CASE {' '.join(whens)} ELSE CAST({other} AS {engine_name(call.result)}) END"


@vector("asserttrue")
def _assert_true(held: pa.Array, message: pa.Array) -> pa.Array:
    failed = pc.invert(pc.fill_null(held, False))
    if pc.any(failed).as_py():
        said = pc.filter(message, failed)[0].as_py()
        raise ValueError(f"[USER_RAISED_EXCEPTION] {said}")
    return pa.nulls(len(held), pa.int32())


_RAISED = "CAST(error('[USER_RAISED_EXCEPTION] ' || coalesce({0}, 'null')) AS INTEGER)"
"""DuckDB does not compute its own `error` beforehand, where nothing but constants is in it."""


def _assert_plain(call: Call) -> str:
    (held,) = _typed(call)
    reason = literal(f"'{held.sql}' is not true!", STRING)
    called = _assert_true.named([held.type, STRING], NULL)
    return f"{called}({held.sql}, {reason.sql})"


def _type(call: Call) -> str:
    return f"'{name(call.type(0))}'"


FUNCTIONS: tuple[Function, ...] = (
    function(
        "and",
        of("(BOOLEAN, BOOLEAN) -> BOOLEAN", _connected("AND", "NOT {0}")),
        doc="Whether both hold.",
    ),
    function(
        "or",
        of("(BOOLEAN, BOOLEAN) -> BOOLEAN", _connected("OR", "{0}")),
        doc="Whether one holds.",
    ),
    function(
        "xor", of("(BOOLEAN, BOOLEAN) -> BOOLEAN", "({0} <> {1})"), doc="Whether just one holds."
    ),
    function("not !", of("(BOOLEAN) -> BOOLEAN", "(NOT {0})"), doc="Whether it does not hold."),
    function("coalesce", of("(T, T...) -> T", _coalesce), doc="The first that is not NULL."),
    function(
        "ifnull nvl",
        of("(T, T) -> T", _coalesce),
        doc="The first, the second where the first is NULL.",
    ),
    function(
        "nvl2",
        of("(ANY, T, T) -> T", "CASE WHEN {0} IS NOT NULL THEN {1} ELSE {2} END"),
        doc="The second where the first is no NULL, else the third.",
    ),
    function(
        "if",
        of("(BOOLEAN, T, T) -> T", "CASE WHEN {0} THEN {1} ELSE {2} END"),
        doc="The second where the first holds, else the third.",
    ),
    function(
        "nullif",
        of("(ANY, ANY)", _null_if, result=_first),
        doc="The first, NULL where it equals the second.",
    ),
    function(
        "nullifzero",
        of("(ANY)", _null_if_zero, result=_first, fails=True),
        doc="The number, NULL where it is 0.",
    ),
    function(
        "zeroifnull",
        of("(ANY)", _zero_if_null, result=_beside_zero, fails=True),
        doc="The number, 0 where it is NULL.",
    ),
    function(
        "decode",
        of("(ANY, ANY, ANY, ANY...)", _decode, result=_decoded_type),
        doc="The result beside the first value that equals the expression.",
    ),
    function(
        "assert_true",
        of("(BOOLEAN) -> VOID", _assert_plain, fails=True),
        of("(BOOLEAN, STRING) -> VOID", _assert_true),
        doc="NULL where it holds; raises where it does not.",
    ),
    function(
        "raise_error", of("(STRING) -> VOID", _RAISED, fails=True), doc="Raises, with this message."
    ),
    function("typeof", of("(ANY) -> STRING", _type), doc="The name of the type."),
)

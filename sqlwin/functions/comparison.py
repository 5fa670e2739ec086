"""Comparisons: of numbers, texts, instants and nested values.

NaN equals NaN and is greater than all else, -0.0 equals 0.0; DuckDB has that as Spark does.
Operands are brought to one type: a STRING beside another type becomes that, beside a number with
a fraction a DOUBLE.
"""

from __future__ import annotations

from sqlwin.functions.entry import Function, Overload, function, of
from sqlwin.functions.operands import compared


def _compares(symbol: str) -> Overload:
    return of("(O, O) -> BOOLEAN", f"({{0}} {symbol} {{1}})")


def _chosen(how: str) -> Overload:
    return of("(O, O, O...) -> O", how)


FUNCTIONS: tuple[Function, ...] = (
    function("= ==", _compares("="), doc="Whether both are equal.", before=compared),
    function("<> !=", _compares("<>"), doc="Whether they differ.", before=compared),
    function("<", _compares("<"), doc="Whether the first is less.", before=compared),
    function("<=", _compares("<="), doc="Whether the first is not greater.", before=compared),
    function(">", _compares(">"), doc="Whether the first is greater.", before=compared),
    function(">=", _compares(">="), doc="Whether the first is not less.", before=compared),
    function(
        "<=> equal_null",
        _compares("IS NOT DISTINCT FROM"),
        doc="Whether both are equal, or both NULL.",
        before=compared,
    ),
    function("greatest", _chosen("greatest({all})"), doc="The greatest that is not NULL."),
    function("least", _chosen("least({all})"), doc="The least that is not NULL."),
    function("isnull", of("(ANY) -> BOOLEAN", "({0} IS NULL)"), doc="Whether it is NULL."),
    function(
        "isnotnull", of("(ANY) -> BOOLEAN", "({0} IS NOT NULL)"), doc="Whether it is no NULL."
    ),
    function(
        "isnan",
        of("(DOUBLE) -> BOOLEAN", "coalesce(isnan({0}), false)"),
        doc="Whether it is NaN; of NULL it is false.",
    ),
    function(
        "nanvl",
        of("(FLOAT, FLOAT) -> FLOAT", "CASE WHEN isnan({0}) THEN {1} ELSE {0} END"),
        of("(DOUBLE, DOUBLE) -> DOUBLE", "CASE WHEN isnan({0}) THEN {1} ELSE {0} END"),
        doc="The first, the second where the first is NaN.",
    ),
)

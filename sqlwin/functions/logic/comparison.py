"""Comparisons: of numbers, texts, instants and nested values.

NaN equals NaN and is greater than all else, -0.0 equals 0.0; DuckDB has that as Spark does.
Within nested values a NULL is less than all else, which DuckDB has not; Python compares them.
Operands are brought to one type: a STRING beside another type becomes that, beside a number with
a fraction a DOUBLE.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.casts.operands import compared
from sqlwin.functions.core import nested_values as nested
from sqlwin.functions.core.by_numbers import Numbers
from sqlwin.functions.core.entry import Call, Function, Overload, function, of, rendered
from sqlwin.functions.core.types import is_float, is_nested
from sqlwin.functions.core.vectors import Vector, vector


@vector("nestedless")
def _less(one: pa.Array, other: pa.Array) -> pa.Array:
    key = nested.order(one.type)
    return nested.by_rows(lambda x, y: key(x) < key(y), one, other, type=pa.bool_())


def _compares(symbol: str) -> Overload:
    return of("(O, O) -> BOOLEAN", f"({{0}} {symbol} {{1}})")


def _ordered(symbol: str, swapped: bool, turned: bool) -> Overload:
    """As `less`, of nested values. swapped: of the second and the first. turned: not that."""

    def text(call: Call) -> str:
        if not is_nested(call.type(0)):
            return call.filled(f"({{0}} {symbol} {{1}})")
        one, other = reversed(call.texts) if swapped else call.texts
        less = f"{_less.named([call.type(0), call.type(1)], call.result)}({one}, {other})"
        return f"(NOT {less})" if turned else less

    return of("(O, O) -> BOOLEAN", text)


def _extreme(name: str, better: Callable[[Numbers, Numbers], Any], sign: int) -> Vector:
    """The first of the best; NULLs are passed over."""

    @vector(name)
    def made(*arrays: pa.Array) -> pa.Array:
        if is_float(arrays[0].type):
            return reduce(_best_number, arrays)
        key = nested.order(arrays[0].type)
        rows = zip(*map(nested.values, arrays), strict=True)
        chosen = [_best([value for value in row if value is not None], key, sign) for row in rows]
        return nested.made(chosen, arrays[0].type)

    def _best_number(one: pa.Array, other: pa.Array) -> pa.Array:
        x, y = (array.fill_null(0).to_numpy(zero_copy_only=False) for array in (one, other))
        no_x, no_y = (array.is_null().to_numpy(zero_copy_only=False) for array in (one, other))
        taken = no_x | (~no_y & better(x, y))
        return pa.array(np.where(taken, y, x), one.type, mask=no_x & no_y, from_pandas=False)

    return made


def _best(values: list[Any], key: Callable[[Any], Any], sign: int) -> Any:
    if not values:
        return None
    return max(values, key=key) if sign > 0 else min(values, key=key)


def _greater(x: Numbers, y: Numbers) -> Any:
    """NaN is greater than all else."""
    return (y > x) | (np.isnan(y) & ~np.isnan(x))


_GREATEST = _extreme("greatest", _greater, 1)
_LEAST = _extreme("least", lambda x, y: _greater(y, x), -1)


def _chosen(native: str, exact: Vector) -> Overload:
    """DuckDB's loses the sign of -0.0."""

    def text(call: Call) -> str:
        by_value = is_nested(call.result) or is_float(call.result)
        return rendered(exact if by_value else native, call)

    return of("(O, O, O...) -> O", text, strict=True)


FUNCTIONS: tuple[Function, ...] = (
    function("= ==", _compares("="), doc="Whether both are equal.", before=compared),
    function("<> !=", _compares("<>"), doc="Whether they differ.", before=compared),
    function("<", _ordered("<", False, False), doc="Whether it is less.", before=compared),
    function("<=", _ordered("<=", True, True), doc="Whether it is not greater.", before=compared),
    function(">", _ordered(">", True, False), doc="Whether it is greater.", before=compared),
    function(">=", _ordered(">=", False, True), doc="Whether it is not less.", before=compared),
    function(
        "<=> equal_null",
        of("(O, O) -> BOOLEAN", "({0} IS NOT DISTINCT FROM {1})"),
        doc="Whether both are equal, or both NULL.",
        before=compared,
    ),
    function(
        "<!=>",
        of("(O, O) -> BOOLEAN", "({0} IS DISTINCT FROM {1})"),
        doc="Whether they differ, or one alone is NULL.",
        before=compared,
    ),
    function(
        "greatest", _chosen("greatest({all})", _GREATEST), doc="The greatest that is not NULL."
    ),
    function("least", _chosen("least({all})", _LEAST), doc="The least that is not NULL."),
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

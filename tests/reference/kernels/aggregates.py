"""Aggregates by definition: one value from the list of rows that take part.

`aggregate` takes rows in the order of their positions and does what SQL says, one
clause after the other: FILTER, then the arguments' NULLs, then DISTINCT, then ORDER BY,
then LIMIT, then the function. Arithmetic is that of `exact`: fractions, rounded once.

>>> rows = [{"x": 1, "y": 5}, {"x": None, "y": 9}, {"x": 3, "y": 9}]
>>> [aggregate(f, ("x",), pa.int64(), rows) for f in ("count", "sum", "max", "last")]
[2, 4, 3, 3]
>>> aggregate("arg_max", ("x", "y"), pa.int64(), rows) is None  # the first of the tie has no x
True
>>> aggregate("collect_list", ("y",), pa.list_(pa.int64()), rows, distinct=True)
[5, 9]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import reduce
from operator import and_, or_, xor
from typing import Any, Protocol

import pyarrow as pa

from sqlwin.schema import Order
from tests.reference.kernels.exact import (
    OutOfRange,
    ascending,
    average,
    correlation,
    covariance,
    interpolated,
    line,
    moment,
    nearest,
    product,
    shaped,
    total,
)
from tests.reference.kernels.rows import Row, Rows, Values
from tests.reference.kernels.sketches import SKETCHES

Params = tuple[Any, ...]


class Folding(Protocol):
    """An aggregate from Python, as `sqlwin.aggregates.python.PythonAggregate`."""

    @property
    def initializer(self) -> Callable[..., Any]: ...
    @property
    def aggregator(self) -> Callable[..., Any]: ...
    @property
    def finisher(self) -> Callable[[Any], Any] | None: ...


def aggregate(
    function: str,
    args: tuple[str, ...],
    type_: pa.DataType,
    rows: Rows,
    where: str | None = None,
    params: Params = (),
    distinct: bool = False,
    order: Sequence[Order] = (),
    limit: int | None = None,
) -> Any:
    """The value of a function over rows; `where` names a column that must be true.

    limit: of the rows that are left, in their order, only so many.
    """
    taking = [row for row in rows if where is None or row[where] is True]
    if distinct:
        taking = firsts(taking, args)
    if function in ("arg_min", "arg_max") and params:
        order, limit = (Order(args[1], descending=function == "arg_max"),), params[0]
        chosen = [row for row in taking if row[args[1]] is not None]
        return [row[args[0]] for row in ordered(chosen, order)][:limit] or None
    if function in _OF_ROWS:
        return _OF_ROWS[function](args, ordered(taking, order), params)
    known = [row for row in taking if all(row[arg] is not None for arg in args)]
    if not known:
        return _NOTHING.get(function)
    if function in _MEANS:
        return average([row[args[_MEANS.index(function)]] for row in known], type_)
    if function in _OF_PAIRS:
        return _OF_PAIRS[function](known, args)
    values = [row[args[0]] for row in ordered(known, order)][:limit]
    if distinct or function in ("collect_set", "histogram"):
        values = [_unsigned(value) for value in values]
    if function in _PERCENTILES:
        return _percentile(function, values, type_, params, bool(order) and order[0].descending)
    return _OF_VALUES[function](values, type_, params)


def fold(python: Folding, args: tuple[str, ...], rows: Rows, where: str | None = None) -> Any:
    """A Python aggregate: its aggregator over every row, as it comes, NULLs included.

    A function of one column gets values, one of several gets them as arguments.
    """
    state = python.initializer()
    for row in rows:
        if where is None or row[where] is True:
            state = python.aggregator(state, *(row[arg] for arg in args))
    return state if python.finisher is None else python.finisher(state)


def ordered(rows: Rows, order: Sequence[Order]) -> list[Row]:
    """Rows by the given columns, the last one first, since sorting is stable."""
    out = list(rows)
    for by in reversed(order):
        known = [row for row in out if row[by.column] is not None]
        nulls = [row for row in out if row[by.column] is None]
        known.sort(key=lambda row: ascending(row[by.column]), reverse=by.descending)
        out = known + nulls if by.nulls_last else nulls + known
    return out


def firsts(rows: Rows, args: tuple[str, ...]) -> list[Row]:
    """Of the rows with equal arguments the first."""
    seen: dict[Any, Row] = {}
    for row in rows:
        seen.setdefault(tuple(ascending(row[arg]) for arg in args), row)
    return list(seen.values())


# Of whole rows: NULLs count, or are the answer.


def _count(args: tuple[str, ...], rows: Rows, params: Params) -> int:
    return sum(1 for row in rows if all(row[arg] is not None for arg in args))


def _nth(args: tuple[str, ...], rows: Rows, params: Params) -> Any:
    return rows[params[0] - 1][args[0]] if params[0] <= len(rows) else None


def _nth_last(args: tuple[str, ...], rows: Rows, params: Params) -> Any:
    return rows[-params[0]][args[0]] if params[0] <= len(rows) else None


def _arg_min(args: tuple[str, ...], rows: Rows, params: Params) -> Any:
    known = [row for row in rows if row[args[1]] is not None]
    return min(known, key=lambda row: ascending(row[args[1]]))[args[0]] if known else None


def _arg_max(args: tuple[str, ...], rows: Rows, params: Params) -> Any:
    known = [row for row in rows if row[args[1]] is not None]
    return max(known, key=lambda row: ascending(row[args[1]]))[args[0]] if known else None


def _different(args: tuple[str, ...], rows: Rows, params: Params) -> int:
    return _count(args, firsts(rows, args), params)


def _entries(args: tuple[str, ...], rows: Rows, params: Params) -> dict[Any, Any]:
    """Each key with the value of its last row."""
    last: dict[Any, Any] = {}
    for row in rows:
        if row[args[0]] is not None:
            last[ascending(row[args[0]])] = (_unsigned(row[args[0]]), row[args[1]])
    return {key: value for _, (key, value) in sorted(last.items(), key=lambda item: item[0])}


_OF_ROWS: dict[str, Callable[[tuple[str, ...], Rows, Params], Any]] = {
    "count": _count,
    "approx_count_distinct": _different,
    "first": lambda args, rows, params: _nth(args, rows, (1,)),
    "last": lambda args, rows, params: _nth_last(args, rows, (1,)),
    "nth_value": _nth,
    "nth_last": _nth_last,
    "arg_min": _arg_min,
    "arg_max": _arg_max,
    "map_agg": _entries,
    **SKETCHES,
}


# Of pairs with no NULL in them; there is at least one.


def _pairs(statistic: Callable[[Values, Values], Any]) -> Callable[[Rows, tuple[str, ...]], Any]:
    return lambda rows, args: statistic(*([float(row[arg]) for row in rows] for arg in args))


_MEANS = ("regr_avgy", "regr_avgx")
"""Of the first argument, of the second."""
_OF_PAIRS: dict[str, Callable[[Rows, tuple[str, ...]], Any]] = {
    "covar_samp": _pairs(covariance(lost=1)),
    "covar_pop": _pairs(covariance(lost=0)),
    "corr": _pairs(correlation),
    **{
        f"regr_{name}": _pairs(line(name))
        for name in ("sxx", "syy", "sxy", "slope", "intercept", "r2", "count")
    },
}


# Of the values that are not NULL; there is at least one.

_PERCENTILES = ("percentile_cont", "percentile_disc", "approx_percentile")


def _mode(values: Values, type_: pa.DataType, params: Params) -> Any:
    """The most frequent; of several the one that came first."""
    return max(_set(values, type_, params), key=lambda value: _times(value, values))


def _attempted(of: Callable[[Values, pa.DataType], Any], values: Values, type_: pa.DataType) -> Any:
    try:
        return of(values, type_)
    except OutOfRange:
        return None


def _times(value: Any, values: Values) -> int:
    return sum(1 for other in values if ascending(other) == ascending(value))


def _percentile(
    function: str, values: Values, type_: pa.DataType, params: Params, down: bool
) -> Any:
    """At one fraction, or a list for several; a sketch comes near to one of the values."""
    of = interpolated if function == "percentile_cont" else nearest
    exact = function in ("percentile_cont", "percentile_disc")
    fractions = [p for p in params if exact or isinstance(p, float)]  # others have an accuracy
    one = type_.value_type if pa.types.is_list(type_) else type_
    found = [of(values, fraction, down) for fraction in fractions]
    if not exact:
        found = [_sketched(value, values, one) for value in found]
    if pa.types.is_floating(one):
        found = [float(value) for value in found]
    return found if pa.types.is_list(type_) else found[0]


def _sketched(value: Any, values: Values, type_: pa.DataType) -> Any:
    """A single number among NaNs is lost; a DECIMAL is that of its DOUBLE, if the type holds it."""
    nans = sum(1 for each in values if each != each)
    if nans and nans == len(values) - 1:
        return math.nan
    if not pa.types.is_decimal(type_):
        return value
    unit = Decimal(1).scaleb(-type_.scale)
    rounded = Decimal(repr(float(value))).quantize(unit, ROUND_HALF_UP, Context(prec=80))
    return rounded if len(rounded.as_tuple().digits) <= type_.precision else None


def _joined(values: Values, between: Any) -> Any:
    if isinstance(values[0], bytes):
        return (between or b"").join(values)
    return str(between).join(values)


def _set(values: Values, type_: pa.DataType, params: Params) -> Values:
    seen: dict[Any, Any] = {}
    for value in values:
        seen.setdefault(ascending(value), value)
    return list(seen.values())


def _top(values: Values, type_: pa.DataType, params: Params) -> Values:
    return sorted(values, key=ascending, reverse=True)[: params[0]]


def _counts(values: Values, type_: pa.DataType, params: Params) -> dict[Any, int]:
    keys = sorted(_set(values, type_, params), key=ascending)
    return {key: _times(key, values) for key in keys}


def _unsigned(value: Any) -> Any:
    return value + 0.0 if isinstance(value, float) else value


_NOTHING: dict[str, Any] = {
    **{name: [] for name in ("collect_list", "collect_set", "top_k")},
    "regr_count": 0,
    "histogram": {},
}
"""Of no values; of other functions NULL."""
_OF_VALUES: dict[str, Callable[[Values, pa.DataType, Params], Any]] = {
    "sum": lambda values, type_, params: total(values, type_),
    "avg": lambda values, type_, params: average(values, type_),
    "try_sum": lambda values, type_, params: _attempted(total, values, type_),
    "try_avg": lambda values, type_, params: _attempted(average, values, type_),
    "product": lambda values, type_, params: product(values),
    "min": lambda values, type_, params: min(values, key=ascending),
    "max": lambda values, type_, params: max(values, key=ascending),
    "bool_and": lambda values, type_, params: all(values),
    "bool_or": lambda values, type_, params: any(values),
    "stddev_samp": lambda values, type_, params: moment(values, lost=1, root=True),
    "stddev_pop": lambda values, type_, params: moment(values, lost=0, root=True),
    "var_samp": lambda values, type_, params: moment(values, lost=1, root=False),
    "var_pop": lambda values, type_, params: moment(values, lost=0, root=False),
    "skewness": lambda values, type_, params: shaped(values, 3),
    "kurtosis": lambda values, type_, params: shaped(values, 4),
    "bit_and": lambda values, type_, params: reduce(and_, values),
    "bit_or": lambda values, type_, params: reduce(or_, values),
    "bit_xor": lambda values, type_, params: reduce(xor, values),
    "median": lambda values, type_, params: interpolated(values, 0.5),
    "mode": _mode,
    "collect_list": lambda values, type_, params: values,
    "collect_set": _set,
    "string_agg": lambda values, type_, params: _joined(values, params[0]),
    "top_k": _top,
    "histogram": _counts,
}

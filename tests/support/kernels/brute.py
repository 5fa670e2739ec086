"""The aggregates, one value after another in plain Python: exact, slow, obvious."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
from hypothesis import strategies as st

from sqlwin.aggregates import SIGNATURES, signature
from sqlwin.functions.sketches.hll import coupons, of_coupons
from sqlwin.functions.sketches.kll import of_values, written
from sqlwin.functions.sketches.theta import hashes, of_hashes
from sqlwin.kernels.folds import Fold, fold
from sqlwin.polars_frames import polars_type
from tests.reference.kernels.exact import double

Row = dict[str, Any]
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

FLOATS = [0.0, -0.0, 0.1, -2.25, 1e18, -1e18, 1e200, math.inf, -math.inf, math.nan]


def sketch(lg: int, first: int, count: int) -> bytes:
    """An HLL sketch of successive numbers: as a list, a set or registers, by how many there are."""
    return of_coupons(coupons(pa.array(range(first, first + count), pa.int64())), lg)


def theta(lg: int, first: int, count: int) -> bytes:
    """A theta sketch of successive numbers."""
    return of_hashes(hashes(pa.array(range(first, first + count), pa.int64())), lg)


def kll(of: str, k: int, first: int, count: int) -> bytes:
    """A KLL sketch of successive numbers."""
    return written(of_values(np.arange(first, first + count).astype(of), k))


SKETCHES = st.builds(
    sketch, st.sampled_from([4, 8, 12]), st.integers(0, 50), st.sampled_from([0, 3, 9, 60])
)
THETAS = st.builds(
    theta, st.sampled_from([4, 5, 8]), st.integers(0, 50), st.sampled_from([0, 1, 3, 17, 60])
)
KLLS = {
    name: st.builds(
        kll, st.just(of), st.sampled_from([8, 9, 200]), st.integers(-9, 9), st.integers(0, 60)
    )
    for name, of in (("kll", "<i8"), ("kll_float", "<f4"), ("kll_double", "<f8"))
}
VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "i8": (pa.int8(), st.integers(-128, 127)),
    "i16": (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    "i32": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "i64": (pa.int64(), st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)),
    "f32": (pa.float32(), st.sampled_from([0.5, -1.5, 3.0, math.nan, -0.0, 0.0])),
    "f64": (pa.float64(), st.sampled_from(FLOATS) | st.floats(-100, 100)),
    "d5": (pa.decimal128(5, 2), st.decimals(-999, 999, places=2)),
    "d26": (
        pa.decimal128(26, 3),
        st.integers(-(10**26) + 1, 10**26 - 1).map(lambda u: scaled(u, 3)),
    ),
    "d38": (
        pa.decimal128(38, 4),
        st.integers(-(10**38) + 1, 10**38 - 1).map(lambda u: scaled(u, 4)),
    ),
    "s": (pa.string(), st.sampled_from(["", "a", "b", "ba", "é", "😀"])),
    "y": (pa.binary(), st.sampled_from([b"", b"a", b"\xff", b"\x00"])),
    "hll": (pa.binary(), SKETCHES),
    "theta": (pa.binary(), THETAS),
    **{name: (pa.binary(), drawn) for name, drawn in KLLS.items()},
    "at": (pa.int32(), st.integers(0, 32767)),
    "bits": (pa.binary(), st.binary(max_size=3) | st.just(b"\xff" * 4097)),
    "b": (pa.bool_(), st.booleans()),
    "date": (pa.date32(), st.integers(-9, 9).map(lambda n: date(1970, 1, 1) + timedelta(n))),
    "t": (pa.timestamp("us", "UTC"), st.integers(-9, 9).map(lambda n: EPOCH + timedelta(0, 0, n))),
}

# the others are checked against tests/reference/kernels, in test_folds_reference.py
HERE = ("count", "sum", "avg", "min", "max", "first", "last", "bool_and", "bool_or")
HERE += ("stddev_samp", "stddev_pop", "var_samp", "var_pop")
CALLS: list[tuple[str, tuple[str, ...]]] = [("count", ())]
CALLS += [
    (known.name, (column,))
    for known in SIGNATURES
    for column, (type_, _) in VALUES.items()
    if known.name in HERE and known.result((type_,)) is not None
]
CALLS += [(name, ("s", column)) for name in ("arg_min", "arg_max") for column in VALUES]
CALLS += [("arg_max", (column, "i8")) for column in VALUES]


def scaled(units: int, scale: int) -> Decimal:
    return Decimal(units).scaleb(-scale, Context(prec=60))


def bound(function: str, args: tuple[str, ...], where: str | None) -> Fold:
    types = tuple(VALUES[arg][0] for arg in args)
    known = signature(function)
    assert known is not None
    result = known.result(types)
    assert result is not None
    return fold("out", function, args, types, result, where)


@st.composite
def tables(draw: st.DrawFn, columns: tuple[str, ...], most: int = 24) -> list[Row]:
    """Rows with key, part of the cut, position, `where`, and the columns asked for."""
    fields: dict[str, st.SearchStrategy[Any]] = {
        "key": st.integers(0, 2),
        "cut": st.integers(0, 3),
        "__ts": st.integers(-5, 5),
        "__part": st.integers(0, 1),
        "w": st.sampled_from([True, True, False, None]),
    }
    fields |= {name: VALUES[name][1] | st.none() for name in columns}
    rows = draw(st.lists(st.fixed_dictionaries(fields), max_size=most))
    rows = [row | {"__seq": seq} for seq, row in enumerate(rows)]
    return sorted(rows, key=lambda row: (row["key"], row["__ts"], row["__part"], row["__seq"]))


def frame_of(rows: list[Row], columns: tuple[str, ...]) -> pl.DataFrame:
    schema: dict[str, Any] = {
        "key": pl.Int64, "cut": pl.Int64, "__ts": pl.Int64, "__part": pl.Int32, "w": pl.Boolean,
        "__seq": pl.Int64,
    }  # fmt: skip
    schema |= {name: polars_type(VALUES[name][0]) for name in columns}
    return pl.DataFrame(rows, schema=schema, orient="row")


def answer(fold_: Fold, rows: list[Row]) -> Any:
    """The aggregate over rows sorted by position; OverflowError where it does not fit."""
    call = fold_.call
    taken = [row for row in rows if call.where is None or row[call.where] is True]
    if call.function == "count" and not call.args:
        return len(taken)
    if call.function in ("first", "last"):
        edge = 0 if call.function == "first" else -1
        return taken[edge][call.args[0]] if taken else None
    taken = [row for row in taken if row[call.args[-1]] is not None]
    if call.function == "count":
        return len(taken)
    if not taken:
        return None
    if call.function.startswith("arg_"):
        return chosen(taken, call.args[1], call.function == "arg_max")[call.args[0]]
    return PLAIN[call.function]([row[call.args[0]] for row in taken], call.type)


def chosen(rows: list[Row], by: str, greatest: bool) -> Row:
    """The first row of the extreme `by`."""
    best = rows[0]
    for row in rows[1:]:
        order = compare(row[by], best[by])
        if order > 0 if greatest else order < 0:
            best = row
    return best


def compare(a: Any, b: Any) -> int:
    """NaN is greater than any number and equal to itself; strings go by their bytes."""
    if isinstance(a, float):
        a, b = (
            (math.isnan(a), 0 if math.isnan(a) else a),
            (math.isnan(b), 0 if math.isnan(b) else b),
        )
    if isinstance(a, str):
        a, b = a.encode(), b.encode()
    return (a > b) - (a < b)


def _sum(values: list[Any], type_: pa.DataType) -> Any:
    if pa.types.is_floating(type_):
        return sum(values, 0.0)
    if pa.types.is_decimal(type_):
        total = sum((Fraction(value) for value in values), Fraction(0))
        return decimal_of(total, type_)
    total = sum(values)
    if not -(2**63) <= total < 2**63:
        raise OverflowError(total)
    return total


def _avg(values: list[Any], type_: pa.DataType) -> Any:
    if isinstance(values[0], float):
        return sum(values, 0.0) / len(values)
    mean = sum((Fraction(value) for value in values), Fraction(0)) / len(values)
    return decimal_of(mean, type_) if pa.types.is_decimal(type_) else float(mean)


def decimal_of(value: Fraction, type_: pa.DataType) -> Decimal:
    units = abs(value) * 10**type_.scale
    whole = (2 * units.numerator + units.denominator) // (2 * units.denominator)
    if whole >= 10**type_.precision:
        raise OverflowError(value)
    return scaled(whole if value >= 0 else -whole, type_.scale)


def _variance(lost: int, root: bool) -> Callable[[list[Any], pa.DataType], Any]:
    def value(values: list[Any], type_: pa.DataType) -> Any:
        count = len(values) - lost
        if count <= 0:
            return None
        if not all(math.isfinite(x) for x in values):
            return math.nan
        exact = [Fraction(float(x)) for x in values]
        mean = sum(exact, Fraction(0)) / len(exact)
        variance = double(sum(((x - mean) ** 2 for x in exact), Fraction(0)) / count)
        return math.sqrt(variance) if root else variance

    return value


_ASCENDING = cmp_to_key(compare)
PLAIN: dict[str, Callable[[list[Any], pa.DataType], Any]] = {
    "sum": _sum,
    "avg": _avg,
    "min": lambda values, _: min(values, key=_ASCENDING),
    "max": lambda values, _: max(values, key=_ASCENDING),
    "bool_and": lambda values, _: all(values),
    "bool_or": lambda values, _: any(values),
    "stddev_samp": _variance(1, True),
    "stddev_pop": _variance(0, True),
    "var_samp": _variance(1, False),
    "var_pop": _variance(0, False),
}


def same(got: Any, expected: Any, scale: float = 0.0) -> bool:
    """Equal; floats to 1e-9 of themselves or of `scale`, the size of what went in; NaN is NaN."""
    if isinstance(expected, float) and isinstance(got, float):
        if math.isnan(expected) or math.isnan(got):
            return math.isnan(expected) and math.isnan(got)
        return math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-9 * scale)
    return bool(got == expected) and type(got) is type(expected)


def size(rows: list[Row], column: str) -> float:
    """The largest finite magnitude of a numeric column, for tolerances."""
    values = [row[column] for row in rows if isinstance(row.get(column), (int, float, Decimal))]
    return max((abs(float(v)) for v in values if math.isfinite(v)), default=0.0)

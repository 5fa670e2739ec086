"""KLL_SKETCH_GET_QUANTILE_…, GET_RANK, GET_N, MERGE and TO_STRING, of BIGINT, FLOAT and DOUBLE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.entry import Function, Overload, function, of
from sqlwin.functions.core.types import BIGINT, BINARY, DOUBLE, FLOAT, STRING
from sqlwin.functions.core.vectors import Vector, by_value, vector
from sqlwin.functions.sketches.kll import (
    DOUBLES,
    FLOATS,
    LONGS,
    Kll,
    merged,
    quantile,
    rank,
    read,
    written,
)
from sqlwin.functions.sketches.kll_summary import summary

TYPES = {"bigint": (BIGINT, LONGS), "float": (FLOAT, FLOATS), "double": (DOUBLE, DOUBLES)}
_Of = Callable[[Kll, Any], Any]


def _wrong(name: str) -> ValueError:
    return ValueError(
        f"[KLL_INVALID_INPUT_SKETCH_BUFFER] Invalid call to `{name}`; only valid KLL sketch "
        "buffers are supported as inputs (such as those produced by the `kll_sketch_agg` function)."
    )


def _read(name: str, sketch: bytes, dtype: np.dtype[Any]) -> Kll:
    try:
        return read(sketch, dtype)
    except ValueError:
        raise _wrong(name) from None


def _filled(name: str, sketch: bytes, dtype: np.dtype[Any]) -> Kll:
    """One that has values, as ranks need them."""
    made = _read(name, sketch, dtype)
    if not made.n:
        raise _wrong(name)
    return made


def _quantile(name: str) -> _Of:
    def found(sketch: Kll, fraction: float) -> Any:
        if fraction < 0 or fraction > 1:
            raise ValueError(
                f"[KLL_SKETCH_INVALID_QUANTILE_RANGE] For function `{name}`, the quantile value "
                "must be between 0.0 and 1.0 (inclusive)."
            )
        return quantile(sketch, 0.0 if np.isnan(fraction) else fraction)

    return found


def _rank(name: str) -> _Of:
    def found(sketch: Kll, value: Any) -> float:
        if value != value:  # NaN
            raise _wrong(name)
        return rank(sketch, value)

    return found


def _of_one_and_many(
    name: str, dtype: np.dtype[Any], found: _Of, type: pa.DataType
) -> tuple[Vector, Vector]:
    """Of one value, and of each of a list."""

    def one(sketches: pa.Array, values: pa.Array) -> pa.Array:
        def each(sketch: bytes, value: Any) -> Any:
            return found(_filled(name, sketch, dtype), value)

        return by_value(each, sketches, values, type=type)

    def many(sketches: pa.Array, lists: pa.Array) -> pa.Array:
        def each(sketch: bytes | None, values: list[Any] | None) -> list[Any] | None:
            if sketch is None or values is None:
                return None
            made = _filled(name, sketch, dtype)
            return [None if value is None else found(made, value) for value in values]

        pairs = zip(sketches.to_pylist(), lists.to_pylist(), strict=True)
        return pa.array([each(*pair) for pair in pairs], pa.list_(type))

    plain = name.replace("_", "")
    return vector(plain)(one), vector(f"{plain}s")(many)


def _alone(name: str, compute: Callable[..., Any], type: pa.DataType) -> Vector:
    def each(*sketches: pa.Array) -> pa.Array:
        return by_value(compute, *sketches, type=type)

    return vector(name.replace("_", ""))(each)


def _named(name: str, type: pa.DataType, dtype: np.dtype[Any]) -> tuple[Function, ...]:
    n, text, both = (f"kll_sketch_{what}_{name}" for what in ("get_n", "to_string", "merge"))
    at, up_to = (f"kll_sketch_get_{what}_{name}" for what in ("quantile", "rank"))

    def merge(one: bytes, other: bytes) -> bytes:
        first, second = _read(both, one, dtype), _read(both, other, dtype)
        return written(merged([first, second], first.k))

    def described(sketch: bytes) -> str:
        return summary(sketch, _read(text, sketch, dtype))

    return (
        function(
            n,
            of("(BINARY) -> BIGINT", _alone(n, lambda sketch: _read(n, sketch, dtype).n, BIGINT)),
            doc="How many values a KLL sketch has seen.",
        ),
        function(
            at,
            *_overloads("DOUBLE", name.upper(), _of_one_and_many(at, dtype, _quantile(at), type)),
            doc="The value up to which a fraction of the values of a KLL sketch lie, about.",
        ),
        function(
            up_to,
            *_overloads(
                name.upper(), "DOUBLE", _of_one_and_many(up_to, dtype, _rank(up_to), DOUBLE)
            ),
            doc="Which fraction of the values of a KLL sketch are not greater than one, about.",
        ),
        function(
            both,
            of("(BINARY, BINARY) -> BINARY", _alone(both, merge, BINARY)),
            doc="The KLL sketch of the values of two, as large as the first.",
        ),
        function(
            text,
            of("(BINARY) -> STRING", _alone(text, described, STRING)),
            doc="The sizes of a KLL sketch as lines of text.",
        ),
    )


def _overloads(argument: str, result: str, how: tuple[Vector, Vector]) -> tuple[Overload, Overload]:
    one, many = how
    return (
        of(f"(BINARY, {argument}) -> {result}", one),
        of(f"(BINARY, ARRAY<{argument}>) -> ARRAY<{result}>", many),
    )


FUNCTIONS: tuple[Function, ...] = tuple(
    made for name, types in TYPES.items() for made in _named(name, *types)
)

"""Arrays of FLOATs as vectors: their length, products and distances.

A vector with a NULL in it gives NULL. Sums are of eight parts at a time, as Spark's are: those of
products alone in FLOATs, all else in DOUBLEs.

>>> NORM.compute(pa.array([[3.0, 4.0]], pa.list_(pa.float32())), pa.array([2.0], pa.float32()))
<pyarrow.lib.FloatArray object at ...>
[
  5
]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sqlwin.functions.core.entry import Call, Function, function, of
from sqlwin.functions.core.nested_values import values
from sqlwin.functions.core.typed import Argument, Refused, Typed
from sqlwin.functions.core.types import FLOAT, name
from sqlwin.functions.core.vectors import Vector, vector

Floats = np.ndarray
_LANES = 8


def _sum(parts: Floats) -> Any:
    """Left to right; each eight are one part of the whole."""
    whole = len(parts) // _LANES * _LANES
    total = parts.dtype.type(0)
    for at in range(0, whole, _LANES):
        total = total + np.add.accumulate(parts[at : at + _LANES])[-1]
    for part in parts[whole:]:
        total = total + part
    return total


def _squares(array: Floats) -> Any:
    return _sum(array.astype(np.float64) ** 2)


def _of_pairs(name: str, compute: Callable[[Floats, Floats], np.float32 | None]) -> Vector:
    def computed(one: pa.Array, other: pa.Array) -> pa.Array:
        rows = zip(values(one), values(other), strict=True)
        with np.errstate(all="ignore"):
            return pa.array([_pair(name, compute, *row) for row in rows], FLOAT)

    return vector(name)(computed)


def _pair(name: str, compute: Callable[..., Any], one: Any, other: Any) -> np.float32 | None:
    if one is None or other is None:
        return None
    if len(one) != len(other):
        sizes = f"{len(one)} and {len(other)}"
        raise ValueError(
            f"[VECTOR_DIMENSION_MISMATCH] {name} takes vectors of one size, not {sizes}"
        )
    if None in one or None in other:
        return None
    return compute(np.array(one, np.float32), np.array(other, np.float32))  # type: ignore[no-any-return]


def _cosine(one: Floats, other: Floats) -> np.float32 | None:
    squares = _squares(one), _squares(other)
    if not len(one) or 0 in squares:
        return None
    product = _sum(one.astype(np.float64) * other)
    return np.float32(product / np.sqrt(squares[0] * squares[1]))


def _norm(array: Floats, degree: float) -> Any:
    if degree == 1:
        return _sum(np.abs(array.astype(np.float64)))
    if degree == 2:
        return np.sqrt(_squares(array))
    if degree == float("inf"):
        return np.max(np.abs(array.astype(np.float64)), initial=0)
    raise ValueError("[INVALID_VECTOR_NORM_DEGREE] the degree of a norm is 1, 2 or infinity")


@vector("vectornorm")
def NORM(arrays: pa.Array, degrees: pa.Array) -> pa.Array:  # noqa: N802
    with np.errstate(all="ignore"):
        found = [None if n is None else np.float32(n) for n in _norms(arrays, degrees)]
    return pa.array(found, FLOAT)


def _norms(arrays: pa.Array, degrees: pa.Array) -> list[Any]:
    rows = zip(values(arrays), degrees.to_pylist(), strict=True)
    return [
        None
        if array is None or degree is None or None in array
        else _norm(np.array(array, np.float32), degree)
        for array, degree in rows
    ]


def _divided(array: Any, norm: Any) -> Any:
    return np.float32(np.array(array, np.float32) / norm).tolist() if norm else None


@vector("vectornormalize")
def _NORMALIZE(arrays: pa.Array, degrees: pa.Array) -> pa.Array:  # noqa: N802
    with np.errstate(all="ignore"):
        norms = _norms(arrays, degrees)
        found = [
            array if array == [] and norm == 0 else _divided(array, norm)
            for array, norm in zip(values(arrays), norms, strict=True)
        ]
    return pa.array(found, pa.list_(FLOAT))


def _second(chosen: Vector) -> Callable[[Call], str]:
    """With the degree 2 where none is given."""

    def text(call: Call) -> str:
        array, *degree = call.texts
        named = chosen.named([call.type(0), FLOAT], call.result)
        return f"{named}({array}, {degree[0] if degree else 'CAST(2 AS FLOAT)'})"

    return text


_VECTOR = "ARRAY<FLOAT>"


def _of_floats(arguments: Sequence[Argument]) -> list[Argument]:
    """No other numbers are taken for FLOATs, nor a NULL that has no type."""
    for at, given in enumerate(arguments):
        if isinstance(given, Typed) and given.type not in (pa.list_(FLOAT), FLOAT):
            kind = name(given.type).upper()
            raise Refused(f"vectors are of FLOAT, not {kind}", "CAST(a AS ARRAY<FLOAT>), 2.0F", at)
    return list(arguments)


FUNCTIONS: tuple[Function, ...] = (
    function(
        "vector_norm",
        of(f"({_VECTOR}, FLOAT?) -> FLOAT", _second(NORM), fails=True, strict=True),
        doc="The length of a vector; of the degree 1, 2 or infinity.",
        before=_of_floats,
    ),
    function(
        "vector_normalize",
        of(f"({_VECTOR}, FLOAT?) -> {_VECTOR}", _second(_NORMALIZE), fails=True, strict=True),
        doc="The vector of length 1 in the same direction.",
        before=_of_floats,
    ),
    *(
        function(
            called,
            of(f"({_VECTOR}, {_VECTOR}) -> FLOAT", _of_pairs(own, compute), strict=True),
            doc=doc,
            before=_of_floats,
        )
        for called, own, compute, doc in (
            (
                "vector_inner_product",
                "vectorinnerproduct",
                lambda one, other: _sum(one * other),
                "The sum of products of two vectors' elements.",
            ),
            (
                "vector_l2_distance",
                "vectordistance",
                lambda one, other: np.float32(np.sqrt(_squares(one.astype(float) - other))),
                "How far two vectors are from each other.",
            ),
            (
                "vector_cosine_similarity",
                "vectorcosine",
                _cosine,
                "The cosine of the angle between two vectors.",
            ),
        )
    ),
)

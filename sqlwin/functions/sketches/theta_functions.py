"""THETA_SKETCH_ESTIMATE, THETA_UNION, THETA_INTERSECTION and THETA_DIFFERENCE: of sketches that an
aggregate made, here or in Spark."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

from sqlwin.functions.core.entry import Function, function, of
from sqlwin.functions.core.types import BIGINT, BINARY
from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.sketches.theta import (
    LG,
    Theta,
    difference,
    estimated,
    intersection,
    read,
    union,
    written,
)

_FAMILIES = {1: "ALPHA", 2: "QUICKSELECT", 4: "UNION", 5: "INTERSECTION", 6: "ANOTB", 7: "HLL"}
_FAMILIES |= {8: "QUANTILES", 9: "TUPLE", 10: "FREQUENCY", 15: "KLL", 16: "CPC", 17: "REQ"}
"""Sketches of other kinds, by a byte that all have."""


def _read(name: str, sketch: bytes) -> Theta:
    try:
        return read(sketch)
    except ValueError:
        family = _FAMILIES.get(sketch[2]) if len(sketch) > 2 else None
        if family is not None:
            raise ValueError(
                f"[THETA_INVALID_INPUT_SKETCH_BUFFER_FAMILY] Invalid call to `{name}`: expected "
                f"COMPACT sketch family but received {family}. Only valid Theta sketch buffers "
                "(produced by `theta_sketch_agg`) are supported as inputs."
            ) from None
        raise ValueError(
            f"[THETA_INVALID_INPUT_SKETCH_BUFFER] Invalid call to `{name}`; only valid Theta "
            "sketch buffers are supported as inputs (such as those produced by the "
            "`theta_sketch_agg` function)."
        ) from None


@vector("thetaestimate")
def _estimate(of: pa.Array) -> pa.Array:
    def estimate(sketch: bytes) -> int:
        return estimated(_read("theta_sketch_estimate", sketch))

    return by_value(estimate, of, type=BIGINT)


@vector("thetaunion")
def _union(first: pa.Array, second: pa.Array) -> pa.Array:
    return by_value(_united, first, second, type=BINARY)


@vector("thetaunionof")
def _union_of(first: pa.Array, second: pa.Array, lg: pa.Array) -> pa.Array:
    return by_value(_united, first, second, lg, type=BINARY)


def _united(one: bytes, other: bytes, lg: int = LG) -> bytes:
    if not 4 <= lg <= 26:
        raise ValueError(
            "[SKETCH_INVALID_LG_NOM_ENTRIES] Invalid call to `theta_union`; the `lgNomEntries` "
            f"value must be between 4 and 26, inclusive: {lg}."
        )
    return _both("theta_union", lambda a, b: union([a, b], lg), one, other)


@vector("thetaintersection")
def _intersection(first: pa.Array, second: pa.Array) -> pa.Array:
    def both(one: bytes, other: bytes) -> bytes:
        return _both("theta_intersection", lambda a, b: intersection([a, b]), one, other)

    return by_value(both, first, second, type=BINARY)


@vector("thetadifference")
def _difference(first: pa.Array, second: pa.Array) -> pa.Array:
    def both(one: bytes, other: bytes) -> bytes:
        return _both("theta_difference", difference, one, other)

    return by_value(both, first, second, type=BINARY)


def _both(name: str, of: Callable[[Theta, Theta], Theta], one: bytes, other: bytes) -> bytes:
    return written(of(_read(name, one), _read(name, other)))


FUNCTIONS: tuple[Function, ...] = (
    function(
        "theta_sketch_estimate",
        of("(BINARY) -> BIGINT", _estimate, strict=True),
        doc="How many different values a theta sketch has seen, about.",
    ),
    function(
        "theta_union",
        of("(BINARY, BINARY) -> BINARY", _union, strict=True),
        of("(BINARY, BINARY, INT) -> BINARY", _union_of, strict=True),
        doc="The theta sketch of the values of two.",
    ),
    function(
        "theta_intersection",
        of("(BINARY, BINARY) -> BINARY", _intersection, strict=True),
        doc="The theta sketch of the values that two have both.",
    ),
    function(
        "theta_difference",
        of("(BINARY, BINARY) -> BINARY", _difference, strict=True),
        doc="The theta sketch of the values that the first has and the second has not.",
    ),
)

"""HLL_SKETCH_ESTIMATE and HLL_UNION: of sketches that an aggregate made, here or in Spark."""

from __future__ import annotations

import pyarrow as pa

from sqlwin.functions.core.entry import Function, function, of
from sqlwin.functions.core.types import BIGINT, BINARY
from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.sketches.hll import canonical, estimated, united


def _read(name: str, sketch: bytes) -> bytes:
    try:
        return canonical(sketch)
    except ValueError:
        raise ValueError(
            f"[HLL_INVALID_INPUT_SKETCH_BUFFER] Invalid call to `{name}`; only valid HLL sketch "
            "buffers are supported as inputs (such as those produced by the `hll_sketch_agg` "
            "function)."
        ) from None


@vector("hllestimate")
def _estimate(of: pa.Array) -> pa.Array:
    def estimate(sketch: bytes) -> int:
        _read("hll_sketch_estimate", sketch)
        return estimated(sketch)

    return by_value(estimate, of, type=BIGINT)


@vector("hllunion")
def _union(first: pa.Array, second: pa.Array) -> pa.Array:
    return by_value(_both, first, second, type=BINARY)


@vector("hllunionof")
def _union_of(first: pa.Array, second: pa.Array, different: pa.Array) -> pa.Array:
    return by_value(_both, first, second, different, type=BINARY)


def _both(one: bytes, other: bytes, different: bool = False) -> bytes:
    both = [_read("hll_union", one), _read("hll_union", other)]
    lgs = [sketch[3] for sketch in both]
    if not different and lgs[0] != lgs[1]:
        raise ValueError(
            f"[HLL_UNION_DIFFERENT_LG_K] Sketches have different `lgConfigK` values: {lgs[0]} and "
            f"{lgs[1]}. Set the `allowDifferentLgConfigK` parameter to true to call `hll_union` "
            "with different `lgConfigK` values."
        )
    return united(both)


FUNCTIONS: tuple[Function, ...] = (
    function(
        "hll_sketch_estimate",
        of("(BINARY) -> BIGINT", _estimate),
        doc="How many different values an HLL sketch has seen, about.",
    ),
    function(
        "hll_union",
        of("(BINARY, BINARY) -> BINARY", _union),
        of("(BINARY, BINARY, BOOLEAN) -> BINARY", _union_of),
        doc="The HLL sketch of the values of two.",
    ),
)

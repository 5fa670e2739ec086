"""Sketches and bitmaps by definition: by Apache's library for Python where its bytes are ours.

A KLL sketch is made in plain Python, for the library's own depends on chance.

>>> position = [{"x": 9}, {"x": 0}, {"x": None}]
>>> SKETCHES["bitmap_construct_agg"](("x",), position, ())[:3].hex()
'010200'
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from operator import and_, or_
from typing import Any

import datasketches as ds  # type: ignore[import-untyped]

from tests.reference.kernels.rows import Rows, Values

Params = tuple[Any, ...]
Of = Callable[[tuple[str, ...], Rows, Params], bytes]


def _known(args: tuple[str, ...], rows: Rows) -> Values:
    return [row[args[0]] for row in rows if row[args[0]] is not None]


def _hll(args: tuple[str, ...], rows: Rows, params: Params) -> bytes:
    """Of INTs, BIGINTs and STRINGs, by Apache's own; see `_settled`."""
    made = ds.hll_sketch(params[0], ds.HLL_8)
    for row in rows:
        if row[args[0]] is not None:
            made.update(row[args[0]])
    return _settled(bytes(made.serialize_compact()))


def _hll_union(args: tuple[str, ...], rows: Rows, params: Params) -> bytes:
    known = [ds.hll_sketch.deserialize(row[args[0]]) for row in rows if row[args[0]] is not None]
    union = ds.hll_union(min((sketch.lg_config_k for sketch in known), default=12))
    for sketch in known:
        union.update(sketch)
    return _settled(bytes(union.get_result(ds.HLL_8).serialize_compact()))


def _settled(sketch: bytes) -> bytes:
    """Coupons in order; registers without the estimate that depends on the order of values."""
    mode = sketch[7] & 3
    if mode == 2:
        return sketch[:5] + b"\x10" + sketch[6:8] + bytes(8) + sketch[16:]
    start = 12 if mode else 8
    found = sorted(number for (number,) in struct.iter_unpack("<I", sketch[start:]))
    return sketch[:start] + b"".join(struct.pack("<I", number) for number in found)


def _theta(args: tuple[str, ...], rows: Rows, params: Params) -> bytes:
    made = ds.update_theta_sketch(params[0])
    for value in _known(args, rows):
        made.update(value)
    made.trim()
    return _packed(made.compact())


def _theta_union(args: tuple[str, ...], rows: Rows, params: Params) -> bytes:
    union = ds.theta_union(params[0])
    for sketch in _known(args, rows):
        union.update(ds.compact_theta_sketch.deserialize(sketch))
    return _packed(union.get_result())


def _theta_intersection(args: tuple[str, ...], rows: Rows, params: Params) -> bytes:
    known, both = _known(args, rows), ds.theta_intersection()
    for sketch in known:
        both.update(ds.compact_theta_sketch.deserialize(sketch))
    return _packed(both.get_result() if known else ds.update_theta_sketch(12).compact())


def _packed(sketch: Any) -> bytes:
    """The library in Java, which Spark has, marks each as unchanging, and the hash of one value; an
    empty one has no hash of the seed."""
    if sketch.is_empty():
        return bytes([1, 3, 3, 0, 0, 0x1E, 0, 0])
    made = bytes(sketch.serialize(compress=True))
    alone = sketch.num_retained == 1 and not sketch.is_estimation_mode()
    return made[:5] + bytes([made[5] | (0x22 if alone else 2)]) + made[6:]


def _constructed(args: tuple[str, ...], rows: Rows, params: Params) -> bytes:
    return _bitmap(reduce(or_, (1 << at for at in _known(args, rows)), 0))


def _or(args: tuple[str, ...], rows: Rows, params: Params) -> bytes:
    return _bitmap(reduce(or_, map(_bits, _known(args, rows)), 0))


def _and(args: tuple[str, ...], rows: Rows, params: Params) -> bytes:
    return _bitmap(reduce(and_, map(_bits, _known(args, rows)), 2**32768 - 1))


def _bits(bitmap: bytes) -> int:
    return int.from_bytes(bitmap[:4096], "little")


def _bitmap(bits: int) -> bytes:
    return bits.to_bytes(4096, "little")


def _kll(code: str) -> Of:
    def of(args: tuple[str, ...], rows: Rows, params: Params) -> bytes:
        values = [value for value in _known(args, rows) if value == value]
        return _compacted(code, params[0], params[0], [values], values)

    return of


def _kll_merge(code: str) -> Of:
    def of(args: tuple[str, ...], rows: Rows, params: Params) -> bytes:
        levels: list[Values] = [[]]
        edges: Values = []
        ks, least_ks = [], []
        for sketch in _known(args, rows):
            k, least_k, each, its_edges = _opened(code, sketch)
            levels += ([] for _ in each[len(levels) :])
            for level, values in zip(levels, each, strict=False):
                level += values
            edges += its_edges
            ks.append(k)
            least_ks += [least_k] * (len(each) > 1)
        k = params[0] if params else min(ks, default=200)
        return _compacted(code, k, min([k, *least_ks]), levels, edges)

    return of


def _compacted(code: str, k: int, least_k: int, levels: list[Values], edges: Values) -> bytes:
    """The lowest full level gives every other value to the next, while there are too many."""
    levels = [sorted(level, key=_placed) for level in levels]
    while sum(map(len, levels)) > sum(_capacities(k, len(levels))):
        capacities = _capacities(k, len(levels))
        at = min(n for n, level in enumerate(levels) if len(level) >= capacities[n])
        stays = levels[at][: len(levels[at]) % 2]
        pairs = list(zip(*[iter(levels[at][len(stays) :])] * 2, strict=True))
        above = levels[at + 1] if at + 1 < len(levels) else []
        above = sorted([*above, *(pair[at % 2] for pair in pairs)], key=_placed)
        levels[at : at + 2] = [stays, above]
    n = sum(len(level) * 2**at for at, level in enumerate(levels))
    if n < 2:
        few = (2, 1 + n, 15, 1 if n == 0 else 4, k, 8)
        return struct.pack(f"<BBBBHBx{n}{code}", *few, *levels[0])
    edges = sorted(edges, key=_placed)
    free = sum(_capacities(k, len(levels))) - sum(map(len, levels))
    places = [free + sum(map(len, levels[:at])) for at in range(len(levels))]
    head = struct.pack("<BBBBHBxQHBx", 5, 1, 15, 2, k, 8, n, least_k, len(levels))
    values = [edges[0], edges[-1], *(value for level in levels for value in level)]
    return head + struct.pack(f"<{len(places)}I{len(values)}{code}", *places, *values)


def _opened(code: str, sketch: bytes) -> tuple[int, int, list[Values], Values]:
    k = int.from_bytes(sketch[4:6], "little")
    size = struct.calcsize(f"<{code}")
    if sketch[0] == 2:
        some = [] if sketch[1] == 1 else [*struct.unpack_from(f"<{code}", sketch, 8)]
        return k, k, [some], some
    least_k, count = struct.unpack_from("<HB", sketch, 16)
    places = [*struct.unpack_from(f"<{count}I", sketch, 20), sum(_capacities(k, count))]
    start = 20 + 4 * count
    values = [*struct.unpack_from(f"<{2 + places[-1] - places[0]}{code}", sketch, start)]
    assert len(sketch) == start + len(values) * size
    cuts = [place - places[0] + 2 for place in places]
    levels = [values[a:b] for a, b in pairwise(cuts)]
    return k, least_k, levels, values[:2]


def _capacities(k: int, levels: int) -> list[int]:
    """Two thirds of the level above, rounded, and 8 at least."""
    return [max(8, math.floor(k * 2**d * 2 / 3**d + 1) // 2) for d in reversed(range(levels))]


def _placed(value: Any) -> tuple[Any, float]:
    return value, math.copysign(1, value)


_CODES = {"bigint": "q", "float": "f", "double": "d"}
"""Of `struct`."""
SKETCHES: dict[str, Of] = {
    "hll_sketch_agg": _hll,
    "hll_union_agg": _hll_union,
    "theta_sketch_agg": _theta,
    "theta_union_agg": _theta_union,
    "theta_intersection_agg": _theta_intersection,
    "bitmap_construct_agg": _constructed,
    "bitmap_or_agg": _or,
    "bitmap_and_agg": _and,
    **{
        f"kll_sketch_agg_{of}": _kll(code)
        for of, code in (("bigint", "q"), ("float", "f"), ("double", "d"))
    },
    **{
        f"kll_merge_agg_{of}": _kll_merge(code)
        for of, code in (("bigint", "q"), ("float", "f"), ("double", "d"))
    },
}
"""Of whole rows: of none, they are sketches of nothing."""

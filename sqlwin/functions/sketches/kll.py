"""KLL sketches as bytes: of a multiset of values about n / 2**h of them in level h, for 2**h each.

A level that is full is *compacted*: of its values in order every other one moves up, for itself
and its neighbour. Apache DataSketches compacts as values come, and flips a coin for which of two
moves, so that equal rows have other bytes each time. Here a sketch is made of all values at once,
in order, and the parity of the level decides: of even levels the first of two moves, of odd ones
the second, so that their errors have opposite signs. So the bytes are a function of the multiset of
values, and those of a merge one of the multiset of sketches. No more than k values are all kept.

| | bytes |
|-|-------|
| empty | 8 |
| one value | 8, and the value |
| more | 20, the places of the levels, the least, the greatest, the values from level 0 on |

>>> made = of_values(np.arange(1000), 200)
>>> made.n, [len(level) for level in made.levels], quantile(made, 0.5), rank(made, 499)
(1000, [0, 0, 250], 498, 0.5)
>>> read(written(made), LONGS).n
1000

Source: Karnin, Lang and Liberty, Optimal quantile approximation in streams, 2016; the format of
Apache DataSketches.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlwin.lazy_dataclass import dataclass

Values = npt.NDArray[Any]
LONGS, FLOATS, DOUBLES = (np.dtype(name) for name in ("<i8", "<f4", "<f8"))
K, LEAST_K, MOST_K = 200, 8, 65535
_M = 8
"""The least capacity of a level."""
_EMPTY, _SORTED, _SINGLE = 1, 2, 4


@dataclass(frozen=True, eq=False)
class Kll:
    """levels: each ascending, of a sketch that was read but the first; of 2**level values each.

    least_k: of the sketches that were merged and have more than one level.
    """

    k: int
    least_k: int
    levels: tuple[Values, ...]
    least: Any = None
    greatest: Any = None

    @property
    def n(self) -> int:
        return sum(len(level) << at for at, level in enumerate(self.levels))

    @property
    def retained(self) -> int:
        return sum(map(len, self.levels))


def ascending(values: Values) -> Values:
    """Sorted, -0.0 before 0.0, without NaN, which has no rank."""
    if values.dtype.kind != "f":
        return np.sort(values)
    bits = values[~np.isnan(values)].view(f"i{values.dtype.itemsize}")
    turned = np.iinfo(bits.dtype).max
    keys = np.sort(np.where(bits < 0, bits ^ turned, bits))
    found: Values = np.where(keys < 0, keys ^ turned, keys).view(values.dtype)
    return found


def capacity(k: int, levels: int, at: int) -> int:
    """Of a level: k of the highest, and two thirds of the level above for each below it."""
    depth = levels - at - 1
    for some in (depth,) if depth <= 30 else (depth // 2, depth - depth // 2):
        k = ((2 * k << some) // 3**some + 1) // 2
    return max(_M, k)


def capacities(k: int, levels: int) -> int:
    return sum(capacity(k, levels, at) for at in range(levels))


def of_values(values: Values, k: int) -> Kll:
    values = ascending(values)
    return _made(k, k, [values], *((values[0], values[-1]) if len(values) else (None, None)))


def merged(sketches: Sequence[Kll], k: int) -> Kll:
    """In any order; there is at least one. It has no smaller error than its sketches have."""
    highest = max(len(sketch.levels) for sketch in sketches)
    levels = [
        ascending(np.concatenate([each.levels[at] for each in sketches if at < len(each.levels)]))
        for at in range(highest)
    ]
    least_k = min([k, *(each.least_k for each in sketches if len(each.levels) > 1)])
    some = [each for each in sketches if each.n]
    if not some:
        return _made(k, k, levels, None, None)
    edges = ascending(np.array([edge for each in some for edge in (each.least, each.greatest)]))
    return _made(k, least_k, levels, edges[0], edges[-1])


def _made(k: int, least_k: int, levels: list[Values], least: Any, greatest: Any) -> Kll:
    """Levels that ascend, compacted from the lowest full one until they hold what is left."""
    while sum(map(len, levels)) > capacities(k, len(levels)):
        full = (len(level) >= capacity(k, len(levels), at) for at, level in enumerate(levels))
        at = list(full).index(True)
        if at + 1 == len(levels):
            levels.append(levels[at][:0])
        odd = len(levels[at]) % 2
        moved = levels[at][odd + at % 2 :: 2]
        levels[at] = levels[at][:odd]
        levels[at + 1] = ascending(np.concatenate([levels[at + 1], moved]))
    return Kll(k, least_k, tuple(levels), least, greatest)


def written(sketch: Kll) -> bytes:
    n, k = sketch.n, sketch.k.to_bytes(2, "little")
    if not n:
        return bytes([2, 1, 15, _EMPTY]) + k + bytes([_M, 0])
    dtype = sketch.levels[0].dtype.newbyteorder("<")
    if n == 1:
        return bytes([2, 2, 15, _SINGLE]) + k + bytes([_M, 0]) + sketch.levels[0].tobytes()
    head = bytes([5, 1, 15, _SORTED]) + k + bytes([_M, 0]) + n.to_bytes(8, "little")
    head += sketch.least_k.to_bytes(2, "little") + bytes([len(sketch.levels), 0])
    free = capacities(sketch.k, len(sketch.levels)) - sketch.retained
    places = free + np.cumsum([0, *map(len, sketch.levels[:-1])])
    values = np.concatenate([[sketch.least, sketch.greatest], *sketch.levels])
    return head + places.astype("<u4").tobytes() + values.astype(dtype).tobytes()


def read(sketch: bytes, dtype: np.dtype[Any]) -> Kll:
    """What Apache DataSketches wrote, in its compact forms. ValueError of others.

    Bytes do not say which type values have; those of a wrong size are no sketch of the type.
    """
    wrong = ValueError("only bytes of a KLL sketch are one")
    if len(sketch) < 8 or sketch[2] != 15 or sketch[6] != _M:
        raise wrong
    k, flags = int.from_bytes(sketch[4:6], "little"), sketch[3]
    if k < LEAST_K:
        raise wrong
    if flags & _EMPTY and sketch[:2] == b"\2\1":
        return Kll(k, k, (np.zeros(0, dtype),))
    if flags & _SINGLE and sketch[:2] == b"\2\2" and len(sketch) >= 8 + dtype.itemsize:
        value = np.frombuffer(sketch, dtype, count=1, offset=8)
        return Kll(k, k, (value,), value[0], value[0])
    if sketch[:2] != b"\5\1" or flags & (_EMPTY | _SINGLE) or len(sketch) < 20:
        raise wrong
    highest = sketch[18]
    start = 20 + 4 * highest
    if not 1 <= highest <= 61 or len(sketch) < start:
        raise wrong
    places = [*np.frombuffer(sketch, "<u4", count=highest, offset=20).tolist()]
    places.append(capacities(k, highest))
    retained = places[-1] - places[0]
    if sorted(places) != places or len(sketch) < start + (2 + retained) * dtype.itemsize:
        raise wrong
    values = np.frombuffer(sketch, dtype, count=2 + retained, offset=start)
    levels = tuple(values[2:][a - places[0] : b - places[0]] for a, b in pairwise(places))
    least_k = int.from_bytes(sketch[16:18], "little")
    made = Kll(k, least_k, levels, values[0], values[1])
    if not retained or made.n != int.from_bytes(sketch[8:16], "little"):
        raise wrong
    return made


def _view(sketch: Kll) -> tuple[Values, npt.NDArray[np.int64]]:
    """Values that ascend, among them the least and greatest, and how many there are up to each."""
    values = np.concatenate(sketch.levels)
    each = np.repeat(1 << np.arange(len(sketch.levels)), [len(level) for level in sketch.levels])
    order = np.argsort(values, kind="stable")
    values, upto = values[order], np.cumsum(each[order])
    if values[0] != sketch.least:
        values, upto = np.insert(values, 0, sketch.least), np.insert(upto, 0, 1)
    if values[-1] != sketch.greatest:
        values, upto = np.append(values, sketch.greatest), np.append(upto, upto[-1])
        upto[-2] -= 1
    return values, upto


def quantile(sketch: Kll, fraction: float) -> Any:
    """The least value up to which there is that part of all, of a sketch that is not empty."""
    values, upto = _view(sketch)
    place = fraction * sketch.n
    if sketch.n <= 10_000_000:  # 0.07 of 100 is the 7th, though 0.07 * 100 > 7
        place = np.floor(place * 1e7 + 0.5) / 1e7
    at = int(np.searchsorted(upto, np.ceil(place)))
    return values[min(at, len(values) - 1)].item()


def rank(sketch: Kll, value: Any) -> float:
    """Which part of all is not greater than the value, of a sketch that is not empty."""
    values, upto = _view(sketch)
    at = np.searchsorted(values, value, side="right")
    return float(upto[at - 1] / sketch.n) if at else 0.0

"""Theta sketches as bytes: of the hashes of a set of values those that are below a threshold.

A hash has 63 bits. A sketch of k nominal entries has all hashes, or, of more than k, the k least;
theta then is the next one, which is not among them, and n retained hashes stand for n / theta
values, where theta is taken as a part of 2**63. So a sketch is a function of a set of hashes, and
its bytes are those that Apache DataSketches writes, which trims to k entries, too:

| | bytes |
|-|-------|
| empty | 8 |
| one hash of one value | 8, and 8 |
| hashes, ascending | 8, theta where it is less than 1, their number, their packed differences |
| no hash of some values | 24, with theta |

A union has the least theta of its sketches, and is trimmed to k anew; an intersection has the least
theta, too. Each is the same whatever the order.

>>> few = of_hashes(hashes(pa.array([1, 2])), 12)
>>> few == united([of_hashes(hashes(pa.array([n])), 12) for n in (2, 1, 2)], 12)
True
>>> both = intersected([few, of_hashes(hashes(pa.array([2, 3])), 12)])
>>> estimated(read(few)), estimated(read(both))
(2, 1)

Source: Dasgupta et al., A framework for estimating stream expression cardinalities, 2016; the
format of Apache DataSketches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlwin.functions.sketches.murmur import hashed_values
from sqlwin.lazy_dataclass import dataclass

Hashes = npt.NDArray[np.uint64]
LG = 12
WHOLE = 2**63 - 1
_EMPTY = bytes([1, 3, 3, 0, 0, 0x1E, 0, 0])
_SEED = bytes([0xCC, 0x93])
"""A hash of the seed, which is that of all sketches."""
_COMPACT, _ORDERED = 0x08, 0x1A


@dataclass(frozen=True, eq=False)
class Theta:
    """hashes: ascending, different, from 1 and below theta. Empty where theta is WHOLE."""

    theta: int
    hashes: Hashes

    def trimmed(self, lg: int) -> Theta:
        if len(self.hashes) <= 2**lg:
            return self
        return Theta(int(self.hashes[2**lg]), self.hashes[: 2**lg])

    def below(self, theta: int) -> Hashes:
        return self.hashes[: np.searchsorted(self.hashes, np.uint64(theta))]

    @property
    def empty(self) -> bool:
        return self.theta == WHOLE and not len(self.hashes)


def hashes(values: pa.Array) -> Hashes:
    """Of BIGINTs, DOUBLEs, STRINGs or BINARYs without NULLs; an empty one has none."""
    if pa.types.is_floating(values.type):
        numbers = values.to_numpy(zero_copy_only=False).astype("<f8") + 0.0  # of -0.0 that of 0.0
        numbers[np.isnan(numbers)] = np.nan
        values = pa.array(numbers.view("<i8"))
    found: Hashes = hashed_values(values)[0] >> np.uint64(1)
    return found[found > 0]


def of_hashes(found: Hashes, lg: int) -> bytes:
    """The sketch of hashes in any order."""
    return written(Theta(WHOLE, np.unique(found)).trimmed(lg))


def united(sketches: Sequence[bytes], lg: int) -> bytes:
    """Of sketches in these bytes; there is at least one."""
    return written(union([read(sketch) for sketch in sketches], lg))


def union(sketches: Sequence[Theta], lg: int) -> Theta:
    theta = min(sketch.theta for sketch in sketches)
    found = np.unique(np.concatenate([sketch.below(theta) for sketch in sketches]))
    return Theta(theta, found).trimmed(lg)


def intersected(sketches: Sequence[bytes]) -> bytes:
    """Of sketches in these bytes; there is at least one."""
    return written(intersection([read(sketch) for sketch in sketches]))


def intersection(sketches: Sequence[Theta]) -> Theta:
    if any(sketch.empty for sketch in sketches):
        return Theta(WHOLE, sketches[0].hashes[:0])
    theta = min(sketch.theta for sketch in sketches)
    common = (sketch.below(theta) for sketch in sketches)
    return Theta(theta, reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), common))


def difference(one: Theta, other: Theta) -> Theta:
    """What the first has and the other has not."""
    if one.empty or other.empty:
        return one
    theta = min(one.theta, other.theta)
    left = np.setdiff1d(one.below(theta), other.below(theta), assume_unique=True)
    return Theta(theta, left)


def estimated(sketch: Theta) -> int:
    """How many different values: halves up, as in Spark."""
    return int(np.floor(len(sketch.hashes) * (2.0**63 / sketch.theta) + 0.5))


def written(sketch: Theta) -> bytes:
    count, exact = len(sketch.hashes), sketch.theta == WHOLE
    if not count:
        return _EMPTY if exact else _without_hashes(sketch.theta)
    if count == 1 and exact:
        head = bytes([1, 3, 3, 0, 0, _ORDERED | 0x20]) + _SEED
        return head + sketch.hashes.astype("<u8").tobytes()
    steps = np.diff(sketch.hashes, prepend=np.uint64(0))
    bits = int(np.bitwise_or.reduce(steps)).bit_length()
    size = (count.bit_length() + 7) // 8
    head = bytes([1 if exact else 2, 4, 3, bits, size, _ORDERED]) + _SEED
    theta = b"" if exact else sketch.theta.to_bytes(8, "little")
    each = np.unpackbits(steps.astype(">u8").view(np.uint8).reshape(-1, 8), axis=1)[:, 64 - bits :]
    return head + theta + count.to_bytes(size, "little") + np.packbits(each).tobytes()


def _without_hashes(theta: int) -> bytes:
    whole = np.array([1.0], dtype="<f4").tobytes()  # values are sampled by their hashes alone
    head = bytes([3, 3, 3, 0, 0, _ORDERED]) + _SEED
    return head + bytes(4) + whole + theta.to_bytes(8, "little")


def read(sketch: bytes) -> Theta:
    """What Apache DataSketches wrote, in any of its compact forms. ValueError of others."""
    import datasketches as ds  # type: ignore[import-untyped]

    try:
        if sketch[1] >= 3 and not sketch[5] & _COMPACT:
            raise ValueError
        plain = ds.compact_theta_sketch.deserialize(sketch)
        found = np.sort(np.fromiter(plain, dtype=np.uint64, count=plain.num_retained))
    except (RuntimeError, ValueError, IndexError, MemoryError, OverflowError) as wrong:
        raise ValueError("only bytes of a theta sketch are one") from wrong
    theta = WHOLE if plain.is_empty() else plain.theta64
    proper = len(found) == 0 or (
        found[0] > 0 and found[-1] < theta and (found[1:] > found[:-1]).all()
    )
    if not (0 < theta <= WHOLE and proper):
        raise ValueError("only bytes of a theta sketch are one")
    return Theta(theta, found)

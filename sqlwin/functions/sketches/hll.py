"""HyperLogLog sketches as bytes: those of equal sets of values are equal.

A value becomes a *coupon* of 32 bits: 26 of its hash, and in the upper 6 how many zeros another
part of the hash begins with, and one more. A sketch of 2**lg registers is in one of three modes:

| mode | of how many different coupons | bytes |
|------|-------------------------------|-------|
| list | 7 | 8, and 4 for each coupon |
| set | 3/32 of the registers; none of less than 2**8 | 12, and 4 for each coupon |
| registers | more | 40, and a byte for each register: the greatest number of zeros |

Canonical: coupons ascend, and registers are marked as out of order, so that an estimate looks at
them alone. Apache's own sketches keep coupons as they came and a running estimate, which another
order of values makes another one; it is what Spark answers where it has merged no parts. Each mode
is a function of the set of coupons, and so is a union: of the least lg of all.

>>> few = of_coupons(coupons(pa.array([1, 2])), 12)
>>> few == united([of_coupons(coupons(pa.array([n])), 12) for n in (2, 1, 2)])
True
>>> len(few), estimated(few)
(16, 2)

Source: Flajolet et al., HyperLogLog, 2007; the format of Apache DataSketches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlwin.functions.sketches.murmur import hashed_values

Coupons = npt.NDArray[np.uint32]
LEAST_LG, LG, MOST_LG = 4, 12, 21
_LIST, _SET, _REGISTERS = 0, 1, 2
_OF_BYTES = 2 << 2
"""A register is a byte."""
_EMPTY, _COMPACT, _OUT_OF_ORDER = 4, 8, 16
_HEADER = 40


def coupons(values: pa.Array) -> Coupons:
    """Of BIGINTs, STRINGs or BINARYs without NULLs; an empty one has none."""
    first, second = hashed_values(values)
    upper, lower = second >> np.uint64(32), second & np.uint64(2**32 - 1)
    # the exponent of a double is the place of the first bit
    bits = np.where(
        upper > 0, 32 + np.frexp(upper.astype(float))[1], np.frexp(lower.astype(float))[1]
    )
    zeros = np.minimum(64 - bits, 62).astype(np.uint32)
    address = (first & np.uint64(2**26 - 1)).astype(np.uint32)
    found: Coupons = ((zeros + np.uint32(1)) << np.uint32(26)) | address
    return found


def of_coupons(found: Coupons, lg: int) -> bytes:
    """The sketch of coupons in any order."""
    found = np.unique(found)
    count = len(found)
    if count < 8:
        flags = _COMPACT if count else _COMPACT | _EMPTY
        head = bytes([2, 1, 7, lg, 3, flags, count, _LIST | _OF_BYTES])
        return head + found.astype("<u4").tobytes()
    if lg >= 8 and 32 * count <= 3 * 2**lg:
        size = 5  # of Apache's table of coupons, at most three quarters full
        while 4 * count > 3 * 2**size:
            size += 1
        head = bytes([3, 1, 7, lg, size, _COMPACT, 0, _SET | _OF_BYTES])
        return head + count.to_bytes(4, "little") + found.astype("<u4").tobytes()
    registers = np.zeros(2**lg, dtype=np.uint8)
    _put(registers, found)
    return _of_registers(registers)


def _put(registers: npt.NDArray[np.uint8], found: Coupons) -> None:
    places = found & np.uint32(len(registers) - 1)
    np.maximum.at(registers, places, (found >> np.uint32(26)).astype(np.uint8))


def _of_registers(registers: npt.NDArray[np.uint8]) -> bytes:
    lg = len(registers).bit_length() - 1
    counts = np.bincount(registers, minlength=64)
    shares = counts * 0.5 ** np.arange(64)  # powers of two: each sum is exact
    head = bytes([10, 1, 7, lg, 0, _OUT_OF_ORDER, 0, _REGISTERS | _OF_BYTES])
    sums = np.array([0.0, shares[:32].sum(), shares[32:].sum()], dtype="<f8").tobytes()
    unused = np.array([counts[0], 0], dtype="<i4").tobytes()
    return head + sums + unused + registers.tobytes()


def united(sketches: Sequence[bytes]) -> bytes:
    """Of canonical ones; there is at least one."""
    lg = min(sketch[3] for sketch in sketches)
    dense = [sketch for sketch in sketches if sketch[7] & 3 == _REGISTERS]
    found = [_coupons(sketch) for sketch in sketches if sketch[7] & 3 != _REGISTERS]
    if not dense:
        return of_coupons(np.concatenate(found), lg)
    registers = np.zeros(2**lg, dtype=np.uint8)
    for sketch in dense:
        finer = np.frombuffer(sketch, dtype=np.uint8, offset=_HEADER).reshape(-1, 2**lg)
        np.maximum(registers, finer.max(axis=0), out=registers)
    for some in found:
        _put(registers, some)
    return _of_registers(registers)


def _coupons(sketch: bytes) -> Coupons:
    return np.frombuffer(sketch, dtype="<u4", offset=8 if sketch[7] & 3 == _LIST else 12)


def canonical(sketch: bytes) -> bytes:
    """Of a sketch that Apache DataSketches wrote, whatever its registers. ValueError of others."""
    import datasketches as ds  # type: ignore[import-untyped]

    try:
        read = ds.hll_sketch.deserialize(sketch)
        if sketch[7] & 3 == _REGISTERS and read.tgt_type != ds.HLL_8:
            union = ds.hll_union(read.lg_config_k)
            union.update(read)
            read = union.get_result(ds.HLL_8)
        plain = bytes(read.serialize_compact())
    except (RuntimeError, ValueError, IndexError, MemoryError) as wrong:
        raise ValueError("only bytes of an HLL sketch are one") from wrong
    if plain[7] & 3 != _REGISTERS:
        return of_coupons(_coupons(plain), plain[3])
    return _of_registers(np.frombuffer(plain, dtype=np.uint8, offset=_HEADER))


def estimated(sketch: bytes) -> int:
    """Of any sketch that `canonical` takes."""
    import datasketches as ds

    # `hll_sketch_estimate` of Spark: the sketch's own number, halves up
    return int(np.floor(ds.hll_sketch.deserialize(sketch).get_estimate() + 0.5))

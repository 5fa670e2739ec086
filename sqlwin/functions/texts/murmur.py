"""HASH and XXHASH64 of values of every type, as Spark has them: over columns, a hash for each row.

Values are hashed one behind the other: the hash so far is the seed of the next, and a NULL leaves
it as it is. Numbers are hashed in 4 or 8 bytes, texts by their bytes, arrays and structs by
their elements. All of it is arithmetic of unsigned numbers that wrap, in numpy.

>>> hashed(MURMUR, [pa.array([1, None], pa.int32())]).tolist()
[-559580957, 42]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sqlwin import arrow_compute as pc
from sqlwin.lazy_dataclass import dataclass

Bits = npt.NDArray[Any]
SEED: Final = 42


@dataclass(frozen=True)
class Hash:
    """four, eight: of numbers in so many bytes, and the seeds. many: of the bytes of each row,
    one beside the other with zeros behind, their count and the seeds."""

    four: Callable[[Bits, Bits], Bits]
    eight: Callable[[Bits, Bits], Bits]
    many: Callable[[Bits, Bits, Bits], Bits]
    unsigned: type
    signed: type


def hashed(hash_: Hash, arrays: Sequence[pa.Array]) -> Bits:
    rows = len(arrays[0]) if arrays else 0
    seeds: Bits = np.full(rows, SEED, hash_.unsigned)
    with np.errstate(over="ignore"):
        for array in arrays:
            seeds = _array(hash_, array, seeds)
    return seeds.view(hash_.signed)


def _array(hash_: Hash, array: pa.Array, seeds: Bits) -> Bits:
    if array.null_count == len(array):
        return seeds
    if array.null_count == 0:
        return _values(hash_, array, seeds)
    known = pc.is_valid(array).to_numpy(zero_copy_only=False)
    made = seeds.copy()
    made[known] = _values(hash_, array.filter(pa.array(known)), seeds[known])
    return made


def _values(hash_: Hash, array: pa.Array, seeds: Bits) -> Bits:
    """None of them is NULL."""
    type_ = array.type
    if pa.types.is_list(type_) or pa.types.is_large_list(type_):
        return _elements(hash_, array, seeds)
    if pa.types.is_struct(type_):
        for field in array.flatten():
            seeds = _array(hash_, field, seeds)
        return seeds
    if pa.types.is_decimal(type_):
        return _decimals(hash_, array, seeds)
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return _blobs(hash_, array.cast(pa.binary()), seeds)
    return _numbers(hash_, array, seeds)


def _elements(hash_: Hash, array: pa.Array, seeds: Bits) -> Bits:
    """The first elements of all rows, then the second ones, and so on."""
    counts = array.value_lengths().to_numpy(zero_copy_only=False)
    starts = array.offsets.to_numpy()[:-1]
    seeds = seeds.copy()
    for at in range(int(counts.max(initial=0))):
        longer = np.flatnonzero(counts > at)
        seeds[longer] = _array(
            hash_, array.values.take(pa.array(starts[longer] + at)), seeds[longer]
        )
    return seeds


def _numbers(hash_: Hash, array: pa.Array, seeds: Bits) -> Bits:
    type_ = array.type
    if pa.types.is_floating(type_):
        return _floats(hash_, array, seeds)
    if pa.types.is_boolean(type_) or (pa.types.is_integer(type_) and type_.bit_width < 32):
        array = array.cast(pa.int32())
    wide = array.type.bit_width == 64
    plain = array.view(pa.int64() if wide else pa.int32()).to_numpy()
    if wide:
        return hash_.eight(plain.view(np.uint64), seeds)
    return hash_.four(plain.view(np.uint32), seeds)


def _floats(hash_: Hash, array: pa.Array, seeds: Bits) -> Bits:
    """Every NaN is one; so are the two zeros."""
    numbers = array.to_numpy() + 0.0
    numbers[np.isnan(numbers)] = np.nan
    if numbers.dtype == np.float32:
        return hash_.four(numbers.view(np.uint32), seeds)
    return hash_.eight(numbers.view(np.uint64), seeds)


def _decimals(hash_: Hash, array: pa.Array, seeds: Bits) -> Bits:
    """As a BIGINT without its point where 18 digits do, else as the bytes of that number."""
    # two halves of 64 bits each, the lower one first
    halves = np.frombuffer(array.buffers()[1], np.int64)[2 * array.offset :][: 2 * len(array)]
    if array.type.precision <= 18:
        return hash_.eight(halves[::2].copy().view(np.uint64), seeds)
    lower = halves[::2].view(np.uint64)
    wholes = [int(high) << 64 | int(low) for low, high in zip(lower, halves[1::2], strict=True)]
    return _blobs(hash_, pa.array([_bytes(whole) for whole in wholes], pa.binary()), seeds)


def _bytes(whole: int) -> bytes:
    """As Java's BigInteger has them: as few as hold the sign, too."""
    bits = (whole if whole >= 0 else ~whole).bit_length()
    return whole.to_bytes(bits // 8 + 1, "big", signed=True)


_AT_ONCE = 2**24
"""Bytes of texts side by side, each with room for the longest."""


def _blobs(hash_: Hash, blobs: pa.Array, seeds: Bits) -> Bits:
    """Those of one length after those of another: long ones make no room for short ones."""
    counts = pc.binary_length(blobs).to_numpy(zero_copy_only=False).astype(np.int64)
    if len(counts) * (int(counts.max(initial=0)) + 8) <= _AT_ONCE:
        return hash_.many(_beside(blobs, counts), counts, seeds)
    order = np.argsort(counts, kind="stable")
    made = seeds.copy()
    start = 0
    while start < len(order):
        size = max(1, _AT_ONCE // (int(counts[order[-1]]) + 8))
        some = order[start : start + size]
        taken = blobs.take(pa.array(some))
        made[some] = hash_.many(_beside(taken, counts[some]), counts[some], seeds[some])
        start += size
    return made


def _beside(blobs: pa.Array, counts: Bits) -> Bits:
    """A row of bytes for each, with zeros to the length of the longest, rounded up to 8."""
    width = -(-int(counts.max(initial=0)) // 8) * 8 + 8
    made: Bits = np.zeros((len(blobs), width), np.uint8)
    offsets, given = blobs.buffers()[1:]
    ends = np.frombuffer(offsets, np.int32)[blobs.offset :]
    if given is not None:
        taken = np.frombuffer(given, np.uint8)[ends[0] : ends[len(blobs)]]
        made[np.arange(width) < counts[:, None]] = taken
    return made


# --- Murmur3, 32 bits -------------------------------------------------------------------


def _rotated(values: Bits, by: int) -> Bits:
    bits = values.dtype.itemsize * 8
    return np.asarray(values << by | values >> (bits - by))


def _mixed_word(word: Bits) -> Bits:
    return _rotated(word * np.uint32(0xCC9E2D51), 15) * np.uint32(0x1B873593)


def _mixed(state: Bits, word: Bits) -> Bits:
    return _rotated(state ^ _mixed_word(word), 13) * np.uint32(5) + np.uint32(0xE6546B64)


def _avalanche(state: Bits, count: Bits | int) -> Bits:
    state = state ^ np.asarray(count).astype(np.uint32)
    state = (state ^ state >> 16) * np.uint32(0x85EBCA6B)
    state = (state ^ state >> 13) * np.uint32(0xC2B2AE35)
    return state ^ state >> 16


def _murmur_four(values: Bits, seeds: Bits) -> Bits:
    return _avalanche(_mixed(seeds, values), 4)


def _murmur_eight(values: Bits, seeds: Bits) -> Bits:
    low = (values & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    high = (values >> np.uint64(32)).astype(np.uint32)
    return _avalanche(_mixed(_mixed(seeds, low), high), 8)


def _with_byte(state: Bits, byte: Bits) -> Bits:
    return _mixed(state, byte.view(np.int8).astype(np.int32).view(np.uint32))


def further(
    state: Bits, rows: Bits, words: Bits, place: Bits, step: Callable[[Bits, Bits], Bits]
) -> Bits:
    """The state with a step for some rows: of the word at the place in each. Mostly few of them
    have so many."""
    if not len(rows):
        return state
    made = state.copy()
    found = words.ravel().take(rows * words.shape[1] + place[rows])
    made[rows] = step(state[rows], found)
    return made


def _murmur_many(rows: Bits, counts: Bits, seeds: Bits) -> Bits:
    """Words of four bytes, then each byte that is left, with its sign, as a word of its own."""
    words = np.ascontiguousarray(rows).view(np.uint32)
    state = seeds
    for at in range(int(counts.max(initial=0)) // 4):
        state = np.where(counts >= 4 * at + 4, _mixed(state, words[:, at]), state)
    last = counts - counts % 4
    for at in range(3):
        state = further(state, np.flatnonzero(counts > last + at), rows, last + at, _with_byte)
    return _avalanche(state, counts)


MURMUR: Final = Hash(_murmur_four, _murmur_eight, _murmur_many, np.uint32, np.int32)

"""Which bucket a row goes to, and which number makes Spark spread buckets evenly.

A bucket owns its keys' state for the life of a checkpoint, so the hash is our
own: it is the same on every machine and under every release of any library.
NULL is a value like others.

Spark places a group by Murmur3 of its key, and two buckets often land on one
partition. So a bucket is not called 0, 1, 2 but by the smallest numbers that
Murmur3 sends to partitions 0, 1, 2 in turn.

>>> labels(query=0, buckets=2, partitions=2)
(0, 1)
>>> [partition_of(0, label, 2) for label in labels(0, 2, 2)]
[0, 1]
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import count

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

Hashes = npt.NDArray[np.uint64]

_NULL = np.uint64(0x9E3779B97F4A7C15)
_MASK = 0xFFFFFFFF


def bucket_of(rows: pl.DataFrame, keys: tuple[str, ...], buckets: int) -> npt.NDArray[np.int64]:
    """The bucket of every row, 0 <= bucket < buckets, by its key columns."""
    return (hashes(rows, keys) % np.uint64(buckets)).astype(np.int64)


def hashes(rows: pl.DataFrame, columns: tuple[str, ...]) -> Hashes:
    """A hash of each row's values in `columns`, the same wherever and whenever it is taken."""
    mixed: Hashes = np.zeros(len(rows), dtype=np.uint64)
    for column in columns:
        mixed = _mixed(mixed * np.uint64(31) + _hashed(rows[column]))
    return mixed


def cut(
    rows: pl.DataFrame, keys: tuple[str, ...], buckets: int
) -> Iterator[tuple[int, pl.DataFrame]]:
    """The rows of each bucket that has any, in the order they stand."""
    if rows.is_empty():
        return
    if buckets == 1 or not keys:
        yield 0, rows
        return
    owner = bucket_of(rows, keys, buckets)
    for bucket in np.unique(owner):
        yield int(bucket), rows.filter(pl.Series(owner == bucket))


def labels(query: int, buckets: int, partitions: int) -> tuple[int, ...]:
    """Names for a query's buckets: the j-th is on partition (query + j) mod partitions."""
    chosen: list[int] = []
    for bucket in range(buckets):
        wanted = (query + bucket) % partitions
        free = (label for label in count() if label not in chosen)
        chosen.append(next(x for x in free if partition_of(query, x, partitions) == wanted))
    return tuple(chosen)


def partition_of(query: int, label: int, partitions: int) -> int:
    """The shuffle partition of the group (query, label): Spark's hash of two ints, seed 42."""
    return _signed(_murmur(label, _murmur(query, 42))) % partitions


def _hashed(values: pl.Series) -> Hashes:
    """A hash of each value; numbers by their bits, all others by the CRC of their text."""
    if values.dtype == pl.Float64 or values.dtype == pl.Float32:
        # -0.0 + 0.0 is 0.0, so both are one key; so are all the bit patterns of NaN
        bits = values.cast(pl.Float64).to_numpy().astype(np.float64) + 0.0
        raw = np.where(np.isnan(bits), np.nan, bits).view(np.uint64)
    elif values.dtype.is_integer() or values.dtype == pl.Boolean or values.dtype.is_temporal():
        raw = values.to_physical().cast(pl.Int64).fill_null(0).to_numpy().view(np.uint64)
    else:
        raw = _by_text(values)
    return np.where(values.is_null().to_numpy(), _NULL, _mixed(raw))


def _by_text(values: pl.Series) -> Hashes:
    """One CRC for each different value, however many rows have it.

    >>> equal, other = _by_text(pl.Series([[1, 2], [1, 2], [3]]))[1:]
    >>> bool(_by_text(pl.Series([[1, 2]]))[0] == equal), bool(equal == other)
    (True, False)
    """
    if values.dtype.is_nested() and not isinstance(values.dtype, pl.Struct):
        values = _json(values)  # of a struct Polars has a text
    plain = values if values.dtype == pl.Binary else values.cast(pl.String).cast(pl.Binary)
    encoded: pa.DictionaryArray = plain.fill_null(b"").to_arrow().dictionary_encode()
    crcs = [zlib.crc32(value) for value in encoded.dictionary.to_pylist()]
    chosen: Hashes = np.array(crcs, dtype=np.uint64)[encoded.indices.to_numpy()]
    return chosen


def _json(values: pl.Series) -> pl.Series:
    from sqlwin.operators.emitter.changes import row_key  # by need

    return values.to_frame("v").select(row_key({"v": values.dtype})).to_series()


def _mixed(x: Hashes) -> Hashes:
    """The finaliser of SplitMix64: every bit of the input moves every bit of the output."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _murmur(value: int, seed: int) -> int:
    """Murmur3 (x86, 32 bits) of one 4-byte integer."""
    k = value * 0xCC9E2D51 & _MASK
    k = _rotated(k, 15) * 0x1B873593 & _MASK
    h = _rotated(seed ^ k, 13) * 5 + 0xE6546B64 & _MASK
    h ^= 4
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    return h ^ h >> 16


def _rotated(x: int, by: int) -> int:
    return (x << by | x >> 32 - by) & _MASK


def _signed(x: int) -> int:
    return x - (1 << 32) if x >> 31 else x

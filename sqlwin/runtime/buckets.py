"""Which bucket a row belongs to: a hash of its keys that is the same for ever.

State lies in buckets, so the hash must not change with a library's version or
with the machine: integers are mixed by splitmix64 (Steele, Lea, Flood 2014),
every other value goes by the CRC-32 of its JSON text. NULL is a value like any.

>>> rows = pl.DataFrame({"user": ["ann", "bob", "ann", None]})
>>> bucket_of(rows, ("user",), 8).to_list()
[1, 0, 1, 2]
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
import polars as pl

from sqlwin.operators.changes import row_key
from sqlwin.schema import ROW_KEY

Hashes = npt.NDArray[np.uint64]
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1, MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
NULL = 0x6E756C6C


def bucket_of(rows: pl.DataFrame, keys: tuple[str, ...], buckets: int) -> pl.Series:
    """A bucket in [0, buckets) for each row, Int32; with no keys all rows share bucket 0."""
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for key in keys:
        hashes = _mixed(hashes ^ _column(rows, key))
    return pl.Series("bucket", hashes % np.uint64(buckets)).cast(pl.Int32)


def _column(rows: pl.DataFrame, key: str) -> Hashes:
    if rows.schema[key].is_integer():
        values = rows[key].cast(pl.Int64).fill_null(NULL).to_numpy()
        return _mixed(values.view(np.uint64))
    texts = rows.select(row_key({key: rows.schema[key]}))[ROW_KEY]
    distinct = texts.unique()
    crcs = [zlib.crc32(text.encode()) for text in distinct]
    return texts.replace_strict(distinct, crcs, return_dtype=pl.UInt64).to_numpy()


def _mixed(x: Hashes) -> Hashes:
    with np.errstate(over="ignore"):
        x = x + GOLDEN
        x = (x ^ (x >> np.uint64(30))) * MIX_1
        x = (x ^ (x >> np.uint64(27))) * MIX_2
    return x ^ (x >> np.uint64(31))

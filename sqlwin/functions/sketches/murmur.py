"""MurmurHash3, x64, 128 bits, of many keys at once.

>>> first, second = hashed(np.array([[1, 0, 0, 0, 0, 0, 0, 0]], dtype=np.uint8), seed=9001)
>>> hex(first[0])
'0xb430d7b96fbf22b'

Source: Appleby, MurmurHash3, 2011 (public domain).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

SEED = 9001
"""Of all sketches of Apache DataSketches."""
Words = npt.NDArray[np.uint64]
_C1, _C2 = np.uint64(0x87C37B91114253D5), np.uint64(0x4CF5AD432745937F)
_FIVE = np.uint64(5)
_M1, _M2 = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)


def hashed_values(values: pa.Array) -> tuple[Words, Words]:
    """As `hashed`, in any order: of integers, as BIGINTs, STRINGs or BINARYs, without NULLs.

    An empty one has no hash.
    """
    if pa.types.is_integer(values.type):
        numbers = np.ascontiguousarray(values.to_numpy(zero_copy_only=False), dtype="<i8")
        return hashed(numbers.view(np.uint8).reshape(-1, 8), SEED)
    by_length: dict[int, list[bytes]] = {}
    for key in values.cast(pa.binary()).to_pylist():
        if key:
            by_length.setdefault(len(key), []).append(key)
    parts = [
        hashed(np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, length), SEED)
        for length, keys in by_length.items()
    ]
    none = np.zeros(0, dtype=np.uint64)
    first, second = ([none, *each] for each in zip(*parts, strict=True)) if parts else ([none],) * 2
    return np.concatenate(first), np.concatenate(second)


def hashed(keys: npt.NDArray[np.uint8], seed: int) -> tuple[Words, Words]:
    """Both halves of the hash of each row of bytes; all keys are of one length."""
    count, length = keys.shape
    padded = np.zeros((count, -(-length // 16) * 16), dtype=np.uint8)
    padded[:, :length] = keys
    words = padded.view("<u8").astype(np.uint64)
    h1, h2 = np.full(count, seed, dtype=np.uint64), np.full(count, seed, dtype=np.uint64)
    for at in range(0, length // 16 * 2, 2):
        h1 ^= _mixed(words[:, at], _C1, 31, _C2)
        h1 = (_turned(h1, 27) + h2) * _FIVE + np.uint64(0x52DCE729)
        h2 ^= _mixed(words[:, at + 1], _C2, 33, _C1)
        h2 = (_turned(h2, 31) + h1) * _FIVE + np.uint64(0x38495AB5)
    if length % 16:
        h1 ^= _mixed(words[:, -2], _C1, 31, _C2)
        h2 ^= _mixed(words[:, -1], _C2, 33, _C1)
    h1 ^= np.uint64(length)
    h2 ^= np.uint64(length)
    h1 = h1 + h2
    h2 = h2 + h1
    h1, h2 = _finished(h1), _finished(h2)
    h1 = h1 + h2
    return h1, h2 + h1


def _turned(words: Words, by: int) -> Words:
    return (words << np.uint64(by)) | (words >> np.uint64(64 - by))


def _mixed(words: Words, before: np.uint64, by: int, after: np.uint64) -> Words:
    return _turned(words * before, by) * after


def _finished(words: Words) -> Words:
    shift = np.uint64(33)
    words = (words ^ (words >> shift)) * _M1
    words = (words ^ (words >> shift)) * _M2
    return words ^ (words >> shift)

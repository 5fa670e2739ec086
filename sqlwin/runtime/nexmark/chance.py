"""Chance without a memory: a number's draw is a function of the seed, the number and a name.

So a row is the same whichever rows are made before or beside it. The function is the
finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) over a counter.

>>> some = Chance(seed=1, numbers=np.arange(4))
>>> some.below("dice", 6).tolist(), Chance(1, np.arange(2, 4)).below("dice", 6).tolist()
([0, 3, 3, 1], [3, 1])
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from sqlwin.lazy_dataclass import dataclass

Integers = npt.NDArray[np.int64]
Draws = npt.NDArray[np.uint64]

_GOLDEN = 0x9E3779B97F4A7C15
_WORD = 2**64

_LETTERS = np.frombuffer(bytes(ord("a") + at % 26 for at in range(256)), np.uint8)
_GAP_IN_13 = 256 // 13


def _spaced(gap: str) -> npt.NDArray[np.uint8]:
    """Letters, every 13th of them a gap."""
    table = _LETTERS.copy()
    table[:_GAP_IN_13] = ord(gap)
    return table


@dataclass(frozen=True)
class Chance:
    """Draws for each of `numbers`. what: the name of a draw; others are independent of it."""

    seed: int
    numbers: Integers

    def draw(self, what: str) -> Draws:
        key = _mixed_one(_mixed_one(self.seed) ^ zlib.crc32(what.encode()))
        return _mixed(_counted(self.numbers.astype(np.uint64)) + np.uint64(key))

    def below(self, what: str, bound: int | Integers) -> Integers:
        """0 <= x < bound, at most 2**31."""
        high = self.draw(what) >> np.uint64(32)
        scaled = high * np.asarray(bound, np.uint64) >> np.uint64(32)
        return scaled.astype(np.int64)

    def unit(self, what: str) -> npt.NDArray[np.float64]:
        """0 <= x < 1."""
        return (self.draw(what) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def one_of(self, what: str, words: tuple[str, ...]) -> pl.Series:
        return pl.Series(words)[self.below(what, len(words))]

    def text(self, what: str, least: int, most: int, gap: str | None = None) -> pl.Series:
        """Letters, least <= length <= most; every 13th a gap, but for the first and last."""
        lengths = least + self.below(f"{what} length", most - least + 1)
        words = -(-most // 8)
        starts = self.draw(what)[:, None] + _counted(np.arange(words, dtype=np.uint64))
        raw = _mixed(starts).astype("<u8").view(np.uint8)[:, :most]
        letters = (_LETTERS if gap is None else _spaced(gap))[raw]
        if gap is not None:
            rows, ends = np.arange(len(raw)), lengths - 1
            letters[:, 0] = _LETTERS[raw[:, 0]]
            letters[rows, ends] = _LETTERS[raw[rows, ends]]
        return _texts(letters, lengths)


def _texts(letters: npt.NDArray[np.uint8], lengths: Integers) -> pl.Series:
    """The first letters of each row, as many as its length."""
    kept = letters[np.arange(letters.shape[1]) < lengths[:, None]]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    buffers = pa.py_buffer(offsets.tobytes()), pa.py_buffer(kept.tobytes())
    array = pa.LargeStringArray.from_buffers(len(lengths), *buffers)
    return pl.Series(array)


def _counted(numbers: Draws) -> Draws:
    return numbers * np.uint64(_GOLDEN)


def _mixed(draws: Draws) -> Draws:
    draws = (draws ^ (draws >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    draws = (draws ^ (draws >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return draws ^ (draws >> np.uint64(31))


def _mixed_one(value: int) -> int:
    mixed = _mixed(np.array([value % _WORD], np.uint64) + np.uint64(_GOLDEN))
    return int(mixed[0])

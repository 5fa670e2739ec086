"""XXHASH64 of columns, as Spark has it."""

from __future__ import annotations

from typing import Final

import numpy as np

from sqlwin.functions.texts.murmur import Bits, Hash, further

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)


def _final(state: Bits) -> Bits:
    state = (state ^ state >> np.uint64(33)) * _P2
    state = (state ^ state >> np.uint64(29)) * _P3
    return np.asarray(state ^ state >> np.uint64(32))


def _turned(values: Bits, by: int) -> Bits:
    return np.asarray(values << np.uint64(by) | values >> np.uint64(64 - by))


def _round(word: Bits) -> Bits:
    return _turned(word * _P2, 31) * _P1


def _with_eight(state: Bits, word: Bits) -> Bits:
    return _turned(state ^ _round(word), 27) * _P1 + _P4


def _with_four(state: Bits, word: Bits) -> Bits:
    return _turned(state ^ word.astype(np.uint64) * _P1, 23) * _P2 + _P3


def _with_one(state: Bits, byte: Bits) -> Bits:
    return _turned(state ^ byte.astype(np.uint64) * _P5, 11) * _P1


def _xx_four(values: Bits, seeds: Bits) -> Bits:
    return _final(_with_four(seeds + _P5 + np.uint64(4), values))


def _xx_eight(values: Bits, seeds: Bits) -> Bits:
    return _final(_with_eight(seeds + _P5 + np.uint64(8), values))


def _xx_long(words: Bits, counts: Bits, seeds: Bits) -> Bits:
    """Of what has 32 bytes or more: four sums side by side, over all blocks of 32."""
    sums = [seeds + _P1 + _P2, seeds + _P2, seeds, seeds - _P1]
    for block in range(int(counts.max(initial=0)) // 32):
        more = counts >= 32 * block + 32
        for lane in range(4):
            word = words[:, 4 * block + lane]
            sums[lane] = np.where(more, _turned(sums[lane] + word * _P2, 31) * _P1, sums[lane])
    state = sum((_turned(s, by) for s, by in zip(sums, (1, 7, 12, 18), strict=True)), np.uint64(0))
    for lane in range(4):
        state = (state ^ _round(sums[lane])) * _P1 + _P4
    return np.asarray(state)


def _xx_many(rows: Bits, counts: Bits, seeds: Bits) -> Bits:
    rows = np.ascontiguousarray(rows)
    eights, fours = rows.view(np.uint64), rows.view(np.uint32)
    state = seeds + _P5
    if counts.max(initial=0) >= 32:
        state = np.where(counts >= 32, _xx_long(eights, counts, seeds), state)
    state = state + counts.astype(np.uint64)
    done = counts - counts % 32
    for _ in range(3):
        some = np.flatnonzero(counts - done >= 8)
        state = further(state, some, eights, done // 8, _with_eight)
        done[some] += 8
    some = np.flatnonzero(counts - done >= 4)
    state = further(state, some, fours, done // 4, _with_four)
    done[some] += 4
    for _ in range(3):
        some = np.flatnonzero(counts > done)
        state = further(state, some, rows, done, _with_one)
        done[some] += 1
    return _final(state)


XXHASH: Final = Hash(_xx_four, _xx_eight, _xx_many, np.uint64, np.int64)

"""KLL sketches: equal values have equal bytes, which Spark reads, and ranks within the bound.

`kll.jsonl` is what the pinned PySpark writes, and reads in its sketches and ours.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.functions.sketches.kll import (
    DOUBLES,
    FLOATS,
    LONGS,
    Kll,
    capacities,
    merged,
    of_values,
    quantile,
    rank,
    read,
    written,
)
from sqlwin.functions.sketches.kll_summary import summary

TYPES = {"bigint": LONGS, "float": FLOATS, "double": DOUBLES}
RECORDED = [
    json.loads(line) for line in Path(__file__).with_name("kll.jsonl").read_text().splitlines()
]
KS = st.sampled_from([8, 9, 16, 200])
PARTS = st.lists(st.tuples(st.integers(-99, 99), st.integers(0, 300)), min_size=1, max_size=5)


def values(type_: str, count: int) -> Any:
    at = np.arange(count) * 7919 % 10007
    return (at if type_ == "bigint" else at / 4 - 500).astype(TYPES[type_])


def answers(sketch: bytes, made: Kll, spark: dict[str, Any]) -> dict[str, Any]:
    return {
        "quantiles": [quantile(made, fraction) for fraction in spark["fractions"]],
        "ranks": [rank(made, value) for value in spark["values"]],
        "n": made.n,
        "text": summary(sketch, made),
    }


def error(made: Kll, sorted_values: Any) -> float:
    """The greatest difference of a rank."""
    upto = np.searchsorted(sorted_values, sorted_values, side="right") / len(sorted_values)
    some = range(0, len(sorted_values), max(1, len(sorted_values) // 200))
    return max(abs(rank(made, sorted_values[at]) - float(upto[at])) for at in some)


def bound(k: int) -> float:
    """Of Apache's sketch, for a rank; it holds in 99 of 100 cases there."""
    return 2.296 / k**0.9723


@pytest.mark.parametrize("spark", RECORDED, ids=lambda line: "{type}-{k}-{count}".format(**line))
def test_spark_reads_ours_as_we_do_and_we_read_spark_s(spark: dict[str, Any]) -> None:
    """Of up to k values both are the same but for the order in which the values stand."""
    type_, k = TYPES[spark["type"]], spark["k"]
    theirs = base64.b64decode(spark["sketch"])
    ours = written(of_values(values(spark["type"], spark["count"]), k))
    for name, sketch in (("theirs", theirs), ("ours", ours)):
        assert answers(sketch, read(sketch, type_), spark) == spark[name]
    if spark["count"] <= k:
        assert len(ours) == len(theirs)
        assert spark["ours"]["ranks"] == spark["theirs"]["ranks"]
    both = merged([read(ours, type_), read(theirs, type_)], k)
    assert answers(written(both), both, spark) == spark["both"]
    assert both.n == spark["merged"] == 2 * spark["count"]


@given(KS, PARTS, st.randoms())
def test_equal_values_have_equal_bytes(k, parts, chance) -> None:  # type: ignore[no-untyped-def]
    found = [-0.0, 0.0, *(each / 2 for first, n in parts for each in range(first, first + n))]
    whole = written(of_values(np.array(found), k))
    chance.shuffle(found)
    assert written(of_values(np.array([*found, np.nan]), k)) == whole
    assert written(read(whole, DOUBLES)) == whole


@given(st.lists(st.tuples(KS, PARTS), min_size=1, max_size=4), KS, st.randoms())
def test_a_merge_does_not_depend_on_the_order(drawn, k, chance) -> None:  # type: ignore[no-untyped-def]
    found = [
        (np.concatenate([np.arange(first, first + n) for first, n in parts]), k_)
        for k_, parts in drawn
    ]
    made = [of_values(*each) for each in found]
    whole = merged(made, k)
    assert whole.retained <= capacities(k, len(whole.levels))
    chance.shuffle(made)
    assert written(merged(made, k)) == written(whole)
    every = np.sort(np.concatenate([each for each, _ in found]))
    assert whole.n == len(every)
    if len(every):
        assert (whole.least, whole.greatest) == (every[0], every[-1])
        assert error(whole, every) <= bound(min(k, *(k_ for _, k_ in found)))


@pytest.mark.parametrize("k", [8, 16, 200, 1000])
def test_ranks_are_within_the_bound(k: int) -> None:
    for count in (k, k + 1, 2 * k, 5 * k + 3, 9999, 100_000):
        made = of_values(np.random.default_rng(count).permutation(count), k)
        off = error(made, np.arange(count))
        assert off <= (0 if count <= k else bound(k))


def test_a_merge_of_many_is_within_the_bound() -> None:
    parts = np.random.default_rng(1).permutation(60_000).reshape(600, 100)
    made = merged([of_values(part, 200) for part in parts], 200)
    assert error(made, np.arange(60_000)) <= bound(200)
    hours = [merged([of_values(part, 50) for part in some], 50) for some in np.split(parts, 60)]
    assert error(merged(hours, 50), np.arange(60_000)) <= bound(50)


SOME = written(of_values(np.arange(100), 8))


@pytest.mark.parametrize(
    "wrong",
    [b"", b"\2\1\17\1\7\0\10\0", SOME[:-1], SOME[:30], SOME[:8] + b"\1" + SOME[9:], b"x" * 99],
)
def test_other_bytes_are_refused(wrong: bytes) -> None:
    with pytest.raises(ValueError, match="only bytes of a KLL sketch"):
        read(wrong, LONGS)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 255)), max_size=3))
def test_damaged_bytes_are_refused_or_read(damage: list[tuple[int, int]]) -> None:
    damaged = bytearray(SOME)
    for at, byte in damage:
        damaged[at] = byte
    for type_ in TYPES.values():
        try:
            found = read(bytes(damaged), type_)
        except ValueError:
            continue
        if found.n:
            assert 0 <= rank(found, 1) <= 1
            quantile(found, 0.5)

"""Theta sketches have Spark's own bytes, however rows are cut and in whatever order.

`theta.jsonl` and `theta_united.jsonl` are what the pinned PySpark writes.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.functions.sketches.theta import (
    difference,
    estimated,
    hashes,
    intersected,
    of_hashes,
    read,
    united,
    written,
)
from sqlwin.kernels.folds import fold

VALUES = {
    "int": (pa.int32(), lambda at: at * 7919),
    "bigint": (pa.int64(), lambda at: at * 1234567891),
    "double": (pa.float64(), lambda at: at / 4 - 1),
    "float": (pa.float32(), lambda at: at / 4 - 1),
    "string": (pa.string(), lambda at: f"é{at}" if at else ""),
    "binary": (pa.binary(), lambda at: bytes([255]) + str(at).encode() * 3),
}
HERE = Path(__file__)
RECORDED = [json.loads(line) for line in HERE.with_name("theta.jsonl").read_text().splitlines()]
UNITED = [
    json.loads(line) for line in HERE.with_name("theta_united.jsonl").read_text().splitlines()
]
LGS = st.sampled_from([4, 5, 8, 12])
SETS = st.tuples(st.integers(0, 2000), st.sampled_from([0, 1, 2, 15, 16, 17, 40, 300]))


def sketch(values: list[Any], lg: int, type_: pa.DataType | None = None) -> bytes:
    return of_hashes(hashes(pa.array(values, type_ or pa.int64())), lg)


@pytest.mark.parametrize("spark", RECORDED, ids=lambda line: "{type}-{lg}-{count}".format(**line))
def test_bytes_and_estimates_of_spark(spark: dict[str, Any]) -> None:
    type_, of = VALUES[spark["type"]]
    theirs = base64.b64decode(spark["sketch"])
    made = sketch([of(at) for at in range(spark["count"])], spark["lg"], type_)
    assert made == theirs == written(read(theirs))
    assert estimated(read(made)) == spark["estimate"]


@pytest.mark.parametrize("spark", UNITED, ids=lambda line: line["call"])
def test_unions_and_intersections_of_spark(spark: dict[str, Any]) -> None:
    name, _, rest = spark["call"].partition("(")
    params = tuple(int(each) for each in rest.rstrip(")").split(", ")[1:])
    values = [sketch([*range(a, b)], lg) for a, b, lg in spark["parts"]]
    made = fold("out", name, ("x",), (pa.binary(),), pa.binary(), None, params)
    rows = pl.DataFrame({"x": pl.Series([*values, None], dtype=pl.Binary)})
    answer = base64.b64decode(spark["sketch"])
    assert made.finish(rows.select(made.lift())).to_list() == [answer]


@given(LGS, st.lists(SETS, min_size=1, max_size=5), st.randoms())
def test_any_cut_and_order_has_the_same_bytes(lg, parts, chance) -> None:  # type: ignore[no-untyped-def]
    values = [value for first, count in parts for value in range(first, first + count)]
    whole = sketch(values, lg)
    chance.shuffle(values)
    cuts = sorted(chance.randrange(len(values) + 1) for _ in range(3))
    pieces = [values[a:b] for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]
    made = [sketch(piece, lg) for piece in pieces]
    chance.shuffle(made)
    assert united(made, lg) == united([united(made[:2], lg), united(made[1:], lg)], lg) == whole


@given(st.lists(st.tuples(SETS, LGS), min_size=2, max_size=4), st.randoms())
def test_sets_of_any_order(parts, chance) -> None:  # type: ignore[no-untyped-def]
    made = [sketch([*range(first, first + count)], lg) for (first, count), lg in parts]
    both, all_ = intersected(made), united(made, 5)
    assert estimated(read(united([both, all_], 26))) >= 0
    chance.shuffle(made)
    assert (intersected(made), united(made, 5)) == (both, all_)
    assert intersected([intersected(made[:2]), *made[1:]]) == both
    assert united([united(made[:2], 5), *made[1:]], 5) == all_
    one, other = map(read, made[:2])
    left = difference(one, other)
    if len(one.hashes) and one.theta == other.theta == 2**63 - 1:  # exact
        assert {*left.hashes} == {*one.hashes} - {*other.hashes}


SOME = sketch([*range(100)], 4)


@pytest.mark.parametrize(
    "wrong",
    [b"", b"\1", b"\1\2", b"x" * 40, SOME[:-3], SOME[:9], SOME[:5] + b"\0" + SOME[6:], bytes(8)],
)
def test_other_bytes_are_refused(wrong: bytes) -> None:
    with pytest.raises(ValueError, match="only bytes of a theta sketch"):
        read(wrong)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 255)), max_size=3), st.integers(0, 99))
def test_damaged_bytes_are_refused_or_read(damage: list[tuple[int, int]], cut: int) -> None:
    damaged = bytearray(SOME)
    for at, byte in damage:
        damaged[at] = byte
    try:
        found = read(bytes(damaged[cut:] if cut > 90 else damaged))
    except ValueError:
        return
    assert written(read(written(found))) == written(found)


def test_a_few_thousand_values_are_estimated_within_the_bound() -> None:
    for count in (5000, 40_000):
        made = read(sketch([*range(count)], 12))
        assert len(made.hashes) == 4096
        assert abs(estimated(made) - count) < 0.04 * count

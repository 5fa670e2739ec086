"""HLL sketches: equal sets of values have equal bytes, and they are Apache's and Spark's."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import datasketches as ds  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.functions.sketches.hll import canonical, coupons, estimated, of_coupons, united
from sqlwin.kernels.folds import fold

VALUES = {
    "int": (pa.int32(), lambda at: at * 7919),
    "bigint": (pa.int64(), lambda at: at * 1234567891),
    "string": (pa.string(), lambda at: f"é{at}" if at else ""),
    "binary": (pa.binary(), lambda at: bytes([255]) + str(at).encode() * 3),
}
RECORDED = Path(__file__).with_name("hll.jsonl")
LGS = st.sampled_from([4, 7, 8, 10, 12])
# as many as fit a list, a set, and more
SETS = st.tuples(st.integers(-(2**63), 2**63 - 1), st.sampled_from([0, 3, 7, 8, 24, 25, 200, 900]))


def sketch(values: list[object], type_: pa.DataType, lg: int) -> bytes:
    return of_coupons(coupons(pa.array(values, type_)), lg)


def numbers(seed: int, count: int) -> list[int]:
    return [(seed + at * 0x9E3779B97F4A7C15) % 2**63 for at in range(count)]


@pytest.mark.parametrize("line", RECORDED.read_text().splitlines())
def test_bytes_and_estimates_of_spark(line: str) -> None:
    """Spark's sketches have the same coupons and registers, and the estimate that Spark gives."""
    spark = json.loads(line)
    type_, of = VALUES[spark["type"]]
    made = sketch([of(at) for at in range(spark["count"])], type_, spark["lg"])
    theirs = base64.b64decode(spark["sketch"])
    assert canonical(theirs) == made == canonical(made)
    assert estimated(theirs) == spark["estimate"]
    assert estimated(made) == spark["of_ours"]


@given(LGS, st.lists(st.tuples(SETS, LGS), min_size=1, max_size=5), st.randoms())
def test_any_cut_and_order_has_the_same_bytes(lg, parts, chance) -> None:  # type: ignore[no-untyped-def]
    values = [value for (seed, count), _ in parts for value in numbers(seed, count)]
    whole = sketch(values, pa.int64(), lg)
    chance.shuffle(values)
    cuts = sorted(chance.randrange(len(values) + 1) for _ in range(3))
    pieces = [values[a:b] for a, b in zip([0, *cuts], [*cuts, len(values)], strict=True)]
    made = [sketch(piece, pa.int64(), lg) for piece in pieces]
    chance.shuffle(made)
    assert united(made) == united([united(made[:2]), united(made[1:])]) == whole == canonical(whole)


@given(st.lists(st.tuples(SETS, LGS), min_size=1, max_size=5), st.randoms())
def test_a_union_of_several_sizes_does_not_depend_on_their_order(parts, chance) -> None:  # type: ignore[no-untyped-def]
    made = [sketch(numbers(*drawn), pa.int64(), lg) for drawn, lg in parts]
    whole = united(made)
    chance.shuffle(made)
    assert united(made) == whole
    assert united([united(made[:2]), *made[1:]]) == whole
    assert whole[3] == min(lg for _, lg in parts)


@given(SETS, LGS, st.sampled_from([ds.HLL_4, ds.HLL_6, ds.HLL_8]))
def test_every_kind_of_registers_is_read(drawn, lg, kind) -> None:  # type: ignore[no-untyped-def]
    values = numbers(*drawn)
    theirs = ds.hll_sketch(lg, kind)
    for value in values:
        theirs.update(value)
    made = sketch(values, pa.int64(), lg)
    assert canonical(bytes(theirs.serialize_compact())) == made
    assert canonical(bytes(theirs.serialize_updatable())) == made


@pytest.mark.parametrize("wrong", [b"", b"\2", b"\2\1\7\14\3", b"\12\1\7\14" + bytes(9), b"x" * 99])
def test_other_bytes_are_refused(wrong: bytes) -> None:
    with pytest.raises(ValueError, match="only bytes of an HLL sketch"):
        canonical(wrong)


def test_parts_of_a_fold_give_the_sketch_of_all() -> None:
    rows = pl.DataFrame({"x": [5, 1, None, 5, 9] * 300, "cut": [0, 1, 2] * 500})
    rows = rows.with_columns(x=pl.col("x") * pl.int_range(1500))
    made = fold("out", "hll_sketch_agg", ("x",), (pa.int64(),), pa.binary(), None, (12,))
    merged = rows.group_by("cut").agg(made.lift()).select(made.merge())
    known = rows["x"].drop_nulls().to_list()
    assert made.finish(merged).to_list() == made.finish(rows.select(made.lift())).to_list()
    assert made.finish(merged).to_list() == [sketch(known, pa.int64(), 12)]

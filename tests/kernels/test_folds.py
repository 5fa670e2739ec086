"""lift, merge, finish and slide against the obvious version, every function and type."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.kernels.exact import Overflow
from sqlwin.kernels.folds import Fold
from sqlwin.kernels.folds.statistics.moments import Moment
from sqlwin.kernels.frames import frames_of
from sqlwin.polars_frames import polars_type
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from tests.support.draws import one_in
from tests.support.kernels.brute import CALLS, Row, answer, bound, frame_of, same, size, tables

pytestmark = pytest.mark.drawn

NAMES = [f"{name}-{'-'.join(args)}" for name, args in CALLS]
WHERE = st.sampled_from([None, "w"])
FRAME = Frame(Unit.ROWS, 1)
EACH = one_in(4)


def tolerance(fold: Fold, rows: list[Row]) -> float:
    """Floats are compared to the size of what was added, squared for a variance."""
    if fold.call.function not in ("sum", "avg") and not isinstance(fold, Moment):
        return 0.0
    largest = size(rows, fold.call.args[0])
    return largest * largest if fold.call.function.startswith("var") else largest


def agree(fold: Fold, accumulators: pl.DataFrame, groups: list[list[Row]], scale: float) -> None:
    """finish gives each group's answer, or Overflow at the first group that has none."""
    expected, first_bad = [], None
    for n, rows in enumerate(groups):
        try:
            expected.append(answer(fold, rows))
        except OverflowError:
            first_bad = n
            break
    if first_bad is not None:
        with pytest.raises(Overflow) as raised:
            fold.finish(accumulators)
        assert raised.value.row == first_bad
        return
    got = fold.finish(accumulators)
    assert (got.name, got.dtype) == ("out", polars_type(fold.call.type))
    assert len(got) == len(expected)
    for mine, theirs in zip(got.to_list(), expected, strict=True):
        assert same(mine, theirs, scale), (mine, theirs, groups)


@pytest.mark.parametrize(("function", "args"), CALLS, ids=NAMES)
def test_parts_merged_in_any_order_give_the_answer(function: str, args: tuple[str, ...]) -> None:
    columns = tuple(dict.fromkeys(args))

    @EACH
    @given(tables(columns), WHERE)
    def check(rows: list[Row], where: str | None) -> None:
        fold, table = bound(function, args, where), frame_of(rows, columns)
        whole = table.group_by("key", maintain_order=True).agg(fold.lift())
        parts = table.group_by("key", "cut", maintain_order=True).agg(fold.lift())
        merged = parts.sample(fraction=1, shuffle=True, seed=len(rows))
        merged = merged.with_columns(half=pl.col("cut") % 2)
        merged = merged.group_by("key", "half").agg(fold.merge())
        merged = merged.group_by("key").agg(fold.merge()).sort("key")
        assert tuple(whole.columns) == ("key", *fold.columns)
        assert whole.schema == merged.schema == parts.drop("cut").schema
        groups = [[r for r in rows if r["key"] == key] for key in whole["key"]]
        agree(fold, whole, groups, tolerance(fold, rows))
        agree(fold, merged, groups, tolerance(fold, rows))

    check()


@pytest.mark.parametrize(("function", "args"), CALLS, ids=NAMES)
def test_each_frame_has_the_answer_of_its_rows(function: str, args: tuple[str, ...]) -> None:
    columns = tuple(dict.fromkeys(args))
    frames_ = st.builds(
        Frame, st.sampled_from([Unit.RANGE, Unit.ROWS, Unit.GROUPS]), st.integers(0, 12)
    )

    @EACH
    @given(tables(columns), WHERE, frames_)
    def check(rows: list[Row], where: str | None, frame: Frame) -> None:
        fold, table = bound(function, args, where), frame_of(rows, columns)
        frames = frames_of(table["key"].to_numpy(), table["__ts"].to_numpy(), frame)
        frames._check(len(rows))
        over = fold.over(table, frames)
        assert over.schema == table.group_by("key").agg(fold.lift()).drop("key").schema
        groups = [rows[lo:hi] for lo, hi in zip(frames.lo, frames.hi, strict=True)]
        agree(fold, over, groups, tolerance(fold, rows))

    check()


def test_what_passed_through_a_frame_leaves_no_trace() -> None:
    values = [1e18, 1.0, 1.0, -1e18, 1.0, 2.0]
    table = pl.DataFrame({"f64": values, "__ts": range(6)})
    frames = frames_of(table["__ts"].to_numpy() * 0, table["__ts"].to_numpy(), Frame(Unit.ROWS, 1))
    assert bound("sum", ("f64",), None).slide(table, frames).to_list()[2:] == [
        2.0,
        -1e18,
        -1e18,
        3.0,
    ]
    assert bound("avg", ("f64",), None).slide(table, frames).to_list()[5] == 1.5
    assert bound("var_pop", ("f64",), None).slide(table, frames).to_list()[5] == 0.25


def test_a_column_of_equal_values_has_no_variance_at_all() -> None:
    for value in (0.1, 1e200, -1e308):
        table = pl.DataFrame({"f64": [value] * 6, "cut": [0, 1, 0, 0, 2, 1], "__ts": range(6)})
        fold = bound("var_pop", ("f64",), None)
        whole = table.select(fold.lift())
        merged = table.group_by("cut").agg(fold.lift()).select(fold.merge())
        frames = frames_of(table["__ts"].to_numpy() * 0, table["__ts"].to_numpy(), FRAME)
        assert fold.finish(whole).to_list() == fold.finish(merged).to_list() == [0.0]
        assert fold.slide(table, frames).to_list() == [0.0] * 6


def test_a_variance_that_no_double_holds_is_infinite() -> None:
    table = pl.DataFrame({"f64": [1e200, 1.0, 1.0], "__ts": range(3)})
    frames = frames_of(table["__ts"].to_numpy() * 0, table["__ts"].to_numpy(), FRAME)
    assert bound("var_pop", ("f64",), None).slide(table, frames).to_list() == [0, math.inf, 0]
    assert bound("stddev_pop", ("f64",), None).finish(
        table.select(bound("stddev_pop", ("f64",), None).lift())
    ).to_list() == [math.inf]


def test_deviation_of_close_large_values() -> None:
    table = pl.DataFrame(
        {"f64": [1e9 + n * 1e-3 for n in range(1000)], "cut": [n % 7 for n in range(1000)]}
    )
    fold = bound("var_pop", ("f64",), None)
    expected = answer(fold, table.to_dicts())
    merged = table.group_by("cut").agg(fold.lift()).select(fold.merge())
    assert math.isclose(fold.finish(merged).item(), expected, rel_tol=1e-9)


def test_a_part_with_no_row_is_the_identity() -> None:
    for function, args in CALLS:
        columns = tuple(dict.fromkeys(args))
        fold = bound(function, args, "w")
        nothing = frame_of([], columns).with_columns()
        off = pl.DataFrame({"key": [1], "w": [False], "__ts": [1], "__part": [0], "__seq": [0]})
        off = pl.concat([nothing, off.cast({"__part": pl.Int32})], how="diagonal")
        empty = off.group_by("key").agg(fold.lift())
        twice = pl.concat([empty, empty]).group_by("key").agg(fold.merge())
        expected = 0 if function == "count" else None
        assert fold.finish(twice).to_list() == [expected], (function, args)


def test_sums_come_back_from_beyond_their_type() -> None:
    top = 2**63 - 1
    fold = bound("sum", ("i64",), None)
    table = pl.DataFrame({"i64": [top, top, 5, -top, -top, top, 1], "key": [0] * 5 + [1, 1]})
    parts = table.group_by("key", maintain_order=True).agg(fold.lift())
    assert fold.finish(parts.head(1)).to_list() == [5]
    with pytest.raises(Overflow, match="row 1: the exact value does not fit int64") as raised:
        fold.finish(parts)
    assert raised.value.row == 1
    assert bound("avg", ("i64",), None).finish(parts).to_list() == [1.0, 2.0**62]


def test_a_sliding_overflow_names_its_frame() -> None:
    table = pl.DataFrame({"i64": [2**63 - 1, -1, 2, 2**63 - 2], "__ts": range(4)})
    frames = frames_of(table["__ts"].to_numpy() * 0, table["__ts"].to_numpy(), Frame(Unit.ROWS, 1))
    with pytest.raises(Overflow) as raised:
        bound("sum", ("i64",), None).slide(table, frames)
    assert raised.value.row == 3


def test_signed_zeros_tie() -> None:
    table = pl.DataFrame({"f64": [0.0, -0.0, 0.0], "i8": [1, 2, 3], "__ts": [3, 2, 1]})
    table = table.with_columns(__part=pl.lit(0, dtype=pl.Int32), __seq=pl.lit(0))
    for function in ("arg_min", "arg_max"):
        fold = bound(function, ("i8", "f64"), None)
        lifted = table.group_by(pl.col("i8").alias("k"), maintain_order=True).agg(fold.lift())
        assert fold.finish(lifted.select(fold.merge())).to_list() == [3]
        assert fold.finish(table.sort("__ts").select(fold.lift())).to_list() == [3]

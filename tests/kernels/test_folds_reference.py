"""Every fold against the specification: cut and merged, and over any frames, empty ones too."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.aggregates import SIGNATURES, signature
from sqlwin.kernels import gather
from sqlwin.kernels.exact import Overflow
from sqlwin.kernels.folds import Fold, fold
from sqlwin.kernels.folds.base import GroupBy, lifted, lifted_row
from sqlwin.kernels.frames import Frames
from sqlwin.polars_frames import polars_type
from sqlwin.schema import Order
from tests.reference.kernels.aggregates import aggregate
from tests.reference.kernels.exact import OutOfRange
from tests.support.draws import one_in
from tests.support.kernels.brute import CALLS, VALUES, Row, frame_of, same, size, tables

pytestmark = pytest.mark.drawn

EACH = one_in(5)
REGRESSIONS = tuple(known.name for known in SIGNATURES if known.name.startswith("regr_"))
WHERE = st.sampled_from([None, "w"])


@dataclass(frozen=True)
class Case:
    """A call; its types are those of the columns."""

    function: str
    args: tuple[str, ...]
    params: tuple[Any, ...] = ()
    distinct: bool = False
    order: tuple[Order, ...] = ()
    listed: bool = False
    limit: int | None = None

    def __str__(self) -> str:
        words = (self.function, *self.args, *map(str, self.params))
        return "-".join(
            (
                *words,
                *("distinct",) * self.distinct,
                str(self.limit or ""),
                *(o.column for o in self.order),
            )
        )

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.args, *(key.column for key in self.order))))

    def bound(self, where: str | None) -> Fold:
        types = tuple(VALUES[arg][0] for arg in self.args)
        known = signature(self.function)
        assert known is not None
        result = known.returns(types, self.listed)
        return fold(
            "out", self.function, self.args, types, result, where,
            self.params, self.distinct, self.order, self.limit,
        )  # fmt: skip


ORDERED = ("i8", "i64", "f64", "d38", "s", "y", "b", "date", "t")
CASES = [
    *(Case("nth_value", (c,), (n,)) for c in ("i8", "s") for n in (1, 2, 5)),
    *(Case("nth_last", (c,), (n,)) for c in ("i8", "s") for n in (1, 2, 5)),
    *(Case("top_k", (c,), (k,)) for c in ORDERED for k in (1, 3)),
    *(Case("top_k", (c,), (2,), distinct=True) for c in ORDERED),
    *(Case("median", (c,)) for c in ("i8", "i64", "f32", "f64", "d5", "d38")),
    *(Case("percentile_cont", ("f64",), (p,)) for p in (0, 0.07, 0.5, 1)),
    *(Case("percentile_disc", (c,), (p,)) for c in ORDERED for p in (0.0, 0.07, 0.3, 1.0)),
    *(Case("mode", (c,)) for c in ORDERED),
    *(
        Case("mode", (c,), order=(Order(c, descending=down),))
        for c in ORDERED
        for down in (False, True)
    ),
    *(Case(f, (c,)) for f in ("try_sum", "try_avg") for c in ("i8", "i64", "f64", "d5", "d38")),
    *(Case(f, (c,), distinct=True) for f in ("try_sum", "try_avg") for c in ("i64", "d38")),
    *(Case("count", (c,), distinct=True) for c in ORDERED),
    *(Case(f, (c,), distinct=True) for f in ("sum", "avg") for c in ("i8", "i32", "i64", "f32")),
    *(Case(f, (c,), distinct=True) for f in ("sum", "avg") for c in ("f64", "d5", "d26", "d38")),
    *(Case("product", (c,)) for c in ("i8", "i64", "f32", "f64", "d5", "d38")),
    *(Case("product", (c,), distinct=True) for c in ("i8", "f64")),
    *(Case("collect_list", (c,)) for c in ORDERED),
    *(Case("collect_list", (c,), distinct=True) for c in ("f64", "s")),
    *(Case("collect_set", (c,)) for c in ORDERED),
    Case("collect_list", ("i8",), order=(Order("s"), Order("f64", descending=True))),
    Case("collect_list", ("s",), order=(Order("i8", descending=True, nulls_last=True),)),
    Case("collect_list", ("i8",), distinct=True, order=(Order("s", nulls_last=True),)),
    *(Case("collect_list", (c,), limit=2) for c in ORDERED),
    *(Case("collect_list", ("i8",), order=(Order(c),), limit=3) for c in ORDERED),
    *(Case("first", ("s",), order=(Order(c), Order("i8", descending=True))) for c in ORDERED),
    Case("first", ("i8",), order=(Order("f64", descending=True, nulls_last=True), Order("s"))),
    Case("collect_list", ("i8",), order=(Order("s"), Order("f64", descending=True)), limit=2),
    Case("collect_list", ("s",), order=(Order("i8", descending=True, nulls_last=True),), limit=1),
    Case("collect_list", ("i8",), distinct=True, order=(Order("s", nulls_last=True),), limit=2),
    Case("string_agg", ("s",), ("-",), order=(Order("f64", descending=True),), limit=2),
    *(Case("arg_max", ("i8", c), (2,), listed=True) for c in ORDERED),
    *(Case("arg_min", (c, "s"), (3,), listed=True) for c in ORDERED),
    Case("string_agg", ("s",), (", ",)),
    Case("string_agg", ("s",), ("",), distinct=True, order=(Order("s", descending=True),)),
    *(Case(f, ("f64", "i8")) for f in ("covar_samp", "covar_pop", "corr")),
    *(Case(f, ("i8", "d5")) for f in ("covar_samp", "covar_pop", "corr")),
    *(Case(f, ("d5", "i8")) for f in REGRESSIONS),
    *(Case(f, ("f64", "i8")) for f in ("regr_avgx", "regr_avgy", "regr_count")),
    *(Case(f, (c,)) for f in ("skewness", "kurtosis") for c in ("i8", "d5")),
    *(Case(f, (c,)) for f in ("bit_and", "bit_or", "bit_xor") for c in ("i8", "i16", "i32", "i64")),
    *(Case(f, ("i8",), distinct=True) for f in ("stddev_pop", "var_samp", "kurtosis")),
    *(Case("median", (c,), distinct=True) for c in ("i8", "f64")),
    Case("percentile_cont", ("i8",), (0.3,), distinct=True),
    Case("percentile_cont", ("i8",), (0.3,), distinct=True, order=(Order("i8", descending=True),)),
    *(Case("bit_xor", (c,), distinct=True) for c in ("i8", "i64")),
    *(Case("histogram", (c,)) for c in ORDERED),
    *(Case("map_agg", (c, "i8")) for c in ORDERED),
    *(Case("map_agg", ("s", c)) for c in ("f64", "s")),
    Case("map_agg", ("s", "i8"), order=(Order("f64", descending=True), Order("b"))),
]
SKETCHED = [
    *(Case("approx_count_distinct", (c,)) for c in (*ORDERED, "d5", "f32")),
    *(Case("approx_percentile", ("i8",), (p,)) for p in (0.0, 0.3, 1.0)),
    Case("approx_percentile", ("i8",), (0.3, 100)),
    Case("approx_count_distinct", ("s",), (0.01,)),
    *(Case("hll_sketch_agg", (c,), (lg,)) for c in ("i32", "i64", "s") for lg in (4, 12)),
    Case("hll_union_agg", ("hll",), (True,)),
    *(Case("theta_sketch_agg", (c,), (5,)) for c in ("i32", "f32", "f64", "s")),
    *(Case("theta_union_agg", ("theta",), (lg,)) for lg in (5, 12)),
    Case("theta_intersection_agg", ("theta",)),
    Case("bitmap_construct_agg", ("at",)),
    *(Case(f"bitmap_{name}_agg", ("bits",)) for name in ("or", "and")),
    *(Case("kll_sketch_agg_bigint", (c,), (k,)) for c in ("i8", "i64") for k in (8, 200)),
    *(Case("kll_sketch_agg_double", (c,), (8,)) for c in ("f32", "f64")),
    Case("kll_sketch_agg_float", ("f32",), (8,)),
    *(Case("kll_merge_agg_bigint", ("kll",), k) for k in ((), (8,), (100,))),
    *(Case(f"kll_merge_agg_{name}", ("kll_" + name,)) for name in ("float", "double")),
    *(Case("approx_percentile", (c,), (0.3,)) for c in ("i64", "d5", "f32", "date", "t")),
]
KNOWN = [
    *(Case(f, ()) for f in ("count",)),
    *(Case(f, ("i32",)) for f in ("count", "sum", "avg", "min", "max", "first", "last")),
    *(Case(f, ("d38",)) for f in ("count", "sum", "avg", "min", "max", "first", "last")),
    *(Case(f, ("f64",)) for f in ("sum", "avg", "min", "max", "stddev_samp", "var_pop")),
    *(Case(f, ("s",)) for f in ("min", "max", "first", "last")),
    *(Case(f, ("b",)) for f in ("bool_and", "bool_or")),
    *(Case(f, ("s", "f64")) for f in ("arg_min", "arg_max")),
]
SCALED = ("sum", "avg", "covar_samp", "covar_pop", "median", "percentile_cont", "var_pop")
SCALED += ("stddev_samp", "stddev_pop", "var_samp", "try_sum", "try_avg")
SCALED += REGRESSIONS
SHAPES = ("skewness", "kurtosis")


def test_every_function_is_checked() -> None:
    here = {case.function for case in [*CASES, *SKETCHED, *KNOWN]}
    assert here == {known.name for known in SIGNATURES}


def specified(case: Case, rows: list[Row], where: str | None) -> Any:
    type_ = case.bound(where).call.type
    return aggregate(
        case.function,
        case.args,
        type_,
        rows,
        where,
        case.params,
        case.distinct,
        case.order,
        case.limit,
    )


def near(case: Case, got: Any, rows: list[Row], where: str | None) -> bool:
    """An approximate percentile has about the rank that was asked for."""
    taken = [r for r in rows if where is None or r[where] is True]
    values = [r[case.args[0]] for r in taken if r[case.args[0]] is not None]
    if not values or got is None:
        return not values and got is None
    below, upto = (sum(1 for v in values if f(v)) for f in (got.__gt__, got.__ge__))
    return below - 1 <= case.params[0] * len(values) <= upto + 1


def alike(got: Any, expected: Any, scale: float) -> bool:
    if isinstance(expected, dict) and isinstance(got, dict):
        return alike(*([x for pair in map_.items() for x in pair] for map_ in (got, expected)), 0.0)
    if isinstance(expected, list):
        if got is None:
            return False
        pairs = zip(got, expected, strict=False)
        return len(got) == len(expected) and all(alike(a, b, 0.0) for a, b in pairs)
    return same(got, expected, scale)


def tolerance(case: Case, rows: list[Row]) -> float:
    """Floats are compared to the size of what was computed with."""
    if case.function in ("corr", "regr_r2", "regr_slope", "regr_intercept", *SHAPES):
        return 1e3  # a quotient of two small differences
    sizes = [size(rows, arg) for arg in case.args] if case.function in SCALED else []
    squared = case.function in ("var_pop", "var_samp", "regr_sxx", "regr_syy")
    return math.prod(s or 1.0 for s in (*sizes, *sizes * squared)) if sizes else 0.0


def checked(case: Case, got: Any, groups: list[list[Row]], where: str | None) -> None:
    """`got()` gives each group's value, or Overflow at the first group that has none."""
    expected: list[Any] = []
    for n, rows in enumerate(groups):
        try:
            expected.append(specified(case, rows, where))
        except OutOfRange:
            with pytest.raises(Overflow) as raised:
                got()
            assert raised.value.row == n
            return
    series = got()
    assert (series.name, series.dtype) == ("out", polars_type(case.bound(where).call.type))
    assert len(series) == len(expected)
    scale = max((tolerance(case, rows) for rows in groups), default=0.0)
    for mine, theirs, rows in zip(series.to_list(), expected, groups, strict=True):
        if case.function == "approx_percentile":
            assert near(case, mine, rows, where), (mine, theirs, rows)
        else:
            assert alike(mine, theirs, scale), (mine, theirs, rows)


def tame(case: Case, rows: list[Row]) -> bool:
    """A correlation is a quotient of differences, which huge values among small ones drown."""
    return case.function != "corr" or all(abs(row.get("f64") or 0.0) < 1e17 for row in rows)


@pytest.mark.parametrize("case", [*CASES, *SKETCHED], ids=str)
def test_parts_merged_in_any_order_give_the_answer(case: Case) -> None:
    @EACH
    @given(tables(case.columns), WHERE, st.integers(0, 99))
    def check(rows: list[Row], where: str | None, seed: int) -> None:
        if not tame(case, rows):
            return
        bound, table = case.bound(where), frame_of(rows, case.columns)
        whole = table.group_by("key", maintain_order=True).agg(bound.lift())
        parts = table.group_by("key", "cut", maintain_order=True).agg(bound.lift())
        merged = parts.sample(fraction=1, shuffle=True, seed=seed)
        merged = merged.with_columns(half=pl.col("cut") % 2)
        merged = merged.group_by("key", "half").agg(bound.merge())
        merged = merged.group_by("key").agg(bound.merge()).sort("key")
        assert tuple(whole.columns) == ("key", *bound.columns)
        assert whole.schema == merged.schema == parts.drop("cut").schema
        groups = [[r for r in rows if r["key"] == key] for key in whole["key"]]
        checked(case, lambda: bound.finish(whole), groups, where)
        checked(case, lambda: bound.finish(merged), groups, where)

    check()


@st.composite
def any_frames(draw: st.DrawFn, rows: int) -> Frames:
    bounds = st.lists(st.tuples(st.integers(0, rows), st.integers(0, rows)), max_size=12)
    pairs = [sorted(pair) for pair in draw(bounds)]
    lo, hi = (np.array([pair[n] for pair in pairs], dtype=np.int64) for n in (0, 1))
    return Frames(lo, hi)


@pytest.mark.parametrize("case", [*CASES, *SKETCHED, *KNOWN], ids=str)
def test_each_frame_has_the_answer_of_its_rows(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    few = gather.chunks.__defaults__
    monkeypatch.setattr(gather.chunks, "__defaults__", (5,))
    assert few == (gather.MOST,)

    @EACH
    @given(st.data(), tables(case.columns), WHERE)
    def check(data: st.DataObject, rows: list[Row], where: str | None) -> None:
        if not tame(case, rows):
            return
        rows = [row | {"key": 0} for row in rows]
        rows.sort(key=lambda row: (row["__ts"], row["__part"], row["__seq"]))
        frames = data.draw(any_frames(len(rows)))
        bound, table = case.bound(where), frame_of(rows, case.columns)
        groups = [rows[lo:hi] for lo, hi in zip(frames.lo, frames.hi, strict=True)]
        over = bound.over(table, frames)
        assert over.schema == table.group_by("key").agg(bound.lift()).drop("key").schema
        checked(case, lambda: bound.finish(over), groups, where)
        checked(case, lambda: bound.slide(table, frames), groups, where)

    check()


def test_full_state_is_what_the_signatures_say() -> None:
    for case in [*CASES, *SKETCHED, *KNOWN]:
        known = signature(case.function)
        assert known is not None
        assert case.bound(None).full_state == known.keeps_values(case.distinct, case.limit), case


@pytest.mark.parametrize("case", [*CASES, *SKETCHED, *KNOWN], ids=str)
def test_a_part_with_no_row_is_the_identity(case: Case) -> None:
    bound = case.bound("w")
    off = {"key": 1, "w": False, "cut": 0, "__ts": 1, "__part": 0, "__seq": 0}
    table = frame_of([off | dict.fromkeys(case.columns)], case.columns)
    empty = table.group_by("key").agg(bound.lift())
    twice = pl.concat([empty, empty]).group_by("key").agg(bound.merge())
    known = signature(case.function)
    assert known is not None
    empty_sketch = specified(case, [], None)
    nothing = {
        "NULL": None,
        "0": 0,
        "an empty list": [],
        "an empty map": {},
        "an empty sketch": empty_sketch,
        "4096 bytes of 0": bytes(4096),
        "4096 bytes of 255": b"\xff" * 4096,
    }[known.nothing.value]
    assert bound.finish(twice).to_list() == [nothing]
    assert len(bound.finish(empty.clear())) == 0
    of_none = Frames(np.zeros(2, np.int64), np.zeros(2, np.int64))
    for rows in (table, table.clear()):
        assert bound.slide(rows, of_none).to_list() == [nothing] * 2
        assert bound.finish(bound.over(rows, of_none)).to_list() == [nothing] * 2
    assert (
        len(bound.slide(table.clear(), Frames(np.zeros(0, np.int64), np.zeros(0, np.int64)))) == 0
    )


ALL = list(dict.fromkeys([*CASES, *SKETCHED, *KNOWN, *(Case(*call) for call in CALLS)]))
UNGROUPED = ("count", "sum", "avg", "min", "max")


@pytest.mark.parametrize("case", ALL, ids=str)
def test_a_row_by_itself_has_the_accumulators_of_its_group(case: Case) -> None:
    @EACH
    @given(tables(case.columns, most=3), WHERE)
    def check(rows: list[Row], where: str | None) -> None:
        bound, table = case.bound(where), frame_of(rows, case.columns)
        by = (pl.col("key"), (pl.col("__ts") % 2).alias("half"))
        each = lifted_row([bound])

        def group_of(row: pl.DataFrame) -> list[pl.Series]:
            assert each is not None
            return [*row.select(by), *each(row)]

        group_by = GroupBy(by, lifted([bound]), None if each is None else group_of)
        for row in [table.clear(), *table.iter_slices(1)]:
            grouped, found = row.group_by(by).agg(bound.lift()), group_by(row)
            assert found.schema == grouped.schema
            assert repr(found.rows()) == repr(grouped.rows())  # -0.0 is not 0.0, NaN is NaN

    check()


@pytest.mark.parametrize("case", [c for c in ALL if c.function in UNGROUPED], ids=str)
def test_folds_of_which_a_row_by_itself_is_not_grouped(case: Case) -> None:
    assert (lifted_row([case.bound("w")]) is None) == case.distinct


def test_a_fold_that_has_to_be_grouped_groups_all() -> None:
    count, median = Case("count", ()).bound(None), Case("median", ("i8",)).bound(None)
    assert lifted_row([count]) is not None
    assert lifted_row([count, median]) is None

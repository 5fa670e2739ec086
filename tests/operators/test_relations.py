"""Windows by themselves: what enters and leaves is what the definitions say, and what is there
after each step is the window of that instant, computed by DuckDB from all rows so far."""

from __future__ import annotations

import duckdb
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from sqlwin.instants import END, START
from sqlwin.operators.contract import Stores
from sqlwin.operators.relations.counted import CountedRelation
from sqlwin.operators.relations.counted_instants import CountedInstants
from sqlwin.operators.relations.timed import TimedRelation
from sqlwin.operators.relations.timed_instants import TimedInstants
from sqlwin.schema import EMIT, OP, PART, REVISION, ROW_KEY, SEQ, TS
from tests.reference.definitions.relations import Last, Moving, ReferenceRelation
from tests.support.operators.driving import Driven, rows_of

COLUMNS: dict[str, pl.DataType] = {"k": pl.String(), "v": pl.Int64()}
Relation = TimedRelation | CountedRelation
Batch = tuple[list[tuple[str | None, int]], int]
"""Keys and event times of rows, and how far the watermark moves after them."""

BATCHES = st.lists(
    st.tuples(
        st.lists(st.tuples(st.sampled_from([None, "a", "b"]), st.integers(-3, 12)), max_size=5),
        st.integers(0, 6),
    ),
    max_size=6,
)


@st.composite
def relations(draw: st.DrawFn) -> Relation:
    if draw(st.booleans()):
        slide = draw(st.sampled_from([None, None, 1, 2, 3]))
        return TimedRelation("s", COLUMNS, draw(st.integers(slide or 0, 6)), slide)
    keys = draw(st.sampled_from([(), ("k",)]))
    return CountedRelation("s", COLUMNS, draw(st.integers(1, 4)), keys, draw(st.booleans()))


Instants = TimedInstants | CountedInstants


@st.composite
def instants(draw: st.DrawFn) -> Instants:
    if draw(st.booleans()):
        retain = draw(st.sampled_from([None, 0, 3, 20]))
        return TimedInstants("s", COLUMNS, draw(st.integers(0, 6)), retain)
    keys = draw(st.sampled_from([(), ("k",)]))
    return CountedInstants("s", COLUMNS, draw(st.integers(1, 4)), keys, draw(st.booleans()))


def defined(fast: Instants) -> ReferenceRelation:
    if isinstance(fast, TimedInstants):
        return ReferenceRelation("s", COLUMNS, Moving(fast.length, None), instants=True)
    last = Last(fast.size, fast.partition, fast.timed)
    return ReferenceRelation("s", COLUMNS, last, instants=True)


def at_each_instant(relation: Instants, taken: pl.DataFrame, watermark: int) -> list[int]:
    """The values in the relation at each instant of change up to a watermark, one after another."""
    if isinstance(relation, TimedInstants):
        text = f"""
            WITH instants AS (
              SELECT __ts AS t FROM taken UNION SELECT __ts + {relation.length + 1} FROM taken)
            SELECT v FROM instants JOIN taken ON __ts BETWEEN t - {relation.length} AND t
            WHERE t <= {watermark} ORDER BY t, __ts, __seq"""
    else:
        keys = ", ".join(["n", *(f"b.{key}" for key in relation.partition)])
        ranked = f"ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY b.o DESC)"
        text = f"""
            WITH ordered AS (
              SELECT *, ROW_NUMBER() OVER (ORDER BY __ts, __seq) AS o FROM taken
              WHERE __ts <= {watermark}),
            there AS (
              SELECT a.o AS n, b.* FROM ordered a JOIN ordered b ON b.o <= a.o
              QUALIFY {ranked} <= {relation.size})
            SELECT v FROM there ORDER BY n, __ts, __seq"""
    with duckdb.connect() as connection:
        connection.register("taken", taken.to_arrow())
        return [value for (value,) in connection.sql(text).fetchall()]


def specified(fast: Relation) -> ReferenceRelation:
    if isinstance(fast, TimedRelation):
        return ReferenceRelation("s", COLUMNS, Moving(fast.length, fast.slide))
    return ReferenceRelation("s", COLUMNS, Last(fast.size, fast.partition, fast.timed))


def there(relation: Relation, taken: pl.DataFrame, watermark: int) -> list[int]:
    """The values in the relation at a watermark; each row's is its own."""
    if isinstance(relation, TimedRelation):
        last = watermark
        if relation.slide is not None:
            last = watermark // relation.slide * relation.slide
        upper = f"__ts <= {last}" if relation.slide is None else f"__ts < {last}"
        text = f"SELECT v FROM taken WHERE __ts >= {last - relation.length} AND {upper}"
    else:
        reached = f"WHERE __ts <= {watermark}" if relation.timed else ""
        keys = f"PARTITION BY {', '.join(relation.partition)}" if relation.partition else ""
        ranked = f"ROW_NUMBER() OVER ({keys} ORDER BY __ts DESC, __seq DESC)"
        text = f"SELECT v FROM taken {reached} QUALIFY {ranked} <= {relation.size}"
    with duckdb.connect() as connection:
        connection.register("taken", taken.to_arrow())
        rows = connection.sql(text).fetchall()
    return sorted(value for (value,) in rows)


@given(relations(), BATCHES, st.booleans(), st.booleans())
def test_rows_enter_and_leave_as_defined(
    relation: Relation, batches: list[Batch], restarts: bool, ends: bool
) -> None:
    fast, slow, none = Driven(relation, restarts), specified(relation), Stores({})
    taken, kept, watermark = rows_of(COLUMNS), dict[str, int](), 0
    for at, (rows, further) in enumerate(batches):
        watermark += further
        by_arrival = isinstance(relation, CountedRelation) and not relation.timed
        made = [
            (key, at * 10 + n, 0 if by_arrival else ts, 0, at * 10 + n)
            for n, (key, ts) in enumerate(rows)
        ]
        batch = rows_of(COLUMNS, *made)
        taken = pl.concat([taken, batch])
        end = ends and at == len(batches) - 1
        emitted = fast.step(batch, watermark=watermark, end=end)
        parts = [slow.on_batch(slow.prepare(batch), none, 0), slow.on_watermark(watermark, none, 0)]
        wanted = pl.concat([*parts, *([slow.on_end(none, 0)] if end else [])])
        assert emitted.rows() == wanted.rows()
        for value, op, key in emitted.select("v", OP, ROW_KEY).rows():
            assert (key in kept) == (op == "-D")
            kept.pop(key, None) if op == "-D" else kept.update({key: value})
        if not end:
            assert sorted(kept.values()) == there(relation, taken, watermark)


@given(instants(), BATCHES, st.booleans(), st.booleans())
def test_all_rows_are_emitted_at_each_instant_of_change(
    relation: Instants, batches: list[Batch], restarts: bool, ends: bool
) -> None:
    fast, slow, none = Driven(relation, restarts), defined(relation), Stores({})
    taken, emitted_values, watermark = rows_of(COLUMNS), list[int](), 0
    ordered, by_arrival = True, isinstance(relation, CountedInstants) and not relation.timed
    for at, (rows, further) in enumerate(batches):
        oldest = START
        if isinstance(relation, TimedInstants) and relation.retain is not None:
            oldest = watermark - relation.retain  # what is older has expired
        made = [
            (key, at * 10 + n, 0 if by_arrival else max(ts, oldest), 0, at * 10 + n)
            for n, (key, ts) in enumerate(rows)
        ]
        ordered &= by_arrival or all(row[2] > watermark for row in made)
        watermark += further
        batch = rows_of(COLUMNS, *made)
        taken = pl.concat([taken, batch])
        end = ends and at == len(batches) - 1
        emitted = fast.step(batch, watermark=watermark, end=end)
        parts = [slow.on_batch(slow.prepare(batch), none, 0), slow.on_watermark(watermark, none, 0)]
        wanted = pl.concat([*parts, *([slow.on_end(none, 0)] if end else [])])
        assert emitted.rows() == wanted.rows()
        emitted_values += emitted["v"].to_list()
        reached = END if end else watermark
        if isinstance(relation, TimedInstants):
            assert sorted(emitted_values) == sorted(at_each_instant(relation, taken, reached))
        if ordered:
            assert emitted_values == at_each_instant(relation, taken, reached)


def test_a_late_row_is_emitted_with_the_instants_that_hold_it_and_makes_new_ones() -> None:
    driven = Driven(TimedInstants("s", COLUMNS, 4, 10))
    rows = rows_of(COLUMNS, ("a", 1, 10, 0, 1), ("a", 2, 12, 0, 2))
    assert driven.step(rows, watermark=13)["v"].to_list() == [1, 1, 2]
    late = driven.step(rows_of(COLUMNS, ("a", 3, 11, 0, 3)), watermark=13)
    assert late.select("v", EMIT).rows() == [(1, "late"), (3, "late"), (3, "late")]
    assert driven.step(watermark=30)["v"].to_list() == [3, 2, 2]


def test_state_of_instants_is_what_late_rows_may_share_one_with() -> None:
    driven = Driven(TimedInstants("s", COLUMNS, 5_000_000, 20_000_000))
    for at in range(0, 400_000_000, 10_000_000):
        driven.step(rows_of(COLUMNS, ("a", at, at, 0, at)), watermark=at)
    assert driven.stores["rows"].scan(START, END)[TS].min() >= 350_000_000


def test_an_end_of_input_leaves_nothing_to_be_emitted_twice() -> None:
    driven = Driven(TimedRelation("s", COLUMNS, 5))
    row = rows_of(COLUMNS, ("a", 1, 10, 0, 0))
    assert driven.step(row, watermark=0, end=True)[OP].to_list() == ["+I", "-D"]
    assert driven.step(rows_of(COLUMNS, ("a", 2, 11, 0, 1)), watermark=11)["v"].to_list() == [2]
    assert driven.step(watermark=17).select("v", OP, EMIT, REVISION).rows() == [
        (2, "-D", "full", 1)
    ]


def test_state_is_the_rows_that_are_in_or_still_to_come() -> None:
    driven = Driven(TimedRelation("s", COLUMNS, 5))
    for at in range(0, 200_000_000, 10_000_000):
        driven.step(rows_of(COLUMNS, ("a", at, at, 0, at)), watermark=at)
    assert len(driven.stores["rows"]) == 1
    last = Driven(CountedRelation("s", COLUMNS, 2, ("k",)))
    for at in range(20):
        last.step(rows_of(COLUMNS, ("a", at, 0, 0, at)))
    assert last.stores["last"].scan(0, 9).select("v", TS, PART, SEQ).rows() == [
        (18, 0, 0, 18),
        (19, 0, 0, 19),
    ]

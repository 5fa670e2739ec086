"""Aggregates over OVER frames, against Spark's own OVER over the same random tables.

    tools/with-java .venv/bin/python -m tests.aggregates.over --seed 7 --groups 50
    tools/with-java .venv/bin/python -m tests.aggregates.over int --frame range --only "sum("

Every row has a frame and so an answer; rows of a group are in the order of event time. What is the
same is not printed, nor what is refused: Spark takes no FILTER, DISTINCT or WITHIN GROUP in OVER.

Left out is what Spark answers by the order of rows (docs/aggregates.md): groups whose sums leave
DOUBLE on their way, and sketches over NaN in a frame that begins with the partition.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

import sqlwin
from sqlwin.errors import QueryError, RunError
from sqlwin.sql import script
from tests.aggregates.calls import NEAREST, calls_of, same_but
from tests.aggregates.compare import report
from tests.aggregates.halves import Cells, by_halves
from tests.aggregates.tables import GROUPS, KINDS, tables
from tests.functions.canonical import Json, canonical, type_name
from tests.functions.classes import verdict
from tests.functions.oracle import Answer, failures, session
from tests.functions.ours import Ours

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRAMES = {
    "rows": "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
    "around": "ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING",
    "range": "RANGE BETWEEN INTERVAL '2' SECOND PRECEDING AND CURRENT ROW",
    "all": "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
}
APART = ("FILTER", "DISTINCT", "WITHIN GROUP", " / ", " + 1", "AS STRING", "mode(", "_by(")
"""Parts of calls that Spark takes in no OVER, that are no call, or of which one of several rows has
the answer."""
BAD = ("silent", "crash", "rejected", "unraised", "type")


def calls(name: str, only: str = "") -> list[str]:
    return [c for c in calls_of(name) if only in c and not any(part in c for part in APART)]


HUGE = ("beyond the top", "beyond the bottom", "there and back", "extremes")
PAIRS = ("covar_", "regr_s", "regr_i")


def _table(name: str, seed: int, groups: int) -> pa.Table:
    rows = tables(seed, groups, 12)[name]
    huge = [GROUPS.index(group) for group in HUGE]
    return rows.filter(~pc.field("g").isin(huge)) if KINDS[name].endless else rows


def _calls(name: str, frame: str, only: str) -> list[str]:
    lost = KINDS[name].endless and frame == "all"
    return [call for call in calls(name, only) if not (lost and call.startswith(NEAREST))]


def noise(call: str, rows: pa.Table) -> float:
    """Absolute: of products as large as those of `x` and `y`, which have 15 digits."""
    numeric = pa.types.is_integer(rows["x"].type) or pa.types.is_decimal(rows["x"].type)
    if not numeric or not call.startswith(PAIRS):
        return 0.0
    x, y = (pc.max(pc.abs(rows[name].cast(pa.float64()))).as_py() for name in "xy")
    return float(1e-15 * x * y)


def differences(
    spark: SparkSession, name: str, frame: str, seed: int, groups: int, only: str = ""
) -> Iterator[str]:
    """Of one type: each call whose answer is another one, with its rows."""
    rows = _table(name, seed, groups)
    over = f"OVER (PARTITION BY g ORDER BY ts {FRAMES[frame]})"
    spark.createDataFrame(rows).coalesce(1).createOrReplaceTempView("input")
    ours = _ours(rows, over, _calls(name, frame, only))
    taken = [call for call, found in ours.items() if not found.refused]
    theirs = _theirs(spark, rows, over, taken)
    for call in taken:
        one, other = _flat(call, theirs[call], ours[call], noise(call, rows))
        found = verdict(one, other)
        if found.kind in BAD:
            yield "\n".join(report(call, one, other, found))


def _flat(call: str, theirs: Answer, ours: Ours, small: float) -> tuple[Answer, Ours]:
    """Row by row, of lists that are one for each group; an error is one of the group."""
    if theirs.refused or ours.crashed:
        return theirs, ours
    pairs = [
        pair
        for one, other in zip(theirs.rows, ours.rows, strict=True)
        for pair in (
            zip(one, other, strict=True)
            if isinstance(one, list) and isinstance(other, list)
            else [(one, other)]
        )
    ]
    same = tuple(
        one if same_but(call, one, other, theirs.type, small) else other for one, other in pairs
    )
    return Answer(theirs.type, tuple(one for one, _ in pairs)), Ours(ours.type, same)


def _ours(rows: pa.Table, over: str, parsed: Sequence[str]) -> dict[str, Ours]:
    stream = sqlwin.stream(rows.schema, ts="ts")

    def typed(call: str) -> Ours:
        try:
            (query,) = script(f"SELECT {call} {over} AS v FROM input", {"input": stream}).queries
        except QueryError as refusal:
            return Ours(refused=str(refusal).splitlines()[0])
        return Ours(type_name(next(c.type for c in query.plan.schema if c.name == "v")))

    def values(some: Sequence[str], groups: Sequence[int]) -> Cells:
        query = sqlwin.query(_text(some, over), {"input": stream})
        query.push("input", rows.filter(pc.field("g").isin(list(groups))))
        query.drain()
        if query.refused():
            raise RunError(f"rows that fail: {query.refused()}")
        return _cells(some, groups, query.table())

    found = {call: typed(call) for call in parsed}
    legal = [call for call in parsed if not found[call].refused]
    cells = by_halves(legal, _groups(rows), values, RunError)
    made = {call: tuple(cells[call, group] for group in _groups(rows)) for call in legal}
    return found | {call: Ours(found[call].type, made[call]) for call in legal}


def _theirs(
    spark: SparkSession, rows: pa.Table, over: str, parsed: Sequence[str]
) -> dict[str, Answer]:
    def typed(call: str) -> Answer:
        try:
            made = spark.sql(f"SELECT {call} {over} AS v FROM input")
        except failures() as refusal:
            return Answer("", refused=type(refusal).__name__)
        return Answer(made.schema[0].dataType.simpleString())

    def values(some: Sequence[str], groups: Sequence[int]) -> Cells:
        wanted = ", ".join(map(str, groups))
        text = f"{_text(some, over)} WHERE g IN ({wanted})"
        try:
            batches = spark.sql(text)._collect_as_arrow()  # type: ignore[operator]
        except failures() as failure:
            raise RunError(type(failure).__name__) from None
        return _cells(some, groups, pa.Table.from_batches(batches))

    found = {call: typed(call) for call in parsed}
    legal = [call for call in parsed if not found[call].refused]
    cells = by_halves(legal, _groups(rows), values, RunError)
    made = {call: tuple(cells[call, group] for group in _groups(rows)) for call in legal}
    return found | {call: Answer(found[call].type, made[call]) for call in legal}


def _text(some: Sequence[str], over: str) -> str:
    return (
        f"SELECT g, ts, {', '.join(f'{c} {over} AS c{at}' for at, c in enumerate(some))} FROM input"
    )


def _groups(rows: pa.Table) -> list[int]:
    return sorted(set(rows["g"].to_pylist()))


def _cells(some: Sequence[str], groups: Sequence[int], found: pa.Table) -> Cells:
    """Of each call and group the values of its rows, in the order of event time."""
    found = found.take(pc.sort_indices(found["ts"]))
    numbers = found["g"].to_pylist()
    cells: dict[tuple[str, int], list[Json]] = {(c, g): [] for c in some for g in groups}
    for at, call in enumerate(some):
        for group, value in zip(numbers, found[f"c{at}"], strict=True):
            cells[call, group].append(canonical(value))
    return dict(cells)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.aggregates.over")
    parser.add_argument("types", nargs="*", choices=[*KINDS, []])
    parser.add_argument("--frame", choices=tuple(FRAMES), help="all of them, if none is given")
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--groups", type=int, default=20, help="drawn ones, beside those by hand")
    parser.add_argument("--only", default="", help="calls that contain this text")
    given = parser.parse_args()
    with session() as spark:
        for name in given.types or KINDS:
            for frame in [given.frame] if given.frame else FRAMES:
                print(f"{name}, {frame}")
                found = differences(spark, name, frame, given.seed, given.groups, given.only)
                print(*found, sep="\n", flush=True)


if __name__ == "__main__":
    main()

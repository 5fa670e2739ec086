"""Random group windows and joins (`window_cases.py`), against Spark's batch answers.

    tools/with-java .venv/bin/python -m tests.aggregates.windows --seed 1000 --cases 200
    tools/with-java .venv/bin/python -m tests.aggregates.windows --record

The first searches, and prints what differs; the second writes Spark's answers to the first CASES
seeds to `windows.jsonl.gz`, which the default suite compares with.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

import sqlwin
from sqlwin.errors import QueryError, RunError
from tests.aggregates.calls import same_but
from tests.aggregates.window_cases import Case, drawn
from tests.functions.canonical import Json, canonical, type_name
from tests.functions.oracle import failures, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATH = Path(__file__).with_name("windows.jsonl.gz")
CASES = 60


@dataclass(frozen=True)
class Result:
    """types: of the columns; rows: in an order of their own. failed: refused, or it raised."""

    types: tuple[str, ...] = ()
    rows: tuple[Json, ...] = ()
    failed: str = ""


def ours(case: Case) -> Result:
    """A row that fails is one that Spark raises for."""
    stream = sqlwin.stream(case.rows.schema, ts="ts")
    try:
        query = sqlwin.query(case.ours, {"input": stream})
        query.push("input", case.rows)
        query.drain()
    except (QueryError, RunError) as failure:
        return Result(failed=str(failure).split("\n")[0])
    if query.refused():
        return Result(failed=f"rows that fail: {query.refused()}")
    found = query.table()
    types = tuple(type_name(found.schema.field(name).type) for name in _names(case))
    return Result(types, _rows(case, found))


def theirs(spark: SparkSession, case: Case) -> Result:
    spark.createDataFrame(case.rows).coalesce(1).createOrReplaceTempView("input")
    try:
        made = spark.sql(case.theirs)
        batches = made._collect_as_arrow()  # type: ignore[operator]
    except failures() as failure:
        return Result(failed=str(failure).split("\n")[0])
    types = tuple(made.schema[name].dataType.simpleString() for name in _names(case))
    return Result(types, _rows(case, pa.Table.from_batches(batches)) if batches else ())


def _names(case: Case) -> list[str]:
    return ["g", "s", "e", *(f"c{at}" for at in range(len(case.items)))]


def _rows(case: Case, found: pa.Table) -> tuple[Json, ...]:
    columns = [map(canonical, found[name]) for name in _names(case)]
    return tuple(sorted(map(list, zip(*columns, strict=True)), key=json.dumps))


def differences(case: Case, spark: Result, own: Result) -> Iterator[str]:
    """What is not the same, but for what Spark leaves open."""
    if spark.failed or own.failed:
        if not (spark.failed and own.failed):
            yield f"{spark.failed or 'an answer'} → {own.failed or 'an answer'}"
        return
    if spark.types != own.types:
        yield f"types {spark.types} → {own.types}"
    if [row[:3] for row in spark.rows] != [row[:3] for row in own.rows]:
        yield f"windows {[row[:3] for row in spark.rows]} → {[row[:3] for row in own.rows]}"
        return
    for one, other in zip(spark.rows, own.rows, strict=True):
        for at, item in enumerate(case.items, 3):
            if not same_but(item, one[at], other[at], spark.types[at]):
                yield f"{item} of {one[:3]}: {one[at]} → {other[at]}"


def report(seed: int, spark: Result) -> str:
    """Empty where the case is the same."""
    case = drawn(seed)
    found = list(differences(case, spark, ours(case)))
    return "\n  ".join([f"{seed}: {case.ours}", *found]) if found else ""


def live(spark: SparkSession, seeds: Iterable[int]) -> Iterator[str]:
    for seed in seeds:
        differs = report(seed, theirs(spark, drawn(seed)))
        if differs:
            yield differs


# --- recorded answers ------------------------------------------------------------


def digest() -> str:
    """Of the cases that are recorded."""
    cases = map(drawn, range(CASES))
    text = "".join(f"{case.ours} {case.theirs} {case.rows.to_pylist()}" for case in cases)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def recorded() -> dict[int, Result]:
    """By seed. LookupError where the cases are not those that were recorded."""
    head, *lines = gzip.decompress(PATH.read_bytes()).decode("utf-8").strip("\n").split("\n")
    if json.loads(head)["cases"] != digest():
        raise LookupError(f"window_cases.py is not what {PATH.name} was recorded with")
    found = {}
    for line in lines:
        seed, types, rows, failed = json.loads(line)
        found[seed] = Result(tuple(types), tuple(rows), failed)
    return found


def record(spark: SparkSession) -> None:
    lines = [json.dumps({"cases": digest()})]
    for seed in range(CASES):
        found = theirs(spark, drawn(seed))
        line = [seed, found.types, found.rows, found.failed]
        lines.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    PATH.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode("utf-8"), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.aggregates.windows")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    with session() as spark:
        if given.record:
            record(spark)
        else:
            for differs in live(spark, range(given.seed, given.seed + given.cases)):
                print(differs, flush=True)


if __name__ == "__main__":
    main()

"""What expressions cost a row: `python -m bench.expressions --rows 10000000`.

Each is computed as a query computes its select list, over one batch, and beside it the nearest
text of the engine's own, which may mean something else at the edges: what the difference costs.
A ratio is of one run, the median of three, in turns.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
import polars as pl
import pyarrow as pa

import sqlwin
from sqlwin.plan.nodes import Project, Scalar
from sqlwin.runtime.scalars import evaluate
from sqlwin.sql import script

EXPRESSIONS = {
    "n + 1": '"n" + 1',
    "n * 2 - m": '"n" * 2 - "m"',
    "x * 1.5": '"x" * 1.5',
    "price * 2": '"price" * 2',
    "n % 7": '"n" % 7',
    "n > 500 AND m < 100": '"n" > 500 AND "m" < 100',
    "n BETWEEN 10 AND 900": '"n" BETWEEN 10 AND 900',
    "k IN ('k1', 'k2', 'k3')": "\"k\" IN ('k1', 'k2', 'k3')",
    "k = 'k7'": "\"k\" = 'k7'",
    "IF(n > 500, 'high', 'low')": "CASE WHEN \"n\" > 500 THEN 'high' ELSE 'low' END",
    "COALESCE(o, 0)": 'coalesce("o", 0)',
    "UPPER(k)": 'upper("k")',
    "CONCAT(k, '-', k)": '"k" || \'-\' || "k"',
    "SUBSTRING(k, 1, 2)": 'substring("k", 1, 2)',
    "k LIKE 'k1%'": "\"k\" LIKE 'k1%'",
    "LENGTH(k)": 'length("k")',
    "CAST(n AS STRING)": 'CAST("n" AS VARCHAR)',
    "CAST(digits AS INT)": 'CAST("digits" AS INTEGER)',
    "DATE_TRUNC('HOUR', ts)": "date_trunc('hour', \"ts\")",
    "DATE_FORMAT(ts, 'yyyy-MM-dd')": "strftime(\"ts\", '%Y-%m-%d')",
    "HOUR(ts)": 'hour("ts")',
    "REPLACE(k, 'k', 'key')": "replace(\"k\", 'k', 'key')",
    "ROUND(x, 2)": 'round("x", 2)',
}
"""sqlwin's and DuckDB's."""


def rows(count: int) -> pl.DataFrame:
    draw = np.random.default_rng(1)
    n = draw.integers(0, 1000, count, dtype=np.int64)
    frame = pl.DataFrame(
        {
            "n": n,
            "m": draw.integers(0, 1000, count, dtype=np.int64),
            "o": pl.Series(n.astype(np.int32)).set(pl.Series(n % 10 == 0), None),
            "x": draw.random(count) * 1000,
            "ts": pl.Series(1_700_000_000_000_000 + n * 60_000_000).cast(pl.Datetime("us", "UTC")),
        }
    )
    return frame.with_columns(
        pl.format("k{}", pl.col("n")).alias("k"),
        pl.col("n").cast(pl.String).alias("digits"),
        (pl.col("x") * 100).cast(pl.Int64).cast(pl.Decimal(10, 2)).alias("price"),
    )


def compiled(text: str, schema: pa.Schema) -> Scalar:
    query = f"SELECT {text} AS y FROM input"
    (made,) = script(query, {"input": sqlwin.stream(schema)}).queries
    assert isinstance(made.plan, Project)
    return made.plan.columns[0][1]


def seconds(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def main(arguments: argparse.Namespace) -> None:
    frame = rows(arguments.rows)
    schema = frame.head(1).to_arrow().schema
    fields = [(f.name, pa.string() if f.type == pa.large_string() else f.type) for f in schema]
    for text, engine in EXPRESSIONS.items():
        ours = compiled(text, pa.schema(fields))
        plain = Scalar(text, engine, ours.type, ours.inputs)
        both: dict[str, list[float]] = {"ours": [], "plain": []}
        for _ in range(3):
            for name, scalar in (("ours", ours), ("plain", plain)):
                both[name].append(seconds(lambda s=scalar: evaluate(frame, (("y", s),))))  # type: ignore[misc]
        mine, yours = median(both["ours"]), median(both["plain"])
        speed = arguments.rows / mine / 1e6
        sys.stdout.write(f"{text:46} {speed:8.1f} M rows/s  {mine / yours:6.2f}\n")
        sys.stdout.flush()


def options() -> argparse.ArgumentParser:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--rows", type=int, default=10_000_000)
    return asked


if __name__ == "__main__":
    main(options().parse_args())

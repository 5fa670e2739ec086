"""Pushes of 1, 10, 100 and 10,000 rows in process: `python -m bench.start.pushes`, one JSON line.

Seconds are the processor's, of this process: on a machine that others use, too, they say more than
those of a clock. The ratio of a small push to a large one is of one run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

import polars as pl

import sqlwin

STREAM = "CREATE STREAM a (k BIGINT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
QUERIES = {
    "tumble": f"""{STREAM} SELECT k, window_end, COUNT(*) AS n, SUM(v) AS total, MAX(v) AS most
        FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY k, window_end""",
    "over": f"""{STREAM} SELECT k, ts, SUM(v) OVER w AS total, COUNT(*) OVER w AS n,
        MAX(v) OVER w AS most, AVG(v) OVER w AS mean FROM a
        WINDOW w AS (PARTITION BY k ORDER BY ts RANGE INTERVAL '2' MINUTE PRECEDING)""",
}
QUERIES["tumble, dicts"] = QUERIES["tumble"]
"""Its rows are pushed as dicts; those of the others as frames."""
SIZES = {1: 200, 10: 200, 100: 60, 10_000: 10}
"""Rows of a push, and how many are counted."""
WARM, KEYS, GAP = 10, 20, 50_000
"""Pushes before the count, keys, microseconds between rows."""
BEGIN = int(datetime(2024, 1, 1, tzinfo=timezone.utc).timestamp()) * 1_000_000


def batches(size: int, count: int) -> Iterator[pl.DataFrame]:
    for first in range(0, size * count, size):
        at = pl.int_range(first, first + size, eager=True)
        instants = (at * GAP + BEGIN).cast(pl.Datetime("us", "UTC"))
        yield pl.DataFrame({"k": at * 7 % KEYS, "v": at, "ts": instants})


def seconds(kind: str, size: int, count: int) -> float:
    """Of the processor, for each row."""
    with sqlwin.query(QUERIES[kind]) as query:
        pushed: list[Any] = list(batches(size, WARM + count))
        if kind.endswith("dicts"):
            pushed = [rows.to_dicts() for rows in pushed]
        for rows in pushed[:WARM]:
            query.push("a", rows)
        query.results()
        began = time.process_time()
        for rows in pushed[WARM:]:
            query.push("a", rows)
            query.results()
        return (time.process_time() - began) / (size * count)


def main() -> None:
    found = {
        kind: {str(size): 1 / seconds(kind, size, count) for size, count in SIZES.items()}
        for kind in QUERIES
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()

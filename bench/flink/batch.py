"""DuckDB's answer over all rows as one batch, on two threads: the seconds of its fastest of three.

`python -m bench.flink.batch '{"query": "tumble", "data": …}'`
"""

from __future__ import annotations

import json
import sys
import time

from bench.answers import connected
from bench.data import Data
from bench.flink.queries import QUERIES

RUNS = 3


def seconds(query: str, data: Data, runs: int = RUNS) -> float:
    taken: list[float] = []
    for _ in range(runs):
        with connected(data) as con:
            began = time.perf_counter()
            con.execute(f"CREATE TEMP TABLE answer AS {QUERIES[query].duckdb}")
            taken.append(time.perf_counter() - began)
    return min(taken)


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(seconds(given["query"], Data(**given["data"]))))

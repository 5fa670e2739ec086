"""The queries in process, beside another checkout: `python -m bench.before CHECKOUT`, in Markdown.

Seconds of CPU (user and system) of whole runs, in turns, so that what else the machine does
meets both. The script and the data are this checkout's; the other must only understand them.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.data import Data, generated, paired
from bench.queries import QUERIES, Query, script
from bench.start.processor import HOME, seconds

ROOT = HOME / "build" / "bench"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.before")
    options.add_argument("checkout", type=Path)
    options.add_argument("--rows", type=int, default=2_000_000)
    options.add_argument("--batches", type=int, default=10)
    options.add_argument("--runs", type=int, default=6)
    options.add_argument("--queries", nargs="+", default=list(QUERIES), choices=list(QUERIES))
    given = options.parse_args()
    print("| query | keys | least before | least now | ratio of the least | ratio of the medians |")
    print("|---|---|--:|--:|--:|--:|")
    for query, data in _cases(given.queries, given.rows, given.rows // given.batches):
        before, now = _by_turns(query, data, given.checkout.resolve(), given.runs)
        least, medians = min(now) / min(before), statistics.median(now) / statistics.median(before)
        print(
            f"| {query.name} | {data.shape} | {min(before):.2f} | {min(now):.2f} "
            f"| {least:.2f} | {medians:.2f} |",
            flush=True,
        )


def _cases(names: list[str], rows: int, file_rows: int) -> Iterator[tuple[Query, Data]]:
    for name in names:
        query = QUERIES[name]
        for shape in query.shapes:
            make = paired if query.paired else generated
            yield query, make(shape, rows, ROOT, file_rows)


def _by_turns(
    query: Query, data: Data, checkout: Path, runs: int
) -> tuple[list[float], list[float]]:
    """Seconds of each run of the other checkout, and of this one."""
    with tempfile.TemporaryDirectory(prefix="bench-before-") as folder:
        path = Path(folder, "query.sql")
        path.write_text(script(query, data), encoding="utf-8")
        command = ["-m", "sqlwin.cli", "run", "--engine", "embedded", str(path)]
        pairs = [(seconds(checkout, command), seconds(HOME, command)) for _ in range(runs)]
    return [before for before, _ in pairs], [now for _, now in pairs]


if __name__ == "__main__":
    main()

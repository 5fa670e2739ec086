"""What a start costs: `python -m bench.start [--before CHECKOUT] [--runs N]`, a table in Markdown.

`--pushes` leaves out all but the small pushes.
Each command runs in a process of its own, in turn with the others and with those of the other
checkout, so that a machine that becomes slower becomes so for all. Figures are medians of seconds
of the processor (user and system) of the process; rates of pushes are those of
`bench.start.pushes`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from bench.start.processor import HOME, seconds

QUERY = str(HOME / "queries" / "departures_per_hour.sql")
TEN_ROWS = """
import sqlwin
with sqlwin.query(
    "CREATE STREAM a (k BIGINT, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts);"
    "SELECT k, window_end, SUM(v) AS total "
    "FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY k, window_end"
) as query:
    query.push("a", [{"k": 1, "v": n, "ts": f"2024-01-01T09:0{n}:10Z"} for n in range(10)])
    query.drain()
    query.table()
"""
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "sqlwin --version": ["-m", "sqlwin.cli", "--version"],
    "sqlwin --help": ["-m", "sqlwin.cli", "--help"],
    "sqlwin check": ["-m", "sqlwin.cli", "check", QUERY],
    "sqlwin explain": ["-m", "sqlwin.cli", "explain", QUERY],
    "ten rows in process": ["-c", TEN_ROWS],
}


def pushes(checkout: Path) -> dict[str, dict[str, float]]:
    """Rows a second by query and size; the bench is this one, the engine that of the checkout."""
    found: dict[str, dict[str, float]] = json.loads(
        subprocess.check_output(
            [sys.executable, str(Path(__file__).with_name("pushes.py"))],
            cwd=checkout,
            env={**os.environ, "PYTHONPATH": str(checkout)},
        )
    )
    return found


def main() -> None:
    asked = argparse.ArgumentParser(prog="python -m bench.start")
    asked.add_argument("--before", type=Path, help="another checkout, to compare with")
    asked.add_argument("--runs", type=int, default=9)
    asked.add_argument("--pushes", action="store_true", help="small pushes only")
    given = asked.parse_args()
    checkouts = [HOME] if given.before is None else [given.before.resolve(), HOME]
    print(f"| | {' | '.join(['before', 'now'][-len(checkouts) :])} |")
    print(f"|---|{'--:|' * len(checkouts)}")
    if not given.pushes:
        _print_starts(checkouts, given.runs)
    _print_pushes(checkouts, max(1, given.runs // 3))


def _print_starts(checkouts: list[Path], runs: int) -> None:
    found: dict[tuple[str, Path], list[float]] = defaultdict(list)
    for run in range(runs + 1):
        for name, arguments in COMMANDS.items():
            for checkout in checkouts:
                used = seconds(checkout, arguments)
                if run:  # the first fills caches
                    found[name, checkout].append(used)
    for name in COMMANDS:
        medians = (statistics.median(found[name, checkout]) for checkout in checkouts)
        print(f"| {name} | {' | '.join(f'{median:.2f} s' for median in medians)} |")


def _print_pushes(checkouts: list[Path], runs: int) -> None:
    found = [[pushes(checkout) for checkout in checkouts] for _ in range(runs)]
    for kind, sizes in found[0][0].items():
        for size in sizes:
            rates = (
                statistics.median(run[at][kind][size] for run in found)
                for at in range(len(checkouts))
            )
            shown = " | ".join(f"{rate:,.0f} rows/s" for rate in rates)
            print(f"| {kind}, pushes of {int(size):,} | {shown} |")


if __name__ == "__main__":
    main()

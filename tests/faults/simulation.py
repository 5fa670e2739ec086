"""Crashes by the thousand in one process: `python -m tests.faults.simulation --runs 5000 --seed 1`.

A run draws a query, rows, and the operations at which its disk fails, see `disk`; a run with
a seed is the same each time. `scripted` has those of a script with files, `pushed` those of
a query that rows are pushed to. Seeds that failed are kept in `seeds.txt`, and run first.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from tests.faults.pushed import Pushed
from tests.faults.scripted import Scripted

SEEDS = Path(__file__).with_name("seeds.txt")
HOSTS = {"scripted": Scripted, "pushed": Pushed}
Run = tuple[str, int]


def simulate(run: Run) -> int:
    """How often it crashed; AssertionError where its answer is wrong."""
    host, seed = run
    with TemporaryDirectory(dir=memory()) as folder:
        simulation = HOSTS[host](Path(folder), Random(seed))
        simulation.simulate()
    return simulation.crashes


def memory() -> str | None:
    """A folder in memory, where there is one: what is synced need not wait."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def kept() -> list[Run]:
    """Those that failed once."""
    lines = SEEDS.read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return [(host, int(seed)) for host, seed in words]


def runs(first: int, count: int) -> Iterator[Run]:
    """Those kept, then new ones, the hosts in turn."""
    yield from kept()
    hosts = list(HOSTS)
    for seed in range(first, first + count):
        yield hosts[seed % len(hosts)], seed


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Crash queries, and compare what they emit.")
    parser.add_argument("--runs", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    logging.getLogger("sqlwin").setLevel(logging.ERROR)  # outputs are refused on purpose
    known, failed, crashes = set(kept()), 0, 0
    for number, run in enumerate(runs(options.seed, options.runs), start=1):
        try:
            crashes += simulate(run)
        except Exception as failure:  # noqa: BLE001  whatever a query raises is a finding
            failed += 1
            sys.stdout.write(f"{run[0]} {run[1]}: {failure!r:.2000}\n")
            if run not in known:
                with SEEDS.open("a", encoding="utf-8") as file:
                    file.write(f"{run[0]} {run[1]}\n")
        if number % 100 == 0:
            sys.stderr.write(f"{number} runs, {crashes} crashes, {failed} failed\n")
    report = f"{number} runs from seed {options.seed}, {crashes} crashes, {failed} failed"
    sys.stdout.write(report + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Who answers a query, and one measurement of one of them: its rate and its peak of memory.

What Flink is measured by: a job over all rows, the fastest of several in one JVM after one over a
tenth of them. sqlwin and Spark: as `bench.run` does, after the first batch. DuckDB: as one batch.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

from bench.answers import counted
from bench.data import Data
from bench.flink.job import JobSpec
from bench.flink.layout import laid_out
from bench.flink.memory import watched
from bench.flink.tables import SETUPS
from bench.queries import Query
from bench.run import Failed, Outcome, RunSpec, once, ran
from bench.variants import PACKED, STREAM_JOIN, WINDOW

FLINK, SQLWIN, SPARK, DUCKDB = "flink", "sqlwin", "spark", "duckdb"
ENGINES = (FLINK, SQLWIN, SPARK, DUCKDB)
MODULE = "bench.flink.once"
SPARK_HAS = {"tumble": WINDOW, "hop": WINDOW, "session30": WINDOW, "near": STREAM_JOIN}
SPARK_BATCH = 1_000_000
WARM_SHARE = 10
START_SECONDS = 120.0


@dataclass(frozen=True)
class Contender:
    """way: a setup of Flink's or one of `bench.variants`. batch: rows, 0 where all are one."""

    engine: str
    title: str
    way: str = ""
    batch: int = 0


@dataclass(frozen=True)
class Measured:
    """rate: rows a second; with `slower`, it is below that, for the run was not through in time.

    peak: bytes of all its processes at one time, None where they cannot be told.
    """

    rows: int
    rate: float
    peak: int | None = None
    slower: bool = False

    def better(self, other: Measured) -> Measured:
        """The faster of two runs, with the greater peak."""
        best = max(self, other, key=lambda each: (not each.slower, each.rate))
        peaks = [each.peak for each in (self, other) if each.peak is not None]
        return Measured(best.rows, best.rate, max(peaks, default=None), best.slower)


@dataclass(frozen=True)
class Limits:
    """How long, how often and on how many cores. jobs: of Flink over all rows, in one JVM."""

    cores: int = 2
    jobs: int = 2
    job_seconds: float = 300.0
    checkpoint_seconds: float = 0.0
    run_seconds: float = 1_800.0


def contenders(
    query: Query, engines: Sequence[str], batches: Sequence[int], rows: int
) -> list[Contender]:
    """Flink and sqlwin by turns, then those that are limits. A rate needs two batches."""
    flink = [Contender(FLINK, setup.title, setup.name) for setup in SETUPS.values()]
    fits = [batch for batch in batches if 2 * batch <= rows]
    sqlwin = [Contender(SQLWIN, "sqlwin on Spark, RocksDB", PACKED.name, batch) for batch in fits]
    turns = [each for pair in zip_longest(flink, sqlwin) for each in pair if each is not None]
    return [each for each in (*turns, *_limits(query, fits)) if each.engine in engines]


def _limits(query: Query, fits: Sequence[int]) -> Iterator[Contender]:
    variant = SPARK_HAS.get(query.name)
    if variant is not None and fits:
        batch = min(fits, key=lambda batch: abs(batch - SPARK_BATCH))
        yield Contender(SPARK, variant.title, variant.name, batch)
    yield Contender(DUCKDB, "DuckDB, all rows as one batch")


def measured(contender: Contender, query: Query, data: Data, limits: Limits) -> Measured:
    with watched() as peak:
        if contender.engine == FLINK:
            found = flink(contender, query, data, limits)
        elif contender.engine == DUCKDB:
            found = duckdb(query, data, limits)
        else:
            found = spark(contender, query, data, limits)
    return Measured(found.rows, found.rate, peak.bytes, found.slower)


def flink(contender: Contender, query: Query, data: Data, limits: Limits) -> Measured:
    every, some = (readers(data, limits.cores, parts) for parts in (None, warm_parts(data, limits)))
    warm = warm_parts(data, limits) * data.file_rows * len(data.folders)
    runs = [(some, warm), *[(every, data.read)] * limits.jobs]
    spec = JobSpec(
        query.name, contender.way, runs, limits.cores, limits.job_seconds, "",
        limits.checkpoint_seconds,
    )  # fmt: skip
    return of_jobs(flink_jobs(spec), limits.job_seconds)


def readers(data: Data, cores: int, parts: int | None = None) -> list[str]:
    return [str(laid_out(Path(folder), cores, parts)) for folder in data.folders]


def warm_parts(data: Data, limits: Limits) -> int:
    return max(limits.cores, len(data.files) // WARM_SHARE)


def flink_jobs(spec: JobSpec) -> list[tuple[int, float | None]]:
    """Rows and seconds of each job; None where it took longer than its limit."""
    patience = START_SECONDS + spec.limit * len(spec.runs)
    lines = _ran("bench.flink.job", json.dumps(asdict(spec)), patience)
    return [(line["rows"], line["seconds"]) for line in map(json.loads, lines)]


def of_jobs(jobs: Sequence[tuple[int, float | None]], limit: float) -> Measured:
    """The fastest but the first, which warms the JVM; else a limit by one that took too long.

    >>> of_jobs([(100, 5.0), (1_000, 4.0), (1_000, 2.0)], 60.0)
    Measured(rows=1000, rate=500.0, peak=None, slower=False)
    >>> of_jobs([(100, 5.0), (1_000, None)], 50.0)
    Measured(rows=1000, rate=20.0, peak=None, slower=True)
    """
    warm = [(rows, seconds) for rows, seconds in jobs[1:] if seconds is not None]
    if not warm:
        rows, seconds = jobs[-1]
        return Measured(rows, rows / (seconds or limit), slower=True)
    rows, seconds = min(warm, key=lambda job: job[1])
    return Measured(rows, rows / seconds)


def duckdb(query: Query, data: Data, limits: Limits) -> Measured:
    text = json.dumps({"query": query.name, "data": asdict(data)})
    (seconds,) = _ran("bench.flink.batch", text, limits.run_seconds)
    return Measured(data.read, data.read / float(seconds))


def spark(contender: Contender, query: Query, data: Data, limits: Limits) -> Measured:
    files = contender.batch // (data.file_rows * len(data.folders))
    spec = RunSpec(contender.way, query.name, data, files, limits.cores)
    return of_spark(spec, query, once(spec, limits.run_seconds, MODULE))


def of_spark(spec: RunSpec, query: Query, outcome: Outcome) -> Measured:
    """Failed where rows or results are missing."""
    counted(spec, query, outcome)
    assert outcome.figures is not None
    return Measured(outcome.figures.rows, outcome.figures.rate)


def _ran(module: str, text: str, patience: float) -> list[str]:
    with tempfile.TemporaryDirectory(prefix="bench-cwd-") as folder:
        ended = ran([sys.executable, "-m", module, text], folder, patience)
    lines = ended.stdout.strip().splitlines()
    if ended.returncode or not lines:
        raise Failed("\n".join(ended.stderr.strip().splitlines()[-15:]))
    return lines

"""sqlwin on Spark beside Flink SQL: compare all answers, measure by turns, show and keep the table.

make bench ARGS="--flink"                                      # 10 M rows
make bench ARGS="--flink --rows 5000000 --queries tumble over"
make bench ARGS="--flink --write-docs"                         # the last result into the docs
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.answers import checked, differences
from bench.data import RATE, Data, generated, paired
from bench.flink.contenders import (
    DUCKDB,
    ENGINES,
    FLINK,
    MODULE,
    Contender,
    Limits,
    Measured,
    contenders,
    flink_jobs,
    measured,
    readers,
)
from bench.flink.install import VERSION, Missing, jars
from bench.flink.job import JobSpec
from bench.flink.queries import QUERIES
from bench.flink.table import Beside, Row, load, show, write_docs
from bench.flink.tables import HEAP, MANAGED, reading
from bench.queries import Query
from bench.report import BUILD, PAGE, amount, machine, save, say
from bench.run import Failed, RunSpec

RESULT = BUILD / "flink.json"
ROWS, BATCHES = 10_000_000, (100_000, 1_000_000, 2_500_000)
CHECK_ROWS, CHECK_RATE, CHECK_FILES = 40_000, 160.0, 8
FILES_A_BATCH = 2
FAILED = 1


def main(arguments: argparse.Namespace) -> int:
    if arguments.write_docs:
        write_docs(arguments.result, PAGE)
        return 0
    try:
        if FLINK in arguments.engines:
            jars()
        if not arguments.no_check:
            check(arguments)
    except (Missing, Failed) as failure:
        say(f"failed: {failure}")
        return FAILED
    found = run(arguments)
    show(found)
    return FAILED if found.failed else 0


def check(arguments: argparse.Namespace) -> None:
    """Each answer over few rows must be DuckDB's; of Flink with state on the heap."""
    for query, shape in _asked(arguments):
        file_rows = CHECK_ROWS // CHECK_FILES
        data = _data(query, shape, CHECK_ROWS, file_rows, CHECK_RATE)
        seen: set[str] = set()
        for contender in contenders(query, arguments.engines, [CHECK_ROWS // 2], CHECK_ROWS):
            if contender.engine not in {*seen, DUCKDB}:
                seen.add(contender.engine)
                say(f"check {query.name} over {shape} keys: {contender.title}")
                _check(contender, query, data, arguments)


def _check(contender: Contender, query: Query, data: Data, arguments: argparse.Namespace) -> None:
    if contender.engine == FLINK:
        flink_answers(query, contender.way, data, _limits(arguments))
    else:
        spec = RunSpec(contender.way, query.name, data, CHECK_FILES // 2, arguments.cores)
        checked(spec, query, MODULE)


def flink_answers(query: Query, setup: str, data: Data, limits: Limits) -> None:
    """Failed where Flink's answer is not DuckDB's. One that takes too long is not compared."""
    with tempfile.TemporaryDirectory(prefix="bench-answers-") as folder:
        runs = [(readers(data, limits.cores), data.read)]
        spec = JobSpec(query.name, setup, runs, limits.cores, limits.job_seconds, folder)
        ((_, seconds),) = flink_jobs(spec)
        if seconds is None:
            say(f"not compared: Flink took more than {limits.job_seconds:.0f} s")
            return
        wrong = differences(query, data, Path(folder), reading(query))
    if wrong:
        raise Failed(f"Flink, {query.name}: {wrong:,} rows differ from DuckDB's")


def run(arguments: argparse.Namespace) -> Beside:
    """What fails is left out and told; the others are measured all the same."""
    found: dict[tuple[str, str, Contender], Measured] = {}
    failures: dict[str, None] = {}
    before = load(arguments.result).rows if arguments.add and arguments.result.exists() else ()
    for query, shape in _asked(arguments):
        data = _data(query, shape, arguments.rows, min(arguments.batches) // FILES_A_BATCH)
        for contender in _turns(arguments, query):
            try:
                one = measured(contender, query, data, _limits(arguments))
            except Failed as failure:
                told = f"{contender.title}, {query.title}, {shape} keys: {failure}"
                say(f"failed: {told}")
                failures[told.splitlines()[0]] = None
            else:
                key = (query.name, shape, contender)
                found[key] = one if key not in found else found[key].better(one)
                _tell(contender, query, shape, one)
            save(_report(arguments, found, failures, before), arguments.result)
    return _report(arguments, found, failures, before)


def _turns(arguments: argparse.Namespace, query: Query) -> list[Contender]:
    repeat: int = arguments.repeat
    return contenders(query, arguments.engines, arguments.batches, arguments.rows) * repeat


def _tell(contender: Contender, query: Query, shape: str, one: Measured) -> None:
    batch = f", {contender.batch:,} rows a batch" if contender.batch else ""
    sign = "below " if one.slower else ""
    memory = "" if one.peak is None else f", {one.peak / 1e6:,.0f} MB"
    where = f"{query.name} over {shape} keys: {contender.title}{batch}"
    say(f"{where}: {sign}{one.rate:,.0f} rows/s{memory}")


def _report(
    arguments: argparse.Namespace,
    found: dict[tuple[str, str, Contender], Measured],
    failures: dict[str, None],
    before: tuple[Row, ...],
) -> Beside:
    rows = [Row(query, shape, who, one) for (query, shape, who), one in found.items()]
    asked = {(query.name, shape) for query, shape in _asked(arguments)}
    rows += [row for row in before if (row.query, row.shape) not in asked]
    order = {name: at for at, name in enumerate(ENGINES)}
    names, keys = list(QUERIES), ["zipf", "uniform"]
    rows.sort(
        key=lambda row: (
            names.index(row.query), keys.index(row.shape), order[row.contender.engine]
        )
    )  # fmt: skip
    what = (
        f"{amount(arguments.rows)}. Flink {VERSION}, {arguments.cores} subtasks, "
        f"heap of {HEAP}, {MANAGED} for RocksDB, a job at most {arguments.job_seconds:.0f} s, "
        f"{_checkpoints(arguments.checkpoint_seconds)}; the best of {arguments.repeat}"
    )
    said = f"{what}. {arguments.remark}" if arguments.remark else what
    return Beside(machine(arguments.cores), said, tuple(rows), tuple(failures))


def _checkpoints(seconds: float) -> str:
    return f"a checkpoint every {seconds:g} s" if seconds else "no checkpoints"


def _asked(arguments: argparse.Namespace) -> Iterator[tuple[Query, str]]:
    for name in arguments.queries:
        for shape in QUERIES[name].shapes:
            only_uniform = name == "tumble" and shape == "uniform"
            if shape in arguments.shapes and not only_uniform:
                yield QUERIES[name], shape


def _data(query: Query, shape: str, rows: int, file_rows: int, rate: float = RATE) -> Data:
    return (paired if query.paired else generated)(shape, rows, BUILD, file_rows, rate)


def _limits(arguments: argparse.Namespace) -> Limits:
    return Limits(
        arguments.cores, arguments.jobs, arguments.job_seconds, arguments.checkpoint_seconds,
        arguments.timeout,
    )  # fmt: skip


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench --flink",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rows", type=int, default=ROWS, help=f"{ROWS:,} by default")
    parser.add_argument("--batches", type=int, nargs="+", default=BATCHES, help="rows of each")
    parser.add_argument("--repeat", type=int, default=1, help="rounds, of which the best counts")
    parser.add_argument("--jobs", type=int, default=2, help="of Flink over all rows in one JVM")
    parser.add_argument("--job-seconds", type=float, default=300.0, help="a job of Flink at most")
    parser.add_argument("--checkpoint-seconds", type=float, default=0.0, help="Flink's; 0: none")
    parser.add_argument("--add", action="store_true", help="keep the last result of others")
    parser.add_argument("--timeout", type=float, default=1_800.0, help="seconds of a run on Spark")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--no-check", action="store_true", help="time without comparing answers")
    parser.add_argument("--remark", default="", help="about the machine, for the table")
    parser.add_argument("--result", type=Path, default=RESULT)
    parser.add_argument("--write-docs", action="store_true", help="the last result into docs/")
    for name, known in (
        ("engines", ENGINES),
        ("queries", QUERIES),
        ("shapes", ("zipf", "uniform")),
    ):
        parser.add_argument(f"--{name}", nargs="+", choices=list(known), default=list(known))
    return parser

"""Run the benchmarks: `make bench`, or `python -m bench --help`; `python -m bench soak`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from statistics import median_low

from bench import soak
from bench.answers import checked, counted
from bench.data import RATE, SHAPES, Data, generated, paired
from bench.flink import beside
from bench.queries import QUERIES
from bench.report import (
    BUILD,
    PAGE,
    Line,
    Report,
    amount,
    machine,
    save,
    say,
    show,
    with_ratios,
    write_docs,
)
from bench.run import Failed, Outcome, RunSpec, once
from bench.variants import VARIANTS, Variant

RESULT = BUILD / "result.json"
FULL, QUICK = 20_000_000, 2_000_000
BATCHES, FILES_A_BATCH = 10, 4
SLOW_SHARE = 5
CHECK_ROWS, CHECK_RATE = 200_000, 800.0
FAILED = 1


def main(arguments: argparse.Namespace) -> int:
    if arguments.write_docs:
        write_docs(RESULT, PAGE)
        return 0
    try:
        if not arguments.no_check:
            check(arguments)
    except Failed as failure:
        say(f"failed: {failure}")
        return FAILED
    failures: list[str] = []
    report = measured(arguments, failures)
    show(report)
    return FAILED if failures else 0


def check(arguments: argparse.Namespace) -> None:
    """Every variant must answer as DuckDB does before any is timed."""
    for name in arguments.shapes:
        for query, variant in _pairs(arguments, name):
            data = _of(query, name, CHECK_ROWS, CHECK_ROWS // 8, CHECK_RATE)
            say(f"check {query} over {name} keys: {variant.title}")
            checked(RunSpec(variant.name, query, data, 2, arguments.cores), QUERIES[query])


def measured(arguments: argparse.Namespace, failures: list[str]) -> Report:
    """A variant that fails is reported and left out; the others are measured all the same."""
    rows = arguments.rows or (QUICK if arguments.quick else FULL)
    batch = arguments.batch_rows or rows // BATCHES
    lines: list[Line] = []
    for shape in arguments.shapes:
        for query, variant in _pairs(arguments, shape):
            lines += _measured(arguments, shape, query, variant, rows, batch, failures)
            save(_report(arguments, rows, batch, lines), RESULT)  # a long run may be cut short
    return _report(arguments, rows, batch, lines)


def _report(arguments: argparse.Namespace, rows: int, batch: int, lines: list[Line]) -> Report:
    order = list(QUERIES)
    ordered = sorted(lines, key=lambda line: order.index(line.query))
    data = f"{amount(rows)}, {batch:,} rows a batch"
    return Report(machine(arguments.cores), data, with_ratios(ordered))


def _measured(
    arguments: argparse.Namespace,
    shape: str,
    query: str,
    variant: Variant,
    rows: int,
    batch: int,
    failures: list[str],
) -> Iterator[Line]:
    wanted = max(2 * batch, rows // SLOW_SHARE) if variant.slow else rows
    data = _of(query, shape, wanted, batch // FILES_A_BATCH)
    spec = RunSpec(variant.name, query, data, FILES_A_BATCH, arguments.cores)
    repeats = arguments.repeat or (3 if rows <= QUICK else 1)
    try:
        outcome = _middle([_timed(spec, arguments.timeout) for _ in range(repeats)])
        if variant.way != "update":  # which emits a window as often as it changes
            counted(spec, QUERIES[query], outcome)
    except Failed as failure:
        say(f"failed: {failure}")
        failures.append(variant.name)
        return
    yield Line(query, shape, variant.name, outcome, repeats)


def _timed(spec: RunSpec, timeout: float) -> Outcome:
    outcome = once(spec, timeout)
    assert outcome.figures is not None
    say(
        f"{spec.query} over {spec.data.shape} keys: {VARIANTS[spec.variant].title}: "
        f"{outcome.figures.rate:,.0f} rows/s"
    )
    return outcome


def _middle(runs: list[Outcome]) -> Outcome:
    rates = [outcome.figures.rate for outcome in runs if outcome.figures is not None]
    return runs[rates.index(median_low(rates))]


def _of(query: str, shape: str, rows: int, file_rows: int, rate: float = RATE) -> Data:
    made = paired if QUERIES[query].paired else generated
    return made(shape, rows, BUILD, file_rows, rate)


def _pairs(arguments: argparse.Namespace, shape: str) -> Iterator[tuple[str, Variant]]:
    for query in arguments.queries:
        for name in arguments.variants:
            if query in VARIANTS[name].queries and shape in QUERIES[query].shapes:
                yield query, VARIANTS[name]


def options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rows", type=int, help=f"{FULL:,} by default")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:,} rows, three times")
    parser.add_argument("--batch-rows", type=int, help=f"rows / {BATCHES} by default")
    parser.add_argument("--repeat", type=int, help="the median of so many runs is reported")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=1_800.0, help="seconds of one run")
    parser.add_argument("--no-check", action="store_true", help="time without comparing answers")
    parser.add_argument(
        "--flink",
        action="store_true",
        help="beside Flink SQL; first: --flink --help has its options",
    )
    parser.add_argument("--write-docs", action="store_true", help="the last result into docs/")
    for name, known in (("variants", VARIANTS), ("queries", QUERIES), ("shapes", SHAPES)):
        parser.add_argument(f"--{name}", nargs="+", choices=list(known), default=list(known))
    return parser


if __name__ == "__main__":
    if sys.argv[1:2] == ["soak"]:
        sys.exit(soak.main(soak.options().parse_args(sys.argv[2:])))
    if sys.argv[1:2] == ["--flink"]:
        sys.exit(beside.main(beside.options().parse_args(sys.argv[2:])))
    sys.exit(main(options().parse_args()))

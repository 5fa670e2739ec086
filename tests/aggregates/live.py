"""Aggregates over random tables of every type, against Spark's batch answers as they are met.

    tools/with-java .venv/bin/python -m tests.aggregates.live --seed 7 --groups 200
    tools/with-java .venv/bin/python -m tests.aggregates.live int "array<int>" --form session

What is the same is not printed, nor what is refused. The groups by hand are always among them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tests.aggregates.calls import calls_of
from tests.aggregates.compare import grouped, judged, report
from tests.aggregates.ours import FORMS, Batch
from tests.aggregates.tables import KINDS, tables
from tests.functions.oracle import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BAD = ("silent", "crash", "rejected", "unraised")


def differences(
    spark: SparkSession, name: str, seed: int, groups: int, form: str, only: str = ""
) -> Iterator[str]:
    """Of one type: each call whose answer is another one, with its rows."""
    from tests.aggregates import spark as theirs

    rows = tables(seed, groups, 12)[name]
    calls = [call for call in calls_of(name) if only in call]
    answers = dict(theirs.Batch(spark, rows).answers(calls))
    forms = grouped(rows)
    for call, ours in Batch(rows, FORMS[form]).answers(calls):
        found = judged(call, answers[call], ours, forms)
        if found.kind in BAD:
            yield "\n".join(report(call, answers[call], ours, found))


def drawn(names: Sequence[str], seed: int, groups: int, form: str, only: str) -> Iterator[str]:
    with session() as spark:
        for name in names:
            yield name
            yield from differences(spark, name, seed, groups, form, only)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.aggregates.live")
    parser.add_argument("types", nargs="*", choices=[*KINDS, []])
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--groups", type=int, default=20, help="drawn ones, beside those by hand")
    parser.add_argument("--form", default="tumble", choices=tuple(FORMS))
    parser.add_argument("--only", default="", help="calls that contain this text")
    given = parser.parse_args()
    names = given.types or list(KINDS)
    for line in drawn(names, given.seed, given.groups, given.form, given.only):
        print(line, flush=True)


if __name__ == "__main__":
    main()

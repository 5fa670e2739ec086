"""What the pinned PySpark answers to every call over every table, kept in `answers.jsonl.gz`.

    tools/with-java .venv/bin/python -m tests.aggregates.record          # all types
    tools/with-java .venv/bin/python -m tests.aggregates.record double

A line for each type and call: Spark's type and the value of each group in the form of `canonical`,
or why Spark refuses it. The first line has the digest of the tables.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.aggregates.calls import calls_of
from tests.aggregates.tables import digest, tables
from tests.functions.oracle import Answer, session

PATH = Path(__file__).with_name("answers.jsonl.gz")
Answers = dict[tuple[str, str], Answer]


@cache
def recorded() -> Answers:
    """By type and call. LookupError where the tables are not those that were recorded."""
    head, *lines = gzip.decompress(PATH.read_bytes()).decode("utf-8").strip("\n").split("\n")
    if json.loads(head)["tables"] != digest():
        raise LookupError(f"tables.py is not what {PATH.name} was recorded with")
    return dict(map(_read, lines))


def _read(line: str) -> tuple[tuple[str, str], Answer]:
    name, call, type_, rows, refused = json.loads(line)
    return (name, call), Answer(type_, tuple(rows), refused)


def _lines(answers: Answers) -> Iterator[str]:
    yield json.dumps({"tables": digest()})
    for key in ((name, call) for name in tables() for call in calls_of(name)):
        if key in answers:
            found = answers[key]
            line = [*key, found.type, found.rows, found.refused]
            yield json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def write(answers: Answers) -> None:
    text = "\n".join(_lines(answers)) + "\n"
    # mtime: the same answers are the same file
    PATH.write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


def record(names: Iterable[str]) -> None:
    from tests.aggregates.spark import Batch

    answers = dict(recorded()) if PATH.exists() else {}
    with session() as spark:
        for name in names:
            began = time.monotonic()
            found = Batch(spark, tables()[name]).answers(calls_of(name))
            answers |= {(name, call): answer for call, answer in found}
            write(answers)
            print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)


if __name__ == "__main__":
    record(sys.argv[1:] or tables())

"""Scalar expressions have Spark's values, types and errors; see record.py and compare.py.

What differs is in `differences.txt`, a line each: its class, its subject, the expression; and is
just that. The page of functions says why it does. Written anew, to be read in the diff:

    python -m tests.functions.test_matrix
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.functions.compare import compared, report
from tests.functions.matrix import subjects
from tests.functions.worded import misworded

KNOWN = Path(__file__).with_name("differences.txt")
INEXACT = ("sin", "cos", "tan", "exp", "log", "ln", "pow", "cbrt", "hypot", "asin", "acos", "atan")
"""Functions whose last digit is the platform's: they may be `near`."""
QUICK = ("conditionals", "everyday", "hashes")


def of(subject: str) -> list[str]:
    lines = KNOWN.read_text("utf-8").splitlines()
    return [line for line in lines if line.split("\t")[1:2] == [subject]]


def found(subject: str) -> Iterator[tuple[str, str]]:
    """Lines of `differences.txt`, each with what is said of it; and `worded` with errors that have
    not Spark's class, or words of DuckDB's."""
    for case, theirs, ours, verdict in compared(subject):
        if verdict.kind not in _allowed(case.text):
            reported = "\n".join(report(case, theirs, ours, verdict, rows=3))
            yield f"{verdict.kind}\t{subject}\t{case.text}", reported
        for reported in misworded(theirs, ours):
            yield f"worded\t{subject}\t{case.text}", f"{case.text}: {reported}"


def _allowed(text: str) -> tuple[str, ...]:
    inexact = any(name in text.lower() for name in INEXACT)
    return ("same", "near") if inexact else ("same",)


@pytest.mark.parametrize(
    "subject",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.long) for name in subjects()],
)
def test_as_in_spark(subject: str) -> None:
    reported = dict(found(subject))
    known = of(subject)
    assert not [reported[line] for line in reported if line not in known]
    assert not [line for line in known if line not in reported], "mended: take it out"


if __name__ == "__main__":
    lines = [line for subject in subjects() for line, _ in found(subject)]
    KNOWN.write_text("\n".join(lines) + "\n", "utf-8")

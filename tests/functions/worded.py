"""Every error that a row has says Spark's class, and none of it in words of DuckDB.

Spark's class is compared up to its point, where it has one: some of its errors are Java's. `ALIKE`
has what has another class here, ours first.

>>> theirs = Answer("int", ({"!": "DIVIDE_BY_ZERO"},) * 2)
>>> ours = Ours("int", ({"!": "[DIVIDE_BY_ZERO] …"}, {"!": "Conversion Error: …"}))
>>> list(misworded(theirs, ours))
['Conversion Error: …: DIVIDE_BY_ZERO of Spark']
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.functions.canonical import Json
from tests.functions.oracle import Answer
from tests.functions.ours import Ours

_ENGINE = re.compile(
    r"[A-Z][A-Za-z ]* Error:|\bINT(8|16|32|64|128)\b|\bVARCHAR\b|LINE \d+:|\bTRY\("
)
_SPARK = re.compile(r"(?!_LEGACY)[A-Z][A-Z_0-9]+")
_OURS = re.compile(r"\[([A-Z][A-Z_0-9]+)[\].]")
ALIKE = {
    ("ARITHMETIC_OVERFLOW", "BINARY_ARITHMETIC_OVERFLOW"),  # 0Y - t, which is -t here
    ("ARITHMETIC_OVERFLOW", "CAST_OVERFLOW"),  # CAST(i AS INTERVAL DAY)
    ("CAST_OVERFLOW", "INTERVAL_ARITHMETIC_OVERFLOW"),
    ("INVALID_DATETIME_PATTERN", "INCONSISTENT_BEHAVIOR_CROSS_VERSION"),
    ("NUMERIC_VALUE_OUT_OF_RANGE", "NUMERIC_OUT_OF_SUPPORTED_RANGE"),
}


def misworded(theirs: Answer, ours: Ours) -> Iterator[str]:
    """A line for each such error of an expression."""
    reported = dict.fromkeys(zip(map(_raised, theirs.rows), map(_raised, ours.rows), strict=False))
    for spark, reason in reported:
        if reason is None:
            continue
        wanted = _SPARK.match(spark or "")
        if _ENGINE.search(reason) or (wanted and not _alike(_OURS.match(reason), wanted[0])):
            yield f"{reason}: {spark} of Spark"


def _alike(found: re.Match[str] | None, wanted: str) -> bool:
    return found is not None and (found[1] == wanted or (found[1], wanted) in ALIKE)


def _raised(value: Json) -> str | None:
    return value["!"] if isinstance(value, dict) and "!" in value else None

"""Times as people write them: which format most values of a column have.

>>> found = format_of(pl.Series(["01/02/2024 09:01:00", "29/02/2024 10:00:00", "soon"]))
>>> found.pattern, found.many
('dd/MM/yyyy HH:mm:ss', 2)
>>> format_of(pl.Series(["Mitte", "Wedding"])) is None
True
"""

from __future__ import annotations

from itertools import product

import polars as pl

from sqlwin.lazy_dataclass import dataclass

_DAYS = (
    ("dd/MM/yyyy", "%d/%m/%Y"),
    ("MM/dd/yyyy", "%m/%d/%Y"),
    ("dd.MM.yyyy", "%d.%m.%Y"),
    ("dd-MM-yyyy", "%d-%m-%Y"),
    ("yyyy/MM/dd", "%Y/%m/%d"),
    ("yyyyMMdd", "%Y%m%d"),
    ("dd MMM yyyy", "%d %b %Y"),
    ("dd-MMM-yyyy", "%d-%b-%Y"),
    ("yyyy-MM-dd", "%Y-%m-%d"),
)
_CLOCKS = (
    (" HH:mm:ss", " %H:%M:%S"),
    (" HH:mm", " %H:%M"),
    (" hh:mm:ss a", " %I:%M:%S %p"),
    (" hh:mm a", " %I:%M %p"),
    ("'T'HH:mm:ss", "T%H:%M:%S"),
)
FORMATS = tuple((day + clock, d + c) for (day, d), (clock, c) in product(_DAYS, _CLOCKS))
"""Spark's pattern, and that of strptime; where two fit as many values, the first is taken."""
SHARE = 0.5
"""Of the values that must have the format."""


@dataclass(frozen=True)
class TimeFormat:
    """pattern: Spark's. many: values that have it. instants: NULL where one has it not."""

    pattern: str
    many: int
    instants: pl.Series


def format_of(texts: pl.Series) -> TimeFormat | None:
    """The format that most values have, and more than `SHARE` of them; NULLs count as none."""
    there = texts.drop_nulls().len()
    found = (_read(texts, *each) for each in FORMATS)
    best = max(found, key=lambda each: each.many)
    return best if best.many > there * SHARE else None


def _read(texts: pl.Series, pattern: str, strptime: str) -> TimeFormat:
    instants = texts.str.strptime(pl.Datetime("us"), strptime, strict=False)
    return TimeFormat(pattern, instants.len() - instants.null_count(), instants)

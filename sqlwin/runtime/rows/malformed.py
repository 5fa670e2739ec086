"""Rows that cannot be read: a warning where they are many at once, and how many end a run.

Malformed rows count, and no others: not those that are expired, have no event time or fail in an
expression. Of a run with several queries each counts its own; a run that goes on counts anew.

>>> limit("10"), limit("0.5%")
(Limit(rows=10, percent=None), Limit(rows=None, percent=0.5))
>>> reported = []
>>> malformed = Malformed(limit("1"), reported.append)
>>> import polars as pl
>>> bad = pl.DataFrame({"stream": "s", "position": "0:7", "reason": "malformed: oops", "row": "{"})
>>> malformed.see(0, 1, 4, bad)
>>> malformed.see(0, 2, 4, bad)
Traceback (most recent call last):
sqlwin.errors.RunError: 2 of 8 rows are malformed, which is more than --max-errors 1; \
the first: s 0:7: malformed: oops: {
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from sqlwin.errors import InputError, RunError
from sqlwin.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import polars as pl

ENOUGH = 1_000
"""Rows that say something of a percentage before the input ends."""
MOST_SHOWN = 500
"""Characters of a row that is an example."""
_LIMIT = re.compile(r"(\d+)|(\d+(?:\.\d+)?)\s*%", re.ASCII)


@dataclass(frozen=True)
class Limit:
    """Of malformed rows, or of their share of the rows read: what is still taken."""

    rows: int | None = None
    percent: float | None = None

    def __str__(self) -> str:
        return str(self.rows) if self.percent is None else f"{self.percent:g}%"

    def passed(self, bad: int, read: int, ends: bool) -> bool:
        if self.percent is None:
            return self.rows is not None and bad > self.rows
        return bad * 100 > self.percent * read and (ends or read >= ENOUGH)


def limit(text: str) -> Limit:
    """InputError for what is neither a count nor a percentage."""
    found = _LIMIT.fullmatch(text.strip())
    if found is None or float(found[2] or 0) > 100:
        raise InputError(f"--max-errors is a count of rows, or a percentage of them, not {text!r}")
    return Limit(percent=float(found[2])) if found[1] is None else Limit(int(found[1]))


@dataclass
class Seen:
    """By one query. batch: the last one. first: of the malformed rows."""

    batch: int = 0
    read: int = 0
    bad: int = 0
    first: str = ""


@dataclass
class Malformed:
    limit: Limit | None
    warn: Callable[[str], None]
    queries: dict[int, Seen] = field(default_factory=dict)

    def see(self, query: int, batch: int, read: int, errors: pl.DataFrame) -> None:
        """A batch before it is written, once where it is done again; RunError past the limit."""
        seen = self.queries.setdefault(query, Seen())
        if batch <= seen.batch:
            return
        import polars as pl

        bad = errors.filter(pl.col("reason").str.starts_with("malformed"))
        seen.first = seen.first or example(bad)
        if not seen.read and len(bad) * 2 > read:
            self.warn(
                f"more than half of the first rows are malformed, {len(bad):,} of {read:,}; "
                f"the first: {seen.first}"
            )
        seen.batch = batch
        seen.read += read
        seen.bad += len(bad)
        self._check(seen, ends=False)

    def end(self) -> None:
        """The input has ended; RunError past the limit."""
        for seen in self.queries.values():
            self._check(seen, ends=True)

    def _check(self, seen: Seen, ends: bool) -> None:
        if self.limit is not None and self.limit.passed(seen.bad, seen.read, ends):
            raise RunError(
                f"{seen.bad:,} of {seen.read:,} rows are malformed, which is more than "
                f"--max-errors {self.limit}; the first: {seen.first}"
            )


def example(errors: pl.DataFrame) -> str:
    """The first row of an error stream, in one line."""
    if errors.is_empty():
        return ""
    row = errors.row(0, named=True)
    text = row["row"] if len(row["row"]) <= MOST_SHOWN else row["row"][:MOST_SHOWN] + "…"
    return f"{row['stream']} {row['position']}: {row['reason']}: {text}"

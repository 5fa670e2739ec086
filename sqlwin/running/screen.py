"""What a person sees: results on stdout, how it is going on stderr."""

from __future__ import annotations

import json
import time
from bisect import bisect_right
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from shutil import get_terminal_size
from typing import TextIO

import polars as pl

from sqlwin.instants import END, START, format_instant
from sqlwin.runtime.connectors.metrics import OnMetrics
from sqlwin.runtime.connectors.progress import Batch, Summary
from sqlwin.runtime.rows.render import cell, csv_text, json_lines
from sqlwin.schema import iso_columns

Show = Callable[[pl.DataFrame], None]
SHOWN_ERRORS = 5
NULL = "NULL"
NARROWEST = 8
"""Characters that a column keeps, however narrow the terminal is."""


def screen(output: str, out: TextIO) -> Show:
    """A function that writes batches of results as `table`, `json` or `csv`; a table on a terminal
    is no wider than that."""
    if output == "table":
        return _Table(out, get_terminal_size().columns if out.isatty() else None)
    return _Json(out) if output == "json" else _Csv(out)


class _Json:
    def __init__(self, out: TextIO) -> None:
        self.out = out

    def __call__(self, rows: pl.DataFrame) -> None:
        self.out.writelines(line + "\n" for line in json_lines(rows))
        self.out.flush()


class _Csv:
    """A header whenever the columns are not those above, as where another query has its turn."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.above: list[str] | None = None

    def __call__(self, rows: pl.DataFrame) -> None:
        self.out.write(csv_text(rows, header=rows.columns != self.above))
        self.out.flush()
        self.above = rows.columns


class _Table:
    """Aligned columns; widths follow the first batch and grow where they must.

    Queries with other columns have widths of their own, and a header at each of their turns. Where
    a terminal is narrower than the columns, the widest are cut, and a cut text ends in an ellipsis.
    """

    def __init__(self, out: TextIO, terminal: int | None = None) -> None:
        self.out, self.terminal = out, terminal
        self.above: list[str] | None = None
        self.widths: dict[tuple[str, ...], list[int]] = {}

    def __call__(self, rows: pl.DataFrame) -> None:
        shown = rows.drop("row_key", strict=False)
        cells = [[_cell(value) for value in row] for row in iso_columns(shown).iter_rows()]
        widths = fitted(self._widths(shown.columns, cells), self.terminal)
        numeric = [dtype.is_numeric() for dtype in shown.dtypes]
        if shown.columns != self.above:
            self.out.write("" if self.above is None else "\n")
            self.out.write(_line(shown.columns, widths, numeric))
        for line in cells:
            self.out.write(_line(line, widths, numeric))
        self.out.flush()
        self.above = shown.columns

    def _widths(self, header: list[str], cells: list[list[str]]) -> list[int]:
        known = self.widths.get(tuple(header), [len(name) for name in header])
        wider = [max([w, *(len(line[i]) for line in cells)]) for i, w in enumerate(known)]
        self.widths[tuple(header)] = wider
        return wider


def fitted(widths: list[int], terminal: int | None) -> list[int]:
    """Widths that fit side by side, two blanks between them, the widest made narrower.

    >>> fitted([5, 40, 30], 60), fitted([5, 9], None), fitted([9, 9], 3)
    ([5, 25, 26], [5, 9], [8, 8])
    """
    if terminal is None:
        return widths
    room = terminal - 2 * (len(widths) - 1)

    def total(most: int) -> int:
        return sum(min(width, most) for width in widths)

    most = bisect_right(range(max(widths)), room, NARROWEST + 1, key=total) - 1
    left, fit = room - total(most), list[int]()
    for width in reversed(widths):
        wider = width > most and left > 0
        fit.append(min(width, most) + wider)
        left -= wider
    return fit[::-1]


def _cell(value: object) -> str:
    return NULL if value is None else cell(value)


def _line(line: list[str], widths: list[int], numeric: list[bool]) -> str:
    padded = (
        text.rjust(width) if right else text.ljust(width)
        for text, width, right in zip(map(_cut, line, widths), widths, numeric, strict=True)
    )
    return "  ".join(padded).rstrip() + "\n"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


class Progress:
    """One line a batch, the first few rows of the error stream, a summary."""

    def __init__(self, err: TextIO) -> None:
        self.err = err
        self.began = time.monotonic()
        self.shown = 0
        self.warned: set[str] = set()

    def running(self) -> AbstractContextManager[object]:
        """Around the run."""
        return nullcontext()

    def metrics(self, more: OnMetrics | None) -> OnMetrics | None:
        """What takes the metrics of each batch, which go to `more`."""
        return more

    def starting(self, engine: str) -> None:
        self._say(f"starting {engine} …")

    def started(self, engine: str, seconds: float) -> None:
        self._say(f"{engine} is up after {seconds:.1f} s")

    def serving(self, address: str) -> None:
        self._say(f"live page: {address}")

    def batch(self, batch: Batch) -> None:
        marks = ", ".join(
            f"{stream} at {format_instant(w)}"
            for stream, w in batch.watermarks.items()
            if START < w < END
        )
        self._say(
            f"batch {batch.number}: {batch.read:,} rows read, {batch.emitted:,} results"
            + (f", {batch.refused:,} to the error stream" if batch.refused else "")
            + (f"; watermark of {marks}" if marks else "")
        )

    def errors(self, rows: pl.DataFrame) -> None:
        for row in rows.head(max(0, SHOWN_ERRORS - self.shown)).iter_rows(named=True):
            self._say(f"  {row['stream']} {row['position']}: {row['reason']}: {row['row']}")
        self.shown += len(rows)

    def warning(self, text: str) -> None:
        """Each once, as two queries may read one file."""
        if text not in self.warned:
            self.warned.add(text)
            self._say(f"warning: {text}")

    def done(self, summary: Summary) -> None:
        seconds = time.monotonic() - self.began
        self._say(
            f"done: {summary.read:,} rows read, {summary.emitted:,} results in {seconds:.1f} s"
        )
        for reason, count in sorted(summary.refused.items()):
            self._say(f"  error stream: {count:,} rows, {reason}")
        if summary.replayed:
            self._say(f"  {summary.replayed:,} messages were known already")

    def stopped(self, line: str) -> None:
        self._say(line)

    def _say(self, line: str) -> None:
        print(line, file=self.err, flush=True)


class JsonProgress(Progress):
    """The same as JSON, an object a line: time, level, event, and what the event has."""

    def starting(self, engine: str) -> None:
        self._event("info", "starting", engine=engine)

    def started(self, engine: str, seconds: float) -> None:
        self._event("info", "started", engine=engine, seconds=round(seconds, 1))

    def serving(self, address: str) -> None:
        self._event("info", "serving", address=address)

    def batch(self, batch: Batch) -> None:
        marks = batch.watermarks.items()
        self._event(
            "info",
            "batch",
            batch=batch.number,
            rows_read=batch.read,
            rows_emitted=batch.emitted,
            rows_refused=batch.refused,
            watermarks={name: format_instant(w) for name, w in marks if START < w < END},
        )

    def errors(self, rows: pl.DataFrame) -> None:
        for row in rows.head(max(0, SHOWN_ERRORS - self.shown)).iter_rows(named=True):
            known = {name: row[name] for name in ("stream", "position", "reason", "row")}
            self._event("warning", "refused", **known)
        self.shown += len(rows)

    def done(self, summary: Summary) -> None:
        self._event(
            "info",
            "done",
            rows_read=summary.read,
            rows_emitted=summary.emitted,
            refused=dict(summary.refused),
            replayed=summary.replayed,
            seconds=self._seconds(),
        )

    def _seconds(self) -> float:
        return round(time.monotonic() - self.began, 1)

    def warning(self, text: str) -> None:
        if text not in self.warned:
            self.warned.add(text)
            self._event("warning", "warning", message=text)

    def stopped(self, line: str) -> None:
        self._event("info", "stopped", message=line)

    def _event(self, level: str, event: str, **more: object) -> None:
        at = format_instant(time.time_ns() // 1_000)
        self._say(json.dumps({"time": at, "level": level, "event": event, **more}))

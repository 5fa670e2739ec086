"""What a person sees: results on stdout, how it is going on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

import polars as pl

from sqlwin.instants import END, START, format_instant
from sqlwin.runtime.progress import Batch, Summary
from sqlwin.runtime.render import cell, csv_text, json_lines
from sqlwin.schema import iso_columns

Show = Callable[[pl.DataFrame], None]
SHOWN_ERRORS = 5


def screen(output: str, out: TextIO) -> Show:
    """A function that writes batches of results as `table`, `json` or `csv`."""
    writers: dict[str, Callable[[TextIO], Show]] = {"table": _Table, "json": _Json, "csv": _Csv}
    return writers[output](out)


class _Json:
    def __init__(self, out: TextIO) -> None:
        self.out = out

    def __call__(self, rows: pl.DataFrame) -> None:
        self.out.writelines(line + "\n" for line in json_lines(rows))
        self.out.flush()


class _Csv:
    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.begun = False

    def __call__(self, rows: pl.DataFrame) -> None:
        self.out.write(csv_text(rows, header=not self.begun))
        self.out.flush()
        self.begun = True


class _Table:
    """Aligned columns; widths follow the first batch and grow where they must."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self.widths: list[int] = []

    def __call__(self, rows: pl.DataFrame) -> None:
        shown = rows.drop("row_key", strict=False)
        cells = [[cell(value) for value in row] for row in iso_columns(shown).iter_rows()]
        lines = cells if self.widths else [shown.columns, *cells]
        widths = self.widths or [0] * len(shown.columns)
        self.widths = [max(w, *(len(c[i]) for c in lines)) for i, w in enumerate(widths)]
        numeric = [dtype.is_numeric() for dtype in shown.dtypes]
        for line in lines:
            self.out.write(self._line(line, numeric))
        self.out.flush()

    def _line(self, line: list[str], numeric: list[bool]) -> str:
        padded = (
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(line, self.widths, numeric, strict=True)
        )
        return "  ".join(padded).rstrip() + "\n"


class Progress:
    """One line a batch, the first few rows of the error stream, a summary."""

    def __init__(self, err: TextIO) -> None:
        self.err = err
        self.began = time.monotonic()
        self.shown = 0
        self.warned: set[str] = set()

    def starting(self, engine: str) -> None:
        self._say(f"starting {engine} …")

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

    def _say(self, line: str) -> None:
        print(line, file=self.err, flush=True)

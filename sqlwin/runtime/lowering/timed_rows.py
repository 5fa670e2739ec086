"""The first half of an input pipeline: computed columns, event time, position.

Invariant: each row that leaves has what its stream declares of it: the time that it is judged by,
and its position; a row that lacks one goes to the error stream whole, with the reason.
"""

from __future__ import annotations

from dataclasses import field
from functools import cached_property

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import column_of
from sqlwin.plan.ir.streams import Changelog
from sqlwin.polars_frames import stacked
from sqlwin.runtime.inputs.input import Input
from sqlwin.runtime.lowering.changes import kinds, refusals
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.lowering.raw_rows import stamped, with_now
from sqlwin.runtime.rows.error_stream import no_rejects, rejects
from sqlwin.runtime.rows.scalars import Evaluated, evaluate
from sqlwin.schema import PART, SEQ, TS, Column


@dataclass(frozen=True)
class TimedRows:
    """Of the input with the number `at`."""

    query: Lowered
    at: int = field(default=0, kw_only=True)

    @cached_property
    def input(self) -> Input:
        return self.query.inputs[self.at]

    def _timed(
        self, raw: pl.DataFrame, watermark: int | None, now: int
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """With computed columns, `__ts` and, where an OFFSET is declared, `__seq` from it."""
        rows, errors = self._computed(raw, watermark, now)
        stream = self.input.stream
        if stream.offset is not None:
            rows, bad = self._required(rows, stream.offset, "no position", watermark)
            errors = stacked([errors, bad])
            rows = rows.with_columns(pl.col(stream.offset).cast(pl.Int64).alias(SEQ))
        if stream.changelog is not None:
            rows, bad = self._changes(rows, stream.changelog, watermark)
            return rows.with_columns(pl.lit(0, pl.Int64).alias(TS)), stacked([errors, bad])
        if stream.ts is None or not self.input.timed:
            return rows.with_columns(pl.lit(0, pl.Int64).alias(TS)), errors
        rows, bad = self._required(rows, stream.ts, "no event time", watermark)
        return stamped(rows, stream.ts), stacked([errors, bad])

    def _changes(
        self, rows: pl.DataFrame, changelog: Changelog, watermark: int | None
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Those that are changes; they are ordered by position alone."""
        rows = kinds(rows, changelog.op)
        reasons = refusals(rows, changelog, self.input.stream.ts)
        bad = rows.filter(reasons.is_not_null())
        errors = self._refused(bad, reasons.drop_nulls().to_list(), watermark)
        return rows.filter(reasons.is_null()), errors

    def _computed(
        self, raw: pl.DataFrame, watermark: int | None, now: int
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        errors = no_rejects()
        for name, scalar in self.input.stream.computed:
            declared = tuple(
                (c, column_of(Column(c, self.input.types[c])))
                for c in raw.columns
                if c in self.input.types
            )
            clocked = raw if scalar.clock is None else with_now(raw, now)
            done = evaluate(clocked, (*declared, (name, scalar)), keep=(PART, SEQ))
            errors = stacked([errors, self._rejected(raw, done, watermark)])
            raw = done.frame
        return raw, errors

    def _required(
        self, rows: pl.DataFrame, column: str, what: str, watermark: int | None
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        if not rows.get_column(column).null_count():
            return rows, no_rejects()
        missing = rows.filter(pl.col(column).is_null())
        reason = f"{what}: {column} is NULL"
        errors = self._refused(missing, [reason] * len(missing), watermark)
        return rows.filter(pl.col(column).is_not_null()), errors

    def _rejected(self, rows: pl.DataFrame, done: Evaluated, watermark: int | None) -> pl.DataFrame:
        if not done.rejected:
            return no_rejects()
        at, reasons = zip(*done.rejected, strict=True)
        return self._refused(rows[list(at)], list(reasons), watermark)

    def _refused(
        self, rows: pl.DataFrame, reasons: list[str], watermark: int | None
    ) -> pl.DataFrame:
        """With their event time where they have one, whether or not the window needs it."""
        ts = self.input.stream.ts
        timed = rows.drop(TS, strict=False)
        if ts is not None and ts in rows.columns:
            timed = timed.with_columns(pl.col(ts).dt.timestamp("us").alias(TS))
        return rejects(self.input.stream.name, timed, reasons, watermark)

"""The front of a query: from a source's rows to what the window operator takes.

In this order: computed columns, event time, marks for the watermark, WHERE and
projection, expiry. Rows that fail on the way go to the error stream whole. The
front is stateless: the watermark before the batch is given, so it may run
anywhere, in a source, before a shuffle, or in process.

A row moves the watermark even if WHERE drops it; a row that WHERE drops cannot
expire.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sqlwin.plan.nodes import column_of
from sqlwin.runtime.lower import Lowered
from sqlwin.runtime.rejects import no_rejects, rejects
from sqlwin.runtime.scalars import Evaluated, evaluate
from sqlwin.schema import PART, POSITION, SEQ, TS, Column

RAW = "__raw"


@dataclass(frozen=True)
class Taken:
    """rows: prepared for the operator. errors: as `rejects`. marks: partition to greatest ts."""

    rows: pl.DataFrame
    errors: pl.DataFrame
    marks: dict[int, int]


@dataclass(frozen=True)
class Front:
    query: Lowered

    def take(self, raw: pl.DataFrame, watermark: int | None) -> Taken:
        """`raw`: the declared columns, `__part`, `__seq`. watermark: before this batch.

        Where the watermark is not known here (None) no row expires here, and rows are
        not prepared: whoever knows it takes them again.
        """
        timed, errors = self._timed(raw, watermark)
        marks = self._marks(timed)
        kept, failures = self._selected(timed, watermark)
        if watermark is None:
            return Taken(kept.drop(RAW), pl.concat([errors, failures]), marks)
        rows, expired = self._unexpired(kept, timed, watermark)
        prepared = self.query.prepare(rows.drop(RAW))
        return Taken(prepared, pl.concat([errors, failures, expired]), marks)

    def _timed(self, raw: pl.DataFrame, watermark: int | None) -> tuple[pl.DataFrame, pl.DataFrame]:
        """With computed columns, `__ts` and, where an OFFSET is declared, `__seq` from it."""
        rows, errors = self._computed(raw, watermark)
        stream = self.query.stream
        if stream.offset is not None:
            rows, bad = self._required(rows, stream.offset, "no position", watermark)
            errors = pl.concat([errors, bad])
            rows = rows.with_columns(pl.col(stream.offset).cast(pl.Int64).alias(SEQ))
        if stream.ts is None or not self.query.timed:
            return rows.with_columns(pl.lit(0, pl.Int64).alias(TS)), errors
        rows, bad = self._required(rows, stream.ts, "no event time", watermark)
        return rows.with_columns(pl.col(stream.ts).dt.timestamp("us").alias(TS)), pl.concat(
            [errors, bad]
        )

    def _computed(
        self, raw: pl.DataFrame, watermark: int | None
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        errors = no_rejects()
        for name, scalar in self.query.stream.computed:
            known = tuple(
                (c, column_of(Column(c, self.query.types[c])))
                for c in raw.columns
                if c in self.query.types
            )
            done = evaluate(raw, (*known, (name, scalar)), keep=(PART, SEQ))
            errors = pl.concat([errors, self._rejected(raw, done, watermark)])
            raw = done.frame
        return raw, errors

    def _required(
        self, rows: pl.DataFrame, column: str, what: str, watermark: int | None
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        missing = rows.filter(pl.col(column).is_null())
        reason = f"{what}: {column} is NULL"
        errors = self._refused(missing, [reason] * len(missing), watermark)
        return rows.filter(pl.col(column).is_not_null()), errors

    def _marks(self, rows: pl.DataFrame) -> dict[int, int]:
        if not self.query.timed:
            return {}
        return dict(rows.group_by(PART).agg(pl.col(TS).max()).iter_rows())

    def _selected(
        self, rows: pl.DataFrame, watermark: int | None
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        numbered = rows.with_row_index(RAW)
        done = evaluate(numbered, self.query.columns, self.query.where, keep=(*POSITION, RAW))
        return done.frame, self._rejected(rows, done, watermark)

    def _rejected(self, rows: pl.DataFrame, done: Evaluated, watermark: int | None) -> pl.DataFrame:
        if not done.rejected:
            return no_rejects()
        at, reasons = zip(*done.rejected, strict=True)
        return self._refused(rows[list(at)], list(reasons), watermark)

    def _unexpired(
        self, kept: pl.DataFrame, whole: pl.DataFrame, watermark: int
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        if self.query.retain is None:
            return kept, no_rejects()
        old = pl.col(TS) < watermark - self.query.retain
        gone = kept.filter(old)
        if gone.is_empty():
            return kept, no_rejects()
        rows = whole[gone[RAW].to_list()]
        errors = self._refused(rows, ["expired"] * len(rows), watermark)
        return kept.filter(~old), errors

    def _refused(
        self, rows: pl.DataFrame, reasons: list[str], watermark: int | None
    ) -> pl.DataFrame:
        """With their event time where they have one, whether or not the window needs it."""
        ts = self.query.stream.ts
        timed = rows.drop(TS, strict=False)
        if ts is not None and ts in rows.columns:
            timed = timed.with_columns(pl.col(ts).dt.timestamp("us").alias(TS))
        return rejects(self.query.stream.name, timed, reasons, watermark)

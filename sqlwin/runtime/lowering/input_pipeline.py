"""The input pipeline: from a source's rows to what the window operator takes.

In this order: computed columns, event time, marks for the watermark, WHERE and
projection, expiry. Rows that fail on the way go to the error stream whole. The
pipeline is stateless: the watermark before the batch is an argument, so it may run
anywhere, in a source, before a shuffle, or in process.

A row moves the watermark even if WHERE drops it; a row that WHERE drops cannot
expire. Where rows are numbered it leaves a blank row, whose flag `PASSED_WHERE` is false, so
that it is counted (see `message_numbers`). The revisions of a derived row within a batch are
netted after WHERE, before the operator prepares them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from sqlwin.functions.core.volatility import NOW
from sqlwin.operators.joins.sides import PASSED_WHERE
from sqlwin.operators.sessions.judging import with_doubt
from sqlwin.plan.ir.nodes import column_of
from sqlwin.plan.ir.streams import Changelog
from sqlwin.polars_frames import INSTANT, dropped, stacked
from sqlwin.policies import Expired
from sqlwin.runtime.inputs.input import Input
from sqlwin.runtime.inputs.row_counts import RowCounts
from sqlwin.runtime.lowering.changes import kinds, refusals
from sqlwin.runtime.lowering.derived import net
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.rows.error_stream import (
    COUNTED,
    EXPIRED,
    LATE,
    WHOLE,
    judged,
    no_rejects,
    of_reason,
    rejects,
    texts,
)
from sqlwin.runtime.rows.scalars import Evaluated, evaluate
from sqlwin.schema import PART, POSITION, SEQ, TS, Column
from sqlwin.state.records import least

RAW = "__raw"


@dataclass(frozen=True)
class PreparedRows:
    """rows: prepared for the operator, or for the task to admit first. errors: as `rejects`.

    marks: partition to greatest event time. read: partition to greatest position. counts: of the
    rows before they are prepared.
    """

    rows: pl.DataFrame
    errors: pl.DataFrame
    marks: dict[int, int]
    read: dict[int, int] = field(default_factory=dict)
    counts: RowCounts = RowCounts()  # noqa: RUF009  it is frozen


@dataclass(frozen=True)
class InputPipeline:
    """Of the input with the number `at`."""

    query: Lowered
    at: int = field(default=0, kw_only=True)

    @cached_property
    def input(self) -> Input:
        return self.query.inputs[self.at]

    def process(
        self,
        raw: pl.DataFrame,
        watermark: int | None,
        lost: pl.DataFrame | None = None,
        now: int = 0,
    ) -> PreparedRows:
        """`raw`: the declared columns, `__part`, `__seq`. watermark: before this batch. now: the
        processing time of the batch.

        Where the watermark is not known (None) no row expires here, and rows are not prepared:
        the host runs the pipeline again where it is known. lost: positions of messages of a
        lost store, which are wanted again, however old.
        """
        timed, errors = self._timed(raw, watermark, now)
        marks = self._marks(timed)
        selected, failures = self._selected(timed, watermark, now)
        if watermark is None:
            return PreparedRows(dropped(selected, RAW), stacked([errors, failures]), marks)
        rows, expired = self._unexpired(selected, timed, watermark, lost)
        ready = self._judged(rows, timed, watermark, lost)
        errors = stacked([errors, failures, expired, self._ignored(rows, timed, watermark)])
        counts = RowCounts(len(rows), self._late(rows, watermark), of_reason(expired, EXPIRED))
        return PreparedRows(ready, errors, marks, self._read(timed), counts)

    def _late(self, rows: pl.DataFrame, watermark: int) -> int:
        """How many; most batches have none, which their least time says."""
        if not self.input.timed or rows.is_empty():
            return 0
        times = rows.get_column(TS)
        return 0 if least(times) >= watermark else int((times < watermark).sum())

    def _judged(
        self,
        rows: pl.DataFrame,
        timed_rows: pl.DataFrame,
        watermark: int,
        lost: pl.DataFrame | None,
    ) -> pl.DataFrame:
        """Prepared; or, where a task has still to admit them, as they are, late ones with text."""
        admission = self.input.admission
        rows = self._with_doubt(rows, timed_rows, watermark, lost)
        if admission is None and not self.input.numbered:
            return self.query.prepare(dropped(rows, RAW), self.at)
        if admission is None or admission.by_rows is None:
            return dropped(rows, RAW)
        return _with_text(rows, timed_rows, pl.col(TS) < watermark).drop(RAW)

    def _with_doubt(
        self,
        rows: pl.DataFrame,
        timed_rows: pl.DataFrame,
        watermark: int,
        lost: pl.DataFrame | None,
    ) -> pl.DataFrame:
        """With position and text of the rows that only the stores can judge; lost: as `process`."""
        kept = self.input.retention
        doubtful = None if kept is None else kept.doubtful(watermark)
        if kept is None or doubtful is None:
            return rows
        if lost is not None and kept.gap is None:
            doubtful = doubtful & ~pl.struct(POSITION).is_in(lost.select(POSITION).to_struct())
        texted = _with_text(rows, timed_rows, doubtful)
        return with_doubt(texted, doubtful, pl.col(WHOLE)).drop(WHOLE)

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
        return _stamped(rows, stream.ts), stacked([errors, bad])

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
            clocked = raw if scalar.clock is None else _at(raw, now)
            done = evaluate(clocked, (*declared, (name, scalar)), keep=(PART, SEQ))
            errors = stacked([errors, self._rejected(raw, done, watermark)])
            raw = done.frame
        return raw, errors

    def _required(
        self, rows: pl.DataFrame, column: str, what: str, watermark: int | None
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        if not rows[column].null_count():
            return rows, no_rejects()
        missing = rows.filter(pl.col(column).is_null())
        reason = f"{what}: {column} is NULL"
        errors = self._refused(missing, [reason] * len(missing), watermark)
        return rows.filter(pl.col(column).is_not_null()), errors

    def _marks(self, rows: pl.DataFrame) -> dict[int, int]:
        if not self.input.timed:
            return {}
        stream = self.input.stream
        if stream.changelog is not None and stream.ts is not None:
            instants = pl.col(stream.ts).dt.timestamp("us").alias(TS)
            rows = rows.select(PART, instants).drop_nulls()
        return _greatest(rows, TS)

    def _read(self, rows: pl.DataFrame) -> dict[int, int]:
        if self.input.stream.offset is None:
            return {}
        return _greatest(rows, SEQ)

    def _selected(
        self, rows: pl.DataFrame, watermark: int | None, now: int
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        numbered = rows.with_row_index(RAW)
        if self.input.clock:
            numbered = _at(numbered, now)
        wanted = (*POSITION, *self.input.carried, RAW)
        done = evaluate(numbered, self.input.columns, self.input.where, keep=wanted)
        selected = self._with_blanks(numbered, done) if self.input.blanks else done.frame
        return selected if self.input.numbered else net(selected), self._rejected(
            rows, done, watermark
        )

    def _with_blanks(self, numbered: pl.DataFrame, done: Evaluated) -> pl.DataFrame:
        """With a row of NULLs for each that WHERE drops."""
        held = done.frame.with_columns(pl.lit(True).alias(PASSED_WHERE))
        rejected = [at for at, _ in done.rejected]
        rest = numbered.join(held, on=RAW, how="anti").filter(~pl.col(RAW).is_in(rejected))
        blanks = rest.select(*POSITION, *self.input.carried, RAW, pl.lit(False).alias(PASSED_WHERE))
        return pl.concat([held, blanks], how="diagonal").sort(RAW)

    def _rejected(self, rows: pl.DataFrame, done: Evaluated, watermark: int | None) -> pl.DataFrame:
        if not done.rejected:
            return no_rejects()
        at, reasons = zip(*done.rejected, strict=True)
        return self._refused(rows[list(at)], list(reasons), watermark)

    def _unexpired(
        self,
        selected: pl.DataFrame,
        timed_rows: pl.DataFrame,
        watermark: int,
        lost: pl.DataFrame | None,
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        kept = self.input.retention
        if kept is None or selected.is_empty():
            return selected, no_rejects()
        missed = kept.missed(selected, watermark)
        if lost is not None:
            missed = missed.join(lost, on=list(POSITION), how="anti", maintain_order="left")
        if missed.is_empty():
            return selected, no_rejects()
        reported = missed.filter(PASSED_WHERE) if self.input.ordered else missed
        rows = timed_rows[reported[RAW].to_list()]
        refused = self._refused(rows, kept.reasons(reported, watermark), watermark)
        errors = judged(refused, self.query.expired)
        if self.query.expired is Expired.EMIT:  # the operator knows them by their time
            return selected, errors
        expired = missed.filter(pl.col(TS) < kept.horizon(watermark))
        return selected.join(expired, on=RAW, how="anti", maintain_order="left"), errors

    def _ignored(
        self, rows: pl.DataFrame, timed_rows: pl.DataFrame, watermark: int
    ) -> pl.DataFrame:
        """Rows that LATE NEVER corrects nothing by, to be counted."""
        kept, policy = self.input.retention, self.query.policy
        if policy is None or not policy.ignores:
            return no_rejects()
        behind = pl.col(TS) < watermark if kept is None else kept.late(watermark)
        late = rows.filter(behind)
        reasons = [f"{LATE}: {COUNTED}"] * len(late)
        return self._refused(timed_rows[late[RAW].to_list()], reasons, watermark)

    def _refused(
        self, rows: pl.DataFrame, reasons: list[str], watermark: int | None
    ) -> pl.DataFrame:
        """With their event time where they have one, whether or not the window needs it."""
        ts = self.input.stream.ts
        timed = rows.drop(TS, strict=False)
        if ts is not None and ts in rows.columns:
            timed = timed.with_columns(pl.col(ts).dt.timestamp("us").alias(TS))
        return rejects(self.input.stream.name, timed, reasons, watermark)


def _at(rows: pl.DataFrame, now: int) -> pl.DataFrame:
    """With the processing time that calls read."""
    return rows.with_columns(pl.lit(now, pl.Int64).cast(INSTANT).alias(NOW))


def _stamped(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """With `__ts` of a column of instants."""
    instants = rows[column]
    if instants.dtype == INSTANT and TS not in rows.columns:  # no query for a cast
        return rows.hstack([instants.cast(pl.Int64).alias(TS)])
    return rows.with_columns(pl.col(column).dt.timestamp("us").alias(TS))


def _greatest(rows: pl.DataFrame, column: str) -> dict[int, int]:
    """Of each partition; rows pushed, or of a file, have one."""
    first, last = rows[PART].min(), rows[PART].max()
    if first is not None and first == last:
        return {first: rows[column].max()}  # type: ignore[dict-item]
    return dict(rows.group_by(PART).agg(pl.col(column).max()).iter_rows())


def _with_text(rows: pl.DataFrame, timed_rows: pl.DataFrame, which: pl.Expr) -> pl.DataFrame:
    """Rows with `__whole`, the JSON text of those meant, NULL of the others."""
    wanted = rows.filter(which)
    if wanted.is_empty():
        return rows.with_columns(pl.lit(None, pl.String).alias(WHOLE))
    text = pl.DataFrame(
        {RAW: wanted[RAW], WHOLE: texts(timed_rows[wanted[RAW].to_list()])},
        schema={RAW: rows.schema[RAW], WHOLE: pl.String},
    )
    return rows.join(text, on=RAW, how="left", maintain_order="left")

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

from dataclasses import field

import polars as pl

from sqlwin.instants import START
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.joins.schema import PASSED_WHERE
from sqlwin.operators.sessions.judging import with_doubt
from sqlwin.polars_frames import dropped, stacked
from sqlwin.policies import Expired
from sqlwin.runtime.inputs.row_counts import RowCounts
from sqlwin.runtime.lowering.derived import net
from sqlwin.runtime.lowering.raw_rows import RAW, greatest, with_now, with_text
from sqlwin.runtime.lowering.timed_rows import TimedRows
from sqlwin.runtime.rows.error_stream import (
    COUNTED,
    EXPIRED,
    LATE,
    WHOLE,
    judged,
    no_rejects,
    of_reason,
)
from sqlwin.runtime.rows.scalars import Evaluated, evaluate
from sqlwin.schema import PART, POSITION, SEQ, TS
from sqlwin.state.records import least


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
    counts: RowCounts = RowCounts()


@dataclass(frozen=True)
class InputPipeline(TimedRows):
    """Of the input with the number `at`."""

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
        if self.input.spanned and watermark is not None:
            watermark = START  # what it has come to counts messages, and is no time
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
        return with_text(rows, timed_rows, pl.col(TS) < watermark).drop(RAW)

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
        texted = with_text(rows, timed_rows, doubtful)
        return with_doubt(texted, doubtful, pl.col(WHOLE)).drop(WHOLE)

    def _marks(self, rows: pl.DataFrame) -> dict[int, int]:
        if not self.input.timed:
            return {}
        stream = self.input.stream
        if stream.changelog is not None and stream.ts is not None:
            instants = pl.col(stream.ts).dt.timestamp("us").alias(TS)
            rows = rows.select(PART, instants).drop_nulls()
        return greatest(rows, TS)

    def _read(self, rows: pl.DataFrame) -> dict[int, int]:
        if self.input.stream.offset is None:
            return {}
        return greatest(rows, SEQ)

    def _selected(
        self, rows: pl.DataFrame, watermark: int | None, now: int
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        numbered = rows.with_row_index(RAW)
        if self.input.clock:
            numbered = with_now(numbered, now)
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

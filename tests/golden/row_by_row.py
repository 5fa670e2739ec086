"""Goldens fed one row at a time, the watermark held until the feed's last row is in.

Then a feed may say the same thing in more steps, and in nothing but more steps: a
window that two late rows correct is corrected twice, and an early one is emitted at each
row before it is emitted full. So what a step emitted is folded: of each row_key the last
emission, as `+U` where the row_key was held before the step and `+I` where it was not;
one that came and went within the step is not shown, nor one that changed and changed back, and
a `-D` has the values that were held. A `+I` of revision 0 begins anew: its key was forgotten
before. Revisions are
numbered as if those folded away had never been. Where a sink takes both halves of a
change, the `-U` has the values that were held too.

What cannot be folded back is a `gap` in its golden:

- a revision that HAVING or OFFSET hides, before the first of its step that it shows, still
  takes a number;
- EARLY EVERY n ROWS under a feed of more than n: a window is emitted at its n-th row,
  and the rest waits;
- RETAIN n ROWS under a feed of more than n: late rows are judged by the rows before them
  in the feed too;
- messages of a tuple window whose OFFSETs do not rise within a feed.
"""

from __future__ import annotations

import polars as pl

from sqlwin.embedded.output_buffer import OutputBuffer
from sqlwin.embedded.query import EmbeddedQuery
from sqlwin.plan.ir.statements import Script
from sqlwin.runtime.inputs.watermarks import merged
from sqlwin.runtime.lowering.explained import explain
from sqlwin.runtime.lowering.input_pipelines import prepare_batch
from sqlwin.runtime.lowering.output_projection import OutputProjection
from sqlwin.testing.cells import of_arrow
from sqlwin.testing.golden import Step
from sqlwin.testing.in_process import do, windows
from sqlwin.testing.outcome import StepResult

CHANGE = ("op", "emit", "revision", "row_key")


class OneByOne(EmbeddedQuery):
    """A batch is taken as batches of one row, under the watermark before all of them."""

    def take(self, stream: str, rows: pl.DataFrame, malformed: pl.DataFrame) -> None:
        self._check_usable()
        before = self._task.watermark(stream)
        self._error_rows.add(malformed)
        seen: dict[int, int] = {}
        now = self._position.now
        for row in rows.iter_slices(1):
            batch = prepare_batch(self._pipelines, stream, row, before, now=now)
            self._error_rows.add(batch.errors)
            self._run(lambda: self._task.take(batch.rows, {}, now, has_rows=True))  # noqa: B023
            seen = merged(seen, batch.marks[stream])
        has_rows = len(rows) + len(malformed) > 0
        self._run(lambda: self._task.take({}, {stream: seen}, now, has_rows=has_rows))


class RowByRow:
    def __init__(self, parsed: Script, clock: str) -> None:
        self.query = OneByOne(parsed, explain)
        self.query.advance(now=clock)
        self.board = OutputBuffer(OutputProjection(self.query._chain.top).nothing())
        self.folded: dict[str, int] = {}  # how many revisions of a row_key are folded away

    def explain(self) -> str:
        return self.query.explain()

    def take(self, step: Step) -> StepResult:
        known = self.query.expired().num_rows
        do(self.query, step)
        emitted = self._folded(pl.DataFrame(pl.from_arrow(self.query.results())))
        self.board.add(emitted)
        return StepResult(
            of_arrow(emitted.to_arrow()),
            of_arrow(self.query.expired()[known:]),
            of_arrow(self.board.last().to_arrow()),
            windows=windows(self.query, step),
        )

    def _folded(self, emitted: pl.DataFrame) -> pl.DataFrame:
        if emitted.is_empty():
            return emitted
        emitted, begun = self._anew(emitted.filter(pl.col("op") != "-U"))
        held = self.board.last()
        was = pl.col("row_key").is_in(held["row_key"].to_list()) & ~pl.col("row_key").is_in(begun)
        gone = pl.col("op") == "-D"
        changed = pl.when(was).then(pl.lit("+U")).otherwise(pl.lit("+I"))
        last = (
            self._numbered(emitted, held)
            .unique("row_key", keep="last", maintain_order=True)
            .filter(was | ~gone)
            .with_columns(pl.when(gone).then("op").otherwise(changed).alias("op"))
        )
        last = last.filter(~pl.col("row_key").is_in(self._undone(emitted, last, held)))
        if (last["op"] == "-D").any():
            last = pl.concat([last.filter(~gone), _as_held(last.filter(gone), held)])
        return pl.concat([_halves(last, held), last]) if self.query._chain.top.pairs else last

    def _undone(self, emitted: pl.DataFrame, last: pl.DataFrame, held: pl.DataFrame) -> list[str]:
        """Row_keys that changed more than once, and are as they were: that is no update."""
        often = emitted["row_key"].filter(emitted["row_key"].is_duplicated())
        if often.is_empty():
            return []
        own = [name for name in held.columns if name not in CHANGE]
        updates = last.filter(op="+U").filter(pl.col("emit") != "full")
        both = updates.join(held.select(*own, "row_key"), on="row_key", suffix=" held")
        same = [pl.col(name).eq_missing(pl.col(f"{name} held")) for name in own]
        undone = both.filter(pl.col("row_key").is_in(often.to_list()), *same)["row_key"].to_list()
        for row_key in undone:
            self.folded[row_key] += 1
        return undone

    def _anew(self, emitted: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
        """Without what came before a `+I` of revision 0, and the row_keys that have one."""
        first = (pl.col("op") == "+I") & (pl.col("revision") == 0)
        if not emitted.select(first.any()).item():
            return emitted, []
        runs = first.cum_sum().over("row_key")
        newest = emitted.filter(runs == runs.max().over("row_key"))
        begun = newest.filter(first)["row_key"].to_list()
        for row_key in begun:
            self.folded.pop(row_key, None)
        return newest, begun

    def _numbered(self, emitted: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
        """With the revisions as if each row_key was emitted once; what came and went, never."""
        first = pl.col("revision").first().over("row_key")
        went = ~pl.col("row_key").is_in(held["row_key"].to_list()) & (pl.col("op").last() == "-D")
        last = (pl.col("revision").last() + went.first()).alias("last")
        spans = emitted.group_by("row_key").agg(pl.col("revision").first().alias("first"), last)
        numbered = emitted.with_columns(
            (first - pl.col("row_key").replace_strict(self.folded, default=0)).cast(pl.Int32)
        )
        for row_key, lowest, highest in spans.iter_rows():
            self.folded[row_key] = self.folded.get(row_key, 0) + highest - lowest
        return numbered


def _as_held(gone: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """Retractions with the values held before, not with those of a step folded away."""
    own = [name for name in held.columns if name not in CHANGE]
    return gone.select(CHANGE).join(held.select(*own, "row_key"), on="row_key").select(held.columns)


def _halves(sent: pl.DataFrame, held: pl.DataFrame) -> pl.DataFrame:
    """What each `+U` takes back: the values held before."""
    changed = sent.filter(pl.col("op") == "+U").select("emit", "row_key")
    back = held.drop("op", "emit").join(changed, on="row_key")
    return back.with_columns(pl.lit("-U").alias("op")).select(held.columns)

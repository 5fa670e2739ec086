"""The back of a query: from an operator's emissions to what people see.

HAVING and the select list are computed over each emission, and the changelog is
kept whole: where a filter splits a pair, a `-U` without its partner becomes
`-D`, a `+U` without partner becomes `+I`. Pairs that survive show the `+U`
alone, which says it all to whoever folds by `row_key`.

| before passes | after passes | shown |
|---------------|--------------|-------|
| yes           | yes          | +U    |
| no            | yes          | +I    |
| yes           | no           | -D, with the values withdrawn and the new revision |
| no            | no           | nothing |
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from sqlwin.errors import RunError
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA, row_key_at
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.rows.scalars import Columns, evaluate
from sqlwin.schema import (
    CHANGE,
    EMIT,
    OP,
    PART,
    POSITION,
    REVISION,
    ROW_KEY,
    SHOWN,
    empty,
    polars_type,
)


@dataclass(frozen=True)
class Back:
    query: Lowered

    @cached_property
    def schema(self) -> dict[str, pl.DataType]:
        """The select list, then op, emit, revision, row_key."""
        columns = {name: polars_type(scalar.type) for name, scalar in self.query.output}
        return {**columns, **{self._called[name]: dtype() for name, dtype in CHANGE_SCHEMA.items()}}

    @property
    def _called(self) -> dict[str, str]:
        """What the columns of a change are called: in a derived stream, as they are."""
        return {name: name for name in SHOWN} if self.query.derives else SHOWN

    def nothing(self) -> pl.DataFrame:
        return empty(self.schema)

    def show(self, emitted: pl.DataFrame) -> pl.DataFrame:
        if emitted.is_empty():
            return self.nothing()
        kept = self._filtered(emitted)
        shown = self._computed(kept, "the select list", self.query.output)
        return shown.rename(self._called).cast(self.schema)  # type: ignore[arg-type]

    def pass_on(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of a query without a window are results as they are."""
        if self.query.stream.of:
            told = _again(rows, len(self.query.stream.of) > 1)
            return self._told(told).rename(self._called).select(self.schema.keys())
        changed = rows.sort(POSITION).with_columns(
            pl.lit("+I").alias(OP),
            pl.lit("full").alias(EMIT),
            pl.lit(0, pl.Int32).alias(REVISION),
            row_key_at(self.query.stream.name),
        )
        return changed.drop(POSITION).rename(self._called).select(self.schema.keys())

    def _computed(self, emitted: pl.DataFrame, what: str, columns: Columns) -> pl.DataFrame:
        """There is no row of a source to refuse here: what fails ends the run."""
        done = evaluate(emitted, columns, keep=CHANGE)
        if done.rejected:
            at, reason = done.rejected[0]
            raise RunError(f"{what} fails on {emitted[ROW_KEY][at]}: {reason}")
        return done.frame

    def _filtered(self, emitted: pl.DataFrame) -> pl.DataFrame:
        if self.query.having is None:
            return self._told(emitted)
        held = self._computed(emitted, "HAVING", (("held", self.query.having),))
        passed = held["held"].fill_null(False)
        paired = emitted.with_columns(
            passed.alias("__passed"),
            pl.col(OP).shift(1).alias("__above"),
            passed.shift(1, fill_value=False).alias("__above_passed"),
            passed.shift(-1, fill_value=False).alias("__below_passed"),
            pl.col(REVISION).shift(-1, fill_value=0).alias("__below_revision"),
        )
        passing = paired.with_columns(_op(), _revision()).filter("__passed")
        return self._told(passing.select(emitted.columns))

    def _told(self, changes: pl.DataFrame) -> pl.DataFrame:
        """A replacement says it all, but to a derived stream and to a sink that retracts."""
        return changes if self.query.pairs else changes.filter(pl.col(OP) != "-U")


def _op() -> pl.Expr:
    lost = (pl.col(OP) == "-U") & ~pl.col("__below_passed")
    gained = (pl.col(OP) == "+U") & (pl.col("__above") == "-U") & ~pl.col("__above_passed")
    shown = pl.when(lost).then(pl.lit("-D")).when(gained).then(pl.lit("+I")).otherwise(pl.col(OP))
    return shown.alias(OP)


def _revision() -> pl.Expr:
    """A withdrawal counts as the revision it makes way for."""
    return (
        pl.when(pl.col(OP) == "-U")
        .then(pl.col("__below_revision"))
        .otherwise(pl.col(REVISION))
        .cast(pl.Int32)
        .alias(REVISION)
    )


def _again(rows: pl.DataFrame, several: bool) -> pl.DataFrame:
    """Rows of a derived stream as the changes they came from, less those that are filtered out.

    several: plans give them, and each one's keys are its own.
    """
    key = pl.format("[{},{}", PART, pl.col(ROW_KEY).str.slice(1)) if several else pl.col(ROW_KEY)
    same = pl.col(ROW_KEY).eq_missing(pl.col(ROW_KEY).shift(1))
    first = ~(same & (pl.col(OP).shift(1) == "-U").fill_null(False))
    alone = ~(same.shift(-1, fill_value=False) & (pl.col(OP).shift(-1) == "+U").fill_null(False))
    op = (
        pl.when((pl.col(OP) == "+U") & first)
        .then(pl.lit("+I"))
        .when((pl.col(OP) == "-U") & alone)
        .then(pl.lit("-D"))
        .otherwise(pl.col(OP))
    )
    return rows.with_columns(key.alias(ROW_KEY), op.alias(OP))

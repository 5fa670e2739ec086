"""The output projection: from an operator's emissions to the query's results.

HAVING and the select list are computed over each emission, and the changelog stays
consistent: where HAVING splits a pair, a `-U` without its `+U` becomes `-D`, a `+U`
without its `-U` becomes `+I`. Of complete pairs only the `+U` is emitted, which is
enough for an upsert by `row_key`; both halves go to a derived stream and to a sink that retracts.

| before passes | after passes | emitted |
|---------------|--------------|-------|
| yes           | yes          | +U    |
| no            | yes          | +I    |
| yes           | no           | -D, with the values retracted and the new revision |
| no            | no           | nothing |
"""

from __future__ import annotations

from functools import cached_property

import polars as pl

from sqlwin.errors import RunError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.emitter.changes import CHANGE_SCHEMA, row_key_at
from sqlwin.polars_frames import empty, polars_type
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.runtime.rows.scalars import Columns, evaluate
from sqlwin.schema import CHANGE, CHANGELOG_NAMES, EMIT, OP, PART, POSITION, REVISION, ROW_KEY

PASSED, ABOVE, ABOVE_PASSED = "__passed", "__above", "__above_passed"
BELOW_PASSED, BELOW_REVISION = "__below_passed", "__below_revision"


@dataclass(frozen=True)
class OutputProjection:
    query: Lowered

    @cached_property
    def schema(self) -> dict[str, pl.DataType]:
        """The select list, then op, emit, revision, row_key."""
        columns = {name: polars_type(scalar.type) for name, scalar in self.query.output}
        return {**columns, **{self._called[name]: dtype() for name, dtype in CHANGE_SCHEMA.items()}}

    @property
    def _called(self) -> dict[str, str]:
        """What the columns of a change are called: in a derived stream, as they are."""
        return {name: name for name in CHANGELOG_NAMES} if self.query.derives else CHANGELOG_NAMES

    def nothing(self) -> pl.DataFrame:
        return self._nothing

    @cached_property
    def _nothing(self) -> pl.DataFrame:
        return empty(self.schema)

    def project(self, emitted: pl.DataFrame) -> pl.DataFrame:
        if emitted.is_empty():
            return self.nothing()
        passing = self._filtered(emitted)
        results = self._computed(passing, "the select list", self.query.output)
        results.columns = list(self.schema)  # no query, as a `rename` is one
        if results.dtypes == list(self.schema.values()):
            return results
        return results.cast(self.schema)  # type: ignore[arg-type]

    def pass_on(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of a query without a window are results as they are, or those of their elements."""
        changes = self._changes(rows)
        if self.query.unnesting is not None:
            return self.project(self.query.unnesting.unnest(changes))
        return self._visible(changes).rename(self._called).select(self.schema.keys())

    def _changes(self, rows: pl.DataFrame) -> pl.DataFrame:
        """With what an emission carries."""
        if self.query.stream.of:
            return _as_changes(rows, len(self.query.stream.of) > 1)
        changed = rows.sort(POSITION).with_columns(
            pl.lit("+I").alias(OP),
            pl.lit("full").alias(EMIT),
            pl.lit(0, pl.Int32).alias(REVISION),
            row_key_at(self.query.stream.name),
        )
        return changed.drop(POSITION)

    def _computed(self, emitted: pl.DataFrame, what: str, columns: Columns) -> pl.DataFrame:
        """There is no row of a source to refuse here: what fails ends the run."""
        done = evaluate(emitted, columns, keep=CHANGE)
        if done.rejected:
            at, reason = done.rejected[0]
            raise RunError(f"{what} fails on {emitted[ROW_KEY][at]}: {reason}")
        return done.frame

    def _filtered(self, emitted: pl.DataFrame) -> pl.DataFrame:
        if self.query.having is None:
            return self._visible(emitted)
        passed = self._computed(emitted, "HAVING", ((PASSED, self.query.having),))[PASSED]
        passed = passed.fill_null(False)
        paired = emitted.with_columns(
            passed.alias(PASSED),
            pl.col(OP).shift(1).alias(ABOVE),
            passed.shift(1, fill_value=False).alias(ABOVE_PASSED),
            passed.shift(-1, fill_value=False).alias(BELOW_PASSED),
            pl.col(REVISION).shift(-1, fill_value=0).alias(BELOW_REVISION),
        )
        passing = paired.with_columns(_op(), _revision()).filter(PASSED)
        return self._visible(passing.select(emitted.columns))

    def _visible(self, changes: pl.DataFrame) -> pl.DataFrame:
        """Without `-U`, but for a derived stream and for a sink that retracts."""
        if (
            self.query.pairs or changes.get_column(OP).max() != "-U"
        ):  # which is the greatest of them
            return changes
        return changes.filter(pl.col(OP) != "-U")


def _op() -> pl.Expr:
    leaves = (pl.col(OP) == "-U") & ~pl.col(BELOW_PASSED)
    enters = (pl.col(OP) == "+U") & (pl.col(ABOVE) == "-U") & ~pl.col(ABOVE_PASSED)
    op = pl.when(leaves).then(pl.lit("-D")).when(enters).then(pl.lit("+I")).otherwise(pl.col(OP))
    return op.alias(OP)


def _revision() -> pl.Expr:
    """A retraction has the revision of its replacement."""
    return (
        pl.when(pl.col(OP) == "-U")
        .then(pl.col(BELOW_REVISION))
        .otherwise(pl.col(REVISION))
        .cast(pl.Int32)
        .alias(REVISION)
    )


def _as_changes(rows: pl.DataFrame, several: bool) -> pl.DataFrame:
    """Rows of a derived stream as the changes they came from, less those that are filtered out.

    several: plans give them, and each one's keys are its own.
    """
    key = pl.format("[{},{}", PART, pl.col(ROW_KEY).str.slice(1)) if several else pl.col(ROW_KEY)
    same = pl.col(ROW_KEY).eq_missing(pl.col(ROW_KEY).shift(1))
    first = ~(same & (pl.col(OP).shift(1) == "-U").fill_null(False))
    unpaired = ~(same.shift(-1, fill_value=False) & (pl.col(OP).shift(-1) == "+U").fill_null(False))
    op = (
        pl.when((pl.col(OP) == "+U") & first)
        .then(pl.lit("+I"))
        .when((pl.col(OP) == "-U") & unpaired)
        .then(pl.lit("-D"))
        .otherwise(pl.col(OP))
    )
    return rows.with_columns(key.alias(ROW_KEY), op.alias(OP))

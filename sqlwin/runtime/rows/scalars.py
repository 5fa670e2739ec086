"""Scalar SQL over columns: DuckDB evaluates what the planner printed.

One engine evaluates scalars on every host, so a query cannot mean two things.
Plain column picks never reach it. A row whose expression fails (a cast of
'abc' to a number) is handed back with the reason; the other rows go on. Those of a
batch are found together (`sandbox.failing`). A row that takes too long, or whose
value is too large, is found by halving; what that costs in all is bounded.

>>> import pyarrow as pa
>>> frame = pl.DataFrame({"a": ["1", "x", "3"]})
>>> twice = Scalar("2 * CAST(a AS INT)", '2 * CAST("a" AS INTEGER)', pa.int32(), ("a",))
>>> done = evaluate(frame, (("b", twice),))
>>> done.frame["b"].to_list(), [at for at, _ in done.rejected]
([2, 6], [1])
"""

from __future__ import annotations

from dataclasses import field

import polars as pl

from sqlwin.errors import RunError
from sqlwin.kernels.columns import columns_of, table
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Scalar, quoted
from sqlwin.polars_frames import polars_type
from sqlwin.sandbox.bounds import BYTES
from sqlwin.sandbox.clock import OutOfTime
from sqlwin.sandbox.failing import failing
from sqlwin.sandbox.recording import AT
from sqlwin.sandbox.running import RESULT, Failed, TooLarge, run
from sqlwin.sandbox.tree import Forbidden

TIMES_OUT = 20
"""How often the parts of one batch may run out of time, before the query does."""
PARTS = 64
"""That rows are cut into where some of them took too long."""
Columns = tuple[tuple[str, Scalar], ...]
Rejected = list[tuple[int, str]]


@dataclass(frozen=True)
class Evaluated:
    """frame: the computed columns, and those kept. rejected: (row number, reason)."""

    frame: pl.DataFrame
    rejected: Rejected


def evaluate(
    frame: pl.DataFrame,
    columns: Columns,
    where: Scalar | None = None,
    keep: tuple[str, ...] = (),
) -> Evaluated:
    """Compute `columns` over the rows where `where` is true; `keep` columns come along.

    RunError where rows beyond count take too long, or all together are too large.
    """
    if where is None and all(scalar.is_column for _, scalar in columns):
        given = columns_of(frame, [*(scalar.inputs[0] for _, scalar in columns), *keep])
        named = zip((*(name for name, _ in columns), *keep), given, strict=True)
        return Evaluated(table([c if c.name == name else c.alias(name) for name, c in named]), [])
    computed = tuple(name for name, scalar in columns if not scalar.is_column)
    cut = _Cut(_select(columns, where, keep), columns, where, computed)
    try:
        parts = cut.parts(frame.with_row_index(AT).cast({AT: pl.Int64}))
    except Forbidden as forbidden:
        raise RunError(f"an expression is refused: {forbidden}") from None
    except TooLarge:
        raise RunError(f"the expressions of one batch make more than {RESULT} bytes") from None
    made = pl.concat(parts) if parts else _nothing(frame, columns, keep)
    typed = [pl.col(name).cast(polars_type(scalar.type)) for name, scalar in columns]
    return Evaluated(made.select(*typed, *keep), sorted(cut.rejected))


def _nothing(frame: pl.DataFrame, columns: Columns, keep: tuple[str, ...]) -> pl.DataFrame:
    """No rows: every one was rejected, and an expression of constants fails without any."""
    typed = {name: polars_type(scalar.type) for name, scalar in columns}
    return pl.DataFrame(schema=typed | {name: frame.schema[name] for name in keep})


def _select(columns: Columns, where: Scalar | None, keep: tuple[str, ...]) -> str:
    computed = [f"{scalar.duckdb} AS {quoted(name)}" for name, scalar in columns]
    picked = ", ".join([*computed, *(quoted(name) for name in keep)])
    return f"SELECT {picked} FROM rows" + (f" WHERE {where.duckdb}" if where else "")


@dataclass
class _Cut:
    """Rows in parts, until each part is computed or is one row that cannot be."""

    query: str
    columns: Columns
    where: Scalar | None
    computed: tuple[str, ...]
    rejected: Rejected = field(default_factory=list)
    out_of_time: int = 0

    def parts(self, frame: pl.DataFrame, tried: bool = False) -> list[pl.DataFrame]:
        """tried: the rows that fail by themselves are out."""
        try:
            return [self._run(frame)]
        except Failed as failure:
            if len(frame) == 0:
                return []
            if not tried and len(frame) > 1:
                return self.parts(self._without_failing(frame), tried=True)
            reason, count = str(failure), 2
        except OutOfTime:
            self._count_time_out()
            reason, count = "the row takes too long to compute", PARTS
        if len(frame) == 1:
            self.rejected.append((int(frame[AT][0]), reason))
            return []
        size = -(-len(frame) // count)
        return [part for cut in frame.iter_slices(size) for part in self.parts(cut, tried)]

    def _without_failing(self, frame: pl.DataFrame) -> pl.DataFrame:
        where = None if self.where is None else self.where.duckdb
        failed = failing(frame.to_arrow(), [made.duckdb for _, made in self.columns], where)
        self.rejected.extend(failed.items())
        return frame.filter(~pl.col(AT).is_in(list(failed))) if failed else frame

    def _run(self, frame: pl.DataFrame) -> pl.DataFrame:
        made: pl.DataFrame = pl.from_arrow(run(frame.to_arrow(), self.query))  # type: ignore[assignment]
        for name in self.computed:
            if _largest(made[name]) > BYTES:
                raise Failed(f"a value of more than {BYTES} bytes")
        return made

    def _count_time_out(self) -> None:
        self.out_of_time += 1
        if self.out_of_time > TIMES_OUT:
            raise RunError("too many rows of one batch take too long to compute")


def _largest(column: pl.Series) -> int:
    """Bytes of the longest text, or no less; 0 where the values have a fixed size."""
    if column.dtype not in (pl.String, pl.Binary):
        return 0
    size = int(column.estimated_size())
    if size <= BYTES:
        return size
    longest = column.str.len_bytes() if column.dtype == pl.String else column.bin.size()
    return int(longest.max() or 0)  # type: ignore[arg-type]

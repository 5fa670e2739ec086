"""COLLECT_LIST, COLLECT_SET and STRING_AGG: the values themselves, in an order.

| column | dtype | what |
|--------|-------|------|
| `values` | List of the argument's | all values but NULLs |
| `by0`, `by1`, … | Lists | of ORDER BY, if there is one |
| `ts`, `part`, `seq` | Lists of Int64, Int32, Int64 | their positions |

DISTINCT keeps the first of equal values by position; then values stand in the order of
ORDER BY, ties, and all without it, by position. Of nothing: an empty list; STRING_AGG NULL.

LIMIT n takes the first n in that order. What is not among the first n of a part is not among those
of the whole, so no more of a part is kept, unless DISTINCT has yet to say which values are left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.kernels.folds.base import FoldCall
from sqlwin.kernels.folds.full_state.base import OWNER, PLACE, Kept, position
from sqlwin.kernels.frames import Frames, Ints, Mask
from sqlwin.kernels.gather import chunks, listed
from sqlwin.kernels.order_statistics.wavelet import previous
from sqlwin.kernels.ranks import arranged, ranked
from sqlwin.lazy_dataclass import dataclass
from sqlwin.polars_frames import polars_type
from sqlwin.schema import Order


@dataclass(frozen=True)
class Collect(Kept):
    """The values as a list, or, `joined`, as one string with the parameter between them."""

    distinct: bool
    joined: bool = False

    def sources(self) -> list[tuple[str, pl.Expr]]:
        by = [(f"by{n}", pl.col(key.column)) for n, key in enumerate(self.call.order)]
        return [("values", self.call.arg()), *by, *position()]

    def finish(self, accumulators: pl.DataFrame) -> pl.Series:
        kept = self.rows_kept(accumulators).sort(OWNER, *(what for what, _ in PLACE))
        if self.distinct:
            kept = kept.unique((OWNER, "values"), keep="first", maintain_order=True)
        kept = self._sorted(kept, OWNER, [f"by{n}" for n in range(len(self.call.order))])
        return self.shown(kept, len(accumulators))

    def slide(self, rows: pl.DataFrame, frames: Frames) -> pl.Series:
        values, inner = self.values(rows, frames)
        rows = rows.filter(pl.Series(self.present(rows)))
        taken, places = self.taken(rows), self._places(rows)
        before = previous(ranked(values)[0]) if self.distinct else None
        found = [self.shown(taken.clear().with_columns(pl.lit(0).alias(OWNER)), 0)]
        for chunk in chunks(inner):
            owner, index = chunk.owner, chunk.index
            if before is not None:
                first = before[index] < inner.lo[chunk.frames][owner]
                owner, index = owner[first], index[first]
            if places is not None:
                owner, index = _by_place(owner, index, places)
            held = taken[index].with_columns(pl.Series(OWNER, owner))
            found.append(self.shown(held, len(chunk)))
        return pl.concat(found)

    def taken(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Of raw rows what is shown, by the names of `sources`."""
        return rows.select(pl.col(self.call.args[0]).alias("values"))

    def shown(self, kept: pl.DataFrame, owners: int) -> pl.Series:
        """The result of each owner, of its rows in order."""
        lengths = np.bincount(kept[OWNER].to_numpy(), minlength=owners)
        return self._shown(listed(kept["values"], lengths))

    def _places(self, rows: pl.DataFrame) -> Ints | None:
        """Where each row stands in the order of ORDER BY; None: where it is."""
        if not self.call.order:
            return None
        places = np.empty(len(rows), dtype=np.int64)
        places[arranged(rows, self.call.order)] = np.arange(len(rows))
        return places

    def _sorted(self, rows: pl.DataFrame, owner: str, by: list[str]) -> pl.DataFrame:
        """By owner, then as ORDER BY says of the columns `by`; ties stay as they stand."""
        return rows.sort(
            owner,
            *by,
            descending=[False, *(key.descending for key in self.call.order)],
            nulls_last=[False, *(key.nulls_last for key in self.call.order)],
            maintain_order=True,
        )

    def _shown(self, lists: pl.Series) -> pl.Series:
        if self.call.limit is not None:
            lists = lists.list.head(self.call.limit)
        if self.distinct:
            lists = unsigned(lists.to_frame("lists"), "lists")
        if not self.joined:
            return lists.cast(polars_type(self.call.type)).alias(self.call.name)
        (between,) = self.call.params
        if pa.types.is_binary(self.call.type):
            joined = [(between or b"").join(each) if len(each) else None for each in lists]
            return pl.Series(self.call.name, joined, dtype=pl.Binary)
        text = pl.col("lists").list.join(str(between))
        some = pl.when(pl.col("lists").list.len() > 0)
        return lists.to_frame("lists").select(some.then(text).alias(self.call.name)).to_series()


@dataclass(frozen=True)
class Limited(Collect):
    """The first values alone: an accumulator has no more than the limit."""

    full_state = False
    ordered = True

    def lift(self) -> list[pl.Expr]:
        known = self.known()
        return self._first([(what, source.filter(known)) for what, source in self.sources()])

    def merge(self) -> list[pl.Expr]:
        lists = [(what, pl.col(self.call.named(what))) for what, _ in self.sources()]
        return self._first([(what, each.explode(empty_as_null=False)) for what, each in lists])

    def _first(self, kept: list[tuple[str, pl.Expr]]) -> list[pl.Expr]:
        keys = self.call.order
        by = [value for what, value in kept if what != "values"]
        place = [False] * len(PLACE)
        down = [*(key.descending for key in keys), *place]
        last = [*(key.nulls_last for key in keys), *place]
        # the list is cut, not the values: see `Nth.merge`
        return [
            value.sort_by(by, descending=down, nulls_last=last)
            .implode()
            .list.head(self.call.limit or 0)
            .alias(self.call.named(what))
            for what, value in kept
        ]


@dataclass(frozen=True)
class Nearest(Limited):
    """ARG_MIN(x, y, n) and ARG_MAX: x, NULLs too, of the first n rows by y, which is not NULL.

    As in Spark, NULL of no such row.
    """

    def known(self) -> pl.Expr:
        return self.call.arg(1).is_not_null()

    def present(self, rows: pl.DataFrame) -> Mask:
        return self.call.present(rows, 1)

    def _shown(self, lists: pl.Series) -> pl.Series:
        some = pl.when(pl.col(self.call.name).list.len() > 0)
        shown = super()._shown(lists).to_frame()
        return shown.select(some.then(pl.col(self.call.name))).to_series()


def nearest(call: FoldCall, greatest: bool) -> Nearest:
    """The parameter is the limit; of a tie the first rows."""
    (limit,) = call.params
    by = Order(call.args[1], descending=greatest, nulls_last=True)
    return Nearest(replace(call, order=(by,), limit=limit), distinct=False)


def collected(call: FoldCall, joined: bool = False) -> Collect:
    bounded = call.limit is not None and not call.distinct
    return (Limited if bounded else Collect)(call, call.distinct, joined)


def unsigned(rows: pl.DataFrame, column: str) -> pl.Series:
    """The column with 0.0 for each -0.0, as Spark's sets have it, however deep inside.

    >>> unsigned(pl.DataFrame({"x": [[{"a": -0.0}], None]}), "x").to_list()
    [[{'a': 0.0}], None]
    """
    return rows.select(_unsigned(pl.col(column), rows.schema[column])).to_series()


def _unsigned(value: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    if dtype.is_float():
        return pl.when(value == 0).then(pl.lit(0.0, dtype)).otherwise(value)
    if not _has_floats(dtype):
        return value
    if isinstance(dtype, pl.List):
        inner: Any = dtype.inner
        return value.list.eval(_unsigned(pl.element(), inner))
    fields: dict[str, Any] = dict(dtype.to_schema()) if isinstance(dtype, pl.Struct) else {}
    made = [_unsigned(value.struct.field(name), of).alias(name) for name, of in fields.items()]
    return pl.when(value.is_not_null()).then(pl.struct(made))


def _has_floats(dtype: pl.DataType) -> bool:
    inner = getattr(dtype, "inner", None)
    parts = dtype.to_schema().values() if isinstance(dtype, pl.Struct) else [inner] if inner else []
    return dtype.is_float() or any(map(_has_floats, parts))


def _by_place(owner: Ints, index: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Each owner's rows in their places."""
    order = np.argsort(owner * len(places) + places[index])
    return owner[order], index[order]

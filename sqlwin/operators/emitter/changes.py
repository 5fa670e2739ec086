"""From values to a changelog: what op, which revision, under which row key.

A frame of values has, beside the operator's columns, `__was`: the revision last
emitted, -1 where there was none. A window emitted before is updated (`+U`), a
new one inserted (`+I`). Where withdrawals are wanted, the old values stand in
`__old.<column>` and each `+U` comes directly below a `-U` that carries them.
"""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Any

import polars as pl

from sqlwin.instants import format_instant, from_datetime
from sqlwin.operators.emitter.schema import OLD
from sqlwin.schema import EMIT, OP, PART, REVISION, ROW_KEY, SEQ, iso

WAS = "__was"
CHANGE_SCHEMA = {OP: pl.String, EMIT: pl.String, REVISION: pl.Int32, ROW_KEY: pl.String}


def changes(
    values: pl.DataFrame,
    emit: str | pl.Expr,
    withdraw: bool,
    updated: pl.Expr | None = None,
    gone: pl.Expr | None = None,
) -> pl.DataFrame:
    """Emissions of `values` (with `__row_key` and `__was`), in their order.

    emit: `early`, `full` or `late`; an expression over `values` where it differs by row.
    updated: which were emitted before and not withdrawn since; None: none is withdrawn.
    gone: which are withdrawn now, with the values last emitted.
    """
    emit = pl.lit(emit) if isinstance(emit, str) else emit
    updated = pl.col(WAS) >= 0 if updated is None else updated
    current = values.select(
        pl.exclude(WAS, ROW_KEY, f"^{OLD}.*$"),
        _op(updated, gone).alias(OP),
        emit.alias(EMIT),
        (pl.col(WAS) + 1).cast(pl.Int32).alias(REVISION),
        ROW_KEY,
    )
    if not withdraw:
        return current
    replaced = updated if gone is None else updated & ~gone
    return _interleave(_withdrawn(values.with_row_index("__at").filter(replaced), emit), current)


def _op(updated: pl.Expr, gone: pl.Expr | None) -> pl.Expr:
    there = pl.when(updated).then(pl.lit("+U")).otherwise(pl.lit("+I"))
    return there if gone is None else pl.when(gone).then(pl.lit("-D")).otherwise(there)


def _withdrawn(values: pl.DataFrame, emit: pl.Expr) -> pl.DataFrame:
    remembered = [c.removeprefix(OLD) for c in values.columns if c.startswith(OLD)]
    return values.with_columns(pl.col(OLD + c).alias(c) for c in remembered).select(
        pl.exclude(WAS, ROW_KEY, f"^{OLD}.*$"),
        pl.lit("-U").alias(OP),
        emit.alias(EMIT),
        pl.col(WAS).cast(pl.Int32).alias(REVISION),
        ROW_KEY,
    )


def _interleave(withdrawn: pl.DataFrame, current: pl.DataFrame) -> pl.DataFrame:
    numbered = current.with_row_index("__at")
    both = pl.concat([withdrawn.select(numbered.columns), numbered])
    return both.sort("__at", maintain_order=True).drop("__at")


def row_key(columns: dict[str, pl.DataType]) -> pl.Expr:
    """A JSON array of the columns' values; equal texts iff equal values.

    Instants are ISO 8601 with a trailing Z, decimals and dates are strings.
    """
    parts = [_json(name, dtype).fill_null("null") for name, dtype in columns.items()]
    joined = pl.concat_str(parts, separator=",") if parts else pl.lit("")
    return pl.concat_str([pl.lit("["), joined, pl.lit("]")]).alias(ROW_KEY)


def row_key_at(stream: str, edges: dict[str, pl.DataType] | None = None) -> pl.Expr:
    """The `row_key` of a row: stream, partition, position; `edges`: of the window it is told in."""
    source = json.dumps([stream], ensure_ascii=False)[:-1]
    rest = row_key({PART: pl.Int32(), SEQ: pl.Int64(), **(edges or {})}).str.slice(1)
    return pl.concat_str([pl.lit(source + ","), rest]).alias(ROW_KEY)


def _json(name: str, dtype: pl.DataType) -> pl.Expr:
    column = pl.col(name)
    if isinstance(dtype, pl.Datetime):
        return pl.concat_str([pl.lit('"'), iso(column), pl.lit('"')])
    if dtype == pl.String:
        # {"v":"…"} without its first five characters and its last
        return pl.struct(column.alias("v")).struct.json_encode().str.slice(5).str.head(-1)
    if dtype.is_float():
        # -0.0 and 0.0 are one key; NaN and infinities are no JSON numbers
        text = pl.when(column == 0).then(0.0).otherwise(column).cast(pl.String)
        quoted = pl.concat_str([pl.lit('"'), text, pl.lit('"')])
        return pl.when(column.is_finite()).then(text).otherwise(quoted)
    if dtype.is_integer() or dtype == pl.Boolean:
        return column.cast(pl.String)
    if dtype == pl.Binary:
        return pl.concat_str([pl.lit('"'), column.bin.encode("hex"), pl.lit('"')])
    if dtype.is_nested():
        return column.map_batches(_nested_texts, return_dtype=pl.String)
    return pl.concat_str([pl.lit('"'), column.cast(pl.String), pl.lit('"')])


def _nested_texts(values: pl.Series) -> pl.Series:
    texts = [
        None
        if value is None
        else json.dumps(_nested(value), ensure_ascii=False, separators=(",", ":"))
        for value in values.to_list()
    ]
    return pl.Series(values.name, texts, dtype=pl.String)


def _nested(value: Any) -> Any:
    """As `_json` has it, in lists and structs; a map is a list of its entries."""
    if isinstance(value, list | tuple):
        return [_nested(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _nested(each) for name, each in value.items()}
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else "NaN" if math.isnan(value) else str(value)
    if isinstance(value, datetime):
        return format_instant(from_datetime(value))
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, int | str) else str(value)

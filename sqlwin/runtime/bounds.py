"""How much state a query will hold, from its plan and a rate: an expectation, not a promise.

Rows are taken to come evenly in event time and over the keys; `record_counts` says
how many records each store then has. Bytes are those of uncompressed segments: a
record is as wide as its columns, a string as wide as told and an offset of 8.
Indexes and headers are left out, and so is what lies twice until runs are merged.

>>> from sqlwin.state.contract import Layout
>>> columns = (("user", pl.String()), ("__pane", pl.Int64()), ("big", pl.Boolean()))
>>> record_bytes(Layout("panes", columns, ("user",), ("__pane",), 60), width=16)  # 24 + 8 + 1/2
32.5
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from sqlwin.errors import QueryError
from sqlwin.plan.facts import window_of
from sqlwin.plan.nodes import Query, Script
from sqlwin.runtime.load import Load
from sqlwin.runtime.lower import lower
from sqlwin.runtime.record_counts import RECORDS, Case
from sqlwin.runtime.stores import shapes
from sqlwin.state.contract import Layout


@dataclass(frozen=True)
class Held:
    """One store's expectation. why: where `records` is None, what grows."""

    store: str
    records: float | None
    bytes: float
    why: str = ""


def expected(query: Query, load: Load) -> list[Held]:
    """Every store of a query's operator and its admission, in their order.

    QueryError for a join.
    """
    lowered = lower(query)
    if lowered.operator is None:
        return []
    window = window_of(query.plan)
    if window is None:
        raise QueryError("how much state a join holds is not told yet", legal="EXPLAIN, no rate")
    admitting = [shape for each in lowered.inputs for shape in each.shapes]
    found = [layout for layout, _ in [*shapes(lowered.operator), *admitting]]
    return [_held(Case(window, lowered.stream, load, layout)) for layout in found]


def _held(case: Case) -> Held:
    records = RECORDS[case.layout.name.rstrip("0123456789")](case)
    if isinstance(records, str):
        return Held(case.layout.name, None, 0.0, records)
    return Held(case.layout.name, records, records * record_bytes(case.layout, case.load.width))


def record_bytes(layout: Layout, width: float) -> float:
    """Of one record as Arrow lays it out, a bit of validity a column included."""
    return sum(_bytes(type_, width) + 1 / 8 for type_ in layout.schema.dtypes())


def _bytes(type_: pl.DataType, width: float) -> float:
    if type_ in (pl.String, pl.Binary):
        return 8 + width
    if isinstance(type_, pl.List):
        return 8 + _bytes(type_.inner, width)  # type: ignore[arg-type]
    if isinstance(type_, pl.Struct):
        return sum(_bytes(field.dtype, width) for field in type_.fields)  # type: ignore[arg-type,misc]
    if type_ == pl.Null:
        return 0.0
    arrow = pl.Series([], dtype=type_).to_arrow(compat_level=pl.CompatLevel.oldest()).type
    return float(arrow.bit_width / 8)


# --- as text -------------------------------------------------------------------------


def state_text(script: Script, load: Load) -> str:
    """The expectation of every query, as `explain` shows queries."""
    queries = [s for s in script.statements if isinstance(s, Query)]
    return "\n\n".join("\n".join(_lines(query, load)) for query in queries)


def _lines(query: Query, load: Load) -> Iterator[str]:
    name = query.sink.name if query.sink else "screen"
    held = expected(query, load)
    yield (
        f"State of {name} at {load.rate:,.6g} rows a second of {load.keys:,.0f} keys:"
        f"{'' if held else ' none'}"
    )
    for one in held:
        if one.records is None:
            yield f"  {one.store:<10} unbounded: {one.why}"
        else:
            yield f"  {one.store:<10} {_count(one.records):>16} records {_size(one.bytes):>10}"
    if any(one.records is None for one in held):
        yield f"  {'total':<10} unbounded"
    elif held:
        records, size = sum(one.records or 0 for one in held), sum(one.bytes for one in held)
        yield f"  {'total':<10} {_count(records):>16} records {_size(size):>10}"


def _count(records: float) -> str:
    return f"{round(records):,}"


def _size(size: float) -> str:
    """Bytes with three digits: 0 B, 999 B, 1.23 kB."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if size < 999.5 or unit == "TB":
            break
        size /= 1_000
    return f"{size:.3g} {unit}"

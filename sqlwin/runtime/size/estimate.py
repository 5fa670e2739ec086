"""How much state a query will hold, from its plan and a rate: an expectation, not a promise.

How many records each store has, its declaration says, see `operators.load`. Bytes are those of
uncompressed segments: a record is as wide as its columns, a string as wide as given and an offset
of 8.
Indexes and headers are left out, and so is what lies twice until runs are merged.

>>> from sqlwin.state.contract import Layout
>>> columns = (("user", pl.String()), ("__pane", pl.Int64()), ("big", pl.Boolean()))
>>> record_bytes(Layout("panes", columns, ("user",), ("__pane",), 60), width=16)  # 24 + 8 + 1/2
32.5
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.load import NOT_ESTIMATED, Load
from sqlwin.plan.ir.statements import Query, Script
from sqlwin.runtime.lowering.chain import chain
from sqlwin.runtime.lowering.lowered import Lowered
from sqlwin.state.contract import Layout

OF_RESULTS = "its rows are the results of another stage, and how many those are is not estimated"


@dataclass(frozen=True)
class Held:
    """One store's expectation. why: where `records` is None, what grows."""

    store: str
    records: float | None
    bytes: float
    why: str = ""

    @property
    def how(self) -> str:
        return "not known" if self.why in (OF_RESULTS, NOT_ESTIMATED) else "unbounded"


def expected(query: Query, load: Load) -> list[Held]:
    """Every store of each stage's operator and its admission, in their order."""
    return [held for stage in chain(query).stages for held in _of_stage(stage, load)]


def _of_stage(stage: Lowered, load: Load) -> Iterator[Held]:
    hold = 0 if stage.policy is None else stage.policy.hold
    read = replace(load, delays=tuple(each.stream.delay + hold for each in stage.inputs))
    derived = any(stream.of for stream in stage.streams.values())
    for spec in stage.stores:
        records = OF_RESULTS if derived else spec.expected(read)
        if isinstance(records, str):
            yield Held(spec.name, None, 0.0, records)
        else:
            size = records * record_bytes(spec.layout, load.width)
            yield Held(spec.name, records, size)


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
            yield f"  {one.store:<10} {one.how}: {one.why}"
        else:
            yield f"  {one.store:<10} {_count(one.records):>16} records {_size(one.bytes):>10}"
    unknown = [one.how for one in held if one.records is None]
    if unknown:
        yield f"  {'total':<10} {'unbounded' if 'unbounded' in unknown else unknown[0]}"
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

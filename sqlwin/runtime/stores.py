"""Which stores an operator keeps, and how their records look.

| operator         | store     | record                         | combined by |
|------------------|-----------|--------------------------------|-------------|
| WindowAggregator | panes     | accumulators of (keys, pane)   | merging     |
|                  | revisions | see `operators.revisions`      | last written |
| OverAggregator   | rows      | the row                        | position    |
|                  | history   | a row in a slot of its owner   | last written |
|                  | revisions |                                | last written |
| TupleAggregator  | ring      | accumulators in a slot of keys | last written |
|                  | counts    | messages of the partition      | last written |
|                  | revisions |                                | last written |
| TupleSlider      | ring      | a row in a slot of its partition | last written |
|                  | counts    |                                | last written |
"""

from __future__ import annotations

from functools import singledispatch

import polars as pl

from sqlwin.kernels.panes import WINDOW
from sqlwin.operators import aggregator, history, numbering, over, revisions, tuples
from sqlwin.operators.aggregator import WindowAggregator
from sqlwin.operators.contract import Operator
from sqlwin.operators.over import OverAggregator
from sqlwin.operators.slider import TupleSlider
from sqlwin.operators.tuples import TupleAggregator
from sqlwin.runtime.lower import slice_width
from sqlwin.schema import PLACE, POSITION
from sqlwin.state.combine import keep_all, last_written, merged
from sqlwin.state.contract import Combine, Layout

Columns = dict[str, pl.DataType]
Shape = tuple[Layout, Combine]
INT: pl.DataType = pl.Int64()
ONE_SLICE = 2**40


@singledispatch
def shapes(operator: Operator) -> list[Shape]:
    """The layouts of an operator's stores, and how each combines."""
    raise TypeError(f"no stores are known for {type(operator).__name__}")


@shapes.register
def _window(operator: WindowAggregator) -> list[Shape]:
    width = slice_width(operator.hop.size + operator.policy.retain)
    columns = {**operator.keys, aggregator.PANE: INT, **_extent(), **_accumulators(operator)}
    panes = _layout(aggregator.PANES, columns, tuple(operator.keys), (aggregator.PANE,), width)
    merges = [pl.col("__first").min(), pl.col("__last").max()]
    merge = merged(panes, merges + [expr for fold in operator.folds for expr in fold.merge()])
    types = {**operator.output, WINDOW: INT}
    return [(panes, merge), _revisions(operator.revisions, types, width)]


@shapes.register
def _over(operator: OverAggregator) -> list[Shape]:
    row = {**operator.carried, **PLACE}
    rows = _layout(over.ROWS, row, (), POSITION, operator.slice_width)
    kept = {history.OWNER: pl.String(), history.SLOT: INT, **row}
    slots = _layout(history.STORE, kept, (history.OWNER,), (history.SLOT,), ONE_SLICE)
    types = {**operator.output, **PLACE}
    recorded = _revisions(operator.revisions, types, operator.slice_width)
    return [(rows, keep_all(rows)), (slots, last_written(slots)), recorded]


@shapes.register
def _tuples(operator: TupleAggregator) -> list[Shape]:
    columns = {
        **operator.keys,
        tuples.SLOT: INT,
        tuples.PANE: INT,
        **_extent(),
        **_accumulators(operator),
    }
    ring = _layout(tuples.RING, columns, tuple(operator.keys), (tuples.SLOT,), ONE_SLICE)
    types = {**operator.output, WINDOW: INT}
    recorded = _revisions(operator.revisions, types, ONE_SLICE)
    return [(ring, last_written(ring)), _counts(operator.numbering), recorded]


@shapes.register
def _slider(operator: TupleSlider) -> list[Shape]:
    columns = {**operator.carried, **PLACE, numbering.NUMBER: INT, tuples.SLOT: INT}
    ring = _layout(tuples.RING, columns, operator.partition, (tuples.SLOT,), ONE_SLICE)
    return [(ring, last_written(ring)), _counts(operator.numbering)]


def _layout(
    name: str, columns: Columns, keys: tuple[str, ...], order: tuple[str, ...], width: int
) -> Layout:
    return Layout(name, tuple(columns.items()), keys, order, width)


def _extent() -> Columns:
    return {"__first": INT, "__last": INT}


def _accumulators(operator: WindowAggregator | TupleAggregator) -> Columns:
    """Names and dtypes of the accumulators, as the operator's own lift makes them."""
    sample = operator.sample()
    return {name: sample.schema[name] for fold in operator.folds for name in fold.columns}


def _revisions(records: revisions.Revisions, types: Columns, width: int) -> Shape:
    keys = tuple(name for name in records.identity if name not in POSITION and name != records.time)
    rest = tuple(name for name in records.identity if name not in (*keys, records.time))
    layout = _layout(revisions.STORE, records.columns(types), keys, (records.time, *rest), width)
    return layout, last_written(layout)


def _counts(counted: numbering.Numbering) -> Shape:
    layout = _layout(
        numbering.STORE, counted.columns, tuple(counted.partition), (numbering.AT,), ONE_SLICE
    )
    return layout, last_written(layout)

"""Which stores an operator keeps, and how their records look.

| operator         | store     | record                         | combined by |
|------------------|-----------|--------------------------------|-------------|
| WindowAggregator | panes     | extent and accumulators of (keys, pane) | merging |
|                  | messages  | what full-state aggregates read, by position | position |
|                  | revisions | see `emitter.schema`           | last written |
|                  | floors    | keys and their greatest retention horizon | position |
| OverAggregator   | rows      | the row                        | position    |
|                  | base, past | accumulators of (partition, slice) | merging |
|                  | history   | a row of before, by generation | position     |
|                  | revisions, floors | as of WindowAggregator |              |
| SessionAggregator | sessions | a session, with its accumulators if it only grows | last written |
|                  | panes     | accumulators of (keys, instant), if it may be parted | merging |
|                  | messages, revisions, floors | as of WindowAggregator | |
|                  | counts    | messages of the stream, if they are its gap | last written |
| OrderedAggregator | panes, messages, revisions | as of WindowAggregator, by number | |
|                  | ordered   | a row and its number           | last written |
|                  | counts    | counters of the partition      | last written |
| TupleAggregator  | ring      | accumulators in a slot of keys | last written |
|                  | counts    | messages of the partition      | last written |
|                  | revisions |                                | last written |
| TupleSlider      | ring      | a row in a slot of its partition | last written |
|                  | counts    |                                | last written |
| TupleRunner      | sums      | accumulators of the partition  | merging      |
|                  | counts    |                                | last written |
| TopRows          | top       | a row in a slot of its partition | last written |
|                  | rankings  | what waits of the partition    | last written |
| WindowRanker, SessionRanker | its aggregator's, and |         |             |
|                  | ranked    | a row as it was last emitted   | last written |
| TimedRelation    | rows      | a row                          | last written |
| CountedRelation  | last      | a row in a slot of its partition | last written |
|                  | rows      | a row that waits               | last written |
| WindowJoin, AsOfJoin, StaticJoin | see `operators.joins` |     |             |
| ChangelogNormalizer | those of its operator, and |  |             |
|                  | positions | where a row was, or the row    | last written |
| OperatorTtl      | those of its operator, each record with its `__life`, and |
|                  | lives     | when the life of a key was last renewed | last written |
| JoinTtl          | see `operators.stages.join_ttl` |   |             |
"""

from __future__ import annotations

from functools import singledispatch

import polars as pl

from sqlwin.kernels.panes import WINDOW, WINDOW_END
from sqlwin.operators.contract import Timed
from sqlwin.operators.emitter.results import ResultLedger
from sqlwin.operators.emitter.schema import STORE
from sqlwin.operators.emitter.telling import TOLD, WAITING
from sqlwin.operators.horizons import Horizons
from sqlwin.operators.joins.asof import AsOfJoin
from sqlwin.operators.joins.operator import WindowJoin
from sqlwin.operators.joins.static import StaticJoin
from sqlwin.operators.order import numbering
from sqlwin.operators.order.ordering import Ordering
from sqlwin.operators.over import base_sums, history
from sqlwin.operators.over import operator as over
from sqlwin.operators.over.operator import OverAggregator
from sqlwin.operators.ranks import ranking
from sqlwin.operators.ranks.ranking import WindowRanker
from sqlwin.operators.relations.changes import ROWS as ENTERED
from sqlwin.operators.relations.counted import LAST, SLOT, CountedRelation
from sqlwin.operators.relations.timed import TimedRelation
from sqlwin.operators.sessions.merging import SESSIONS
from sqlwin.operators.sessions.operator import SessionAggregator
from sqlwin.operators.sessions.ordered import OrderedSessions
from sqlwin.operators.sessions.splitting import Parted
from sqlwin.operators.stages.changelog_normalizer import POSITIONS, ChangelogNormalizer
from sqlwin.operators.stages.join_ttl import JoinTtl
from sqlwin.operators.stages.ttl import OperatorTtl
from sqlwin.operators.top_n import operator as topn
from sqlwin.operators.top_n.operator import TopRows
from sqlwin.operators.windows import runner, tuples
from sqlwin.operators.windows.aggregator import WindowAggregator
from sqlwin.operators.windows.contents import MESSAGES, PANE, PANES, merges
from sqlwin.operators.windows.ordered import OrderedAggregator
from sqlwin.operators.windows.runner import TupleRunner
from sqlwin.operators.windows.slider import TupleSlider
from sqlwin.operators.windows.tuples import TupleAggregator
from sqlwin.runtime.inputs.slices import ENDLESS, slice_width
from sqlwin.schema import PLACE, POSITION, ROW_KEY, TS, WEIGHT
from sqlwin.state.combine import Merged, OneOf, keep_all, last_written, merged
from sqlwin.state.contract import Combine, Layout
from sqlwin.state.pair_store import paired
from sqlwin.state.session_store import FROM, UNTIL, segment_interval, session_layout
from sqlwin.state.ttl_entries import LIVES, ttl_layout
from sqlwin.state.ttl_store import lived
from sqlwin.windows import Unit, Whole

Columns = dict[str, pl.DataType]
Shape = tuple[Layout, Combine]
INT: pl.DataType = pl.Int64()
ONE_SLICE = 2**40


@singledispatch
def shapes(operator: Timed) -> list[Shape]:
    """The layouts of an operator's stores, and how each combines."""
    raise TypeError(f"no stores are known for {type(operator).__name__}")


@shapes.register
def _window(operator: WindowAggregator) -> list[Shape]:
    contents, width = operator.contents, _window_slice(operator)
    panes = _layout(PANES, contents.pane, contents.by.names, (PANE,), width)
    types = {**operator.output, WINDOW_END: INT}
    kept: list[Shape] = [
        (panes, merged(panes, merges(contents.incremental))),
        _records(operator.ledger, types, width),
    ]
    if contents.whole:
        kept.append(_messages(contents.message, operator.retention.reached, width))
    return [*kept, *_horizons(operator.retention.reached, width)]


def _messages(columns: Columns, reached: Horizons | None, width: int) -> Shape:
    """Where keys have horizons of their own each may have a row of one position: what withdraws it
    may be beyond the horizon of its key, and what replaces it not."""
    keys = () if reached is None else tuple(reached.keys)
    messages = _layout(MESSAGES, columns, keys, POSITION, width)
    return messages, _rows_of(messages)


def _horizons(reached: Horizons | None, width: int) -> list[Shape]:
    """Of RETAIN n ROWS, where rows may be withdrawn."""
    if reached is None:
        return []
    layout = reached.layout(width)
    return [(layout, keep_all(layout))]


@shapes.register
def _ordered(operator: OrderedAggregator) -> list[Shape]:
    """Numbers tell the time of windows; rows are ordered by their own."""
    return [*_window(operator), *_numbers(operator.ordering, operator.policy.retain)]


@shapes.register
def _ordered_sessions(operator: OrderedSessions) -> list[Shape]:
    return [*_sessions(operator.inner), *_numbers(operator.ordering, operator.policy.retain)]


def _numbers(ordering: Ordering, retain: int | None) -> list[Shape]:
    width = slice_width(ENDLESS if retain is None else retain)
    return ordering.shapes(width)


def _rows_of(layout: Layout) -> OneOf:
    """How rows combine: one that may be withdrawn is written again, as withdrawn."""
    return last_written(layout) if WEIGHT in layout.schema else keep_all(layout)


def _window_slice(operator: WindowAggregator) -> int:
    if isinstance(operator.window, Whole) or operator.window.unit is Unit.ROWS:
        return ONE_SLICE
    retain = operator.policy.retain
    return slice_width(operator.window.size + (ENDLESS if retain is None else retain))


@shapes.register
def _sessions(operator: SessionAggregator) -> list[Shape]:
    spans, contents = operator.spans, operator.contents
    width, interval = _session_slices(operator)
    keys = {name: operator.by.types[name] for name in spans.partition}
    sessions = session_layout(SESSIONS, keys, spans.values(operator.below), interval)
    types = {**operator.output, FROM: INT, UNTIL: INT}
    kept: list[Shape] = [
        (sessions, last_written(sessions)),
        _records(operator.ledger, types, width),
    ]
    if isinstance(spans, Parted):
        columns = spans.columns(operator.below)
        panes = _layout(PANES, columns, spans.keys, spans.pane, width)
        kept.append((panes, merged(panes, spans.merges)))
    if contents.whole:
        kept.append(_messages(contents.message, operator.retention.reached, width))
    kept += _horizons(operator.retention.reached, width)
    return [*kept, *([_counts(operator.numbering)] if operator.arriving else [])]


def _session_slices(operator: SessionAggregator) -> tuple[int, int]:
    """Of what goes by time, and of what goes by the end of a session."""
    gap, retain = operator.window.gap or 0, operator.policy.retain
    if operator.by_count:
        return max(gap, 1), max(gap, 1)
    width = slice_width(gap + (ENDLESS if retain is None else retain))
    if retain is None and operator.retention.by_rows:
        return width, segment_interval(gap)  # of a key they go whole, however soon n rows come
    return width, segment_interval(ENDLESS if retain is None else retain)


@shapes.register
def _over(operator: OverAggregator) -> list[Shape]:
    row, width = {**operator.carried, **PLACE}, operator.slice_width
    rows = _layout(over.ROWS, {**row, **operator.sign}, (), POSITION, width)
    kept: list[Shape] = [
        (rows, _rows_of(rows)),
        _records(operator.ledger, {**operator.output, **row}, width),
    ]
    kept += _horizons(operator.limits.reached, width)
    past = operator.reading.history
    if past.deep:
        order = (history.GENERATION, *POSITION)
        old = _layout(history.STORE, past.columns, (), order, 1)
        kept.append((old, keep_all(old)))
    return [*kept, *(shape for sums in operator.reading.sums for shape in _sums(sums))]


def _sums(sums: base_sums.BaseSums) -> list[Shape]:
    if not sums.folds:
        return []
    merges = [expr for fold in sums.folds for expr in fold.merge()]
    base = [(sums.base, sums.width)] if sums.sliced else []
    named = (*base, (sums.past, ONE_SLICE))
    layouts = [
        _layout(name, sums.columns, sums.share.partition, (base_sums.SLICE,), width)
        for name, width in named
    ]
    return [(layout, merged(layout, merges)) for layout in layouts]


@shapes.register
def _tuples(operator: TupleAggregator) -> list[Shape]:
    ring = _layout(tuples.RING, operator.columns, operator.by.names, (tuples.SLOT,), ONE_SLICE)
    records = operator.ledger.schema({**operator.output, WINDOW: INT, tuples.SLOT: INT})
    slots = _layout(STORE, records, operator.by.names, (tuples.SLOT,), ONE_SLICE)
    recorded = (slots, last_written(slots))
    return [(ring, last_written(ring)), _counts(operator.numbering), recorded]


@shapes.register
def _slider(operator: TupleSlider) -> list[Shape]:
    columns = {**operator.carried, **PLACE, numbering.NUMBER: INT, tuples.SLOT: INT}
    ring = _layout(tuples.RING, columns, operator.partition, (tuples.SLOT,), ONE_SLICE)
    return [(ring, last_written(ring)), _counts(operator.numbering)]


@shapes.register
def _runner(operator: TupleRunner) -> list[Shape]:
    sums = _layout(runner.SUMS, operator.columns, operator.partition, (numbering.AT,), ONE_SLICE)
    merge = merged(sums, [expr for call in operator.calls for expr in call.fold.merge()])
    return [(sums, merge), _counts(operator.numbering)]


@shapes.register
def _topn(operator: TopRows) -> list[Shape]:
    order: tuple[str, ...] = (topn.SLOT,)
    width = ONE_SLICE
    if operator.becomes_final:
        order, width = (TS, topn.SLOT), slice_width(operator.policy.retain or 0)
    top = _layout(topn.TOP, operator.top_columns, operator.partition, order, width)
    keys, types = operator.partition, operator.ranking_columns
    rankings = _layout(topn.RANKINGS, types, keys, (topn.AT,), width)
    return [(top, last_written(top)), (rankings, last_written(rankings))]


@shapes.register
def _timed(operator: TimedRelation) -> list[Shape]:
    rows = _layout(ENTERED, operator.columns, (), POSITION, slice_width(operator.length))
    return [(rows, last_written(rows))]


@shapes.register
def _counted(operator: CountedRelation) -> list[Shape]:
    keys, slot = operator.partition, (SLOT,)
    last = _layout(LAST, operator.last_columns, keys, slot, ONE_SLICE)
    if not operator.timed:
        return [(last, last_written(last))]
    rows = _layout(ENTERED, operator.columns, (), POSITION, slice_width(0))
    return [(last, last_written(last)), (rows, last_written(rows))]


@shapes.register
def _ranker(operator: WindowRanker) -> list[Shape]:
    below = shapes(operator.inner)
    width = next(layout.slice_width for layout, _ in below if layout.name == STORE)
    order = (ranking.AT, ROW_KEY)
    ranked = _layout(ranking.RANKED, operator.columns, operator.partition, order, width)
    return [*below, (ranked, last_written(ranked))]


@shapes.register(AsOfJoin)
@shapes.register(WindowJoin)
@shapes.register(StaticJoin)
def _joins(operator: AsOfJoin | WindowJoin | StaticJoin) -> list[Shape]:
    return operator.shapes


@shapes.register
def _knowing(operator: ChangelogNormalizer) -> list[Shape]:
    below = shapes(operator.inner)
    if not operator.notes:
        return below
    width = slice_width(ENDLESS if operator.retain is None else operator.retain)
    layout = _layout(POSITIONS, operator.columns, operator.keys, POSITION, width)
    return [*below, (layout, last_written(layout))]


@shapes.register
def _living(operator: OperatorTtl) -> list[Shape]:
    lives, inner = ttl_layout(operator.keys), operator.inner
    # sessions count the messages of all keys: that is forgotten with none of them
    kept = {numbering.STORE} if isinstance(inner, SessionAggregator) else set()
    own = [shape if shape[0].name in kept else _lived(*shape) for shape in shapes(inner)]
    return [*own, (lives, last_written(lives))]


@shapes.register
def _living_join(operator: JoinTtl) -> list[Shape]:
    kept: list[Shape] = []
    for layout, combine in operator.inner.shapes:
        if operator.side_of(layout.name) is not None:
            kept.append(_lived(layout, combine))
        elif layout.name in (WAITING, TOLD):
            marks = operator.marks.items()  # rows of a SEMI join have none of the right
            sides = [side for side, names in marks if set(names.values()) <= set(layout.schema)]
            kept.append(_on(paired(layout, sides), combine))
        else:
            kept.append((layout, combine))
    tables = [ttl_layout(operator.keys(side), ttl_store_name(side)) for side in operator.ttls]
    return [*kept, *((table, last_written(table)) for table in tables)]


def ttl_store_name(side: str) -> str:
    """The table of lives of a join's side."""
    return f"{side}_{LIVES}"


def _lived(layout: Layout, combine: Combine) -> Shape:
    return _on(lived(layout), combine)


def _on(inner: Layout, combine: Combine) -> Shape:
    assert isinstance(combine, OneOf | Merged)
    return inner, combine.on(inner)


def _layout(
    name: str, columns: Columns, keys: tuple[str, ...], order: tuple[str, ...], width: int
) -> Layout:
    return Layout(name, tuple(columns.items()), keys, order, width)


def _records(ledger: ResultLedger, types: Columns, width: int) -> Shape:
    keys = tuple(name for name in ledger.identity if name not in (*POSITION, ledger.time))
    rest = tuple(name for name in ledger.identity if name not in (*keys, ledger.time))
    layout = _layout(STORE, ledger.schema(types), keys, (ledger.time, *rest), width)
    return layout, last_written(layout)


def _counts(counted: numbering.Numbering) -> Shape:
    layout = _layout(
        numbering.STORE, counted.columns, tuple(counted.partition), (numbering.AT,), ONE_SLICE
    )
    return layout, last_written(layout)

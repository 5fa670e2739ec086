"""From a window of the plan to the operator that runs it, its folds bound to columns.

A window that is not listed is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import polars as pl

from sqlwin.aggregates.python import PythonAggregate
from sqlwin.errors import QueryError
from sqlwin.kernels.folds import Fold, fold
from sqlwin.kernels.folds.python import Python
from sqlwin.kernels.standings import Standing
from sqlwin.lazy_dataclass import dataclass
from sqlwin.operators.contract import Operator
from sqlwin.plan.ir.nodes import (
    Aggregate,
    MatchRecognize,
    Node,
    OverAggregate,
    TopN,
    WindowAggregate,
    WindowedRelation,
    WindowRank,
)
from sqlwin.plan.properties.changelog import refuse_weighted
from sqlwin.plan.properties.facts import Window, arriving, counts
from sqlwin.plan.properties.final_partitions import becomes_final
from sqlwin.polars_frames import PLACE, polars_schema, polars_type
from sqlwin.windows import Unit
from sqlwin.windows.group import CalendarWindow, Cumulate, Hop, Whole
from sqlwin.windows.session import Session
from sqlwin.windows.stays import Stay

if TYPE_CHECKING:  # the operators that a query has not are not imported
    from sqlwin.operators.matches.operator import PatternMatcher
    from sqlwin.operators.over.operator import OverAggregator
    from sqlwin.operators.relations.aggregates import InstantAggregates
    from sqlwin.operators.sessions.operator import SessionAggregator
    from sqlwin.operators.sessions.ordered import OrderedSessions
    from sqlwin.operators.top_n.operator import TopRows
    from sqlwin.operators.windows.aggregator import WindowAggregator
    from sqlwin.operators.windows.ordered import OrderedAggregator
    from sqlwin.operators.windows.slider import TupleSlider
    from sqlwin.operators.windows.tuples import TupleAggregator


@dataclass(frozen=True)
class Assembly:
    """stream: for messages. filtered: a filter above wants both sides of a change.

    functions: those registered from Python, by name. weighted: rows may be retracted.
    """

    stream: str
    filtered: bool
    functions: Mapping[str, PythonAggregate] = field(default_factory=dict)
    weighted: bool = False

    def operator(self, window: Window) -> Operator:
        if self.weighted:
            refuse_weighted(window)
        kind = type(window.window) if isinstance(window, WindowAggregate) else type(window)
        if kind not in OPERATORS:
            raise TypeError(f"no operator is known for {kind.__name__}")
        return OPERATORS[kind](self, window)

    def _matched(self, window: MatchRecognize) -> PatternMatcher:
        from sqlwin.runtime.lowering.matches import matcher

        return matcher(window, self.stream, self._unkeyed, self.filtered, self.weighted)

    def _topped(self, window: TopN) -> TopRows:
        from sqlwin.operators.top_n.operator import TopRows

        carried = polars_schema(window.input.schema)
        kept = (window.name, standing(window), window.limit, window.policy)
        rest = (self.filtered, self.weighted, becomes_final(window))
        return TopRows(self.stream, carried, *kept, *rest)

    def _relation(self, window: WindowedRelation) -> Operator:
        from sqlwin.operators.relations.counted import CountedRelation
        from sqlwin.operators.relations.counted_instants import CountedInstants
        from sqlwin.operators.relations.present import PresentRows
        from sqlwin.operators.relations.timed import TimedRelation
        from sqlwin.operators.relations.timed_instants import TimedInstants

        carried, reach = polars_schema(window.input.schema), window.frame.preceding
        assert reach is not None
        if window.frame.unit is Unit.RANGE and window.instants:
            made = window.until, window.instant
            return TimedInstants(self.stream, carried, reach, window.policy.retain, *made)
        if window.frame.unit is Unit.RANGE:
            return TimedRelation(self.stream, carried, reach, window.slide)
        if window.there is not None:
            stay = Stay(rows=1, partition=window.partition, there=window.there)
            return PresentRows(carried, stay, window.instant)
        timed = not arriving(window)
        rest = (self.stream, carried, reach + 1, window.partition, timed)
        if window.instants:
            return CountedInstants(*rest, window.instant)
        return CountedRelation(*rest)

    def _ranked(self, window: WindowRank) -> SessionAggregator | WindowAggregator:
        from sqlwin.operators.ranks.cohorts import Ranks

        if counts(window):
            raise TypeError("not in normal form: WindowRank over windows measured in messages")
        ranks = Ranks(window.name, standing(window))
        if isinstance(window.input.window, Session):
            return replace(self._sessions(window.input), ranks=ranks)
        return replace(self._grouped(window.input), ranks=ranks)

    def _hopping(self, window: WindowAggregate) -> Operator:
        if not counts(window):
            return self._grouped(window)
        return self._counted(window) if arriving(window) else self._ordered(window)

    def _aggregated(self, window: WindowAggregate) -> WindowAggregator | InstantAggregates:
        if not window.at_once:
            return self._grouped(window)
        from sqlwin.operators.relations.aggregates import InstantAggregates

        below = polars_schema(window.input.schema)
        keys = {key: below[key] for key in window.keys}
        return InstantAggregates(below, keys, self._folds(window), _values(window))

    def _grouped(self, window: WindowAggregate) -> WindowAggregator:
        from sqlwin.operators.windows.aggregator import WindowAggregator

        by: Any = window.window
        below = polars_schema(window.input.schema)
        place = PLACE if window.per_row else {}  # first, for ties go by it
        keys = {**place, **{key: below[key] for key in window.keys}}
        rest = (self._folds(window), _values(window), window.policy, self.filtered, window.sets)
        if window.policy.discards:
            from sqlwin.operators.windows.discarding import DiscardingAggregator

            return DiscardingAggregator(self.stream, by, below, keys, *rest)
        made = WindowAggregator(self.stream, by, below, keys, *rest)
        return replace(made, per_row=window.per_row, weighted=self.weighted)

    def _gapped(self, window: WindowAggregate) -> SessionAggregator | OrderedSessions:
        made = self._sessions(window)
        if not counts(window) or arriving(window):
            return made
        from sqlwin.operators.sessions.ordered import OrderedSessions

        return OrderedSessions(made)

    def _sessions(self, window: WindowAggregate) -> SessionAggregator:
        from sqlwin.operators.sessions.operator import SessionAggregator

        by: Any = window.window
        below = polars_schema(window.input.schema)
        keys = {key: below[key] for key in window.keys}
        rest = (self._folds(window), _values(window), window.policy, window.where, self.filtered)
        kept = (self.stream, by, below, window.partition, keys, *rest)
        return SessionAggregator(*kept, sets=window.sets, weighted=self.weighted)

    def _counted(self, window: WindowAggregate) -> TupleAggregator:
        from sqlwin.operators.windows.tuples import TupleAggregator

        by: Any = window.window
        below = polars_schema(window.input.schema)
        keys = {key: below[key] for key in window.keys}
        rest = (self._folds(window), _values(window), window.policy, self.filtered, window.sets)
        kept = (self.stream, by, below, keys, *rest)
        return TupleAggregator(*kept, partition=window.partition, where=window.where)

    def _ordered(self, window: WindowAggregate) -> OrderedAggregator:
        from sqlwin.operators.windows.ordered import OrderedAggregator

        by: Any = window.window
        below = polars_schema(window.input.schema)
        keys = {key: below[key] for key in window.keys}
        rest = (self._folds(window), _values(window), window.policy, self.filtered, window.sets)
        kept = (self.stream, by, below, keys, *rest)
        return OrderedAggregator(*kept, partition=window.partition, where=window.where)

    def _slid(self, window: OverAggregate) -> TupleSlider | OverAggregator:
        from sqlwin.runtime.lowering.over import over_operator

        return over_operator(window, self.stream, self._unkeyed, self.filtered, self.weighted)

    def _folds(self, window: WindowAggregate) -> tuple[Fold, ...]:
        made = (self._fold(aggregate, window.input) for aggregate in window.aggregates)
        of_key = _unkeyed if counts(window) else partial(_keyed, window.keys)
        return tuple(map(of_key, made))

    def _unkeyed(self, call: Aggregate, below: Node) -> Fold:
        return _unkeyed(self._fold(call, below))

    def _fold(self, call: Aggregate, below: Node) -> Fold:
        types = {column.name: column.type for column in below.schema}
        args = tuple(types[arg] for arg in call.args)
        function = self.functions.get(call.function, call.function)
        rest = (call.params, call.distinct, call.order, call.limit)
        return fold(call.name, function, call.args, args, call.type, call.where, *rest)


OPERATORS: dict[type, Callable[[Assembly, Any], Operator]] = {
    Hop: Assembly._hopping,
    Cumulate: Assembly._grouped,
    CalendarWindow: Assembly._grouped,
    Whole: Assembly._aggregated,
    Session: Assembly._gapped,
    OverAggregate: Assembly._slid,
    TopN: Assembly._topped,
    WindowedRelation: Assembly._relation,
    WindowRank: Assembly._ranked,
    MatchRecognize: Assembly._matched,
}
"""Of group windows by the kind of window, of others by the node."""


def standing(window: TopN | WindowRank) -> Standing:
    return Standing(window.function, window.partition, window.order)


def _keyed(keys: tuple[str, ...], made: Fold) -> Fold:
    return replace(made, keys=keys) if isinstance(made, Python) else made


def _unkeyed(made: Fold) -> Fold:
    if isinstance(made, Python) and made.function.keyed:
        message = f"the merger of {made.function.name} takes a key, which it is given for groups"
        legal = "GROUP BY in windows and sessions of time; a merger of two states"
        raise QueryError(f"{message} in windows of time alone", legal=legal)
    return made


def _values(window: WindowAggregate) -> tuple[pl.DataType, ...]:
    return tuple(polars_type(aggregate.type) for aggregate in window.aggregates)

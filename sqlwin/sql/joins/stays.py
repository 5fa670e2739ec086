"""How long rows of an input of a join are there, where RSTREAM is made of changes; see `changes`.

Rows of windows in ROWS are in the order of event time here, for two inputs have no other in common.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import StaticScan, Stream
from sqlwin.plan.options.tuning import RELOAD
from sqlwin.sql.joins.last_rows import last_rows_column
from sqlwin.sql.relations.relation import JoinSide, Relation
from sqlwin.sql.sources.event_time import event_time, timed
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window, of_spec
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame
from sqlwin.windows.group import Hop
from sqlwin.windows.stays import Stay

LEGAL = "[NOW], [RANGE r], [RANGE r SLIDE s], [ROWS n], [ROWS n SLIDE s], [PARTITION BY k ROWS n]"


@dataclass(frozen=True)
class Staying:
    """The window of an input."""

    stay: Stay
    unit: Unit = Unit.RANGE

    def of(self, side: JoinSide) -> Stay:
        """With the join's names."""
        names = dict(side.columns)
        return replace(self.stay, partition=tuple(names[name] for name in self.stay.partition))


def staying(relation: Relation, source: ast.From, span: Span) -> tuple[Relation, Staying]:
    """With its event time, by which its rows come and go; a static table needs none."""
    if source.as_of is not None:
        message = "RSTREAM of FOR SYSTEM_TIME AS OF beside windows that other rows bound"
        raise QueryError(message, span, legal=f"a window of {LEGAL}")
    if isinstance(relation.base, StaticScan):
        return relation, _table(relation.base.stream, source)
    spec, window = source.window, None
    if isinstance(spec, ast.KsqlWindow):
        raise _refused(spec.span)
    order = event_time(spec.order) if spec is not None and spec.order else None
    if spec is not None:
        window = of_spec(spec)
    made = timed(relation, Window(span, frame=Frame(Unit.RANGE, 0), ts=order))
    if made.stream is None or made.stream.ts is None:
        name = relation.names[0] if relation.names else "this input"
        message = f"RSTREAM of a join goes by event time, which {name} lacks"
        raise QueryError(message, span, legal="WATERMARK FOR ts AS ts")
    if window is None or spec is None:
        return made, Staying(Stay())
    return made, Staying(_stay(made, spec, window))


def _table(table: Stream, source: ast.From) -> Staying:
    """Its rows are there at every instant."""
    if source.window is not None:
        raise windowless(source.window.span)
    if RELOAD in dict(table.options):
        message = f"{table.name} is read again, and no event time says when its rows are there"
        raise QueryError(message, source.source.span, legal=f"{table.name} without '{RELOAD}'")
    return Staying(Stay(timed=False))


def windowless(span: Span) -> QueryError:
    return QueryError("a static table has no window", span, legal="the table alone")


def _stay(relation: Relation, spec: ast.Spec, window: Window) -> Stay:
    if window.frame is not None and window.frame.preceding is None:
        return Stay()
    rows = _rows(window)
    if rows is not None:
        return replace(
            rows, partition=tuple(last_rows_column(relation, run) for run in spec.partition)
        )
    if spec.partition:
        message = "a window of time in a join is not parted: its condition says which rows pair"
        raise QueryError(message, spec.partition[0].span, legal=LEGAL)
    if window.frame is not None:
        return Stay(window.frame.preceding)
    if isinstance(window.group, Hop):
        return Stay(window.group.size, window.group.advance)
    raise _refused(spec.span)


def _rows(window: Window) -> Stay | None:
    """Of a window in ROWS, without its partition."""
    if not window.counts:
        return None
    if window.frame is not None and window.frame.preceding is not None:
        return Stay(rows=window.frame.preceding + 1)
    if isinstance(window.group, Hop):
        advance = window.group.advance
        return Stay(rows=window.group.size, slide=advance if advance > 1 else None)
    return None


def _refused(span: Span) -> QueryError:
    message = "RSTREAM of a join with such a window: no event time says when its rows leave"
    return QueryError(message, span, legal=LEGAL)

"""How long rows of an input of a join are there, where RSTREAM is made of changes; see `changes`.

Rows of windows in ROWS are in the order of event time here, for two inputs have no other in common.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.plan.ir.nodes import StaticScan
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.relations.relation import JoinSide, Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.sources.from_clause import event_time, timed
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import Window, of_spec
from sqlwin.stays import Stay
from sqlwin.windows import Frame, Hop, Unit

LEGAL = "[NOW], [RANGE r], [RANGE r SLIDE s], [ROWS n], [PARTITION BY k ROWS n]"


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
    """With its event time, by which its rows come and go."""
    if isinstance(relation.base, StaticScan):
        name = relation.base.stream.name
        message = f"RSTREAM of this join goes by event time, and {name} is a static table"
        legal = f"a query in FROM that looks up {name}, and its window"
        raise QueryError(message, span, legal=legal)
    if source.as_of is not None:
        message = "RSTREAM of FOR SYSTEM_TIME AS OF beside windows that other rows bound"
        raise QueryError(message, span, legal=f"a window of {LEGAL}")
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


def _stay(relation: Relation, spec: ast.Spec, window: Window) -> Stay:
    if window.frame is not None and window.counts:
        if window.frame.preceding is None:
            return Stay()
        partition = tuple(_column(relation, run) for run in spec.partition)
        return Stay(rows=window.frame.preceding + 1, partition=partition)
    if spec.partition:
        message = "a window of time in a join is not parted: its condition says which rows pair"
        raise QueryError(message, spec.partition[0].span, legal=LEGAL)
    if window.frame is not None:
        return Stay(window.frame.preceding)
    if isinstance(window.group, Hop) and not window.counts:
        return Stay(window.group.size, window.group.advance)
    raise _refused(spec.span)


def _refused(span: Span) -> QueryError:
    message = "RSTREAM of a join with such a window: no event time says when its rows leave"
    return QueryError(message, span, legal=LEGAL)


def _column(relation: Relation, run: ast.Run) -> str:
    tree = Scope(relation).resolved(parsed(run), run)
    if not isinstance(tree, exp.Column):
        message = "the last rows of a join are those of columns"
        legal = "FROM (SELECT *, LOWER(user) AS u FROM clicks) [PARTITION BY u ROWS 1]"
        raise QueryError(message, run.span, legal=legal)
    return tree.name

"""CQL's last-value join: each row of `[NOW]` with the last row of its key on the other side.

    FROM orders o [NOW], rates r [PARTITION BY currency ROWS 1] WHERE o.currency = r.currency
    FROM orders o JOIN rates r FOR SYSTEM_TIME AS OF o.ts ON o.currency = r.currency

are one plan. At the instant of an order, `[NOW]` has that order and the window the newest rate
of each currency. What WHERE says of a rate besides its key is asked of that newest one: it
never brings back an older rate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.relations.relation import JoinSide, Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window import of_spec
from sqlwin.windows import Unit
from sqlwin.windows.frames import Frame

if TYPE_CHECKING:
    from sqlwin.sql.joins.kinds import JoinType
    from sqlwin.sql.joins.tree import Pair

LEGAL = "FROM a [NOW], b [PARTITION BY k ROWS 1] WHERE a.k = b.k"


@dataclass(frozen=True)
class LastRows:
    """`[PARTITION BY key ROWS 1]`. key: columns."""

    key: tuple[str, ...]
    span: Span

    @property
    def unit(self) -> Unit:
        """It goes by event time."""
        return Unit.RANGE

    def of(self, side: JoinSide) -> LastRows:
        """With the join's names."""
        names = dict(side.columns)
        return LastRows(tuple(names[name] for name in self.key), self.span)


def is_last(spec: ast.Spec | ast.KsqlWindow | None) -> bool:
    """Whether a window holds the last row of each key."""
    if not isinstance(spec, ast.Spec) or not spec.partition or spec.session is not None:
        return False
    return of_spec(spec).frame == Frame(Unit.ROWS, 0)


def is_now(spec: ast.Spec | ast.KsqlWindow | None) -> bool:
    if not isinstance(spec, ast.Spec) or spec.frame is None:
        return False
    return of_spec(spec).frame == Frame(Unit.RANGE, 0)


def last_rows(relation: Relation, spec: ast.Spec) -> LastRows:
    return LastRows(tuple(last_rows_column(relation, run) for run in spec.partition), spec.span)


def last_rows_column(relation: Relation, run: ast.Run) -> str:
    """Of PARTITION BY, which takes columns alone."""
    tree = Scope(relation).resolved(parsed(run), run)
    if not isinstance(tree, exp.Column):
        message = "the last rows of a join are those of columns"
        legal = "FROM (SELECT *, LOWER(user) AS u FROM clicks) [PARTITION BY u ROWS 1]"
        raise QueryError(message, run.span, legal=legal)
    return tree.name


def alone(last: LastRows) -> QueryError:
    message = "the last row of each key is joined to rows of [NOW]"
    return QueryError(message, last.span, legal=f"{LEGAL}; JOIN, LEFT JOIN")


def looked_up(pair: Pair, type_: JoinType, within: ast.Within | None) -> str:
    """How the times of such a join are compared; its left rows are those of [NOW]."""
    last = pair.right.input.last
    assert last is not None
    now = [leaf.input for leaf in pair.left.leaves if leaf.input.frame == Frame(Unit.RANGE, 0)]
    if type_.asof or type_.kind not in ("inner", "left") or not now:
        raise alone(last)
    if within is not None:
        message = "WITHIN belongs to a join of two streams by their windows"
        raise QueryError(message, within.span, legal=LEGAL)
    if now[0].ts is None:
        message = f"[NOW] goes by event time, which {now[0].side.name} does not show"
        raise QueryError(message, now[0].span, legal="its event-time column in the select list")
    pair.event_time = ast.Name(now[0].ts, last.span)
    return ">="


def check_key(pair: Pair) -> None:
    """QueryError where the last rows of a key are not looked up by this key."""
    last = pair.right.input.last
    if last is None:
        return
    found = {right.name for _, right, _ in pair.keys if isinstance(right, exp.Column)}
    if found != set(last.key) or len(pair.keys) != len(last.key):
        message = "the last row of each key is looked up by this key, no more and no less"
        legal = f"an equality for each of {', '.join(last.key)}"
        raise QueryError(message, last.span, legal=legal)

"""The rows of a window, as long as nothing is made of them but other columns and fewer rows: they
may be rows below the window, too.

    SELECT window_end AS until, v * 2 AS d FROM TUMBLE(TABLE s, …) WHERE v > 0

is a relation over the operator that keeps the rows of each window, and beside it the rows of `s`
with v > 0, of which `d` is v * 2 and `until` the end of whichever window a query above groups by.

Invariant: `rows` are the rows of the relation before its window, in the same order of columns; it
holds for the relation that it was made for, and for none that has other columns or conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.scalars import Expr, conjoined
from sqlwin.sql.relations.window_columns import is_marked, marked
from sqlwin.sql.text import ast

if TYPE_CHECKING:
    from sqlwin.sql.relations.relation import Columns, Relation


@dataclass(frozen=True)
class OpenWindow:
    """window: a `Window`. before: what it is a window of. rows: see above; None where a condition
    has to stay above the window. refused: why nothing but a query that groups by the window can
    read it. base, columns, predicate: of the relation that it was made for."""

    window: Any
    before: Relation
    rows: Relation | None
    refused: QueryError | None
    base: object
    columns: Columns
    predicate: Expr | None

    def of(self, relation: Relation) -> bool:
        """Whether the relation is still the one that it was made for."""
        same = self.columns is relation.columns and self.predicate is relation.predicate
        return self.base is relation.base and same


def refuse_open(relation: Relation) -> None:
    """QueryError where it is read by what is not a query that groups by its window."""
    opened = relation.opened
    if opened is not None and opened.refused is not None and opened.base is relation.base:
        raise opened.refused


def opened(relation: Relation, window: OpenWindow) -> Relation:
    """With its window, which is open."""
    made = replace(
        window, base=relation.base, columns=relation.columns, predicate=relation.predicate
    )
    return replace(relation, opened=made)


def filtered(before: Relation, made: Relation, tree: Expr, run: ast.Run) -> Relation:
    """`made`: the relation before with a condition, `tree`, on its columns."""

    def limited(rows: Relation) -> Relation | None:
        below = rows.below(tree, run)
        if marked(below):
            return None
        both = conjoined(rows.predicate, below)
        return replace(rows, predicate=both, predicate_run=run)

    return _through(before, made, limited)


def projected(before: Relation, made: Relation, trees: list[tuple[str, Expr, ast.Run]]) -> Relation:
    """`made`: the relation before with these columns over its own."""

    def columns(rows: Relation) -> Relation:
        over = tuple((name, rows.below(tree, run), run) for name, tree, run in trees)
        return replace(rows, columns=over)

    return _through(before, made, columns)


def _through(
    before: Relation, made: Relation, change: Callable[[Relation], Relation | None]
) -> Relation:
    window = before.opened
    if window is None or not window.of(before):
        return made
    rows = None if window.rows is None else change(window.rows)
    return opened(made, replace(window, rows=rows))


def edge_of(tree: Expr) -> str | None:
    """The column of the window that a column is, under whatever name."""
    return tree.name if isinstance(tree, exp.Column) and is_marked(tree) else None

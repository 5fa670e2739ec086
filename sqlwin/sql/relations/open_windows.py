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

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.scalars import Expr, conjoined
from sqlwin.sql.relations.window_columns import marked
from sqlwin.sql.text import ast

if TYPE_CHECKING:
    from sqlwin.sql.relations.relation import Columns, Relation


Trees = list[tuple[str, Expr, ast.Run]]


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

    def refuse(self, relation: Relation) -> None:
        """QueryError where it is read by what is not a query that groups by its window."""
        if self.refused is not None and self.base is relation.base:
            raise self.refused

    def filtered(self, before: Relation, made: Relation, tree: Expr, run: ast.Run) -> Relation:
        """`made`: the relation before with a condition, `tree`, on its columns."""

        def limited(rows: Relation) -> Relation | None:
            below = rows.below(tree, run)
            if marked(below):
                return None
            both = conjoined(rows.predicate, below)
            return replace(rows, predicate=both, predicate_run=run)

        return self._through(before, made, limited)

    def projected(self, before: Relation, made: Relation, trees: Trees) -> Relation:
        """`made`: the relation before with these columns over its own."""

        def columns(rows: Relation) -> Relation:
            over = tuple((name, rows.below(tree, run), run) for name, tree, run in trees)
            return replace(rows, columns=over)

        return self._through(before, made, columns)

    def _through(
        self,
        before: Relation,
        made: Relation,
        change: Callable[[Relation], Relation | None],
    ) -> Relation:
        if not self.of(before):
            return made
        return opened(made, replace(self, rows=None if self.rows is None else change(self.rows)))


def opened(relation: Relation, window: OpenWindow) -> Relation:
    """With its window, which is open."""
    made = replace(
        window, base=relation.base, columns=relation.columns, predicate=relation.predicate
    )
    return replace(relation, opened=made)

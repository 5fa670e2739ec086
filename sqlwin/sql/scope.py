"""Which column a name means.

A resolved column is quoted and has its own spelling; a column of the window
(`window_start`, Spark's `window.start` and `window(…).start`, ksqlDB's WINDOWSTART, Flink's
TUMBLE_START(…)) is marked by the table `__window`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql import ast
from sqlwin.sql.relation import Relation, nearest
from sqlwin.sql.scalars import Expr, column, field_name, instead_of, place

WINDOW = "__window"
DONE = "__done"
"""Marks a column of the window operator's output while an expression is rewritten."""
EDGES = ("window_start", "window_end", "window_time")
_KSQL = {"windowstart": "window_start", "windowend": "window_end"}
_STRUCTS = ("window", "session_window")
_ENDS = ("start", "end")
_FUNCTIONS = ("TUMBLE", "HOP", "CUMULATE", "SESSION")
_LEGACY = {"START": "window_start", "END": "window_end", "ROWTIME": "window_time"}


@dataclass(frozen=True)
class Scope:
    """windowed: whether the window's columns may be named here. aliases: select items
    that may be named, already resolved."""

    relation: Relation
    windowed: bool = False
    aliases: Mapping[str, Expr] = field(default_factory=dict)

    def resolved(self, tree: Expr, run: ast.Run) -> Expr:
        return tree.transform(lambda node: self._resolve(node, run))

    def _resolve(self, node: Expr, run: ast.Run) -> Expr:
        edge = window_edge(node)
        if edge is not None and self.windowed:
            return column(edge, WINDOW)
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return node
        if node.table == DONE:
            return node
        if node.table == WINDOW:  # in an aggregate: of its rows, if they have such a column
            node = column(node.name)
        own = self._own(node, run)
        if own is not None:
            return own
        alias = self.aliases.get(node.name.lower()) if not node.table else None
        if alias is not None:
            return instead_of(node, alias)
        raise self._unknown(node, run, edge)

    def _own(self, node: exp.Column, run: ast.Run) -> Expr | None:
        table = node.table
        if self.relation.sides and (not table or table.lower() in _lower(self.relation.names)):
            return self._joined(node, run)
        if not table or table.lower() in _lower(self.relation.names):
            found = self.relation.find(node.name)
            return column(found) if found else None
        struct = self.relation.find(table)
        if struct is not None:
            return exp.Dot(this=column(struct), expression=field_name(node.name))
        here = ", ".join(self.relation.names)
        raise QueryError(f"no stream here is called {table}", place(node, run), legal=here)

    def _joined(self, node: exp.Column, run: ast.Run) -> Expr | None:
        """A column of one input of a join, or of several that it makes equal."""
        table, name = node.table.lower(), node.name
        merged = [known for known in self.relation.merged if known.lower() == name.lower()]
        if merged and not table:
            return column(merged[0])
        exact = self.relation.find(name) if not table else None
        if exact is not None:  # already resolved, or of one input alone
            return column(exact)
        found = [
            (side, called)
            for side, called in self.relation.candidates(name)
            if table in ("", side.name.lower())
        ]
        same = {} if table else dict(self.relation.same)
        meant = dict.fromkeys(same.get(called, called) for _, called in found)
        if len(meant) > 1:
            legal = ", ".join(f"{side.name}.{name}" for side, _ in found)
            message = f"{name} is a column of {len(found)} inputs of this join"
            raise QueryError(message, place(node, run), legal=legal)
        return column(next(iter(meant))) if meant else None

    def _unknown(self, node: exp.Column, run: ast.Run, edge: str | None) -> QueryError:
        if edge is not None and self.relation.sides:
            message = f"a join has no {edge}: the windows of its inputs say which rows pair"
            return QueryError(message, place(node, run), legal="the columns of its inputs")
        if edge is not None:
            message = f"{place_text(node)} is known only above a window, in SELECT and HAVING"
            return QueryError(message, place(node, run), legal="FROM TUMBLE(…) or HOP(…)")
        known = self._known(node.table)
        message = f"unknown column {node.name}{nearest(node.name, known)}"
        return QueryError(message, place(node, run), legal=", ".join(known))

    def _known(self, table: str) -> list[str]:
        """The columns that were meant, perhaps: of one input of a join, or all."""
        sides = [side for side in self.relation.sides if side.name.lower() == table.lower()]
        if sides:
            return [own for own, _ in sides[0].columns]
        return [name for name, _, _ in self.relation.columns]


def _lower(names: Iterable[str]) -> list[str]:
    return [name.lower() for name in names]


def place_text(node: exp.Column) -> str:
    return f"{node.table}.{node.name}" if node.table else node.name


def window_edge(node: Expr) -> str | None:
    """The window's column that a node means, None for any other node."""
    if isinstance(node, exp.Column):
        if node.table.lower() in _STRUCTS and node.name.lower() in _ENDS:
            return f"window_{node.name.lower()}"
        lower = node.name.lower()
        return _KSQL.get(lower, lower if lower in EDGES else None)
    if isinstance(node, exp.Dot) and isinstance(node.this, exp.Anonymous):
        edge = node.expression.name.lower()
        return f"window_{edge}" if node.this.name.lower() in _STRUCTS and edge in _ENDS else None
    if isinstance(node, exp.Anonymous):
        function, _, edge = node.name.upper().rpartition("_")
        return _LEGACY.get(edge) if function in _FUNCTIONS else None
    return None

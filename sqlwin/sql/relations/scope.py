"""Which column a name means.

A resolved column is quoted and has its own spelling; a column of the window
(`window_start`, Spark's `window.start` and `window(…).start`, ksqlDB's WINDOWSTART, Flink's
TUMBLE_START(…)) is marked by the table `__window`; Spark's `window` is the struct of its two ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.explain.functions import meant, names
from sqlwin.sql.expressions.places import place, word
from sqlwin.sql.expressions.scalars import Expr, column, instead_of
from sqlwin.sql.expressions.trees import rewritten
from sqlwin.sql.expressions.volatile import mark
from sqlwin.sql.relations.relation import Relation, nearest
from sqlwin.sql.relations.unknown_columns import unknown
from sqlwin.sql.relations.window_columns import (
    ENDS,
    STRUCTS,
    WINDOW,
    edge_of,
    is_window_call,
    is_window_time,
    last_instant,
    window_edge,
)
from sqlwin.sql.text import ast

DONE = "__done"
"""Marks a column of the window operator's output while an expression is rewritten."""
_CONSTRUCTORS = ("ARRAY", "MAP")


@dataclass(frozen=True)
class Scope:
    """windowed: whether the window's columns may be named here. aliases: select items
    that may be named, already resolved."""

    relation: Relation
    windowed: bool = False
    aliases: Mapping[str, Expr] = field(default_factory=dict)

    def resolved(self, tree: Expr, run: ast.Run) -> Expr:
        return rewritten(tree, lambda node: self._resolve(node, run))

    def dotted(self, name: str) -> Expr:
        """What a name read by the grammar stands for: the column of that very name, dots and
        all, else one that is qualified."""
        parts = [name] if self.relation.find(name) else name.split(".")
        made: Expr = exp.column(*reversed(parts[:4]))
        for part in parts[4:]:
            made = exp.Dot(this=made, expression=exp.to_identifier(part))
        return made

    def _resolve(self, node: Expr, run: ast.Run) -> Expr:
        if _starred(node):
            return _counted(node, run)
        made = self._made(node)
        if made is not None:
            parts = [self.resolved(each, run) for each in node.expressions]
            return exp.Anonymous(this=made, expressions=parts)
        of_window = self._of_window(node, run)
        if of_window is not None:
            return of_window
        if not isinstance(node, exp.Column) or node.table == DONE:
            return node
        if node.table == WINDOW:  # in an aggregate: of its rows, if they have such a column
            node = column(node.name)
        own = self._own(node, run)
        if own is not None:
            return own
        alias = self.aliases.get(node.name.lower()) if not node.table else None
        if alias is not None:
            return instead_of(node, alias)
        if self.windowed and not node.table and node.name.lower() in STRUCTS:
            return _struct()
        if _is_local_time(node):
            call = exp.Localtimestamp()
            mark(call, place(node, run))
            return call
        raise unknown(self.relation, self.windowed, node, run, window_edge(node))

    def _of_window(self, node: Expr, run: ast.Run) -> Expr | None:
        """A column of the window, or its struct; `window_time` of a column that is a window."""
        if not self.windowed:
            timed = is_window_time(node)
            return last_instant(self.resolved(node.expressions[0], run)) if timed else None
        edge = window_edge(node)
        if edge is not None:
            self._qualified(node, run)
            return column(edge, WINDOW)
        return _struct() if is_window_call(node) else None

    def _made(self, node: Expr) -> str | None:
        """What `ARRAY[a, b]` and `MAP['k', v]` make, as in Flink: no element of a column, unless
        there is one that is called so."""
        if not isinstance(node, exp.Bracket) or not isinstance(node.this, exp.Column):
            return None
        name, of = node.this.name.upper(), node.this.this
        plain = not node.this.table and not (isinstance(of, exp.Identifier) and of.quoted)
        known = plain and name in _CONSTRUCTORS and self.relation.find(name) is None
        return name if known else None

    def _own(self, node: exp.Column, run: ast.Run) -> Expr | None:
        """`o.s.f` is a field of the column `s` of `o`; of `o` as a column only where `o` names
        no input, or one without a column `s`, as in Spark."""
        first, *rest = (part.name for part in node.parts)
        if not rest:
            return self._column("", first, node, run)
        named = first.lower() in _lower(self.relation.names)
        found = self._column(first, rest[0], node, run) if named else None
        if found is not None:
            return _field(found, rest[1:])
        struct = self._column("", first, node, run)
        if struct is not None:
            return _field(struct, rest)
        if named:
            return None
        raise self._nobody(first, node, run)

    def _column(self, table: str, name: str, node: exp.Column, run: ast.Run) -> Expr | None:
        if self.relation.sides:
            return self._joined(table.lower(), name, node, run)
        found = self.relation.find(name)
        if found is None:
            return None
        edge = edge_of(self.relation.expression(found))
        return column(found) if edge is None else column(edge, WINDOW)

    def _qualified(self, node: Expr, run: ast.Run) -> None:
        """QueryError for a window's column of an input that is not there."""
        if isinstance(node, exp.Column) and len(node.parts) > 1:
            first = node.parts[0].name
            if first.lower() not in (WINDOW, *STRUCTS, *_lower(self.relation.names)):
                raise self._nobody(first, node, run)

    def _nobody(self, table: str, node: Expr, run: ast.Run) -> QueryError:
        here = ", ".join(self.relation.names)
        return QueryError(f"no stream here is called {table}", place(node, run), legal=here)

    def _joined(self, table: str, name: str, node: exp.Column, run: ast.Run) -> Expr | None:
        """A column of one input of a join, or of several that it makes equal."""
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


def _is_local_time(node: exp.Column) -> bool:
    """Whether it is LOCALTIMESTAMP, a call without brackets; a column may have that name."""
    of = node.this
    plain = not node.table and not (isinstance(of, exp.Identifier) and of.quoted)
    return plain and node.name.lower() == "localtimestamp"


def _starred(node: Expr) -> bool:
    whole = isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    return whole or isinstance(node, exp.Star)


def _counted(node: Expr, run: ast.Run) -> Expr:
    """The star of COUNT(*); QueryError for any other but a whole item of SELECT, which is no
    expression."""
    plain = isinstance(node, exp.Star) and not any(node.args.values())
    if plain and isinstance(node.parent, exp.Count):
        return node
    call = node.parent
    own = [function.name.lower() for function in run.functions]
    if isinstance(call, exp.Anonymous) and call.name.lower() not in (*names(), *own):
        near = nearest(call.name.lower(), meant())
        raise QueryError(f"no function is called {call.name}{near}", word(call, run))
    message = "* stands for columns: alone in SELECT, or for rows in COUNT(*)"
    raise QueryError(message, place(node, run), legal="SELECT *, a.*, * EXCEPT (id); COUNT(*)")


def _struct() -> Expr:
    """Spark's `window`, of both its ends."""
    ends = [(exp.Literal.string(end), column(f"window_{end}", WINDOW)) for end in ENDS]
    return exp.Anonymous(this="NAMED_STRUCT", expressions=[each for end in ends for each in end])


def _field(struct: Expr, names: Sequence[str]) -> Expr:
    for name in names:
        struct = exp.Dot(this=struct, expression=exp.Identifier(this=name, quoted=True))
    return struct


def _lower(names: Iterable[str]) -> list[str]:
    return [name.lower() for name in names]

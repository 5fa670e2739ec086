"""The select list: expressions, their names, and `*`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, count

import pyarrow as pa
from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import RESERVED
from sqlwin.sql.expressions.macros import is_expanded
from sqlwin.sql.expressions.places import place
from sqlwin.sql.expressions.scalars import Expr, column, parsed, spark
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.window_columns import ENDS, STRUCTS, is_window_call
from sqlwin.sql.text import ast


@dataclass(frozen=True)
class Item:
    """tree: as parsed, its columns not yet resolved. alias: None where none was given.

    starred: it came from a `*`.
    """

    tree: Expr
    run: ast.Run
    name: str
    alias: str | None = None
    starred: bool = False


def items(runs: Sequence[ast.Run], relation: Relation, edges: Sequence[str]) -> list[Item]:
    """`edges`: the window's columns that `*` also means."""
    made = [item for run in runs for item in _items(run, relation, edges)]
    if relation.sides:
        made = _renamed(made)
    unique([(item.name, item.run) for item in made])
    return made


def _renamed(made: Sequence[Item]) -> list[Item]:
    """A column of `*` whose name an input before it has, too, is `id0`, as in Flink."""
    used = {item.name.lower() for item in made if not item.starred}
    out = []
    for item in made:
        if item.starred:
            item = replace(item, name=_free(item.name, used))
            used.add(item.name.lower())
        out.append(item)
    return out


def _free(name: str, used: set[str]) -> str:
    numbered = (f"{name}{number}" for number in count())
    return next(known for known in chain((name,), numbered) if known.lower() not in used)


def unique(names: Sequence[tuple[str, ast.Run]]) -> None:
    seen: set[str] = set()
    for name, run in names:
        if name.lower() in seen:
            raise QueryError(f"two columns are called {name}", run.span, legal=f"{name} AS another")
        if name.startswith(RESERVED):
            message = f"names that begin with {RESERVED} are sqlwin's own: {name}"
            raise QueryError(message, run.span, legal="any other alias")
        seen.add(name.lower())


def called(relation: Relation, names: Sequence[ast.Name]) -> Relation:
    """With the names of a list behind the name of a view."""
    if len(names) != len(relation.columns):
        have = ", ".join(name for name, _, _ in relation.columns)
        count = len(relation.columns)
        message = f"the list has {len(names)} names, the query {count} column{'s' * (count > 1)}"
        raise QueryError(message, names[0].span, legal=f"a name for each of {have}")
    unique([(name.text, ast.Run(name.text, name.text, name.span)) for name in names])
    pairs = zip(names, relation.columns, strict=True)
    columns = tuple((name.text, tree, run) for name, (_, tree, run) in pairs)
    return replace(relation, columns=columns, view="")


def _items(run: ast.Run, relation: Relation, edges: Sequence[str]) -> list[Item]:
    tree = parsed(run)
    if isinstance(tree, exp.Star) or (
        isinstance(tree.this, exp.Star) and isinstance(tree, exp.Column)
    ):
        return _star(tree, run, relation, edges)
    if isinstance(tree, exp.Alias):
        return [Item(tree.this, run, tree.alias, tree.alias)]
    if isinstance(tree, exp.Column):
        return [Item(tree, run, relation.find(tree.name) or tree.name)]
    if is_window_call(tree):
        return [Item(tree, run, tree.name.lower())]
    return [Item(tree, run, _text(tree, run))]


def _star(tree: Expr, run: ast.Run, relation: Relation, edges: Sequence[str]) -> list[Item]:
    table = tree.table if isinstance(tree, exp.Column) else ""
    if table and table.lower() not in [name.lower() for name in relation.names]:
        fields = _fields(relation, table)
        if fields:
            return _starred(tree.this, run, list(fields.items()))
        if table.lower() in STRUCTS and edges:
            return _ends(tree, run, table)
        here = ", ".join(f"{name}.*" for name in relation.names)
        raise QueryError(f"no stream here is called {table}", place(tree, run), legal=here)
    pairs = _joined(relation, table) or [(name, name) for name, _, _ in relation.columns]
    names = [name for name, _ in pairs]
    pairs += [(edge, edge) for edge in edges if edge not in names and not table]
    node = tree if isinstance(tree, exp.Star) else tree.this
    return _starred(node, run, [(name, column(called)) for name, called in pairs])


def _starred(node: exp.Star, run: ast.Run, columns: Sequence[tuple[str, Expr]]) -> list[Item]:
    if not any(node.args.values()):
        return [Item(tree, run, name, starred=True) for name, tree in columns]
    from sqlwin.sql.relations.stars import star  # by need

    meant = star(node, run, [name for name, _ in columns])
    made = [meant.column(name, tree) for name, tree in columns]
    return [Item(each[1], run, each[0], starred=True) for each in made if each is not None]


def _ends(tree: Expr, run: ast.Run, window: str) -> list[Item]:
    """`window.*`, of a window that is called in GROUP BY."""
    return _starred(tree.this, run, [(name, exp.column(name, table=window)) for name in ENDS])


def _fields(relation: Relation, name: str) -> dict[str, Expr]:
    """Those of a column that is a struct, by their names; none of any other."""
    found = relation.find(name)
    type_ = None if found is None else dict(relation.scalars)[found].type
    if found is None or type_ is None or not pa.types.is_struct(type_):
        return {}
    names = [field.name for field in type_]
    return {
        each: exp.Dot(this=column(found), expression=exp.to_identifier(each, quoted=True))
        for each in names
    }


def _joined(relation: Relation, table: str) -> list[tuple[str, str]]:
    """Of a join: the columns of one input, or of USING once and then of all, and their names."""
    shown = (side for side in relation.sides if table or not side.hidden)
    sides = [side for side in shown if table.lower() in ("", side.name.lower())]
    merged = [] if table else list(relation.merged)
    lower = [name.lower() for name in merged]
    own = [pair for side in sides for pair in side.columns if pair[0].lower() not in lower]
    return [*((name, name) for name in merged), *own]


_RENAMED = (exp.WithinGroup, exp.ArrayAgg, exp.GroupConcat)
"""Calls that have several names, of which sqlglot prints another."""


def _text(tree: Expr, run: ast.Run) -> str:
    """The expression's text in Spark SQL, or as written where that would be another call."""
    renamed = tree.find(*_RENAMED) is not None or any(is_expanded(n) for n in tree.walk())
    return " ".join(run.original.split()) if run.overs or renamed else spark(tree)

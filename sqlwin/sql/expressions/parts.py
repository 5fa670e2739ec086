"""Runs of which a part is meant, or parts of which a query in FROM has computed already.

A part is a node of the run's tree, by its number in a walk, so that it keeps its place in the
text: an error in it points at what was written.

>>> import sqlglot
>>> tree = sqlglot.parse_one("a + SUM(b)")
>>> part_of(tree, ast.Part(2, "total")).sql(), over_columns(tree, [ast.Part(2, "total")]).sql()
('SUM(b) AS "total"', 'a + "total"')
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from sqlglot import exp

from sqlwin.sql.expressions.trees import copied, rewritten_in_place
from sqlwin.sql.text import ast


def part_of(tree: exp.Expr, part: ast.Part) -> exp.Expr:
    """The one node, under the part's name."""
    node = next(islice(tree.walk(), part.at, None))
    return exp.Alias(this=copied(node), alias=exp.to_identifier(part.name, quoted=True))


def over_columns(tree: exp.Expr, below: Sequence[ast.Part]) -> exp.Expr:
    """The tree, changed, with the parts' columns in their places."""
    nodes = list(tree.walk())
    names = {id(nodes[part.at]): part.name for part in below}

    def given(node: exp.Expr) -> exp.Expr:
        name = names.get(id(node))
        return node if name is None else _column(name, node)

    return rewritten_in_place(tree, given)


def _column(name: str, node: exp.Expr) -> exp.Column:
    made = exp.Column(this=exp.Identifier(this=name, quoted=True))
    marks = [n.meta for n in node.walk() if "start" in n.meta]
    if marks:
        places = {"start": min(m["start"] for m in marks), "end": max(m["end"] for m in marks)}
        made.this.meta.update(places)
        made.meta.update(places)
    return made

"""The query behind LATERAL: its own rows, and its conditions that compare them with those before.

A name is of the rows before only behind a qualifier that is no input of its own.
"""

from __future__ import annotations

import re
from dataclasses import field, replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.syntax.subqueries.correlated import names_outer
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import conjuncts, outside
from sqlwin.sql.text.runs import part

LEGAL = "LATERAL (SELECT b.v FROM b WHERE b.k = a.k ORDER BY b.v DESC LIMIT 3) AS t"
COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)


@dataclass(frozen=True)
class Condition:
    """One that names rows before. pieces: what the words compare, which is of one side each."""

    pieces: tuple[ast.Run, ...]
    words: tuple[str, ...]

    @property
    def equal(self) -> bool:
        return self.words == ("=",)


@dataclass
class Inner:
    """The query within. shown: what `*` has of it; hidden: its further items, by their names."""

    select: ast.Select
    name: str
    own: frozenset[str]
    hidden: dict[str, ast.Run] = field(default_factory=dict)

    def is_own(self, run: ast.Run) -> bool:
        columns = list(parsed(run).find_all(exp.Column))
        return bool(columns) and not names_outer(parsed(run), self.own)

    def bare(self, tree: Expr) -> Expr:
        """Without qualifiers, where they say nothing."""
        made = tree.copy()
        for node in made.find_all(exp.Column) if len(self.own) == 1 else ():
            node.set("table", None)
        return made

    def exposed(self, run: ast.Run) -> str:
        """The name by which the join finds an expression of its own rows."""
        tree = parsed(run)
        for item in self.select.items:
            found = parsed(item)
            if self.bare(found.unalias()) == self.bare(tree) and found.alias_or_name:
                return named(self.name, found.alias_or_name)
        if any(isinstance(parsed(item), exp.Star) for item in self.select.items):
            if isinstance(tree, exp.Column):
                return named(self.name, tree.name)
            message = "beside * what is compared with the rows before is a column"
            raise QueryError(message, run.span, legal=LEGAL)
        known = next((name for name, given in self.hidden.items() if parsed(given) == tree), None)
        name = known or f"{self.name}_{len(self.hidden) + 1}"
        self.hidden[name] = run
        return named(self.name, name)

    def text(self, condition: Condition) -> str:
        sides = [self.exposed(p) if self.is_own(p) else f"({p.text})" for p in condition.pieces]
        between = ("", *(f" {word} " for word in condition.words))
        return "".join(f"{word}{side}" for word, side in zip(between, sides, strict=True))


def split(inner: Inner) -> tuple[ast.Run | None, list[Condition]]:
    """Its WHERE without the conditions that name rows before, and these."""
    where, rest, found = inner.select.where, [], []
    for condition in [] if where is None else conjuncts(where):
        if names_outer(parsed(condition), inner.own):
            found.append(_condition(inner, condition))
        else:
            rest.append(condition)
    if where is None or not rest:
        return None, found
    text = " AND ".join(f"({run.text})" for run in rest)
    return replace(where, text=text, original=text), found


def _condition(inner: Inner, run: ast.Run) -> Condition:
    """QueryError where it is no comparison of own rows with those before."""
    pieces, words = _cut(run) if isinstance(parsed(run), COMPARED) else ((), ())
    mixed = any(names_outer(parsed(p), inner.own) and not _whole(p, inner.own) for p in pieces)
    if not pieces or mixed or not any(map(inner.is_own, pieces)):
        message = "a query behind LATERAL compares its rows with those before, a side each"
        raise QueryError(message, run.span, legal="b.k = a.k; b.ts BETWEEN a.ts AND a.ts + …")
    return Condition(pieces, words)


def _whole(run: ast.Run, own: frozenset[str]) -> bool:
    columns = parsed(run).find_all(exp.Column)
    return all(node.table and node.table.lower() not in own for node in columns)


def _cut(run: ast.Run) -> tuple[tuple[ast.Run, ...], tuple[str, ...]]:
    """At BETWEEN and AND, or at the sign of a comparison."""
    between = isinstance(parsed(run), exp.Between)
    tokens = list(outside(run.text))
    if between:
        found = [(at, token) for at, token in tokens if token.upper() in ("BETWEEN", "AND")][:2]
    else:
        at = next(at for at, token in tokens if token in "<>=!")
        sign = re.match(r"[<>=!]+", run.text[at:])
        assert sign is not None
        found = [(at, sign[0])]
    ends = [at + len(word) for at, word in found]
    cuts = zip((0, *ends), (*(at for at, _ in found), len(run.text)), strict=True)
    return tuple(part(run, a, z) for a, z in cuts), tuple(word.upper() for _, word in found)


def named(relation: str, column: str) -> str:
    return f"`{relation}`.`{column}`"

"""What stands before a `|>`: one SELECT as long as it can hold the next operator, else a query of
which the next is over.

    FROM a |> WHERE v > 1 |> EXTEND v * 2 AS w        SELECT *, v * 2 AS w FROM a WHERE v > 1
    … |> WHERE w > 4                                  SELECT * FROM (…) AS a WHERE w > 4

Invariant: the SELECT means the operators so far, one after the other. An open one has the rows of
FROM, of which WHERE, joins and new columns may still be said, where these do not name what an
operator before has made or taken away: `touched`. Its rows keep the name that FROM gave them, which
SELECT and AGGREGATE end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.syntax.pipes.conditions import conjoined
from sqlwin.sql.text import ast
from sqlwin.sql.text.depth import BRACKETS
from sqlwin.sql.text.prepared import unquoted

_WORD = re.compile(r"`(?:[^`]|``)+`|[^\W\d]\w*")
UNNAMED = "`"
"""Of a column that is called by the text of its expression: whatever stands in backquotes."""


@dataclass(frozen=True)
class Flow:
    """whole: what a SELECT becomes to which nothing is added. source: the text. name: of its rows.
    wheres: in the order of the text. added: by EXTEND, columns by their names that may be in other
    expressions. depth: of queries in FROM."""

    select: ast.Select
    whole: Callable[[ast.Select], ast.Select]
    source: str
    name: ast.Name | None = None
    open: bool = True
    touched: frozenset[str] = frozenset()
    wheres: tuple[ast.Run, ...] = ()
    added: tuple[tuple[str, ast.Run], ...] = ()
    depth: int = 0

    @property
    def plain(self) -> bool:
        """Whether its columns are those of FROM."""
        return self.open and not self.touched and not _ordered(self.select)

    @property
    def single(self) -> bool:
        """Whether it is one relation, which no condition is over and nothing is beside."""
        relation = self.select.relation
        beside = (relation.joins, relation.unnests, relation.match, relation.above)
        return self.plain and not self.wheres and not any(beside)

    def query(self) -> ast.Select:
        where = conjoined(self.wheres, self.source) if self.wheres else self.select.where
        return self.whole(replace(self.select, where=where))

    def around(self, span: Span, query: ast.Select | None = None) -> Flow:
        """The rows of this query, by the same name. span: of what is over them."""
        if self.depth >= BRACKETS:
            message = f"this is nested too deep: {BRACKETS} queries, one of the other, at most"
            raise QueryError(message, span, legal="a view for the first operators")
        source = ast.From(query or self.query(), alias=self.name)
        return Flow(all_of(source, span), self.whole, self.source, self.name, depth=self.depth + 1)

    def fitting(self, *runs: ast.Run) -> tuple[ast.Run, ...] | None:
        """As they are in the same SELECT; None where they name what only a query around it knows.

        Only around inputs of a join are columns replaced by what they are: the names of these
        inputs would end."""
        if self.independent(*runs):
            return runs
        if not self.select.relation.joins or not self.open or not all(map(self._replaces, runs)):
            return None
        return tuple(replace(run, made=self.added) for run in runs)

    def _replaces(self, run: ast.Run) -> bool:
        """Whether all that it names is an expression, and stands by itself."""
        if self.independent(run):
            return True
        known = dict(self.added)
        used = tokens([run]) & self.touched
        alone = not any(re.search(rf"\b{re.escape(name)}`?\s*\.", run.text, re.I) for name in used)
        return used <= known.keys() and alone and not run.overs and "->" not in run.text

    def independent(self, *runs: ast.Run) -> bool:
        """Whether they name nothing that is touched."""
        return not self.touched or not any(self._names(run) for run in runs)

    def _names(self, run: ast.Run) -> bool:
        words = [each[0] for each in _WORD.finditer(run.original)]
        if UNNAMED in self.touched and any(word[0] == UNNAMED for word in words):
            return True
        return any(unquoted(word).lower() in self.touched for word in words)


def begun(relation: ast.From, span: Span, whole: Callable[..., ast.Select], source: str) -> Flow:
    return Flow(all_of(relation, span), whole, source, called(relation))


def all_of(source: ast.From, span: Span) -> ast.Select:
    return ast.Select((ast.Run("*", "*", span),), source, span)


def called(relation: ast.From) -> ast.Name | None:
    """What its columns may be qualified by, where it is one relation."""
    if relation.joins:
        return None
    if relation.alias is not None:
        return relation.alias
    source = relation.source
    read = table(source) if isinstance(source, ast.WindowCall) else source
    return read if isinstance(read, ast.Name) and not _is_unnamed(read) else None


def _is_unnamed(read: ast.Name) -> bool:
    """Whether it is a file, or rows of the text."""
    return isinstance(read, ast.File | ast.Inline)


def table(call: ast.WindowCall) -> ast.Name | ast.Select | None:
    """What a window function reads."""
    labelled = [a for a in call.arguments if (a.label or "").lower() == "data"]
    values = (each.value for each in labelled or call.arguments if labelled or not each.label)
    return next((v for v in values if isinstance(v, ast.Name | ast.Select)), None)


def tokens(runs: Sequence[ast.Run]) -> frozenset[str]:
    """The words in them, as names."""
    found = (each[0] for run in runs for each in _WORD.finditer(run.original))
    return frozenset(unquoted(word).lower() for word in found)


def _ordered(select: ast.Select) -> bool:
    return bool(select.order) or select.limit is not None or select.distinct is not None

"""Queries in expressions as joins: an aggregate by what is equal to the rows around it.

    FROM a WHERE p > (SELECT MAX(b.p) FROM b WHERE b.w = a.w AND b.v = 1)

    FROM a LEFT JOIN (SELECT b.w AS k, MAX(b.p) AS v FROM b WHERE b.v = 1 GROUP BY b.w) s
      ON s.k = a.w WHERE p > s.v

EXISTS, where it stands under OR or in an expression, is COUNT(*) > 0. A condition of an inner join
that has a query goes to WHERE; for one of another join the value is joined before it.

What stood in brackets is as long as before, so that all places hold, where it was long enough.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import field, replace

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.scalars import NESTED
from sqlwin.sql.syntax.subqueries.correlated import names, names_one_of
from sqlwin.sql.syntax.subqueries.scalar_frames import (
    Frame,
    over_frames,
    refuse_groups,
    without_values,
)
from sqlwin.sql.syntax.subqueries.scalar_values import made
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import TOKEN, both, closing, conjuncts, either
from sqlwin.sql.text.runs import part

Parse = Callable[[ast.Run], ast.Select]

_OPENS = re.compile(rf"\((?={NESTED})", re.IGNORECASE)
_BEFORE = frozenset(("AND", "OR", "NOT", "WHEN", "THEN", "ELSE", "BETWEEN", "CASE", "DIV", "LIKE"))
"""Words behind which a query in brackets is a value; behind others it is theirs."""
_THEIRS = frozenset(("EXISTS", "IN", "ANY", "SOME", "ALL"))
_SECOND = re.compile(r"\(\s*\(")
_SET = re.compile(r"\s*(UNION|INTERSECT|EXCEPT|MINUS|ORDER|LIMIT)\b", re.IGNORECASE)
_INNER = frozenset(("JOIN", "INNER JOIN", "CROSS JOIN", ","))
_KEEPING = _INNER | {"LEFT JOIN", "LEFT OUTER JOIN"}
"""Joins that give what WHERE would have left of their left rows."""


@dataclass
class Scalars:
    """The joins that queries in the expressions of one query become, as they are met."""

    parse: Parse
    joins: list[ast.Join] = field(default_factory=list)
    frames: list[Frame] = field(default_factory=list)

    def replaced(self, run: ast.Run, conditions: bool = False) -> ast.Run:
        """conditions: it is a WHERE, whose EXISTS joined by AND are left to be SEMI JOINs."""
        text = run.text
        if not _OPENS.search(text):
            return run
        for begin, start, end in reversed(list(_queries(run, conditions))):
            made = self._value(run, start, end, exists=begin < start)
            text = text[:begin] + made.ljust(end - begin) + text[end:]
        return replace(run, text=text)

    def _value(self, run: ast.Run, start: int, end: int, exists: bool) -> str:
        inner = part(run, start + 1, end - 1)
        select = self.parse(inner)
        name = ast.Name(f"subquery{len(self.joins) + len(self.frames) + 1}", select.span)
        found, value = made(select, name, exists)
        if isinstance(found, ast.Join):
            self.joins.append(found)
        else:
            self.frames.append(found)
        return value

    @property
    def span(self) -> Span:
        return self.joins[0].word.span if self.joins else self.frames[0].select.span


def without_scalars(select: ast.Select, parse: Parse) -> ast.Select:
    """The query with the values of queries in its expressions joined to it."""
    scalars = Scalars(parse)
    select = _moved(select)
    source = _before(select.relation, scalars)
    before = len(scalars.joins)
    where = None if select.where is None else scalars.replaced(select.where, conditions=True)
    of_rows = len(scalars.joins)
    items = tuple(scalars.replaced(item) for item in select.items)
    having = None if select.having is None else scalars.replaced(select.having)
    if not scalars.joins and not scalars.frames:
        return select
    source = _windowless(source, scalars.span)
    if len(scalars.joins) > of_rows:
        from sqlwin.sql.syntax.subqueries.scalar_groups import grouped  # by need

        items, having = grouped(select, items, having, scalars.joins[of_rows:])
    refuse_groups(select, (*items, having), scalars.frames)
    source = _named(source)
    whole = _named(select.relation)
    items = tuple(each for item in items for each in starred(item, whole))
    items = without_values(items, scalars.frames)
    source = over_frames(source, scalars.frames, parse)
    joins = (*source.joins, *scalars.joins[before:])
    return replace(
        select, items=items, where=where, having=having, relation=replace(source, joins=joins)
    )


def _windowless(source: ast.From, span: Span) -> ast.From:
    """A window of ksqlDB is over the joined rows."""
    if source.window is None:
        return source
    if isinstance(source.window, ast.KsqlWindow) and not source.joins:
        return replace(source, window=None, above=source.window)
    message = "a query in an expression beside a window of the stream is not supported yet"
    raise QueryError(message, span, legal="the window in a query in FROM; FROM TUMBLE(…)")


def _named(source: ast.From) -> ast.From:
    """A query by itself has a name, by which `*` has its columns and no others."""
    bare = source.alias is None and not source.joins
    if not bare or not isinstance(source.source, ast.Select | ast.Union):
        return source
    return replace(source, alias=ast.Name("_1", source.source.span))


def _moved(select: ast.Select) -> ast.Select:
    """Conditions of inner joins that have a query, in WHERE."""
    joins, where = list(select.relation.joins), select.where
    for at, join in enumerate(joins):
        later = all(each.word.text in _KEEPING for each in joins[at:])
        if join.on is None or not _OPENS.search(join.on.text):
            continue
        if join.word.text not in _INNER or not later or join.match is not None:
            continue
        parts = list(conjuncts(join.on))
        stays = [run for run in parts if not _OPENS.search(run.text)]
        for run in (run for run in parts if _OPENS.search(run.text)):
            where = run if where is None else both(where, run)
        joins[at] = replace(join, on=_all(join.on, stays))
    return replace(select, where=where, relation=replace(select.relation, joins=tuple(joins)))


def _all(run: ast.Run, parts: list[ast.Run]) -> ast.Run:
    text = " AND ".join(f"({part.text})" for part in parts) or "TRUE"
    return replace(run, text=text, original=text)


def _before(source: ast.From, scalars: Scalars) -> ast.From:
    """With what conditions of its joins compare, joined before each of these."""
    joins: list[ast.Join] = []
    for join in source.joins:
        if join.on is None or join.nested or not _OPENS.search(join.on.text):
            joins.append(join)
            continue
        known = len(scalars.joins)
        on = scalars.replaced(join.on)
        own = frozenset(name.lower() for name in names(replace(join.right, joins=())))
        for each in scalars.joins[known:]:
            if each.on is not None and names_one_of(each.on, own):
                message = (
                    f"a query in the condition of a {join.word.text} names what is before it alone"
                )
                raise QueryError(message, each.word.span, legal="a query in FROM with this value")
        joins += [*scalars.joins[known:], replace(join, on=on)]
    return replace(source, joins=tuple(joins))


def _queries(run: ast.Run, conditions: bool) -> Iterator[tuple[int, int, int]]:
    """Of each value: where it begins, with EXISTS; where its bracket opens, and behind that."""
    depth, until, before, at_before = 0, 0, "", 0
    plain = conditions and not either(run.text)
    for found in TOKEN.finditer(run.text):
        at, token = found.start(), found[0]
        if at < until or token.isspace():
            continue
        if token == "(" and _OPENS.match(run.text, at) and _whole(run.text, at, before):
            until = closing(run.text, at)
            if before == "EXISTS" and not (plain and depth == 0):
                yield at_before, at, until
            elif not re.match(r"\w", before) or before in _BEFORE:
                yield at, at, until
            token = ")"
        else:
            depth += (token in "([") - (token in ")]")
        before, at_before = token.upper(), at


def _whole(text: str, at: int, before: str) -> bool:
    """Whether the brackets hold a query, and not one beside other words: `((SELECT …) + 1)`."""
    inner = _SECOND.match(text, at)
    if inner is None or before in _THEIRS:
        return True
    return _SET.match(text, closing(text, inner.end() - 1)) is not None


def starred(item: ast.Run, source: ast.From) -> Iterator[ast.Run]:
    """`*` without the columns of what was joined: those of each input; so `t.*` of a LATERAL."""
    lateral = [join for join in source.joins if join.listed and _star_of(join) == item.text.strip()]
    if lateral:
        assert lateral[0].right.alias is not None
        texts = (f"{lateral[0].right.alias.text}.{column}" for column in lateral[0].listed)
        yield from (replace(item, text=text, original=text) for text in texts)
        return
    if item.text.strip() != "*":
        yield item
        return
    called = list(names(source))
    if len(called) <= len(source.joins) or any(join.using for join in source.joins):
        message = "* beside a query in an expression needs a name for each input, and no USING"
        raise QueryError(message, item.span, legal="FROM (SELECT …) a; a.*, or columns by name")
    halves = [name for name, join in zip(called[1:], source.joins, strict=True) if _half(join)]
    listed = {name: join.listed for name, join in zip(called[1:], source.joins, strict=True)}
    for name in called:
        columns = listed.get(name) or ("*",)
        for column in () if name in halves else columns:
            text = f"{name}.{column}"
            yield replace(item, text=text, original=text)


def _star_of(join: ast.Join) -> str:
    return "" if join.right.alias is None else f"{join.right.alias.text}.*"


def _half(join: ast.Join) -> bool:
    return any(word in join.word.text for word in ("SEMI", "ANTI"))

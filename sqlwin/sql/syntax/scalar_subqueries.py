"""Queries in expressions as joins: an aggregate by what is equal to the rows around it.

    FROM a WHERE p > (SELECT MAX(b.p) FROM b WHERE b.w = a.w AND b.v = 1)

    FROM a LEFT JOIN (SELECT b.w AS k, MAX(b.p) AS v FROM b WHERE b.v = 1 GROUP BY b.w) s
      ON s.k = a.w WHERE p > s.v

COUNT of no rows is 0. EXISTS, where it stands under OR or in an expression, is COUNT(*) > 0. In the
query a name is of the query around it only behind a qualifier that is no input of its own.

What stood in brackets is as long as before, so that all places hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.calls import call_at
from sqlwin.sql.expressions.scalars import NESTED, Expr, parsed
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import TOKEN, closing, conjuncts, either, outside
from sqlwin.sql.text.runs import ALIAS, part

Parse = Callable[[ast.Run], ast.Select]

LEGAL = "(SELECT MAX(b.p) FROM b WHERE b.window_end = a.window_end)"
_OPENS = re.compile(rf"\((?={NESTED})", re.IGNORECASE)
_BEFORE = frozenset(("AND", "OR", "NOT", "WHEN", "THEN", "ELSE", "BETWEEN", "CASE", "DIV", "LIKE"))
"""Words behind which a query in brackets is a value; behind others it is theirs."""
_ZERO = frozenset(("count", "count_if", "approx_count_distinct", "regr_count"))
"""Aggregates that are 0 of no rows; all others are NULL, and so is arithmetic with them."""
_LISTS = frozenset(("collect_list", "collect_set"))
"""Those that are an empty list."""
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren, exp.Literal, exp.Cast)


@dataclass
class Scalars:
    """The joins that queries in the expressions of one query become, as they are met."""

    parse: Parse
    joins: list[ast.Join] = field(default_factory=list)

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
        item = ast.Run("COUNT(*)", "COUNT(*)", select.span) if exists else _aggregate(select, inner)
        name = f"subquery{len(self.joins) + 1}"
        self.joins.append(_join(select, item, ast.Name(name, select.span)))
        counts = _zero(parsed(item).unalias(), item)
        value = f"COALESCE({name}.{name}, 0)" if counts else f"{name}.{name}"
        return f"({value} > 0)" if exists else value


def without_scalars(select: ast.Select, parse: Parse) -> ast.Select:
    """The query with the values of queries in its WHERE and its select list joined to it."""
    scalars = Scalars(parse)
    where = None if select.where is None else scalars.replaced(select.where, conditions=True)
    items = tuple(scalars.replaced(item) for item in select.items)
    if not scalars.joins:
        return select
    span = scalars.joins[0].word.span
    if select.relation.window is not None:
        message = "a query in an expression beside a window of the stream is not supported yet"
        raise QueryError(message, span, legal="the window in a query in FROM; FROM TUMBLE(…)")
    if items != select.items:
        items = tuple(each for item in items for each in starred(item, select.relation))
    joins = (*select.relation.joins, *scalars.joins)
    return replace(select, items=items, where=where, relation=replace(select.relation, joins=joins))


def _queries(run: ast.Run, conditions: bool) -> Iterator[tuple[int, int, int]]:
    """Of each value: where it begins, with EXISTS; where its bracket opens, and behind that."""
    depth, until, before, at_before = 0, 0, "", 0
    plain = conditions and not either(run.text)
    for found in TOKEN.finditer(run.text):
        at, token = found.start(), found[0]
        if at < until or token.isspace():
            continue
        if token == "(" and _OPENS.match(run.text, at):
            until = closing(run.text, at)
            if before == "EXISTS" and not (plain and depth == 0):
                yield at_before, at, until
            elif not re.match(r"\w", before) or before in _BEFORE:
                yield at, at, until
            token = ")"
        else:
            depth += (token in "([") - (token in ")]")
        before, at_before = token.upper(), at


def _aggregate(select: ast.Select, run: ast.Run) -> ast.Run:
    """QueryError where a query may give more than one row, or more than one value."""
    given = (select.group, select.having, select.qualify, select.distinct, select.refused)
    single = len(select.items) == 1 and not any(given) and not select.items[0].overs
    tree = parsed(select.items[0])
    if not single or not any(_call(node, select.items[0]) for node in tree.walk()):
        message = (
            "a query in an expression gives one value: an aggregate of its rows, without GROUP BY"
        )
        raise QueryError(message, select.span, legal=LEGAL)
    if not _null_of_nothing(tree.unalias(), select.items[0]):
        message = "what a query in an expression gives is an aggregate, or arithmetic of such"
        legal = "what is around it outside of the brackets: COALESCE((SELECT MAX(b.p) FROM b …), 0)"
        raise QueryError(message, select.items[0].span, legal=legal)
    return select.items[0]


def _call(node: Expr, run: ast.Run) -> str:
    """The name of the aggregate that it calls."""
    call = call_at(node, run)
    return "" if call is None else call.function.name.lower()


def _zero(node: Expr, run: ast.Run) -> bool:
    return _call(node, run) in _ZERO


def _null_of_nothing(node: Expr, run: ast.Run, outermost: bool = True) -> bool:
    """Whether it is NULL of no rows, as a LEFT JOIN gives it, or is 0."""
    name = _call(node, run)
    if name:
        return name not in _LISTS and (outermost or name not in _ZERO)
    inner = [each for each in node.iter_expressions() if not isinstance(each, exp.DataType)]
    return isinstance(node, _ARITHMETIC) and all(_null_of_nothing(e, run, False) for e in inner)


def _join(select: ast.Select, item: ast.Run, name: ast.Name) -> ast.Join:
    own = frozenset(each.lower() for each in names(select.relation))
    _refuse_outer(item, own)
    keys, rest, on = [], [], []
    for condition in [] if select.where is None else conjuncts(select.where):
        if not names_outer(parsed(condition), own):
            rest.append(condition)
            continue
        inner, outer = _equality(condition, own)
        keys.append(inner)
        on.append(f"{name.text}.{name.text}_key{len(keys)} = ({outer.text})")
    value = part(item, 0, _end(item))
    called = [f"{name.text}_key{at}" for at in range(1, len(keys) + 1)]
    pairs = zip((*called, name.text), (*keys, value), strict=True)
    items = tuple(replace(run, text=f"{run.text} AS {alias}") for alias, run in pairs)
    source = replace(
        select, items=items, group=tuple(keys), where=_all(select.where, rest), distinct=None
    )
    text = " AND ".join(on) or "TRUE"
    return ast.Join(
        ast.Name("LEFT JOIN", name.span),
        ast.From(source, alias=name),
        ast.Run(text, text, name.span),
        scalar=True,
    )


def _all(where: ast.Run | None, rest: list[ast.Run]) -> ast.Run | None:
    if where is None or not rest:
        return None
    text = " AND ".join(f"({run.text})" for run in rest)
    return replace(where, text=text, original=text)


def _end(item: ast.Run) -> int:
    alias = ALIAS.search(item.text) if isinstance(parsed(item), exp.Alias) else None
    return len(item.text) if alias is None else alias.start()


def names(source: ast.From) -> Iterator[str]:
    """By which columns of its own are qualified."""
    for each in (source, *(join.right for join in source.joins)):
        if each.alias is not None:
            yield each.alias.text
        elif isinstance(each.source, ast.Name):
            yield each.source.text


def names_outer(tree: Expr, own: frozenset[str]) -> bool:
    """Whether it names a column of the query around."""
    return any(node.table and node.table.lower() not in own for node in tree.find_all(exp.Column))


def _refuse_outer(run: ast.Run, own: frozenset[str]) -> None:
    if names_outer(parsed(run), own):
        raise _unequal(run)


def _unequal(run: ast.Run) -> QueryError:
    message = "a query in an expression names the rows around it in equalities of its WHERE alone"
    return QueryError(message, run.span, legal=LEGAL)


def _equality(run: ast.Run, own: frozenset[str]) -> tuple[ast.Run, ast.Run]:
    """Its own side, and that of the query around."""
    if not isinstance(parsed(run), exp.EQ):
        raise _unequal(run)
    at = next(at for at, token in outside(run.text) if token == "=")
    sides = part(run, 0, at), part(run, at + 1, len(run.text))
    for one, other in (sides, sides[::-1]):
        columns = list(parsed(other).find_all(exp.Column))
        whole = all(node.table and node.table.lower() not in own for node in columns)
        if columns and whole and not names_outer(parsed(one), own):
            return one, other
    raise _unequal(run)


def starred(item: ast.Run, source: ast.From) -> Iterator[ast.Run]:
    """`*` without the columns of what was joined: those of each input."""
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


def _half(join: ast.Join) -> bool:
    return any(word in join.word.text for word in ("SEMI", "ANTI"))

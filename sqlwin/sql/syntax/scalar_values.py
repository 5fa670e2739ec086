"""The join that one query in an expression becomes, and its value in the text.

    (SELECT MAX(b.p) FROM b WHERE b.w = a.w)    LEFT JOIN (SELECT b.w, MAX(b.p) … GROUP BY b.w)
    (SELECT b.p FROM b WHERE b.w = a.w)         LEFT JOIN (SELECT b.w, b.p …)

The first has one row for each of what is equal to the rows around it, and COUNT of no rows is 0.
The second is of a static table alone, and a row that finds two of it is an error of the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.calls import call_at
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.syntax.correlated import LEGAL, equality, names, names_outer, refuse_outer
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import closing, conjuncts
from sqlwin.sql.text.runs import ALIAS, part

_ZERO = frozenset(("count", "count_if", "approx_count_distinct", "regr_count"))
"""Aggregates that are 0 of no rows; all others are NULL, and so is arithmetic with them."""
_LISTS = frozenset(("collect_list", "collect_set"))
"""Those that are an empty list."""
_CALL = re.compile(r"\b[A-Za-z_]\w*\s*\(")
_BEHIND = re.compile(r"\s*(FILTER|WITHIN\s+GROUP)\s*\(", re.IGNORECASE)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.Paren, exp.Literal, exp.Cast)


def made(select: ast.Select, name: ast.Name, exists: bool) -> tuple[ast.Join, str]:
    """The join, by that name, and the value. exists: it stands behind EXISTS."""
    if exists:
        item = ast.Run("COUNT(*)", "COUNT(*)", select.span)
        return _join(select, item, name), f"(COALESCE({name.text}.{name.text}, 0) > 0)"
    item = _value(select)
    value = f"{name.text}.{name.text}"
    if _of_one_row(select):
        return _join(select, item, name, single=True), value
    if _null_of_nothing(parsed(item).unalias(), item):
        zero = _call(parsed(item).unalias(), item) in _ZERO
        return _join(select, item, name), f"COALESCE({value}, 0)" if zero else value
    return _in_parts(select, item, name)


def _in_parts(select: ast.Select, item: ast.Run, name: ast.Name) -> tuple[ast.Join, str]:
    """The join has the aggregates, each a column, and what is around them is around the join."""
    bare, columns, text, until = part(item, 0, _end(item)), [], "", 0
    for start, end in _calls(bare):
        columns.append(part(bare, start, end))
        value = f"{name.text}.{name.text}_part{len(columns)}"
        text += bare.text[until:start] + _of_nothing(value, columns[-1])
        until = end
    text += bare.text[until:]
    own = parsed(replace(bare, text=text)).find_all(exp.Column)
    if any(node.table != name.text for node in own):
        message = "what a query in an expression gives is aggregates, and no column beside them"
        raise QueryError(message, item.span, legal=LEGAL)
    return _join(select, item, name, columns=columns), f"({text})"


def _of_nothing(value: str, run: ast.Run) -> str:
    """Of no rows: of a join's column that is NULL there."""
    called = _call(parsed(run), run)
    if called in _LISTS:
        return f"COALESCE({value}, ARRAY())"
    return f"COALESCE({value}, 0)" if called in _ZERO else value


def _calls(run: ast.Run) -> Iterator[tuple[int, int]]:
    """From where to where an aggregate is called, FILTER and WITHIN GROUP behind it."""
    until = 0
    for found in _CALL.finditer(run.text):
        if found.start() < until:
            continue
        end = closing(run.text, found.end() - 1)
        while behind := _BEHIND.match(run.text, end):
            end = closing(run.text, behind.end() - 1)
        call = part(run, found.start(), end)
        if _call(parsed(call), call):
            yield found.start(), end
            until = end


def _value(select: ast.Select) -> ast.Run:
    """QueryError where a query has not one column."""
    item = select.items[0]
    several = len(select.items) > 1 or isinstance(parsed(item), exp.Star)
    ranked = select.qualify is not None and not select.group and _aggregates(item)
    if several or ranked or select.having is not None or select.refused or item.overs:
        message = (
            "a query in an expression gives one value: an aggregate of its rows, without GROUP BY"
        )
        raise QueryError(message, select.span, legal=LEGAL)
    return item


def _of_one_row(select: ast.Select) -> bool:
    """Whether nothing but its rows says that it gives one at most."""
    return bool(select.group) or not _aggregates(select.items[0])


def _aggregates(item: ast.Run) -> bool:
    return any(_call(node, item) for node in parsed(item).walk())


def _call(node: Expr, run: ast.Run) -> str:
    """The name of the aggregate that it calls."""
    call = call_at(node, run)
    return "" if call is None else call.function.name.lower()


def _null_of_nothing(node: Expr, run: ast.Run, outermost: bool = True) -> bool:
    """Whether it is NULL of no rows, as a LEFT JOIN gives it, or is 0."""
    name = _call(node, run)
    if name:
        return name not in _LISTS and (outermost or name not in _ZERO)
    inner = [each for each in node.iter_expressions() if not isinstance(each, exp.DataType)]
    return isinstance(node, _ARITHMETIC) and all(_null_of_nothing(e, run, False) for e in inner)


def _join(
    select: ast.Select,
    item: ast.Run,
    name: ast.Name,
    single: bool = False,
    columns: Sequence[ast.Run] = (),
) -> ast.Join:
    """columns: in the place of the item."""
    own = frozenset(each.lower() for each in names(select.relation))
    refuse_outer(item, own)
    keys, rest, on = [], [], []
    for condition in [] if select.where is None else conjuncts(select.where):
        if not names_outer(parsed(condition), own):
            rest.append(condition)
            continue
        inner, outer = equality(condition, own)
        keys.append(inner)
        on.append(f"{name.text}.{name.text}_key{len(keys)} = ({outer.text})")
    parts = {f"{name.text}_part{at}": run for at, run in enumerate(columns, 1)}
    values = parts or {name.text: part(item, 0, _end(item))}
    called = [f"{name.text}_key{at}" for at in range(1, len(keys) + 1)]
    pairs = zip((*called, *values), (*keys, *values.values()), strict=True)
    items = tuple(replace(run, text=f"{run.text} AS {alias}") for alias, run in pairs)
    where = _all(select.where, rest)
    if single:
        from sqlwin.sql.syntax.laterals import keyed  # by need

        source = replace(keyed(select, tuple(keys)), items=items, where=where)
    else:
        source = replace(select, items=items, group=tuple(keys), where=where, distinct=None)
    text = " AND ".join(on) or "TRUE"
    return ast.Join(
        ast.Name("LEFT JOIN", name.span),
        ast.From(source, alias=name),
        ast.Run(text, text, name.span),
        scalar=True,
        single=single,
    )


def _all(where: ast.Run | None, rest: list[ast.Run]) -> ast.Run | None:
    if where is None or not rest:
        return None
    text = " AND ".join(f"({run.text})" for run in rest)
    return replace(where, text=text, original=text)


def _end(item: ast.Run) -> int:
    alias = ALIAS.search(item.text) if isinstance(parsed(item), exp.Alias) else None
    return len(item.text) if alias is None else alias.start()

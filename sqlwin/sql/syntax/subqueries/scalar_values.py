"""The join that one query in an expression becomes, and its value in the text.

    (SELECT MAX(b.p) FROM b WHERE b.w = a.w)    LEFT JOIN (SELECT b.w, MAX(b.p) … GROUP BY b.w)
    (SELECT b.p FROM b WHERE b.w = a.w)         LEFT JOIN (SELECT b.w, b.p …)

The first has one row for each of what is equal to the rows around it, and COUNT of no rows is 0.
The second is of a static table alone, and a row that finds two of it is an error of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.syntax.subqueries.correlated import (
    LEGAL,
    equality,
    names,
    names_outer,
    refuse_outer,
)
from sqlwin.sql.syntax.subqueries.of_nothing import called, null_of_nothing, split, zero
from sqlwin.sql.syntax.subqueries.scalar_frames import Frame, framed
from sqlwin.sql.text import ast
from sqlwin.sql.text.conditions import conjuncts
from sqlwin.sql.text.runs import ALIAS, part


def made(select: ast.Select, name: ast.Name, exists: bool) -> tuple[ast.Join | Frame, str]:
    """The join, by that name, or the frame, and the value. exists: it stands behind EXISTS."""
    counted = ast.Run("COUNT(*)", "COUNT(*)", select.span)
    if exists and (frame := framed(select, name.text, counted)) is not None:
        return frame[0], f"({frame[1]} > 0)"
    if exists:
        return _join(select, counted, name), f"(COALESCE({name.text}.{name.text}, 0) > 0)"
    item = _value(select)
    value = f"{name.text}.{name.text}"
    if _of_one_row(select):
        return _join(select, item, name, single=True), value
    bare = part(item, 0, _end(item))
    if (frame := framed(select, name.text, bare)) is not None:
        _refuse_columns(frame[1], frame[0].outer, bare, item)
        return frame[0], f"({frame[1]})"
    if null_of_nothing(bare):
        return _join(select, item, name), f"COALESCE({value}, 0)" if zero(bare) else value
    columns, text = split(bare, lambda at: f"{value}_part{at}")
    _refuse_columns(text, name.text, bare, item)
    return _join(select, item, name, columns=columns), f"({text})"


def _refuse_columns(text: str, name: str, bare: ast.Run, item: ast.Run) -> None:
    """QueryError where a value is of columns beside the aggregates, which have that qualifier."""
    own = parsed(replace(bare, text=text)).find_all(exp.Column)
    if any(node.table != name for node in own):
        message = "what a query in an expression gives is aggregates, and no column beside them"
        raise QueryError(message, item.span, legal=LEGAL)


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
    return any(called(node, item) for node in parsed(item).walk())


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
    names_ = [f"{name.text}_key{at}" for at in range(1, len(keys) + 1)]
    pairs = zip((*names_, *values), (*keys, *values.values()), strict=True)
    items = tuple(replace(run, text=f"{run.text} AS {alias}") for alias, run in pairs)
    where = _all(select.where, rest)
    if single:
        from sqlwin.sql.syntax.subqueries.lateral_groups import keyed  # by need

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

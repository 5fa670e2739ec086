"""Queries behind LATERAL that group, rank or count their rows: of those of one key, which is what
their WHERE sets equal to the rows before.

    FROM a, LATERAL (SELECT c, COUNT(*) AS n FROM b WHERE b.k = a.k GROUP BY c) t
    FROM a JOIN (SELECT c, k, COUNT(*) AS n FROM b GROUP BY c, k) t ON t.k = a.k

Without GROUP BY there is one row in any case, and of no rows COUNT is 0:

    FROM a, LATERAL (SELECT COUNT(*) AS n, MAX(v) AS v FROM b WHERE b.k = a.k) t
    FROM a LEFT JOIN (SELECT k, COUNT(*) AS n, MAX(v) AS v FROM b GROUP BY k) t ON t.k = a.k
      with COALESCE(t.n, 0) for t.n
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.calls import call_at
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.syntax.subqueries.lateral_inner import LEGAL, Condition, Inner, named
from sqlwin.sql.syntax.subqueries.of_nothing import null_of_nothing, split, zero
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import ALIAS, part


def counts(select: ast.Select) -> bool:
    runs = [*select.items, *([] if select.qualify is None else [select.qualify])]
    aggregates = any(_calls(run) for run in select.items)
    given = (select.group, select.distinct, select.having)
    return aggregates or any(given) or any(run.overs for run in runs)


def _calls(run: ast.Run) -> bool:
    calls = (call_at(node, run) for node in parsed(run).walk())
    return any(call is not None and call.over is None for call in calls)


def keys_of(inner: Inner, found: list[Condition]) -> tuple[ast.Run, ...]:
    """What is equal to the rows before; QueryError where another comparison is with them."""
    for each in found:
        if not each.equal:
            message = "a query behind LATERAL that ranks or groups its rows does so by equalities"
            legal = f"{LEGAL}; ORDER BY b.ts DESC LIMIT 1 with b.ts <= a.ts"
            raise QueryError(message, each.pieces[0].span, legal=legal)
    return tuple(piece for each in found for piece in each.pieces if inner.is_own(piece))


def keyed(select: ast.Select, keys: tuple[ast.Run, ...]) -> ast.Select:
    qualify = None if select.qualify is None else _by(select.qualify, keys)
    windows = tuple((name, _partitioned(spec, keys)) for name, spec in select.windows)
    return replace(
        select,
        items=tuple(_by(item, keys) for item in select.items),
        group=(*select.group, *keys) if select.group else (),
        qualify=qualify,
        windows=windows,
    )


def _by(run: ast.Run, keys: tuple[ast.Run, ...]) -> ast.Run:
    overs = (_partitioned(o, keys) if isinstance(o, ast.Spec) else o for o in run.overs)
    return replace(run, overs=tuple(overs))


def _partitioned(spec: ast.Spec, keys: tuple[ast.Run, ...]) -> ast.Spec:
    return spec if spec.base is not None else replace(spec, partition=(*spec.partition, *keys))


# --- of one row, without GROUP BY ---------------------------------------------------------


def one_row(select: ast.Select) -> bool:
    """Whether it aggregates all of its rows."""
    return any(map(_calls, select.items)) and not select.group


def whole(
    inner: Inner, keys: tuple[ast.Run, ...], alias: tuple[ast.Name, ...], on: ast.Run | None
) -> tuple[ast.Select, tuple[tuple[str, ast.Run], ...]]:
    """The query by its keys, and what its columns are around the join, where they are not NULL
    where that finds nothing. QueryError for a condition of the join."""
    select = inner.select
    ranked = select.having is not None or select.qualify is not None
    if ranked or any(run.overs for run in select.items):
        message = "an aggregate behind LATERAL without GROUP BY has no HAVING and no rank"
        raise QueryError(message, select.span, legal="WHERE in the query around; GROUP BY")
    if on is not None and on.text.strip().upper() != "TRUE":
        message = "a query behind LATERAL that aggregates has one row, and no condition of its own"
        raise QueryError(message, on.span, legal="ON TRUE, and WHERE in the query around")
    items, computed = [], []
    for at, item in enumerate(select.items):
        bare = _bare(item)
        name = alias[at + 1].text if len(alias) > at + 1 else parsed(item).alias
        called, text = split(bare, _parts_of(inner))
        if called and null_of_nothing(bare) and not zero(bare):
            items.append(item)
            continue
        if not name:
            message = "a column of a query behind LATERAL needs a name here"
            raise QueryError(message, item.span, legal=f"{item.original} AS total")
        _hide(inner, called)
        first = called[0] if called else bare
        items.append(replace(first, text=f"{first.text} AS `{name}`"))
        computed.append((name, replace(bare, text=text)))
    made = replace(select, items=tuple(items), group=keys, distinct=None)
    return made, tuple(computed)


def _parts_of(inner: Inner) -> Callable[[int], str]:
    first = len(inner.hidden)
    return lambda at: named(inner.name, _part(first + at))


def _hide(inner: Inner, columns: Sequence[ast.Run]) -> None:
    for run in columns:
        inner.hidden[_part(len(inner.hidden) + 1)] = run


def _part(number: int) -> str:
    return f"lateral_part{number}"


def _bare(item: ast.Run) -> ast.Run:
    alias = ALIAS.search(item.text) if isinstance(parsed(item), exp.Alias) else None
    return item if alias is None else part(item, 0, alias.start())

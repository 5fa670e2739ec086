"""Rows of a window that are filtered and have other columns, and are aggregated then: of the window
over such rows.

    FROM TUMBLE(TABLE a, …) |> EXTEND v * 2 AS w |> AGGREGATE SUM(w) GROUP BY window_end

    SELECT window_end, SUM(w)
    FROM TUMBLE((SELECT *, v * 2 AS w FROM a) AS a, …) GROUP BY window_end

So one window aggregates as its rows come, where two would keep the rows of each window. Equal, for
which windows a row is in depends on its event time and its keys alone: operators that name a column
of the window, or that make another event time or key, stay above. So do conditions over windows of
messages, which count the rows that these would leave out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.syntax.pipes.calls import is_star, name_of
from sqlwin.sql.syntax.pipes.flow import all_of, table, tokens
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import quoted

_EDGE = re.compile(r"\bwindow(?:_?start|_?end|_time)?\b", re.IGNORECASE)
_EDGES = ("window_start", "window_end", "window_time")


@dataclass(frozen=True)
class _Windowed:
    """needed: the columns that the window goes by; None: not known. filters: whether conditions may
    be below it."""

    rows: ast.Name | ast.Select
    needed: frozenset[str] | None
    filters: bool


def below_window(select: ast.Select, name: ast.Name | None) -> ast.Select | None:
    """All rows of the window over the rest; None where it has to be above, or there is none.
    name: of the rows."""
    layers = list(_layers(select))
    first = layers[-1].relation
    window = _window(first)
    if window is None or not all(map(_projects, layers)):
        return None
    source = ast.From(window.rows, alias=first.alias)
    for layer in reversed(layers):
        items = _items(layer, window)
        if not items or not _stays(layer, window):
            return None
        above = layer.relation.alias if layer is not layers[-1] else None
        source = source if above is None else replace(source, alias=above)
        source = ast.From(replace(layer, items=items, relation=source))
    assert isinstance(source.source, ast.Select)
    return all_of(_over(first, source.source, name), select.span)


def _layers(select: ast.Select) -> Iterator[ast.Select]:
    """From the last operator to the window."""
    yield select
    below = select.relation.source
    if isinstance(below, ast.Select) and select.relation.window is None:
        yield from _layers(below)


def _projects(layer: ast.Select) -> bool:
    """Whether it has no more than columns and a condition."""
    plain = ast.Select(layer.items, layer.relation, layer.span, where=layer.where)
    relation = layer.relation
    beside = (relation.joins, relation.unnests, relation.match, relation.above, relation.as_of)
    return layer == plain and not any(beside) and not any(run.overs for run in layer.items)


def _window(relation: ast.From) -> _Windowed | None:
    call, spec = relation.source, relation.window
    if isinstance(call, ast.WindowCall):
        rows = table(call)
        others = [a for a in call.arguments if a.value is not rows]
        times = [a.value.text.lower() for a in others if isinstance(a.value, ast.Name)]
        keys = tokens([key for a in call.arguments for key in a.partition])
        needed = frozenset(times) | keys if times else None
        return None if rows is None or spec is not None else _Windowed(rows, needed, True)
    if spec is None or not isinstance(call, ast.Name | ast.Select):
        return None
    return _Windowed(call, None, isinstance(spec, ast.KsqlWindow))


def _items(layer: ast.Select, window: _Windowed) -> tuple[ast.Run, ...]:
    """The columns below the window, with what it goes by; none where they have to stay above."""
    kept = [run for run in layer.items if name_of(run) not in _EDGES or not _bare(run)]
    if any(_EDGE.search(run.original) for run in kept):
        return ()
    stars = [run for run in kept if is_star(run)]
    if window.needed is None:
        added = bool(stars) and all(run.text.strip() == "*" for run in stars)
        return tuple(kept) if added else ()
    changed = [run for run in stars if run.text.strip() != "*"]
    if tokens(changed) & window.needed:
        return ()
    others = [run for run in kept if run not in stars]
    names = {name_of(run) for run in others}
    if any(name_of(run) in window.needed and not _bare(run) for run in others):
        return ()
    missing = [] if stars else sorted(window.needed - names)
    return (*kept, *(quoted(name, layer.span) for name in missing))


def _stays(layer: ast.Select, window: _Windowed) -> bool:
    """Whether the condition may be below the window."""
    where = layer.where
    return where is None or (window.filters and not _EDGE.search(where.original))


def _bare(run: ast.Run) -> bool:
    return isinstance(parsed(run), exp.Column)


def _over(first: ast.From, rows: ast.Select, name: ast.Name | None) -> ast.From:
    call = first.source
    if not isinstance(call, ast.WindowCall):
        return replace(first, source=rows, alias=name)
    before = table(call)
    arguments = (replace(a, value=rows) if a.value is before else a for a in call.arguments)
    return ast.From(replace(call, arguments=tuple(arguments)), alias=name)

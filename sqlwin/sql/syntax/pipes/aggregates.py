"""AGGREGATE: the keys of GROUP BY, each maybe with a name, and behind them the aggregates.

    |> AGGREGATE SUM(v) AS total GROUP BY k, v > 3 AS large

    SELECT k, v > 3 AS large, SUM(v) AS total FROM … GROUP BY k, v > 3

A window that GROUP BY calls gives its bounds: `GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)` is the
columns `window_start` and `window_end`, and Spark's `window(ts, '1 hour')` a struct of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.syntax.pipes.calls import aggregates, unnamed
from sqlwin.sql.syntax.pipes.flow import Flow
from sqlwin.sql.syntax.pipes.steps import columns
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import bracketed, part, parts, quoted

LEGAL = "AGGREGATE SUM(value) AS total GROUP BY product"
_WINDOW = re.compile(r"\s*(?:TUMBLE|HOP|CUMULATE|SESSION)\s*\(", re.IGNORECASE)
_SPARKS = re.compile(r"\s*(?:SESSION_)?WINDOW\s*\(", re.IGNORECASE)
_SETS = re.compile(r"\s*(?:GROUPING\s+SETS|ROLLUP|CUBE)\s*(?=\()", re.IGNORECASE)
_WITH = re.compile(r"\s+WITH\s+(?:ROLLUP|CUBE)\s*\Z", re.IGNORECASE)


def aggregated(
    flow: Flow, items: tuple[ast.Run, ...], group: tuple[ast.Run, ...], span: Span
) -> Flow:
    """QueryError where an item has no aggregate."""
    if not items and not group:
        message = "AGGREGATE needs an aggregate, or a key behind GROUP BY"
        raise QueryError(message, span, legal=LEGAL)
    for item in items:
        if not aggregates(item):
            message = "AGGREGATE lists aggregates; keys stand behind GROUP BY, and are columns too"
            raise QueryError(message, item.span, legal=LEGAL)
    keys = tuple(_unique([key for run in group for key in _columns(run)]))
    listed, grouped = (*keys, *items), tuple(map(_unnamed, group))
    fitting = columns(flow, (*listed, *grouped))
    if fitting is None:
        flow = _rows(flow, span)
    else:
        listed = fitting[: len(listed)]
        grouped = tuple(map(_unnamed, fitting[len(listed) :]))
    select = replace(flow.select, items=listed, group=grouped, span=span)
    return replace(flow, select=select, open=False, name=None)


def _rows(flow: Flow, span: Span) -> Flow:
    """Whose columns are those of its FROM. A window before it is the one that is aggregated."""
    around = flow.around(span)
    relation = replace(around.select.relation, piped=_of_window(around.select, around.depth))
    return replace(around, select=replace(around.select, relation=relation))


def _of_window(select: ast.Select, depth: int) -> bool:
    """Whether a window is in FROM before the first operator, so many queries below."""
    for _ in range(depth):
        source = select.relation.source
        if not isinstance(source, ast.Select):
            return False
        select = source
    relation = select.relation
    return isinstance(relation.source, ast.WindowCall) or relation.window is not None


def _columns(run: ast.Run) -> Iterator[ast.Run]:
    """What a key is as columns of the result."""
    sets, window = _SETS.match(run.text), _WINDOW.match(run.text)
    if sets is not None:
        inner = bracketed(run, sets.end())
        yield from () if inner is None else _listed(inner)
    elif window is not None:
        _refuse_named(run, window.end() - 1)
        yield from (quoted(edge, run.span) for edge in ("window_start", "window_end"))
    elif _SPARKS.match(run.text):
        yield run
    else:
        yield from _expressions(run)


def _expressions(run: ast.Run) -> Iterator[ast.Run]:
    cut = _WITH.search(run.text)
    made = run if cut is None else part(run, 0, cut.start())
    listed = bracketed(made)
    if listed is not None and len(parts(listed)) != 1:
        yield from _listed(listed)
        return
    tree = parsed(made)
    if isinstance(tree, exp.Literal) and tree.is_int:
        message = "a number in GROUP BY is a place of a select list, and AGGREGATE has none"
        raise QueryError(message, run.span, legal="the names of columns: GROUP BY product")
    yield made


def _listed(run: ast.Run) -> Iterator[ast.Run]:
    """Of the keys in brackets, which may be lists themselves."""
    for each in parts(run):
        inner = bracketed(each)
        yield from _columns(each) if inner is None else _listed(inner)


def _refuse_named(run: ast.Run, opened: int) -> None:
    if bracketed(run, opened) is None:
        message = "a window in GROUP BY has no name: it gives window_start and window_end"
        legal = "GROUP BY TUMBLE(ts, INTERVAL '1' HOUR)"
        raise QueryError(message, run.span, legal=legal)


def _unique(keys: list[ast.Run]) -> Iterator[ast.Run]:
    """Of GROUPING SETS, which name a key more than once."""
    seen = set[str]()
    for key in keys:
        text = " ".join(key.text.lower().replace("`", "").split())
        if text not in seen:
            seen.add(text)
            yield key


def _unnamed(run: ast.Run) -> ast.Run:
    if _SETS.match(run.text) or _WINDOW.match(run.text) or _WITH.search(run.text):
        return run
    if bracketed(run) is not None or not isinstance(parsed(run), exp.Alias):
        return run
    return unnamed(run)

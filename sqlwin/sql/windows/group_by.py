"""The window that GROUP BY calls, and what above it must repeat that call.

Flink's `TUMBLE(ts, size)`, Spark's `window(ts, size)`: one of the keys is the window, the
others stay keys. `TUMBLE_START(ts, size)` and `window(ts, size).start` name its beginning.

>>> from sqlwin.errors import Span
>>> text = "window(ts, '1 hour')"
>>> run = ast.Run(text, text, Span(1, 1))
>>> [call.sql() for call in _called_alike("WINDOW", "WINDOW", [run])]
["WINDOW(ts, '1 hour')"]
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.places import word
from sqlwin.sql.expressions.scalars import Expr, parsed, spark
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.window_columns import is_window_call, is_window_time, window_edge
from sqlwin.sql.text import ast
from sqlwin.sql.windows.calls import of_group, zoned
from sqlwin.sql.windows.window import Window
from sqlwin.sql.windows.window_functions import is_window_function

_ALIAS = re.compile(r"\s(AS)\s+(\w+)\s*\Z", re.IGNORECASE)
_WINDOW_CALL = re.compile(r"(\w+)\s*\(", re.IGNORECASE)


def by_call(select: ast.Select) -> ast.Select:
    """GROUP BY of a window that SELECT calls, by its alias or its number, as of the call."""
    calls = [item if _is_call(item) else None for item in select.items]
    if not any(calls):
        return select
    group = tuple(_called(run, calls) or run for run in select.group)
    return replace(select, group=group)


def _is_call(run: ast.Run) -> bool:
    tree = parsed(run)
    return is_window_call(tree.this if isinstance(tree, exp.Alias) else tree)


def _called(run: ast.Run, calls: Sequence[ast.Run | None]) -> ast.Run | None:
    """The call that a key of GROUP BY names."""
    key = parsed(run)
    for at, call in enumerate(calls, 1):
        if call is None:
            continue
        name = parsed(call).alias.lower()
        named = isinstance(key, exp.Column) and not key.table and key.name.lower() == name
        if named or (isinstance(key, exp.Literal) and key.is_int and int(key.name) == at):
            text, original = (t[: t.rindex(")") + 1] for t in (call.text, call.original))
            return replace(call, text=text, original=original)
    return None


def group_window(
    select: ast.Select, window: Window | None, zone: str | None
) -> tuple[Window | None, tuple[ast.Run, ...]]:
    """The window, and what else GROUP BY names. zone: see `zoned`."""
    rest = []
    for run in select.group:
        _refuse_alias(run)
        if not is_group_window(run):
            rest.append(run)
            continue
        if window is not None:
            raise QueryError("a query has one window", run.span, legal="one of the two")
        window = zoned(of_group(run), zone)
    return window, tuple(rest)


def is_group_window(run: ast.Run) -> bool:
    """Whether a key of GROUP BY is the call of a window."""
    call = _WINDOW_CALL.match(run.original)
    return call is not None and is_window_function(call[1])


def _refuse_alias(run: ast.Run) -> None:
    found = _ALIAS.search(run.original)
    if found is not None:
        name = found[2]
        message = "a key of GROUP BY is given no name there"
        legal = f"SELECT {run.original[: found.start()].strip()} AS {name}, … GROUP BY {name}"
        raise QueryError(message, run.at(*found.span(1)), legal=legal)


def above_window(select: ast.Select, made: list[Item]) -> Iterator[tuple[Expr, ast.Run]]:
    """All that may name the window: items, HAVING, QUALIFY, and what OVER clauses go by."""
    clauses = [run for run in (select.having, select.qualify) if run is not None]
    yield from ((item.tree, item.run) for item in made)
    yield from ((parsed(run), run) for run in clauses)
    overs = [over for run in (*(item.run for item in made), *clauses) for over in run.overs]
    for spec in (*overs, *(spec for _, spec in select.windows)):
        if isinstance(spec, ast.Spec):
            yield from ((parsed(run), run) for run in spec.partition)
            yield from ((parsed(run, exp.Ordered), run) for run in spec.order)


def same_window(tree: Expr, run: ast.Run, group: Sequence[ast.Run]) -> None:
    """Flink's TUMBLE_START(…) and Spark's window(…).start repeat the call of GROUP BY; another
    one would be a slip."""
    for found in tree.find_all(exp.Anonymous, exp.Dot):
        if is_window_time(found) or not (window_edge(found) or is_window_call(found)):
            continue
        node = found.this if isinstance(found, exp.Dot) else found
        name = node.name.upper()
        function = name if is_window_call(node) else name.rpartition("_")[0]
        calls = list(_called_alike(function, node.name, group))
        if node.expressions not in [call.expressions for call in calls]:
            own = (
                f"GROUP BY {spark(node)}" if is_window_call(node) else f"{function}(…) in GROUP BY"
            )
            legal = ", ".join(spark(call) for call in calls) or own
            message = f"{name} must repeat the window of GROUP BY"
            raise QueryError(message, word(node, run), legal=legal)


def _called_alike(function: str, name: str, group: Sequence[ast.Run]) -> Iterator[Expr]:
    """The calls of `function` in GROUP BY, each as one of `name`: SESSION is no call to sqlglot."""
    for run in group:
        call = _WINDOW_CALL.match(run.original)
        if call is not None and call[1].upper() == function:
            yield parsed(replace(run, text=name + run.text[call.end(1) :]))

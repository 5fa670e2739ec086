"""Whether the OVER calls of a query are one rank of its windows' results.

Such a rank, of the rows of one window or of the groups of a whole stream, needs no second query:
they are ranked where they are (`over.ranks`). Any other call goes over results (`over_groups`,
`over_rows`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from sqlwin.sql.expressions.analytic_functions import RANKS
from sqlwin.sql.expressions.calls import AggregateCall, call_at
from sqlwin.sql.expressions.scalars import Expr, parsed
from sqlwin.sql.over.clauses import named_windows, opened
from sqlwin.sql.relations.window_columns import window_edge
from sqlwin.sql.select.groups.grouping import is_grouping
from sqlwin.sql.text import ast
from sqlwin.sql.windows.window_functions import is_window_function

_CALL = re.compile(r"(\w+)\s*\(")


def with_over(select: ast.Select) -> list[ast.Run]:
    runs = [*select.items, *([select.qualify] if select.qualify else [])]
    return [run for run in runs if run.overs]


def of_aggregates(run: ast.Run) -> bool:
    nodes = [inner for node, _ in _over_calls(run) for inner in node.walk()]
    if any(map(is_grouping, nodes)):
        return True
    calls = (call_at(node, run) for node in nodes)
    return any(call is not None and call.over is None for call in calls)


def _over_calls(run: ast.Run) -> Iterator[tuple[Expr, AggregateCall]]:
    for node in parsed(run).walk():
        call = None if is_grouping(node) else call_at(node, run)
        if call is not None and call.over is not None:
            yield node, call


def one_rank(select: ast.Select) -> bool:
    """Whether all OVER calls are one rank, of each window by itself or of a whole stream."""
    named = named_windows(select)
    calls = [call for run in with_over(select) for _, call in _over_calls(run)]
    if select.having is not None or any(call.function.name not in RANKS for call in calls):
        return False
    specs = [opened(call.over, named) for call in calls if call.over is not None]
    alike = {(call.function.name, *_written(spec)) for call, spec in zip(calls, specs, strict=True)}
    if len(alike) != 1 or any(_of_window(run) for run in specs[0].order):
        return False
    return not _windowed(select) or any(map(_of_window, specs[0].partition))


def _written(spec: ast.Spec) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(run.text for run in runs) for runs in (spec.partition, spec.order))


def _of_window(run: ast.Run) -> bool:
    tree = parsed(run, exp.Ordered)
    return window_edge(tree.this) is not None


def _windowed(select: ast.Select) -> bool:
    source = select.relation
    if source.window is not None or source.above is not None:
        return True
    return isinstance(source.source, ast.WindowCall) or any(map(window_call, select.group))


def window_call(run: ast.Run) -> bool:
    call = _CALL.match(run.original)
    return call is not None and is_window_function(call[1])

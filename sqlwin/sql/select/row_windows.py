"""Spark's `window(ts, …)` where nothing is grouped: a column of each row, a struct of both ends.

A tumbling window is computed from the row's time, and so is a session, which is here the gap behind
the row; a sliding window makes a row of each of the windows that the row is in. A row without a
time stays, and its window is NULL.

>>> print(_tumbling("ts", 60, 0))
NAMED_STRUCT('start', TIMESTAMP_MICROS(UNIX_MICROS(ts) - PMOD(UNIX_MICROS(ts) - 0, 60)), \
'end', TIMESTAMP_MICROS(UNIX_MICROS(ts) - PMOD(UNIX_MICROS(ts) - 0, 60) + 60))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.places import place, word
from sqlwin.sql.expressions.scalars import Expr, expression_type, parsed, spark
from sqlwin.sql.expressions.trees import rewritten
from sqlwin.sql.relations.items import Item
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.relations.window_columns import STRUCTS, is_window_call
from sqlwin.sql.syntax.unnests import in_select
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import quoted
from sqlwin.sql.windows.calls import of_group
from sqlwin.sql.windows.sessions import OpenSession
from sqlwin.windows.group import GroupWindow, Hop

TIME = "time of the row"
"""Stands for the first argument while a struct is made."""
CALENDAR = (
    "GROUP BY window(ts, '1 month'); FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MONTH)"
)
GAP = "GROUP BY session_window(ts, …); a gap that is a duration"


def sliding(select: ast.Select) -> ast.Select:
    """With EXPLODE of its windows for an item that is a sliding window of the row."""
    if select.group or select.relation.window:
        return select
    items = tuple(_exploded(run) if _calls(run) else run for run in select.items)
    return select if items == select.items else in_select(replace(select, items=items))


def of_each_row(made: Iterable[Item], relation: Relation) -> list[Item]:
    """The items with such calls as expressions of the row."""
    return [
        replace(item, tree=_expressed(item.tree, item.run, relation)) if _calls(item.run) else item
        for item in made
    ]


def condition(where: ast.Run | None, relation: Relation) -> ast.Run | None:
    """WHERE, likewise."""
    if where is None or not _calls(where):
        return where
    return replace(where, text=spark(_expressed(parsed(where), where, relation)))


def _calls(run: ast.Run) -> bool:
    """Whether the run calls a window; one over OVER clauses is left as it is."""
    text = run.text.lower()
    if not any(name in text for name in STRUCTS):
        return False
    return any(map(is_window_call, parsed(run).walk()))


def _exploded(run: ast.Run) -> ast.Run:
    tree = parsed(run)
    inner = tree.this if isinstance(tree, exp.Alias) else tree
    window = _window(inner, run) if is_window_call(inner) else None
    if not isinstance(window, Hop) or window.tumbles:
        return run
    name = quoted(tree.alias or inner.name.lower(), run.span).text
    time = spark(inner.expressions[0])
    return replace(run, text=f"EXPLODE_OUTER({_of_time(time, _sliding(time, window))}) AS {name}")


def _expressed(tree: Expr, run: ast.Run, relation: Relation) -> Expr:
    return rewritten(tree, lambda node: _column(node, run, relation))


def _column(node: Expr, run: ast.Run, relation: Relation) -> Expr:
    if not is_window_call(node):
        return node
    window, time = _window(node, run), quoted(TIME, run.span).text
    if isinstance(window, OpenSession) and window.constant is not None:
        text = _struct(f"UNIX_MICROS({time})", f"UNIX_MICROS({time}) + {window.constant}")
        text = _of_time(time, text)
    elif isinstance(window, OpenSession):
        message = "a session with a gap of each row is no column of the row"
        raise QueryError(message, word(node, run), legal=GAP)
    elif not isinstance(window, Hop):
        message = "a window of a calendar is no column of a row"
        raise QueryError(message, word(node, run), legal=CALENDAR)
    elif not window.tumbles:
        message = "a sliding window makes a row of each of its windows, and stands by itself"
        raise QueryError(message, word(node, run), legal=f"SELECT {spark(node)} AS w")
    else:
        text = _of_time(time, _tumbling(time, window.size, window.offset))
    return _over(text, _timed(node, run, relation), run)


def _timed(node: Expr, run: ast.Run, relation: Relation) -> Expr:
    """The time that the window is called of. QueryError where it is none."""
    time = node.expressions[0]
    resolved = Scope(relation).resolved(time, run)
    type_ = expression_type(relation.below(resolved), relation.under, run)
    if not pa.types.is_timestamp(type_):
        message = f"{node.name.lower()} is of a TIMESTAMP, and {spark(time)} is none"
        raise QueryError(message, place(time, run), legal="window(ts, '10 minutes')")
    return resolved


def _over(text: str, time: Expr, run: ast.Run) -> Expr:
    """The struct, its parts without places of their own."""
    made = parsed(ast.Run(text, text, run.span))
    for each in made.walk():
        each.meta.clear()
    return rewritten(made, lambda node: time.copy() if node.name == TIME else node)


def _window(node: Expr, run: ast.Run) -> GroupWindow | OpenSession | None:
    text = spark(node)
    return of_group(ast.Run(text, text, word(node, run))).group


def _of_time(ts: str, windows: str) -> str:
    """A row without a time is in no window, and stays."""
    return f"CASE WHEN {ts} IS NOT NULL THEN {windows} END"


def _tumbling(ts: str, size: int, offset: int) -> str:
    micros = f"UNIX_MICROS({ts})"
    start = f"{micros} - PMOD({micros} - {offset}, {size})"
    return _struct(start, f"{start} + {size}")


def _sliding(ts: str, window: Hop) -> str:
    """The windows that a row is in, the last one first."""
    micros = f"UNIX_MICROS({ts})"
    last = f"{micros} - PMOD({micros} - {window.offset}, {window.advance})"
    starts = [f"{last} - {back}" for back in range(0, window.size, window.advance)]
    found = ", ".join(_struct(start, f"{start} + {window.size}") for start in starts)
    if window.size % window.advance == 0:
        return f"ARRAY({found})"
    return f"FILTER(ARRAY({found}), w -> w.end > {ts})"


def _struct(start: str, end: str) -> str:
    return f"NAMED_STRUCT('start', TIMESTAMP_MICROS({start}), 'end', TIMESTAMP_MICROS({end}))"

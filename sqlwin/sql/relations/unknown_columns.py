"""A name that is no column: what was meant, perhaps, and where it stands.

Invariant: a message names columns that are there, and a word of another engine only with what it is
called here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from sqlglot import exp

from sqlwin.errors import QueryError, Span
from sqlwin.functions.never import NEVER
from sqlwin.sql.expressions.places import place
from sqlwin.sql.expressions.volatile import WINDOWS, WINDOWS_LEGAL, is_clock
from sqlwin.sql.relations.relation import Relation, nearest
from sqlwin.sql.relations.window_columns import EDGES, KSQL, STRUCTS
from sqlwin.sql.text import ast

_BARE = ("current_time", "localtime")
"""Functions that SQL calls without brackets, and that there are not."""
_EVENT_TIMES = ("rowtime", "event_time", "proctime", "timestamp")
"""What Flink, ksqlDB and others call the event time, where no column is called so."""
_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_CONSTANTS = ("NULL", "NOT", "TRUE", "FALSE", "DISTINCT")
NEEDS = "HAVING, or WHERE of a query around that of the window; FROM TUMBLE(…) or HOP(…)"


class UnknownColumn(QueryError):
    """column: as it is written."""

    def __init__(
        self,
        column: str,
        known: list[str],
        span: Span | None,
        elsewhere: Mapping[str, str] = MappingProxyType({}),
        others: Sequence[str] = _CONSTANTS,
    ) -> None:
        message = f"unknown column {column}{nearest(column, [*known, *others], elsewhere)}"
        super().__init__(message, span, legal=", ".join(known))
        self.column = column


def first_parts(node: exp.Column) -> tuple[str, str]:
    """The qualifier and the name of a column, whatever fields of it follow."""
    names = [part.name for part in node.parts]
    return ("", names[0]) if len(names) == 1 else (names[0], names[1])


def place_text(node: exp.Column) -> str:
    return f"{node.table}.{node.name}" if node.table else node.name


def unknown(
    relation: Relation, windowed: bool, node: exp.Column, run: ast.Run, edge: str | None
) -> QueryError:
    if edge is not None and relation.sides:
        message = f"a join has no {edge}: the windows of its inputs say which rows pair"
        return QueryError(message, place(node, run), legal="the columns of its inputs")
    if edge is not None:
        message = f"{place_text(node)} is known only above a window, in SELECT and HAVING"
        below = any(relation.find(window) for window in STRUCTS)
        legal = f"{edge} beside window, in the query in FROM" if below else NEEDS
        return QueryError(message, place(node, run), legal=legal)
    table, name = first_parts(node)
    if name.endswith("()") and is_clock(name.removesuffix("()")):
        raise QueryError(WINDOWS, place(node, run), legal=WINDOWS_LEGAL)
    if not table and name.lower() in _BARE:
        message = f"{name} is not supported: {NEVER[name.lower()]}"
        raise QueryError(message, place(node, run), legal="CURRENT_TIMESTAMP, CURRENT_DATE")
    mistake = UnknownColumn(
        name,
        _known(relation, table),
        place(node, run),
        _elsewhere(relation, name, table),
        _others(windowed),
    )
    compared = isinstance(node.parent, exp.EQ | exp.NEQ | exp.In | exp.Like)
    if compared and node.arg_key != "this" and not table:
        mistake.legal += f"; the text '{name}'"
    return mistake


def _elsewhere(relation: Relation, name: str, table: str) -> dict[str, str]:
    """What other engines call a column that is here, and the other input that has it."""
    stream, lower = relation.stream, name.lower()
    found = {unit: f"a unit in quotes, '{unit.upper()}'" for unit in _UNITS if unit == lower}
    if stream is not None and stream.ts is not None:
        found |= dict.fromkeys(_EVENT_TIMES, f"the event time, {stream.ts}")
    others = [side.name for side, _ in relation.candidates(name)] if table else []
    return found | ({lower: f"{others[0]}.{name}"} if others else {})


def _known(relation: Relation, table: str) -> list[str]:
    """The columns that were meant, perhaps: of one input of a join, or all."""
    sides = [side for side in relation.sides if side.name.lower() == table.lower()]
    if sides:
        return [own for own, _ in sides[0].columns]
    return [name for name, _, _ in relation.columns]


def _others(windowed: bool) -> tuple[str, ...]:
    """What is no column, and may have been meant."""
    return (*_CONSTANTS, *(EDGES if windowed else ()), *(KSQL if windowed else ()))

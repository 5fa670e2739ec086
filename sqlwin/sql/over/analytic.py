"""Analytic functions as aggregates over frames, and scalars around them.

A rank is a count of the rows before; LAG is the first row of a frame that holds one
row. So the engine knows nothing but aggregates, and calls share what they have in
common: RANK, DENSE_RANK and PERCENT_RANK over one window need three counts.

| function        | over event time, ascending                                          |
|-----------------|---------------------------------------------------------------------|
| ROW_NUMBER()    | COUNT(*) over ROWS up to the row                                    |
| RANK()          | 1 + COUNT(*) over RANGE up to a microsecond before the row          |
| DENSE_RANK()    | COUNT(DISTINCT ts) over RANGE up to the row; of (ts, …) of all keys |
| PERCENT_RANK()  | (RANK - 1) / (rows of the partition - 1), 0 for one row             |
| CUME_DIST()     | COUNT(*) over RANGE up to the row / rows of the partition           |
| NTILE(n)        | arithmetic on ROW_NUMBER and the rows of the partition              |
| LAG(x, n)       | FIRST(x) over ROWS BETWEEN n PRECEDING AND n PRECEDING              |
| LAG(x, n, d)    | the same, d where COUNT(*) over that frame is 0                     |
| … IGNORE NULLS  | the n-th last x that is not NULL, over ROWS up to the row before    |

LEAD mirrors LAG, as a negative n does, and descending order mirrors all. Where ORDER BY names
the OFFSET too, no rows are peers: RANGE is ROWS. Behind other keys a microsecond before the
row is what lies before its peers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import pyarrow as pa
import sqlglot
from sqlglot import exp

from sqlwin.aggregates import Param, is_numeric
from sqlwin.errors import QueryError
from sqlwin.schema import type_name
from sqlwin.sql.expressions import trees
from sqlwin.sql.expressions.arguments import constant
from sqlwin.sql.expressions.calls import AggregateCall, aggregate
from sqlwin.sql.expressions.folding import number_of
from sqlwin.sql.expressions.places import place
from sqlwin.sql.expressions.scalars import Expr, not_null
from sqlwin.sql.text import ast
from sqlwin.sql.windows.frames import Time
from sqlwin.windows import Unit
from sqlwin.windows.frames import Exclude, Frame


class Over(Protocol):
    """One OVER clause while it is bound. time, keys: how rows are ordered, and by what."""

    time: Time
    keys: tuple[Expr, ...]
    run: ast.Run

    def column(self, call: AggregateCall, frame: Frame, named: bool = False) -> Expr:
        """The column of an aggregate over the frame; named: by the item's alias, if it can."""
        ...

    def value(self, tree: Expr) -> Expr:
        """An expression over the row itself."""
        ...

    def type_of(self, column: Expr) -> pa.DataType:
        """The type of a column that `column` gave."""
        ...


def with_function(call: AggregateCall, name: str) -> AggregateCall:
    return call if name == call.function.name else replace(call, function=aggregate(name))


def rewritten(call: AggregateCall, over: Over) -> Expr:
    """The call's value, an expression over columns of the operator."""
    return REWRITES[call.function.name](call, over)


# --- ranks ----------------------------------------------------------------------------


def _count(
    over: Over, unit: Unit, before: int | None, after: int | None, named: bool = False
) -> Expr:
    return over.column(
        AggregateCall(aggregate("count"), ()), over.time.frame(unit, before, after), named
    )


def _whole(over: Over) -> Expr:
    return _count(over, Unit.ROWS, None, None)


def _row_number(call: AggregateCall, over: Over) -> Expr:
    return _count(over, Unit.ROWS, None, 0, named=True)


def _before(over: Over) -> Expr:
    """Rows before the row's peers. One microsecond before the row, or one row; along another key,
    all up to the peers and not those."""
    if not over.time.timed:
        frame = Frame(Unit.RANGE, None, 0, Exclude.GROUP)
        return over.column(AggregateCall(aggregate("count"), ()), frame)
    return _count(over, over.time.unit, None, -1)


def _rank(call: AggregateCall, over: Over) -> Expr:
    return formula("1 + before", before=_before(over))


def _dense_rank(call: AggregateCall, over: Over) -> Expr:
    if over.time.by_position:
        return _row_number(call, over)
    different = AggregateCall(aggregate("count"), (_together(over),), distinct=True)
    return over.column(different, over.time.frame(Unit.RANGE, None, 0), named=True)


def _together(over: Over) -> Expr:
    """One value of all keys, which NULLs among them do not make NULL; event time is none."""
    if over.time.timed and not over.time.keyed:
        return over.keys[0]
    return exp.Anonymous(this="struct", expressions=[trees.copied(key) for key in over.keys])


def _percent_rank(call: AggregateCall, over: Over) -> Expr:
    text = "CASE WHEN rows > 1 THEN CAST(before AS DOUBLE) / (rows - 1) ELSE CAST(0 AS DOUBLE) END"
    return formula(text, rows=_whole(over), before=_before(over))


def _cume_dist(call: AggregateCall, over: Over) -> Expr:
    upto = _count(over, over.time.unit, None, 0)
    return formula("CAST(upto AS DOUBLE) / rows", upto=upto, rows=_whole(over))


def _ntile(call: AggregateCall, over: Over) -> Expr:
    """The first `rows % n` buckets hold one row more than the others."""
    text = """
        CASE WHEN at <= (rows % {n}) * (rows DIV {n} + 1)
             THEN (at - 1) DIV (rows DIV {n} + 1) + 1
             ELSE (at - 1 - rows % {n}) DIV (rows DIV {n}) + 1 END"""
    at = _count(over, Unit.ROWS, None, 0)
    return formula(text.format(n=call.params[0]), at=at, rows=_whole(over))


# --- neighbours -----------------------------------------------------------------------


def _lag(call: AggregateCall, over: Over) -> Expr:
    return _neighbour(call, over, 1)


def _lead(call: AggregateCall, over: Over) -> Expr:
    return _neighbour(call, over, -1)


def _neighbour(call: AggregateCall, over: Over, side: int) -> Expr:
    """`side` 1: rows before, -1: rows after, in the order of the window; less than 0: the other."""
    away = _offset(call, over)
    if away < 0:
        side, away = -side, -away
    if call.skip and away:
        found, frame = _skipping(call, over, side, away)
    else:
        found = AggregateCall(aggregate("first"), call.args[:1])
        frame = over.time.frame(Unit.ROWS, side * away, -side * away)
    default = call.args[2] if len(call.args) == 3 and away else None
    column = over.column(found, frame, named=default is None)
    if default is None or isinstance(default, exp.Null):
        return column
    _check_default(call, default, over.type_of(column), over.run)
    rows = over.column(AggregateCall(aggregate("count"), (), skipped(call)), frame)
    needed = away if call.skip else 1
    text = f"CASE WHEN rows < {needed} THEN default ELSE found END"
    return formula(text, rows=rows, default=over.value(default), found=column)


def _check_default(call: AggregateCall, default: Expr, type_: pa.DataType, run: ast.Run) -> None:
    """The engine would read a text as a number, and fail on the first row that needs it."""
    text = isinstance(default, exp.Literal) and default.is_string
    if text and (is_numeric(type_) or pa.types.is_boolean(type_)):
        name, like = call.function.name.upper(), type_name(type_)
        message = f"the default of {name} must be {like}, as its value is"
        raise QueryError(message, place(default, run), legal=call.function.example)


def skipped(call: AggregateCall) -> Expr | None:
    return not_null(call.args[0]) if call.skip else None


def _skipping(call: AggregateCall, over: Over, side: int, away: int) -> tuple[AggregateCall, Frame]:
    """The n-th neighbour that is not NULL, counted from the row."""
    before = (side > 0) != over.time.descending
    frame = Frame(Unit.ROWS, None, -1) if before else Frame(Unit.ROWS, -1, None)
    name = "nth_last" if before else "nth_value"
    return AggregateCall(aggregate(name), call.args[:1], params=(away,), skip=True), frame


def _offset(call: AggregateCall, over: Over) -> int:
    if len(call.args) < 2:
        return 1
    name, tree = call.function.name.upper(), call.args[1]
    computed = number_of(tree)
    if computed is not None and computed == int(computed):
        return int(computed)
    sign, size = (-1, tree.this) if isinstance(tree, exp.Neg) else (1, tree)
    if isinstance(size, exp.Literal) and size.name == "0":
        return 0
    return sign * int(constant(size, Param.COUNT, name, over.run, call.function.example))


REWRITES: dict[str, Callable[[AggregateCall, Over], Expr]] = {
    "row_number": _row_number,
    "rank": _rank,
    "dense_rank": _dense_rank,
    "percent_rank": _percent_rank,
    "cume_dist": _cume_dist,
    "ntile": _ntile,
    "lag": _lag,
    "lead": _lead,
}


def formula(text: str, **parts: Expr) -> Expr:
    """Spark SQL with names filled in.

    >>> formula("1 + before", before=exp.column("n")).sql()
    '(1 + n)'
    """
    tree = sqlglot.parse_one(text, read="spark")

    def filled(node: Expr) -> Expr:
        given = parts.get(node.name) if isinstance(node, exp.Column) else None
        return node if given is None else trees.copied(given)

    made = trees.rewritten(tree, filled)
    return exp.Paren(this=made) if isinstance(made, exp.Binary) else made

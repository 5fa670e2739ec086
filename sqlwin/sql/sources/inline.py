"""Rows that a text has itself: VALUES, and series of numbers or instants.

Each becomes a stream whose options say its rows, so that a plan has all that there is to know.
Equal ones are one stream. What stands in VALUES is bound once, as the engine's text, and computed
where it is read.

    (VALUES (1, 'a'), (2.5, NULL)) AS t(id, name)     id DECIMAL(11,1), name STRING
    GENERATE_SERIES(1, 10, 3) AS n                    1, 4, 7, 10
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count

import pyarrow as pa
from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.functions.core.types import NULL
from sqlwin.functions.core.widening import widest_of
from sqlwin.plan.ir.inline import MOST, ROWS, series_of
from sqlwin.plan.ir.streams import SERIES, VALUES, Stream
from sqlwin.schema import TIMESTAMP, Column, type_name
from sqlwin.sql.expressions.calls import refuse_calls
from sqlwin.sql.expressions.engine import constant, failure
from sqlwin.sql.expressions.scalars import Expr, expression_type, parsed, scalar
from sqlwin.sql.syntax.parsing.parser import duration
from sqlwin.sql.text import ast
from sqlwin.sql.text.runs import bracketed, parts

LEGAL = "VALUES (1, 'a'), (2, 'b')"
SPELLED = (
    "GENERATE_SERIES(1, 10, 2), GENERATE_SERIES(TIMESTAMP '…', TIMESTAMP '…', INTERVAL '1' HOUR)"
)
Cell = tuple[Expr, ast.Run]


def inline(given: ast.Inline, made: dict[Stream, Stream], taken: Callable[[str], bool]) -> Stream:
    """made: those met so far, by what they are; each has a name of its own. QueryError where rows
    differ in length or type, or bounds are none."""
    found = _values(given) if given.values else _series(given)
    if found not in made:
        names = {each.name for each in made.values()}
        numbered = (found.name if n == 1 else f"{found.name}_{n}" for n in count(1))
        name = next(n for n in numbered if n not in names and not taken(n))
        made[found] = replace(found, name=name)
    return made[found]


# --- VALUES -------------------------------------------------------------------------------


def _values(given: ast.Inline) -> Stream:
    rows = [_cells(run) for run in given.runs]
    width = len(rows[0])
    for cells, run in zip(rows, given.runs, strict=True):
        if len(cells) != width:
            message = f"this row has {_many(len(cells))}, the first one {width}"
            raise QueryError(message, run.span, legal=LEGAL)
    names = _names(given, [f"col{at + 1}" for at in range(width)])
    types = [_type([row[at] for row in rows]) for at in range(width)]
    texts = [[_text(cell, type_) for cell, type_ in zip(row, types, strict=True)] for row in rows]
    columns = tuple(map(Column, names, types))
    options = (("connector", VALUES), (ROWS, json.dumps(texts, ensure_ascii=False)))
    return Stream("values", columns, None, options=options)


def _many(values: int) -> str:
    return "1 value" if values == 1 else f"{values} values"


def _cells(run: ast.Run) -> list[Cell]:
    inner = bracketed(run)
    cells = [run] if inner is None else parts(inner)
    if not cells:
        raise QueryError("a row of VALUES has a value at least", run.span, legal=LEGAL)
    return [(_constant(each, "VALUES"), each) for each in cells]


def _constant(run: ast.Run, place: str) -> Expr:
    tree = parsed(run)
    refuse_calls(tree, run, place)
    columns = list(tree.find_all(exp.Column))
    if columns:
        name = columns[0].sql("spark")
        message = f"{place} stands by itself, and {name} is a column of something else"
        raise QueryError(message, run.span, legal="constants; a text in quotes: 'a'")
    return tree


def _type(cells: Sequence[Cell]) -> pa.DataType:
    types = [expression_type(tree, (), run) for tree, run in cells]
    found = widest_of(types, loose=False)
    if found is None:
        first = next(type_ for type_ in types if type_ != NULL)
        at = next(n for n, type_ in enumerate(types) if widest_of([first, type_], False) is None)
        message = f"this value is {type_name(types[at])}, and those before are {type_name(first)}"
        raise QueryError(message, cells[at][1].span, legal=f"CAST(… AS {type_name(first)})")
    return pa.string() if found == NULL else found


def _text(cell: Cell, type_: pa.DataType) -> str:
    """The engine's, of a value that can be computed."""
    tree, run = cell
    if expression_type(tree, (), run) != type_:
        tree = exp.cast(tree.copy(), type_name(type_), dialect="spark")
    made = scalar(tree, (), run)
    if made.clock is not None:
        message = "VALUES holds constants, and processing time is none"
        raise QueryError(message, run.span, legal="a column of the query: SELECT NOW(), …")
    reason = failure(made.duckdb, ())
    if reason:
        raise QueryError(reason, run.span, legal="a value that can be computed")
    return made.duckdb


# --- series -------------------------------------------------------------------------------


def _series(given: ast.Inline) -> Stream:
    """RANGE is Spark's: to the end, which is no part of it. The others end with their last."""
    bounds = given.runs
    few, many = (1, 3) if given.text == "RANGE" else (2, 3)
    if not few <= len(bounds) <= many:
        message = f"{given.text} takes its first value, its last one, and maybe a step"
        raise QueryError(message, given.span, legal=SPELLED)
    ends = [_bound(run, given.text) for run in bounds[:2]]
    type_ = ends[-1][1]
    if any(known != type_ for _, known in ends):
        raise QueryError("the ends are of two types", bounds[1].span, legal=SPELLED)
    step = _step(bounds[2], type_) if len(bounds) > 2 else _unit(given, type_)
    last = ends[-1][0]
    start = ends[0][0] if len(ends) > 1 else 0
    if given.text == "RANGE":
        last -= 1 if step > 0 else -1
    size = len(series_of(start, last, step))
    if size > MOST:
        message = f"{given.text} has {size:,} rows, and {MOST:,} are the most there can be"
        raise QueryError(message, given.span, legal="a longer step; a file")
    default = "id" if given.text == "RANGE" else given.text.lower()
    (name,) = _names(given, [default])
    options = (
        ("connector", SERIES),
        ("start", str(start)),
        ("step", str(step)),
        ("stop", str(last)),
    )
    timed = name if type_ == TIMESTAMP else None
    return Stream("series", (Column(name, type_),), timed, options=options)


def _bound(run: ast.Run, place: str) -> tuple[int, pa.DataType]:
    tree = _constant(run, place)
    made = scalar(tree, (), run)
    known = constant(f"CAST({made.duckdb} AS BIGINT)") if pa.types.is_integer(made.type) else None
    if made.type == TIMESTAMP:
        known = constant(f"epoch_us({made.duckdb})")
    if known is None or made.clock is not None:
        message = f"an end of {place} is a whole number or an instant"
        raise QueryError(message, run.span, legal=SPELLED)
    return int(known), made.type if made.type == TIMESTAMP else pa.int64()


def _unit(given: ast.Inline, type_: pa.DataType) -> int:
    if type_ == TIMESTAMP:
        message = f"{given.text} of instants needs a step"
        raise QueryError(message, given.span, legal=SPELLED)
    return 1


def _step(run: ast.Run, type_: pa.DataType) -> int:
    backwards = run.text.startswith("-")
    if type_ == TIMESTAMP:
        known = duration(
            replace(run, text=run.text.lstrip("- "), original=run.original.lstrip("- "))
        )
        if known is None or not known.exact:
            message = "a step between instants is an interval of one length"
            raise QueryError(message, run.span, legal="INTERVAL '1' HOUR; no months or years")
        return -known.exact if backwards else known.exact
    step, _ = _bound(run, "a series")
    if step == 0:
        raise QueryError("a step is not 0", run.span, legal="1, -1")
    return step


def _names(given: ast.Inline, default: Sequence[str]) -> list[str]:
    if not given.columns:
        return list(default)
    names = [name.text for name in given.columns]
    if len(names) != len(default):
        message = f"{len(names)} names, and {given.text} has {len(default)} columns"
        raise QueryError(message, given.columns[0].span, legal=_as(default))
    for at, name in enumerate(given.columns):
        if name.text.lower() in [each.lower() for each in names[:at]]:
            raise QueryError(f"two columns are called {name.text}", name.span, legal=_as(default))
    return names


def _as(names: Sequence[str]) -> str:
    return f"AS t({', '.join(names)})"

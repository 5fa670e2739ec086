"""Calls over ORDER BY ts DESC, as calls over the frame in ascending order.

| descending          | ascending                                          |
|---------------------|----------------------------------------------------|
| FIRST, LAST         | LAST, FIRST; NTH_VALUE, counted from the other end |
| COLLECT_LIST        | the list reversed                                  |
| STRING_AGG          | the texts as a list, reversed and joined           |
| all others          | as they are                                        |

What is put in order by itself (`ORDER BY` in the brackets) is as it is. COLLECT_SET, MAP_AGG,
DISTINCT and LIMIT go by which comes first, which no list of the others says.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.sql.expressions.calls import AggregateCall
from sqlwin.sql.expressions.places import place
from sqlwin.sql.expressions.scalars import Expr
from sqlwin.sql.expressions.trees import copied
from sqlwin.sql.over.analytic import Over, formula, with_function
from sqlwin.sql.text import ast
from sqlwin.windows.frames import Frame

_MIRRORED = {"first": "last", "last": "first", "nth_value": "nth_last", "nth_last": "nth_value"}
_IN_ORDER = ("collect_list", "collect_set", "string_agg", "map_agg")
_OF_PLACES = ("collect_set", "map_agg")
"""Which value there is depends on which comes first."""


def mirrored(call: AggregateCall, frame: Frame, node: Expr, over: Over) -> Expr:
    """The value of a call for a window in descending order; frame: mirrored already."""
    name = call.function.name
    if name not in _IN_ORDER or call.order:
        called = call if call.order else with_function(call, _MIRRORED.get(name, name))
        return over.column(called, frame, named=True)
    texts = all(isinstance(param, str) for param in call.params)
    if name in _OF_PLACES or call.distinct or call.limit is not None or not texts:
        raise _without_order(call, node, over.run)
    found = over.column(replace(with_function(call, "collect_list"), params=()), frame)
    if name == "collect_list":
        return _call("reverse", found)
    if over.type_of(found).value_type != pa.string():
        raise _without_order(call, node, over.run)
    separator = exp.Literal.string(str(call.params[0]) if call.params else "")
    joined = _call("array_join", _call("reverse", found), separator)
    text = "CASE WHEN length = 0 THEN NULL ELSE joined END"
    return formula(text, length=_call("size", found), joined=joined)


def _call(name: str, *args: Expr) -> Expr:
    return exp.Anonymous(this=name, expressions=[copied(arg) for arg in args])


def _without_order(call: AggregateCall, node: Expr, run: ast.Run) -> QueryError:
    name, key = call.function.name, "name, " * (len(call.args) > 1)
    message = f"{name.upper()} over ORDER BY … DESC needs an order of its own"
    legal = f"{name.upper()}({key}value ORDER BY ts DESC), or OVER (… ORDER BY ts)"
    return QueryError(message, place(node, run), legal=legal)

"""Aggregate and analytic calls inside scalar expressions: found, checked, taken apart.

>>> from sqlwin.errors import Span
>>> from sqlwin.sql.expressions.scalars import parsed
>>> run = ast.Run("x", text := "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)", Span(1, 1))
>>> call = call_at(parsed(replace(run, text=text)), run)
>>> call.function.name, [arg.sql() for arg in call.args], call.params
('percentile_cont', ['x'], (0.9,))
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from sqlwin.aggregates import (
    MEAN_DISTINCT,
    REFUSED,
    SIGNATURES,
    SKIP_NULLS,
    Distinct,
    Signature,
    signature,
)
from sqlwin.errors import QueryError
from sqlwin.functions.elsewhere import ELSEWHERE
from sqlwin.lazy_dataclass import dataclass
from sqlwin.names import nearest
from sqlwin.plan.explain.functions import meant, names
from sqlwin.sql.expressions.analytic_functions import ANALYTIC
from sqlwin.sql.expressions.arguments import Arguments, Constant, arguments
from sqlwin.sql.expressions.dialect.calling import NULLS_GIVEN
from sqlwin.sql.expressions.engine import aggregate_names
from sqlwin.sql.expressions.places import function_names, place, word, written_name
from sqlwin.sql.expressions.registered import registered
from sqlwin.sql.expressions.scalars import Expr, not_null
from sqlwin.sql.expressions.trees import copied
from sqlwin.sql.text import ast

KNOWN = ", ".join(known.name.upper() for known in SIGNATURES if known.name != "nth_last")
_STREAM_OPERATORS = ("istream", "dstream", "rstream")
_SQLGLOT = dict.fromkeys(("array_unique_agg", "array_distinct_agg"), "collect_set")
_PLACED = ("first", "last", "nth_value", "nth_last", "lag", "lead")
"""Functions that pick a row, and for which IGNORE NULLS says something."""


@dataclass(frozen=True)
class AggregateCall:
    """function(args, params) FILTER (WHERE where) OVER over; expressions still as written.

    listed: the one constant was written as an array. order: of ORDER BY in the
    brackets, or WITHIN GROUP. limit: of LIMIT behind it. skip: IGNORE NULLS.
    """

    function: Signature
    args: tuple[Expr, ...]
    where: Expr | None = None
    over: ast.Name | ast.Spec | None = None
    params: tuple[Constant, ...] = ()
    listed: bool = False
    distinct: bool = False
    order: tuple[exp.Ordered, ...] = ()
    limit: int | None = None
    skip: bool = False


def call_at(node: Expr, run: ast.Run) -> AggregateCall | None:
    """The call that `node` is, or is a part of as in FILTER; None for anything else.

    Refuses by name.
    """
    while isinstance(node.parent, _WRAPPERS) and node.parent.this is node:
        node = node.parent
    inner, worn = _bare(node)
    if isinstance(inner, exp.CountIf) and isinstance(inner.this, exp.Distinct):
        raise _unsupported("COUNT_IF(DISTINCT …)", inner, run, "COUNT_IF(value > 0)")
    if isinstance(inner, exp.CountIf):
        worn.wheres.insert(0, inner.this)
        return AggregateCall(aggregate("count"), (), worn.where, worn.over(run))
    known = _signature(inner, run)
    if known is None and inner is node:
        return None
    if known is None and isinstance(inner, exp.Anonymous) and inner.name.lower() not in names():
        near = nearest(inner.name.lower(), meant(), ELSEWHERE)
        raise QueryError(f"no function is called {inner.name}{near}", word(inner, run))
    if known is None:
        raise QueryError("OVER and FILTER follow an aggregate", place(node, run), legal=KNOWN)
    given = arguments(inner, known, run, worn.within)
    call = AggregateCall(known, given.args, worn.where, worn.over(run), given.params, given.listed)
    skip = worn.nulls is exp.IgnoreNulls
    call = replace(call, order=given.order, limit=given.limit, skip=skip)
    return _checked(call, given, worn, inner, run)


def _checked(
    call: AggregateCall, given: Arguments, worn: Worn, node: Expr, run: ast.Run
) -> AggregateCall:
    name, names = written_name(node, run), function_names(node)
    if worn.nulls is not None and call.function.name not in _PLACED:
        words = "IGNORE NULLS" if call.skip else "RESPECT NULLS"
        message = f"{name} takes no {words}"
        legal = "FIRST_VALUE, LAST_VALUE, NTH_VALUE, LAG, LEAD; FILTER (WHERE value IS NOT NULL)"
        raise QueryError(message, word(node, run), legal=legal)
    if worn.wheres and call.function.name in ANALYTIC:
        message = f"FILTER goes with an aggregate, and {name} is none"
        raise QueryError(message, word(node, run), legal=call.function.example)
    call = replace(call, skip=call.skip or not SKIP_NULLS.isdisjoint(names))
    if given.distinct or not MEAN_DISTINCT.isdisjoint(names):
        if call.function.distinct is Distinct.REFUSED:
            message = f"{name}(DISTINCT …) is not supported yet"
            legal = f"{call.function.example}, without DISTINCT"
            raise QueryError(message, place(node, run), legal=legal)
        call = replace(call, distinct=call.function.distinct is Distinct.CHANGES)
    return _in_order(call) if call.order else call


def _in_order(call: AggregateCall) -> AggregateCall:
    """FIRST(x ORDER BY y) is MIN_BY(x, y): a row whose y is NULL takes no part, unless NULLS FIRST
    or NULLS LAST says where it stands.

    LAST is the first in the reversed order, so that of a tie both have the first row by position.
    """
    if call.function.name not in ("first", "last"):
        return call
    key, *more = call.order
    last = call.function.name == "last"
    placed = bool(key.args.get(NULLS_GIVEN))
    if not more and not placed:
        least = last == bool(key.args.get("desc"))
        function = aggregate("arg_min" if least else "arg_max")
        return replace(call, function=function, args=(*call.args, key.this), order=())
    order = tuple(_reversed(key) if last else key for key in call.order)
    known = None if placed else not_null(key.this)
    given = [copied(part) for part in (call.where, known) if part]
    where = exp.and_(*given) if given else None
    return replace(call, function=aggregate("first"), where=where, order=order)


def _reversed(key: exp.Ordered) -> exp.Ordered:
    down, first = key.args.get("desc"), key.args.get("nulls_first")
    return exp.Ordered(this=key.this, desc=not down, nulls_first=not first)


# --- what stands around a function ---------------------------------------------------


@dataclass
class Worn:
    """wheres: of FILTER. window: the node that says OVER. within: of WITHIN GROUP."""

    wheres: list[Expr]
    window: exp.Window | None = None
    within: exp.Order | None = None
    nulls: type[Expr] | None = None

    @property
    def where(self) -> Expr | None:
        return exp.and_(*(copied(where) for where in self.wheres)) if self.wheres else None

    def over(self, run: ast.Run) -> ast.Name | ast.Spec | None:
        if self.window is None:
            return None
        name = self.window.args["alias"].name
        if len(name) != 1:  # the text has a character of ours
            raise QueryError("this expression cannot be read", run.span)
        at = ord(name) - ast.PLACEHOLDER
        if at >= len(run.overs):  # an alias brought it here from the select list
            message = "an alias of an OVER call can be named in QUALIFY alone"
            raise QueryError(message, run.span, legal="QUALIFY rn <= 3")
        return run.overs[at]


def _bare(node: Expr) -> tuple[Expr, Worn]:
    worn = Worn([])
    while isinstance(node, _WRAPPERS):
        if isinstance(node, exp.Window):
            worn.window = node
        elif isinstance(node, exp.Filter):
            worn.wheres.append(node.expression.this)
        elif isinstance(node, exp.WithinGroup):
            worn.within = node.expression
        else:
            worn.nulls = type(node)
        node = node.this
    return node, worn


_WRAPPERS = (exp.Window, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


# --- which function -------------------------------------------------------------------


def aggregate(name: str) -> Signature:
    found = signature(name)
    assert found is not None
    return found


def _signature(node: Expr, run: ast.Run) -> Signature | None:
    names = [_SQLGLOT.get(name, name) for name in function_names(node)]
    for name in names:
        found = registered(name, run) or ANALYTIC.get(name) or signature(name)
        if found is not None:
            return found
    if not names:
        return None
    if any(name in _STREAM_OPERATORS for name in names):
        legal = "ISTREAM(SELECT …), or SELECT ISTREAM(a, b) FROM …"
        raise _unsupported(written_name(node, run), node, run, legal)
    if isinstance(node, exp.Grouping | exp.GroupingId):
        written = written_name(node, run)
        message = f"{written} is about a grouping set, in SELECT and HAVING of a grouped query"
        raise QueryError(message, word(node, run), legal="GROUP BY GROUPING SETS, ROLLUP, CUBE")
    for name in names:
        if name in REFUSED:
            message = f"{name.upper()} is no aggregate here: {REFUSED[name].why}"
            raise QueryError(message, word(node, run), legal=REFUSED[name].nearest)
    here = {name: ELSEWHERE[name] for name in names if name in ELSEWHERE}
    if isinstance(node, exp.AggFunc) and here:  # others are taken for scalars, and say so there
        ((name, instead),) = here.items()
        raise QueryError(f"no function is called {name}; here it is {instead}", place(node, run))
    refused = aggregate_names()
    if isinstance(node, exp.AggFunc) or any(name in refused for name in names):
        raise _unsupported(f"the aggregate {written_name(node, run)}", node, run, KNOWN)
    return None


def _unsupported(what: str, node: Expr, run: ast.Run, legal: str) -> QueryError:
    return QueryError(f"{what} is not supported yet", word(node, run), legal=legal)


def refuse_calls(tree: Expr, run: ast.Run, where: str) -> None:
    """No aggregate may stand here."""
    for node in tree.walk():
        call = call_at(node, run)
        if call is not None:
            rows = "OVER calls in SELECT and QUALIFY"
            legal = rows if call.over is not None else "aggregates in SELECT and HAVING"
            message = f"an aggregate cannot stand in {where}"
            raise QueryError(message, word(node, run), legal=legal)

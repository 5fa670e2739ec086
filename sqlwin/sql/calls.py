"""Aggregate calls inside scalar expressions: found, checked, taken apart."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from sqlwin.aggregates import SIGNATURES, Signature, signature
from sqlwin.errors import QueryError
from sqlwin.sql import ast
from sqlwin.sql.engine import aggregate_names
from sqlwin.sql.scalars import Expr, place, word, word_range

WINDOW_FUNCTIONS = (
    *("lag", "lead", "row_number", "rank", "dense_rank", "percent_rank"),
    *("cume_dist", "ntile", "nth_value"),
)
FULL_STATE = (
    *("collect_list", "collect_set", "percentile", "percentile_approx", "approx_percentile"),
    *("grouping", "grouping_id", "count_min_sketch", "top_k", "topk", "hll_sketch_agg"),
    *("try_sum", "try_avg"),
)
"""Aggregates of Spark that the engine does not know by these names."""
KNOWN = ", ".join(known.name.upper() for known in SIGNATURES)
_STREAM_OPERATORS = ("istream", "dstream", "rstream")


@dataclass(frozen=True)
class Call:
    """function(args) FILTER (WHERE where) OVER over; args and where still as written."""

    function: Signature
    args: tuple[Expr, ...]
    where: Expr | None
    over: ast.Name | ast.Spec | None


def call_at(node: Expr, run: ast.Run) -> Call | None:
    """The aggregate call that `node` is, None for anything else. Refuses by name."""
    over: ast.Name | ast.Spec | None = None
    where: Expr | None = None
    inner = node
    if isinstance(inner, exp.Window):
        over = _over(inner, run)
        inner = inner.this
    if isinstance(inner, exp.Filter):
        where = inner.expression.this
        inner = inner.this
    if isinstance(inner, exp.IgnoreNulls | exp.RespectNulls):
        raise _unsupported("IGNORE NULLS", inner, run, "FILTER (WHERE value IS NOT NULL)")
    if isinstance(inner, exp.CountIf):
        where = exp.and_(inner.this.copy(), where.copy()) if where else inner.this
        return Call(_known("count"), (), where, over)
    known = _signature(inner, run)
    if known is None and inner is not node:
        raise QueryError("OVER and FILTER follow an aggregate", place(node, run), legal=KNOWN)
    return None if known is None else Call(known, _arguments(inner, known, run), where, over)


def _over(node: exp.Window, run: ast.Run) -> ast.Name | ast.Spec:
    return run.overs[ord(node.args["alias"].name) - ast.PLACEHOLDER]


def _known(name: str) -> Signature:
    found = signature(name)
    assert found is not None
    return found


def _signature(node: Expr, run: ast.Run) -> Signature | None:
    names = function_names(node)
    found = next((known for known in map(signature, names) if known is not None), None)
    if found is not None or not names:
        return found
    written = written_name(node, run)
    if any(name in _STREAM_OPERATORS for name in names):
        raise _unsupported(written, node, run, "the columns alone; __op carries each change")
    if any(name in WINDOW_FUNCTIONS for name in names):
        raise _unsupported(f"{written} OVER", node, run, f"an aggregate over a frame: {KNOWN}")
    refused = aggregate_names().union(FULL_STATE)
    if isinstance(node, exp.AggFunc) or any(name in refused for name in names):
        raise _unsupported(f"the aggregate {written}", node, run, KNOWN)
    return None


def _unsupported(what: str, node: Expr, run: ast.Run, legal: str) -> QueryError:
    return QueryError(f"{what} is not supported yet", word(node, run), legal=legal)


def function_names(node: Expr) -> tuple[str, ...]:
    """Every name of a function, lower case, none for what is no function."""
    if isinstance(node, exp.Anonymous):
        return (node.name.lower(),)
    if isinstance(node, exp.Func) and not isinstance(node, exp.Connector | exp.Cast | exp.Case):
        return tuple(name.lower() for name in node.sql_names())
    return ()


def written_name(node: Expr, run: ast.Run) -> str:
    """As in the text where its place is known, else the function's first name."""
    found = word_range(node, run)
    return run.original[slice(*found)].upper() if found else function_names(node)[0].upper()


def _arguments(node: Expr, known: Signature, run: ast.Run) -> tuple[Expr, ...]:
    given = [node.args.get("this"), *node.expressions, node.args.get("expression")]
    args = [arg for arg in given if isinstance(arg, exp.Expr)]
    if isinstance(node, exp.Count) and node.args.get("this") is None:
        args = []
    if any(isinstance(arg, exp.Distinct) for arg in args):
        message = f"{known.name.upper()}(DISTINCT …) is not supported yet"
        raise QueryError(message, place(node, run), legal=f"{known.example}, without DISTINCT")
    if isinstance(node, exp.Anonymous):
        args = list(node.expressions)
    if any(isinstance(arg, exp.Order | exp.Limit) for arg in args):
        message = "ORDER BY and LIMIT inside an aggregate are not supported yet"
        raise QueryError(message, place(node, run), legal=known.example)
    if known.name == "count" and len(args) == 1 and isinstance(args[0], exp.Star | exp.Literal):
        args = []
    if any(isinstance(arg, exp.Star) for arg in args):
        message = f"{written_name(node, run)} takes {known.accepts}, not *"
        raise QueryError(message, word(node, run), legal=known.example)
    least, most = known.arity
    if not least <= len(args) <= most:
        wants = f"{least}" if least == most else f"{least} or {most}"
        message = f"{written_name(node, run)} takes {wants} argument{'s' * (wants != '1')}"
        raise QueryError(message, place(node, run), legal=known.example)
    return tuple(args)


def refuse_calls(tree: Expr, run: ast.Run, where: str) -> None:
    """No aggregate may stand here."""
    for node in tree.walk():
        if call_at(node, run) is not None:
            message = f"an aggregate cannot stand in {where}"
            raise QueryError(message, word(node, run), legal="aggregates in SELECT and HAVING")

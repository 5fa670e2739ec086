"""Scalar expressions: from a run of text to sqlglot's tree, and to a plan's Scalar.

sqlglot reads Spark SQL. It prints it again for people, and DuckDB SQL for the
engine. `CAST` is strict, as in Spark 4: a row it fails for goes to the error
stream; `TRY_CAST` gives NULL.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, TokenError

from sqlwin.errors import QueryError, Span
from sqlwin.plan.nodes import Scalar
from sqlwin.schema import RESERVED, Schema
from sqlwin.sql import ast
from sqlwin.sql.casts import UNITS, refuse_casts
from sqlwin.sql.checked import changing, refused
from sqlwin.sql.constants import refuse_unreadable
from sqlwin.sql.depth import balanced, refuse_deep_tree
from sqlwin.sql.dialect import SqlwinSpark
from sqlwin.sql.engine import UNREADABLE, Untypable, no_part, type_of, typed
from sqlwin.sql.functions import for_duckdb
from sqlwin.sql.text import QUOTED
from sqlwin.sql.trees import copied, rewritten, rewritten_in_place

Expr = exp.Expr
T = TypeVar("T")

_FOREIGN = (LookupError, AttributeError, TypeError, ValueError, AssertionError)
"""What sqlglot raises for calls that it takes apart without looking: MAP(1), DATE_ADD()."""
_GROWING = ("VARCHAR", "BLOB", "STRUCT", "MAP", "JSON", "UNION", "BIGNUM", "BIT")
NESTED = r"[\s(]*(?:SELECT|WITH)\b"
_PLAIN = re.compile(r"[A-Za-z_]\w*\Z")
_QUERY = re.compile(rf"{QUOTED}|(?P<query>\((?={NESTED}))", re.I | re.S)


def parsed(run: ast.Run, into: type[Expr] | None = None) -> Expr:
    """The run as sqlglot reads it; into: what it must be. QueryError where it does not."""
    _no_query(run)
    try:
        tree = sqlglot.parse_one(run.text, read=SqlwinSpark, into=into)
    except (ParseError, TokenError, *_FOREIGN) as problem:
        raise _misread(problem, run) from None
    tree = balanced(tree)
    refuse_deep_tree(tree, run.span)
    _repeatable(tree, run)
    _one_row(tree, run)
    _own_names(tree, run)
    return rewritten_in_place(tree, _strict) if tree.find(exp.TryCast) else tree


def _no_query(run: ast.Run) -> None:
    """Before sqlglot reads it: what FROM reads here it does not know."""
    for found in _QUERY.finditer(run.text):
        if found["query"]:
            at = re.compile(r"SELECT|WITH", re.I).search(run.text, found.start())
            assert at is not None
            message = "a query inside an expression is not supported yet"
            legal = "EXISTS (SELECT …) or a.id IN (SELECT …) in WHERE; a FROM of its own, as a view"
            raise QueryError(message, run.at(*at.span()), legal=legal)


def _repeatable(tree: Expr, run: ast.Run) -> None:
    """A row that is taken again, after a crash or on another host, must give the same."""
    for node in filter(changing, tree.walk()):
        name = node.sql("spark").partition("(")[0]
        message = f"{name} gives another value each time, so no answer could be corrected or redone"
        raise QueryError(message, word(node, run), legal="a column of the stream")


def _one_row(tree: Expr, run: ast.Run) -> None:
    """A row that became several would have one key for all of them."""
    for node in tree.find_all(exp.UDTF, exp.Explode):
        name = node.sql("spark").partition("(")[0]
        message = f"{name} makes several rows of one and is not supported yet"
        raise QueryError(message, word(node, run), legal="SIZE, TRANSFORM, ARRAY_JOIN, value[0]")


def _own_names(tree: Expr, run: ast.Run) -> None:
    """What begins like a name of sqlwin's own marks resolved columns, and qualifies none."""
    for node in tree.find_all(exp.Column):
        if node.table.startswith(RESERVED):
            raise QueryError(f"no stream here is called {node.table}", place(node, run))


def _misread(problem: Exception, run: ast.Run) -> QueryError:
    told = getattr(problem, "errors", None)
    if not told:
        return QueryError("this expression cannot be read", run.span)
    first = told[0]
    highlight = str(first.get("highlight") or "")
    lines = run.text.split("\n")[: int(first["line"]) - 1]
    end = sum(len(line) + 1 for line in lines) + int(first["col"])
    start = max(0, end - len(highlight)) if highlight else max(0, end - 1)
    message = "this expression cannot be read" + (f" at {highlight}" if highlight else "")
    return QueryError(message, run.at(start, max(start + 1, end)), legal=_hint(first))


def _hint(error: dict[str, object]) -> str:
    text = str(error.get("description") or "")
    return text[len("Expecting ") :] if text.startswith("Expecting ") else ""


def _strict(node: Expr) -> Expr:
    if isinstance(node, exp.TryCast) and not node.args.get("safe"):
        # `transform` does not go into what is new.
        return exp.Cast(this=rewritten_in_place(node.this, _strict), to=node.args["to"])
    return node


def place(node: Expr, run: ast.Run) -> Span:
    """Where a node stands in the text; the whole run where that is not known."""
    marks = [n.meta for n in node.walk() if "start" in n.meta]
    if not marks:
        return run.span
    start, end = min(m["start"] for m in marks), max(m["end"] for m in marks)
    return run.at(start, end + 1)


def word(node: Expr, run: ast.Run) -> Span:
    """Where the node's own name stands, such as a function's."""
    found = word_range(node, run)
    return run.at(*found) if found else place(node, run)


def word_range(node: Expr, run: ast.Run) -> tuple[int, int] | None:
    """Characters of the node's name. sqlglot forgets some; those stand before a bracket."""
    if "start" in node.meta:
        return node.meta["start"], node.meta["end"] + 1
    inner = min((n.meta["start"] for n in node.walk() if "start" in n.meta), default=None)
    opened = -1 if inner is None else run.original.rfind("(", 0, inner)
    if opened < 0 or ")" in run.original[opened:inner]:
        return None
    name = re.search(r"\w*\Z", before := run.original[:opened].rstrip())
    return name.span() if name and name[0] and before else None


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


def column(name: str, table: str | None = None) -> exp.Column:
    """A resolved column: quoted, so that its name is taken as it is."""
    of = exp.to_identifier(table) if table else None
    return exp.Column(this=exp.Identifier(this=name, quoted=True), table=of)


def instead_of(node: Expr, tree: Expr) -> Expr:
    """`tree` for `node` in an expression: in brackets, unless it is all of it or needs none."""
    # AND, OR and some operators are functions too to sqlglot, but print as operators.
    call = isinstance(tree, exp.Func) and not isinstance(tree, exp.Binary)
    whole = call or isinstance(tree, exp.Column | exp.Literal | exp.Paren)
    return copied(tree) if whole or node.parent is None else exp.Paren(this=copied(tree))


def read(tree: Expr, schema: Schema) -> Schema:
    """The columns of `schema` that a resolved tree names: an engine that binds an expression
    needs time for each column that there is."""
    names = set(inputs(tree))
    return tuple(column for column in schema if column.name in names)


def inputs(tree: Expr) -> tuple[str, ...]:
    """The columns read, in order of first use."""
    return tuple(dict.fromkeys(node.name for node in tree.dfs() if isinstance(node, exp.Column)))


def scalar(tree: Expr, schema: Schema, run: ast.Run, own: bool = False) -> Scalar:
    """A resolved tree as a plan's Scalar; the engine's refusal becomes a QueryError.

    own: it was made here, of parts that were looked at.
    """
    if not own:
        _allowed(tree, schema, run)
    if isinstance(tree, exp.Null):  # which DuckDB types as it likes, by its version
        tree = exp.cast(tree, "STRING", dialect="spark")
    refuse_deep_tree(tree, run.span)
    sql, type_ = _asked(typed, tree, schema, run)
    refuse_unreadable(tree, sql, read(tree, schema), run)
    refuse_casts(tree, sql, read(tree, schema), run)
    return Scalar(spark(tree), sql, type_, inputs(tree))


def engine_type(tree: Expr, schema: Schema, run: ast.Run) -> str:
    """The engine's name of a resolved tree's type, such as INTERVAL, which no column has."""
    _allowed(tree, schema, run)
    return _asked(type_of, tree, schema, run)


def _allowed(tree: Expr, schema: Schema, run: ast.Run) -> None:
    """QueryError for a node or a function that is not known to be harmless."""
    found = refused(tree)
    if found is not None:
        raise QueryError(found.message, word(found.node, run), legal=found.legal)
    _reductions(tree, schema, run)


def _reductions(tree: Expr, schema: Schema, run: ast.Run) -> None:
    """QueryError for a REDUCE whose state may double with each element."""
    for node in tree.find_all(exp.Reduce):
        type_ = _asked(type_of, node, schema, run)
        if type_.endswith("]") or type_.partition("(")[0] in _GROWING:
            message = (
                f"REDUCE to {type_.partition('(')[0]} is not supported yet: its size has no bound"
            )
            raise QueryError(message, word(node, run), legal="a number; ARRAY_JOIN, FLATTEN")


def _asked(ask: Callable[[str, Schema], T], tree: Expr, schema: Schema, run: ast.Run) -> T:
    try:
        duckdb = _printed(rewritten(tree, for_duckdb), "duckdb")
    except _FOREIGN:
        raise QueryError("this expression cannot be read", run.span) from None
    try:
        return ask(duckdb, read(tree, schema))
    except Untypable as problem:
        interval = _odd_interval(tree) if str(problem) == UNREADABLE else None
        if interval is not None:
            raise QueryError(no_part(interval), run.span, legal=UNITS) from None
        place_ = _blamed(str(problem), tree, run)
        raise QueryError(str(problem), place_, legal=problem.legal) from None


def _odd_interval(tree: Expr) -> str | None:
    """The unit of an interval that is none to the engine."""
    units = (node.args.get("unit") for node in tree.find_all(exp.Interval))
    names = [unit.name for unit in units if isinstance(unit, exp.Var)]
    known = UNITS.split(", ")
    return next((name for name in names if name.upper().removesuffix("S") not in known), None)


def _blamed(reason: str, tree: Expr, run: ast.Run) -> Span:
    """The function that the engine does not know, or not of such values; or all of it."""
    told = re.match(r"no function is called (\w+)|(\w+) does not take", reason)
    called = "" if told is None else (told[1] or told[2]).lower()
    for node in tree.find_all(exp.Func):
        if called in function_names(node):
            return word(node, run)
    return run.span


def spark(tree: Expr) -> str:
    """Spark SQL, with plain names unquoted."""
    return _printed(rewritten(tree, _unquoted), "spark")


def _printed(tree: Expr, dialect: str) -> str:
    """tree: a copy, which printing may change."""
    return tree.sql(dialect, unsupported_level=ErrorLevel.IGNORE, copy=False)


def _unquoted(node: Expr) -> Expr:
    if isinstance(node, exp.Identifier) and _PLAIN.match(node.name):
        return exp.Identifier(this=node.name, quoted=False)
    return node


def conjoined(*predicates: Expr | None) -> Expr | None:
    given = [copied(predicate) for predicate in predicates if predicate is not None]
    return exp.and_(*given, copy=False) if given else None


def not_null(tree: Expr) -> Expr:
    inner = copied(tree) if isinstance(tree, exp.Column) else exp.Paren(this=copied(tree))
    return exp.Not(this=exp.Is(this=inner, expression=exp.Null()))

"""Scalar expressions: from a run of text to sqlglot's tree, and to a plan's Scalar.

sqlglot reads Spark SQL, and prints it again for people; what it means, and the engine's text,
come from the table of functions (`compiled`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, ParseError, TokenError

from sqlwin.errors import QueryError, Span
from sqlwin.functions.casts.cast import cast, noted
from sqlwin.functions.core.typed import Typed
from sqlwin.functions.core.types import NULL, STRING, holds_interval, intervals_as_text, name
from sqlwin.functions.core.volatility import Volatility
from sqlwin.plan.ir.nodes import Scalar
from sqlwin.schema import RESERVED, Column, Schema
from sqlwin.sql.expressions.compile.compiled import compiled
from sqlwin.sql.expressions.compile.compiler import Uncompiled
from sqlwin.sql.expressions.constants import refuse_unread
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark, refuse_compiled
from sqlwin.sql.expressions.dialect.json_aggregates import rewritten_calls
from sqlwin.sql.expressions.engine import unreadable
from sqlwin.sql.expressions.macros import expanded, with_columns
from sqlwin.sql.expressions.parts import over_columns, part_of
from sqlwin.sql.expressions.places import place, word, word_range
from sqlwin.sql.expressions.registered import mark_scalars
from sqlwin.sql.expressions.trees import copied, rewritten, rewritten_in_place
from sqlwin.sql.expressions.volatile import clock_in, mark, volatility
from sqlwin.sql.text import ast
from sqlwin.sql.text.depth import balanced, refuse_deep_tree
from sqlwin.sql.text.prepared import QUOTED

Expr = exp.Expr

FOREIGN = (LookupError, AttributeError, TypeError, ValueError, AssertionError)
"""What sqlglot raises for calls that it takes apart without looking: MAP(1), DATE_ADD()."""
NESTED = r"[\s(]*(?:(?:SELECT|WITH|(?<!TRIM\()FROM)\b|VALUES(?=\s*\())"
_PLAIN = re.compile(r"[A-Za-z_]\w*\Z")
_VARIABLE = re.compile(r"\$\{(?:\w+?:)?(?P<name>\S+?)\}")
_QUERY = re.compile(rf"{QUOTED}|(?P<query>\((?={NESTED}))", re.I | re.S)
_ANY = re.compile(r"\b(?:ANY|SOME|ALL)\s*\(", re.I)


def parsed(run: ast.Run, into: type[Expr] | None = None) -> Expr:
    """The run as sqlglot reads it; into: what it must be. QueryError where it does not."""
    if run.part is not None:
        whole = parsed(replace(run, part=None), exp.Ordered if run.part.key else None)
        return part_of(whole, run.part)
    refuse_compiled()
    _no_query(run)
    _no_variable(run)
    try:
        tree = sqlglot.parse_one(run.text, read=SqlwinSpark, into=into)
    except (ParseError, TokenError, *FOREIGN) as problem:
        from sqlwin.sql.expressions.misread import misread  # by need

        raise misread(problem, run) from None
    if _ANY.search(run.text):
        from sqlwin.sql.expressions.quantified import over_elements  # by need

        tree = rewritten_in_place(tree, over_elements)
    tree = rewritten_calls(tree, run.text)
    tree = expanded(balanced(tree), run, parsed, word_range)
    if run.made:
        tree = with_columns(tree, dict(run.made), parsed)
    refuse_deep_tree(tree, run.span)
    mark_scalars(tree, run)
    _repeatable(tree, run)
    _one_row(tree, run)
    _own_names(tree, run)
    if tree.find(exp.TryCast):
        tree = rewritten_in_place(tree, _strict)
    return over_columns(tree, run.below) if run.below else tree


def _no_query(run: ast.Run) -> None:
    """Before sqlglot reads it: what FROM reads here it does not know."""
    for found in _QUERY.finditer(run.text):
        if found["query"]:
            at = re.compile(r"SELECT|WITH|FROM|VALUES", re.I).search(run.text, found.start())
            assert at is not None
            message = "a query inside an expression is not supported yet"
            legal = "EXISTS (SELECT …) or a.id IN (SELECT …) in WHERE; a FROM of its own, as a view"
            raise QueryError(message, run.at(*at.span()), legal=legal)


def _no_variable(run: ast.Run) -> None:
    """Spark puts a variable of the session there before it reads the query, even within a text."""
    found = _VARIABLE.search(run.text)
    if found:
        message = f"{found[0]} is a variable of a Spark session, and there is none"
        legal = f"$\\{found[0][1:]} where a text has it; a parameter :{found['name']}"
        raise QueryError(message, run.at(*found.span()), legal=legal)


def _repeatable(tree: Expr, run: ast.Run) -> None:
    """A row that is taken again, after a crash or on another host, must give the same: nothing is
    left to chance, and calls of processing time are marked, for a plan to be judged by."""
    for node in tree.walk():
        class_ = volatility(node)
        if class_ is Volatility.PROCESSING_TIME:
            mark(node, word(node, run))
        if class_ is Volatility.CHANCE:
            name = node.sql("spark").partition("(")[0]
            message = (
                f"{name} gives another value each time, so no answer could be corrected or redone"
            )
            raise QueryError(message, word(node, run), legal="a column of the stream")


def _one_row(tree: Expr, run: ast.Run) -> None:
    """A row that became several would have one key for all of them."""
    for node in tree.find_all(exp.UDTF, exp.Explode):
        name = node.sql("spark").partition("(")[0]
        message = f"{name} makes several rows of one, and stands by itself"
        legal = "SELECT EXPLODE(tags) AS tag; FROM orders CROSS JOIN UNNEST(tags) AS t(tag)"
        raise QueryError(message, word(node, run), legal=legal)


def _own_names(tree: Expr, run: ast.Run) -> None:
    """What begins like a name of sqlwin's own marks resolved columns, and qualifies none."""
    for node in tree.find_all(exp.Column):
        if node.table.startswith(RESERVED):
            raise QueryError(f"no stream here is called {node.table}", place(node, run))


def _strict(node: Expr) -> Expr:
    if isinstance(node, exp.TryCast) and not node.args.get("safe"):
        # `transform` does not go into what is new.
        return exp.Cast(this=rewritten_in_place(node.this, _strict), to=node.args["to"])
    return node


def column(name: str, table: str | None = None) -> exp.Column:
    """A resolved column: quoted, so that its name is taken as it is."""
    of = exp.to_identifier(table) if table else None
    return exp.Column(this=exp.Identifier(this=name, quoted=True), table=of)


def instead_of(node: Expr, tree: Expr) -> Expr:
    """`tree` for `node` in an expression: in brackets, unless it is all of it or needs none."""
    # AND, OR and some operators are functions too to sqlglot, but print as operators.
    call = isinstance(tree, exp.Func) and not isinstance(tree, exp.Binary)
    atomic = call or isinstance(tree, exp.Column | exp.Literal | exp.Paren)
    return copied(tree) if atomic or node.parent is None else exp.Paren(this=copied(tree))


def inputs(tree: Expr) -> tuple[str, ...]:
    """The columns read, in order of first use."""
    return tuple(dict.fromkeys(node.name for node in tree.dfs() if isinstance(node, exp.Column)))


def scalar(tree: Expr, schema: Schema, run: ast.Run, result: bool = False) -> Scalar:
    """A resolved tree as a plan's Scalar; the engine's refusal becomes a QueryError.

    result: it is a column of what a script emits, where an INTERVAL is its text.
    """
    refuse_deep_tree(tree, run.span)
    with noted() as casts:
        made = _compiled(tree, schema, run)
    problem = unreadable(made.sql)
    if problem:
        raise QueryError(problem, run.span)
    if made.value is not None:  # a NULL whatever the rows are computes none of them
        refuse_unread(casts, tree, run)
    if made.type == NULL:
        made = cast(made, STRING)
    if holds_interval(made.type) and result:
        made = cast(made, intervals_as_text(made.type))
    if holds_interval(made.type):
        kind = name(made.type).upper()
        message = f"a key, or a column that a query reads, cannot be {kind}; CAST it, to STRING"
        raise QueryError(message, run.span)
    return Scalar(spark(tree), made.sql, made.type, inputs(tree), clock_in(tree, run.span))


def known_column(tree: Expr, types: Mapping[str, pa.DataType]) -> Scalar | None:
    """What `scalar` makes of one of these columns, made once; None for any other tree."""
    if not isinstance(tree, exp.Column) or tree.table or tree.name not in types:
        return None
    type_ = types[tree.name]
    return None if holds_interval(type_) else _column_alone(tree.name, type_)


@lru_cache(maxsize=10_000)
def _column_alone(name: str, type_: pa.DataType) -> Scalar:
    return scalar(column(name), (Column(name, type_),), ast.Run("", "", Span(1, 1)))


def expression_type(tree: Expr, schema: Schema, run: ast.Run) -> pa.DataType:
    """Of a resolved tree: a column's, or one of those within expressions, such as an interval."""
    return _compiled(tree, schema, run).type


def _compiled(tree: Expr, schema: Schema, run: ast.Run) -> Typed:
    try:
        return compiled(tree, schema)
    except Uncompiled as problem:
        raise QueryError(str(problem), word(problem.node, run), legal=problem.legal) from None


def spark(tree: Expr) -> str:
    """Spark SQL, with plain names unquoted."""
    return _printed(rewritten(tree, _unquoted))


def _printed(tree: Expr) -> str:
    """tree: a copy, which printing may change."""
    return tree.sql(SqlwinSpark, unsupported_level=ErrorLevel.IGNORE, copy=False)


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

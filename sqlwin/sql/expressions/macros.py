"""Functions that a text makes of an expression: `CREATE FUNCTION area(a INT, b INT) RETURN a * b`.

A call becomes the expression, its parameters the arguments; nothing further down knows of it. The
expression may call functions that were made before it, so there is no recursion.

Invariant: an expanded tree has the places of the call and of its arguments, never of the body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp
from sqlglot.errors import ParseError

from sqlwin.errors import QueryError, Span
from sqlwin.sql.expressions.dialect.dialect import SqlwinSpark
from sqlwin.sql.expressions.trees import copied, rewritten_in_place
from sqlwin.sql.text import ast

LARGEST = 10_000
"""Nodes of an expression with its calls expanded: of functions that call each other twice, twenty
would be a million."""
CALLED = "called"
_AROUND = (exp.Window, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)
Parse = Callable[[ast.Run], exp.Expr]
Named = Callable[[exp.Expr, ast.Run], tuple[int, int] | None]


def expanded(tree: exp.Expr, run: ast.Run, parse: Parse, named: Named) -> exp.Expr:
    """The tree without calls of the run's macros. parse: a body, itself expanded. named: the
    characters of a call's name. QueryError for another number of arguments, and too large a tree.
    """
    macros = {macro.name.text.lower(): macro for macro in run.macros}
    sizes: list[int] = []

    def put(node: exp.Expr) -> exp.Expr:
        macro = macros.get(node.name.lower()) if isinstance(node, exp.Anonymous) else None
        if macro is None:
            return node
        at = named(node, run)
        span = run.span if at is None else run.at(*at)
        _refuse_misused(node, macro, span)
        arguments = [rewritten_in_place(copied(each), put) for each in node.expressions]
        made = _called(macro, arguments, at, parse)
        sizes.append(sum(1 for _ in made.walk()))
        if sum(sizes) > LARGEST:
            message = f"{macro.name.text} makes an expression of over {LARGEST:,} parts"
            raise QueryError(message, span, legal="fewer calls of functions in functions")
        return made

    return rewritten_in_place(tree, put) if macros else tree


def check(macro: ast.Macro, parse: Parse, place: Callable[[exp.Expr, ast.Run], Span]) -> None:
    """QueryError where its expression reads more than its parameters, or a type is none."""
    known = [name.text.lower() for name, _ in macro.parameters]
    for (name, kind), key in zip(macro.parameters, known, strict=True):
        if known.count(key) > 1:
            raise QueryError(f"{name.text} is a parameter twice", name.span, legal="other names")
        if kind is not None:
            _type(kind)
    if macro.returns is not None:
        _type(macro.returns)
    if macro.body.overs:
        message = "a function of an expression has no OVER: a window is of the query that calls it"
        raise QueryError(message, macro.body.span, legal="OVER behind a call in the query")
    for column in parse(macro.body).find_all(exp.Column):
        if column.name.lower() not in known or column.table:
            message = f"{macro.name.text} has no parameter {column.sql()}"
            raise QueryError(message, place(column, macro.body), legal=", ".join(known) or "none")


def _refuse_misused(call: exp.Expr, macro: ast.Macro, span: Span) -> None:
    given, wanted = len(call.expressions), len(macro.parameters)
    if given != wanted:
        message = f"{macro.name.text} takes {wanted} argument{'s' * (wanted != 1)}, not {given}"
        names = ", ".join(name.text for name, _ in macro.parameters)
        raise QueryError(message, span, legal=f"{macro.name.text}({names})")
    if isinstance(call.parent, _AROUND) and call.arg_key == "this":
        message = f"{macro.name.text} is an expression, which has no FILTER and no OVER of its own"
        raise QueryError(message, span, legal="FILTER and OVER behind an aggregate")


def _called(
    macro: ast.Macro, arguments: list[exp.Expr], at: tuple[int, int] | None, parse: Parse
) -> exp.Expr:
    where: dict[str, Any] = {} if at is None else {"start": at[0], "end": at[1] - 1}
    body = parse(macro.body)
    for node in body.walk():
        node.meta.clear()
        node.meta.update(where)
    by_name = {
        name.text.lower(): argument if kind is None else exp.Cast(this=argument, to=_type(kind))
        for (name, kind), argument in zip(macro.parameters, arguments, strict=True)
    }

    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and not node.table:
            return _together(copied(by_name[node.name.lower()]))
        return node

    made = _together(rewritten_in_place(body, put))
    if macro.returns is not None:
        made = exp.Cast(this=made, to=_type(macro.returns))
    made.meta.update({**where, CALLED: macro.name.text})
    return made


def with_columns(tree: exp.Expr, made: Mapping[str, ast.Run], parse: Parse) -> exp.Expr:
    """The tree with expressions in the place of columns without a qualifier. made: by their names.
    QueryError for too large a tree."""
    sizes: list[int] = []
    bodies: dict[str, exp.Expr] = {}

    def put(node: exp.Expr) -> exp.Expr:
        body = made.get(node.name.lower()) if isinstance(node, exp.Column) else None
        if body is None or not isinstance(node, exp.Column) or node.table:
            return node
        where = {key: node.this.meta[key] for key in ("start", "end") if key in node.this.meta}
        name = node.name.lower()
        if name not in bodies:  # one that is made of itself twice, and so on, is read once
            bodies[name] = parse(body)
        meant = copied(bodies[name])
        for each in meant.walk():
            each.meta.clear()
            each.meta.update(where)
        sizes.append(sum(1 for _ in meant.walk()))
        if sum(sizes) > LARGEST:
            message = f"{node.name} makes an expression of over {LARGEST:,} parts"
            raise QueryError(message, body.span, legal="fewer columns of columns")
        return _together(meant)

    return rewritten_in_place(tree, put)


def is_expanded(node: exp.Expr) -> bool:
    """Whether a call of a function of an expression stood there."""
    return CALLED in node.meta


def _together(tree: exp.Expr) -> exp.Expr:
    """In brackets, unless nothing can come between its parts."""
    whole = (exp.Column, exp.Literal, exp.Paren, exp.Interval)
    called = isinstance(tree, exp.Func) and not isinstance(tree, exp.Binary)
    return tree if called or isinstance(tree, whole) else exp.Paren(this=tree)


def _type(written: ast.Run) -> exp.DataType:
    try:
        return exp.DataType.build(written.original, dialect=SqlwinSpark)
    except (ParseError, ValueError):
        message = f"{written.original} is not a type"
        raise QueryError(message, written.span, legal="BIGINT, DOUBLE, STRING, …") from None

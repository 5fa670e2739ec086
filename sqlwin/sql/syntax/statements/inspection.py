"""The rules of EXPLAIN, DESCRIBE, SHOW and SET."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer
from lark.tree import Meta
from lark.visitors import v_args

from sqlwin.sql.syntax.leaves import Children, key_of, meta_span, named
from sqlwin.sql.text import ast, prepared

SESSION_ZONE = "time.zone"


@v_args(meta=True)
class InspectionRules(Transformer[Token, Any]):
    def explained(self, meta: Meta, children: Children) -> ast.ExplainOf:
        return ast.ExplainOf(children[-1], of_set=True)

    def explain(self, meta: Meta, children: Children) -> ast.ExplainOf:
        return ast.ExplainOf(children[-1], analyze=len(children) > 1)

    def describe(self, meta: Meta, children: Children) -> ast.DescribeOf:
        return ast.DescribeOf(named(next(c for c in children if c.type == "NAME")))

    def show(self, meta: Meta, children: Children) -> ast.Show:
        kind = next(key_of(child) for child in children if child.type == "SHOWN")
        return ast.Show(kind.removeprefix("MATERIALIZED ").replace("SOURCES", "STREAMS"))

    def show_create(self, meta: Meta, children: Children) -> ast.ShowCreateOf:
        kind = key_of(children[0]).removeprefix("CREATE ").removeprefix("MATERIALIZED ")
        return ast.ShowCreateOf(kind, named(children[1]))

    def describe_function(self, meta: Meta, children: Children) -> ast.DescribeFunctionOf:
        return ast.DescribeFunctionOf(named(children[1]))

    def show_functions(self, meta: Meta, children: Children) -> ast.ShowFunctionsLike:
        _, *pattern = children
        return ast.ShowFunctionsLike(prepared.unquoted(pattern[0]) if pattern else None)

    def set(self, meta: Meta, children: Children) -> ast.Set:
        if isinstance(children[0], Token):  # TIME ZONE, Spark's and PostgreSQL's
            return ast.Set(SESSION_ZONE, children[1], meta_span(meta))
        name, value, _ = children[0]
        return ast.Set(name, value, meta_span(meta))

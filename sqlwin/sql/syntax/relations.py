"""Tree to AST: what FROM reads, and joins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token, Transformer
from lark.tree import Meta
from lark.visitors import v_args

from sqlwin.errors import QueryError
from sqlwin.sql.syntax.clauses import Clause
from sqlwin.sql.syntax.leaves import Children, found, key_of, meta_span, named
from sqlwin.sql.syntax.pivots import Lengthened, Turned, lengthened, turned
from sqlwin.sql.syntax.unnests import joined, unnest
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import unquoted
from sqlwin.sql.text.runs import bracketed, parts


@v_args(meta=True)
class RelationRules(Transformer[Token, Any]):
    def relation(self, meta: Meta, children: Children) -> ast.From:
        first, joins = joined(children)
        above = found(children, ast.KsqlWindow) or first.above
        return replace(first, joins=joins, above=above)

    def input(self, meta: Meta, children: Children) -> ast.From:
        source, *rest = children
        if isinstance(source, ast.From):
            from sqlwin.sql.syntax import brackets  # by need

            made = brackets.first(source, rest)
            if isinstance(made, ast.From):
                return made
            source = made
        if _has_names(source, rest):
            from sqlwin.sql.syntax.inline import renamed  # by need

            source = renamed(source, rest)
        pivot = next((at for at, c in enumerate(rest) if isinstance(c, Turned | Lengthened)), None)
        if pivot is not None:
            below = self.input(meta, [source, *rest[:pivot]])
            return self.input(meta, [rest[pivot].of(below), *rest[pivot + 1 :]])
        given = {c.word: c.value for c in rest if isinstance(c, Clause)}
        window = next((c for c in rest if isinstance(c, ast.Spec | ast.KsqlWindow)), None)
        match = found(rest, ast.MatchRecognize)
        return ast.From(source, window, given.get("alias"), given.get("as of"), match=match)

    def pivot(self, meta: Meta, children: Children) -> Turned | Lengthened:
        word, *runs = children
        if word.type == "PIVOT":
            return turned(runs, named(word).span)
        return lengthened(runs, named(word).span, "INCLUDE" in key_of(word))

    def alias(self, meta: Meta, children: Children) -> Clause:
        name, *columns = children
        return Clause("alias", named(name), meta_span(meta), *columns)

    def series(self, meta: Meta, children: Children) -> ast.Inline:
        word, *bounds = children
        return ast.Inline(str(word).upper(), named(word).span, tuple(bounds))

    def as_of(self, meta: Meta, children: Children) -> Clause:
        last = children[-1]
        if isinstance(last, Token):
            last = ast.Name(ast.NOW, meta_span(meta))
        return Clause("as of", last, meta_span(meta))

    # --- joins ---

    def bracketed_join(self, meta: Meta, children: Children) -> ast.From:
        made, joins = joined(children)
        return replace(made, joins=joins)

    def join(self, meta: Meta, children: Children) -> ast.Join:
        word, right, *rest = children
        given = {c.word: c.value for c in rest if isinstance(c, Clause)}
        return ast.Join(
            word=ast.Name(key_of(word), named(word).span),
            right=_joined_to(right),
            on=given.get("on"),
            using=given.get("using", ()),
            match=given.get("match"),
            within=found(rest, ast.Within),
        )

    def comma_join(self, meta: Meta, children: Children) -> ast.Join:
        comma = ast.Name(",", replace(meta_span(meta), length=1))
        return ast.Join(comma, _joined_to(children[-1]))

    def on(self, meta: Meta, children: Children) -> Clause:
        return Clause("on", children[-1], meta_span(meta))

    def using(self, meta: Meta, children: Children) -> Clause:
        return Clause("using", tuple(named(child) for child in children[1:]), meta_span(meta))

    def match(self, meta: Meta, children: Children) -> Clause:
        return Clause("match", children[-1], meta_span(meta))

    def within(self, meta: Meta, children: Children) -> ast.Within:
        graced = any(isinstance(c, Token) and c.type == "GRACE" for c in children)
        durations = [c for c in children if isinstance(c, ast.Duration)]
        grace = durations.pop() if graced else None
        return ast.Within(durations[0], durations[-1], meta_span(meta), grace)

    def lateral(self, meta: Meta, children: Children) -> ast.Join:
        from sqlwin.sql.syntax.subqueries.laterals import lateral  # by need

        word, select, *rest = children
        alias = next((c for c in rest if isinstance(c, tuple)), ())
        on = next((c.value for c in rest if isinstance(c, Clause)), None)
        return lateral(ast.Name(key_of(word), named(word).span), select, alias, on)

    # --- elements of arrays ---

    def unnest(self, meta: Meta, children: Children) -> ast.Unnest:
        return unnest(children, meta_span(meta))

    def unnest_alias(self, meta: Meta, children: Children) -> tuple[ast.Name, ...]:
        alias, *columns = children
        return (named(alias), *(columns[0] if columns else ()))

    def view_columns(self, meta: Meta, children: Children) -> tuple[ast.Name, ...]:
        return tuple(map(named, children))

    # --- what is read ---

    def name(self, meta: Meta, children: Children) -> ast.Name:
        return ast.Name(".".join(named(c).text for c in children), meta_span(meta))

    def hinted(self, meta: Meta, children: Children) -> ast.Optioned:
        from sqlwin.sql.syntax.hints.options import optioned  # by need

        name, hint = children
        return optioned(name, named(hint), reads=True)

    def file(self, meta: Meta, children: Children) -> ast.File:
        return ast.File(unquoted(str(children[0])), meta_span(meta))

    def table_function(self, meta: Meta, children: Children) -> ast.WindowCall:
        function, *arguments = children
        return ast.WindowCall(named(function), tuple(arguments), meta_span(meta))

    def argument(self, meta: Meta, children: Children) -> ast.Argument:
        *label, value = children
        made = value if isinstance(value, ast.Argument) else ast.Argument(None, value, value.span)
        return replace(made, label=named(label[0]).text if label else None, span=meta_span(meta))

    def table_argument(self, meta: Meta, children: Children) -> ast.Argument:
        table, *keys = children
        return ast.Argument(None, table, meta_span(meta), partition=keys[0] if keys else ())

    def table_keys(self, meta: Meta, children: Children) -> tuple[ast.Run, ...]:
        """One expression, or several in brackets: behind a comma stands the next argument."""
        listed = bracketed(children[0])
        return (children[0],) if listed is None else tuple(parts(listed))

    def expression(self, meta: Meta, children: Children) -> ast.Run:
        return children[0]  # type: ignore[no-any-return]

    def descriptor(self, meta: Meta, children: Children) -> ast.Name:
        if len(children) > 1:
            message = "DESCRIPTOR names one column, the event time"
            raise QueryError(message, meta_span(meta), legal="DESCRIPTOR(ts)")
        return children[0]  # type: ignore[no-any-return]


def _joined_to(right: ast.From) -> ast.From:
    """What stands behind JOIN, maybe a join in brackets."""
    if not right.joins:
        return right
    from sqlwin.sql.syntax import brackets  # by need

    return brackets.right(right)


def _has_names(source: Any, rest: Children) -> bool:
    """Whether an alias may name columns of what FROM reads: it is rows of the text, or says so."""
    if isinstance(source, ast.Select):
        source = source.relation.source
    return isinstance(source, ast.Inline) or any(isinstance(c, Clause) and c.columns for c in rest)

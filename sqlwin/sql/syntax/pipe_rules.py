"""Tree to AST: queries that begin with FROM or TABLE, and what stands behind each `|>`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from lark import Token, Transformer
from lark.tree import Meta
from lark.visitors import v_args

from sqlwin.errors import QueryError, Span
from sqlwin.lazy_dataclass import dataclass
from sqlwin.sql.syntax.clauses import Clause
from sqlwin.sql.syntax.leaves import Children, found, meta_span, named, word
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import offset


@dataclass(frozen=True)
class Rows:
    """All rows of a relation, as a query: `FROM a`."""

    relation: ast.From
    span: Span


@dataclass(frozen=True)
class Step:
    """A pipe operator. onto: from the query before it, `flow.Flow`, to that with it."""

    onto: Callable[[Any], Any]


@v_args(meta=True)
class PipeRules(Transformer[Token, Any]):
    source: str

    def from_rows(self, meta: Meta, children: Children) -> Rows:
        read = children[-1]
        relation = read if isinstance(read, ast.From) else ast.From(read)
        return Rows(relation, word(meta, "FROM"))

    def pipe(self, meta: Meta, children: Children) -> Step:
        made = children[-1]
        if isinstance(made, Step):
            return made
        from sqlwin.sql.syntax.pipes import steps  # by need: most queries have no pipe

        span = made.span if isinstance(made, Clause) else meta_span(meta)
        if not isinstance(made, Clause):
            return Step(lambda flow: steps.joined_to(flow, made, _word_of(made, span)))
        of_clauses: dict[str, Callable[..., Any]] = {
            "WHERE": steps.where,
            "ORDER BY": steps.ordered,
            "LIMIT": steps.limited,
        }
        if made.word == "DISTINCT":
            return Step(lambda flow: steps.distinct(flow, made))
        return Step(lambda flow: of_clauses[made.word](flow, made.value))

    def columns(self, meta: Meta, children: Children) -> tuple[ast.Run, ...]:
        return tuple(children)

    def piped_select(self, meta: Meta, children: Children) -> Step:
        from sqlwin.sql.syntax.pipes import steps  # by need

        items, span = _items(children), word(meta, "SELECT")
        clauses = {c.word: c for c in children if isinstance(c, Clause)}
        distinct, windows = clauses.get("DISTINCT"), _windows(clauses)
        hints = _hints(children)
        return Step(
            lambda flow: _hinted(steps.selected(flow, items, distinct, windows, span), hints)
        )

    def extend(self, meta: Meta, children: Children) -> Step:
        from sqlwin.sql.syntax.pipes import steps  # by need

        items, span = _items(children), word(meta, "EXTEND")
        windows = _windows({c.word: c for c in children if isinstance(c, Clause)})
        return Step(lambda flow: steps.extended(flow, items, windows, span))

    def aggregate(self, meta: Meta, children: Children) -> Step:
        from sqlwin.sql.syntax.pipes.aggregates import aggregated  # by need

        group = next((c.value for c in children if isinstance(c, Clause)), ())
        items, span, hints = _items(children), word(meta, "AGGREGATE"), _hints(children)
        return Step(lambda flow: _hinted(aggregated(flow, items, group, span), hints))

    def assign(self, meta: Meta, children: Children) -> Step:
        """One after the other, as in Spark: `SET a = b, c = a` has the new `a` in `c`."""
        from sqlwin.sql.syntax.pipes.stars import assigned  # by need

        def onto(flow: Any) -> Any:
            for name, value in children:
                flow = assigned(flow, name, value)
            return flow

        return Step(onto)

    def assignment(self, meta: Meta, children: Children) -> tuple[ast.Name, ast.Run]:
        return named(children[0]), children[1]

    def dropped(self, meta: Meta, children: Children) -> Step:
        from sqlwin.sql.syntax.pipes.stars import without  # by need

        names = tuple(map(named, children))
        text = self._from(names, meta)
        return Step(lambda flow: without(flow, names, text))

    def renamed(self, meta: Meta, children: Children) -> Step:
        from sqlwin.sql.syntax.pipes.stars import renamed  # by need

        names = tuple(name for child in children if isinstance(child, tuple) for name in child)
        text = self._from(names, meta)
        return Step(lambda flow: renamed(flow, names, text))

    def renaming(self, meta: Meta, children: Children) -> tuple[ast.Name, ...]:
        return tuple(map(named, children))

    def named_rows(self, meta: Meta, children: Children) -> Step:
        from sqlwin.sql.syntax.pipes import steps  # by need

        name = named(children[0])
        return Step(lambda flow: steps.named(flow, name))

    def piped_pivot(self, meta: Meta, children: Children) -> Step:
        from sqlwin.sql.syntax.pipes import steps  # by need

        pivot, alias, span = children[0], _alias(children), meta_span(meta)
        return Step(lambda flow: steps.turned(flow, pivot, alias, span))

    def piped_match(self, meta: Meta, children: Children) -> Step:
        from sqlwin.sql.syntax.pipes import steps  # by need

        match, alias, span = children[0], _alias(children), meta_span(meta)
        return Step(lambda flow: steps.matched(flow, match, alias, span))

    def skip(self, meta: Meta, children: Children) -> Clause:
        bound = ast.Limit(int(float(children[1])) + 1, None, False, meta_span(meta))
        return Clause("LIMIT", bound, word(meta, "OFFSET"))

    def piped_rows(self, meta: Meta, children: Children) -> Step:
        from sqlwin.sql.syntax.pipes import steps  # by need
        from sqlwin.sql.syntax.set_operations import operators

        words = [c for c in children if isinstance(c, Token | ast.Matching)]
        (operator,) = operators(words)
        queries = [of_rows(c) for c in children if isinstance(c, ast.Select | Rows)]
        return Step(lambda flow: steps.beside(flow, operator, queries))

    def _from(self, names: Sequence[ast.Name], meta: Meta) -> str:
        """The text from the first of the names on."""
        return self.source[offset(self.source, names[0].span) : meta.end_pos]


def of_rows(query: ast.Select | Rows) -> ast.Select:
    if isinstance(query, ast.Select):
        return query
    return ast.Select((ast.Run("*", "*", query.span),), query.relation, query.span)


def piped(
    first: ast.Select | Rows,
    steps: Sequence[Step],
    policies: ast.Policies,
    whole: Callable[[ast.Select], ast.Select],
    source: str,
) -> ast.Select:
    """The operators onto the first query. policies: of the whole. whole: what a SELECT becomes to
    which nothing is added; source: the text."""
    from sqlwin.sql.syntax.pipes.flow import begun  # by need

    relation = first.relation if isinstance(first, Rows) else ast.From(first)
    flow = begun(relation, first.span, whole, source)
    for step in steps:
        flow = step.onto(flow)
    if policies.span is not None:
        flow = replace(flow, select=replace(flow.select, policies=policies))
    return flow.query()


# --- what stands behind the word of an operator ---------------------------------------------


def _items(children: Children) -> tuple[ast.Run, ...]:
    return next((c for c in children if isinstance(c, tuple)), ())


def _windows(clauses: dict[str, Clause]) -> tuple[tuple[ast.Name, ast.Spec], ...]:
    return clauses["WINDOW"].value if "WINDOW" in clauses else ()


def _alias(children: Children) -> ast.Name | None:
    clause = found(children[1:], Clause)
    if clause is not None and clause.columns:
        message = "columns get other names by RENAME"
        raise QueryError(message, clause.span, legal="|> RENAME a AS b")
    return None if clause is None else clause.value


def _word_of(made: ast.Join | ast.Unnest, span: Span) -> Span:
    return made.word.span if isinstance(made, ast.Join) else span


def _hints(children: Children) -> tuple[Token, ...]:
    return tuple(c for c in children if isinstance(c, Token) and c.type == "HINT")


def _hinted(flow: Any, hints: Sequence[Token]) -> Any:
    if not hints:
        return flow
    from sqlwin.sql.syntax.hints.of_select import of_select  # by need

    return replace(flow, select=replace(flow.select, **of_select(hints)))

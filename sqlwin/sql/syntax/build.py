"""From the grammar's tree to the AST: names unquoted, durations counted, places kept.

Each method is named after its rule in `grammar/sqlwin.lark` and gets what the
rules below it made. CREATE and the small statements are in `declarations`, what FROM reads in
`relations`, windows in `windows`, policies in `policies`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from sqlwin.errors import QueryError, Span
from sqlwin.python_functions.function import UserFunction
from sqlwin.sql.syntax.clauses import Clause, in_order, policies
from sqlwin.sql.syntax.cql import as_stream, unwrapped
from sqlwin.sql.syntax.leaves import Children, called, key_of, meta_span, named, word
from sqlwin.sql.syntax.pipe_rules import PipeRules, Rows, Step, of_rows, piped
from sqlwin.sql.syntax.policies import PolicyRules
from sqlwin.sql.syntax.relations import RelationRules
from sqlwin.sql.syntax.statements.declarations import DeclarationRules
from sqlwin.sql.syntax.statements.inspection import InspectionRules
from sqlwin.sql.syntax.subqueries.conditions import unnested
from sqlwin.sql.syntax.unnests import in_select
from sqlwin.sql.syntax.windows import WindowRules
from sqlwin.sql.text import ast


@v_args(meta=True)
class Build(DeclarationRules, InspectionRules, WindowRules, RelationRules, PolicyRules, PipeRules):
    """`source` is the text that was parsed; runs are slices of it. query: parses one of them."""

    def __init__(
        self,
        source: str,
        functions: tuple[UserFunction, ...],
        query: Callable[[ast.Run], ast.Select],
        macros: tuple[ast.Macro, ...] = (),
    ) -> None:
        super().__init__(source, functions)
        self.macros = {macro.name.text.lower(): macro for macro in macros}
        self.parse = query

    def start(self, meta: Meta, children: Children) -> list[ast.Statement]:
        return list(_explained(each for each in children if each is not None))

    def window_call(self, meta: Meta, children: Children) -> ast.WindowCall:
        return self.table_function(meta, children)

    # --- queries ---

    def query(self, meta: Meta, children: Children) -> ast.Select:
        ctes = next((child for child in children if isinstance(child, tuple)), None)
        rows = [child for child in children if isinstance(child, ast.Select | Rows)]
        words = [child for child in children if isinstance(child, Token | ast.Matching)]
        steps = [child for child in children if isinstance(child, Step)]
        made = _combined([self._query(row) for row in rows], words) if words else rows[0]
        if isinstance(made, ast.Select) or not steps:
            made = _first_rows(self._query(made))
        if steps:
            given = policies(in_order([c for c in children if isinstance(c, Clause)]))
            made = piped(made, steps, given, self._whole, self.source)
        assert isinstance(made, ast.Select)
        return made if ctes is None else self.with_ctes(made, ctes)

    def _query(self, query: ast.Select | Rows) -> ast.Select:
        return query if isinstance(query, ast.Select) else self.unnested(of_rows(query))

    def _whole(self, select: ast.Select) -> ast.Select:
        """A SELECT that pipe operators have made."""
        return _first_rows(self.unnested(select))

    def matching(self, meta: Meta, children: Children) -> ast.Matching:
        word, *names = children
        return ast.Matching(ast.Name(key_of(word), named(word).span), names[0] if names else ())

    def ctes(self, meta: Meta, children: Children) -> tuple[tuple[ast.Name, ast.Select], ...]:
        first = children[0]
        if isinstance(first, Token):
            message = "a query of WITH reads those before it, and never itself"
            raise QueryError(message, named(first).span, legal="WITH v AS (SELECT …) SELECT …")
        return tuple(children)

    def cte(self, meta: Meta, children: Children) -> tuple[ast.Name, ast.Select]:
        name, *names, select = children
        return named(name), called(select, names)

    def stream_operator(self, meta: Meta, children: Children) -> ast.Select:
        operator, select = children
        return as_stream(select, named(operator))

    def distinct(self, meta: Meta, children: Children) -> Clause:
        return Clause("DISTINCT", tuple(children[1:]), word(meta, "DISTINCT"))

    def items(self, meta: Meta, children: Children) -> tuple[ast.Run, ...]:
        return tuple(children)

    def select(self, meta: Meta, children: Children) -> ast.Select:
        given = [c for c in children if isinstance(c, Clause)]
        distinct = next((c for c in given if c.word == "DISTINCT"), None)
        clauses = in_order([c for c in given if c is not distinct])
        hints = _hints([c for c in children if isinstance(c, Token)])
        columns, change = unwrapped(next(c for c in children if isinstance(c, tuple)))
        made = ast.Select(
            items=columns,
            relation=next(c for c in children if isinstance(c, ast.From)),
            span=Span(meta.line, meta.column, len("SELECT")),
            where=_value(clauses, "WHERE"),
            group=_value(clauses, "GROUP BY") or (),
            having=_value(clauses, "HAVING"),
            qualify=_value(clauses, "QUALIFY"),
            windows=_value(clauses, "WINDOW") or (),
            policies=policies(clauses),
            distinct=None if distinct is None or distinct.value else distinct.span,
            distinct_on=() if distinct is None else distinct.value,
            order=_value(clauses, "ORDER BY") or (),
            limit=_value(clauses, "LIMIT"),
            change=change,
            **hints,
        )
        return self.unnested(made)

    def unnested(self, made: ast.Select) -> ast.Select:
        """With queries and arrays of its expressions in its FROM."""
        if any(join.listed for join in made.relation.joins):
            from sqlwin.sql.syntax.subqueries.scalar import starred

            items = (each for run in made.items for each in starred(run, made.relation))
            made = replace(made, items=tuple(items))
        return unnested(in_select(made), self.parse)

    def values(self, meta: Meta, children: Children) -> ast.Select:
        word, *runs = children
        rows = ast.Inline("VALUES", named(word).span, tuple(runs))
        return ast.Select((ast.Run("*", "*", rows.span),), ast.From(rows), rows.span)

    def where(self, meta: Meta, children: Children) -> Clause:
        return Clause("WHERE", children[0], word(meta, "WHERE"))

    def group(self, meta: Meta, children: Children) -> Clause:
        return Clause("GROUP BY", tuple(children), word(meta, "GROUP BY"))

    def having(self, meta: Meta, children: Children) -> Clause:
        return Clause("HAVING", children[0], word(meta, "HAVING"))

    def named_windows(self, meta: Meta, children: Children) -> Clause:
        return Clause("WINDOW", tuple(children[1:]), word(meta, "WINDOW"))

    def named_window(self, meta: Meta, children: Children) -> tuple[ast.Name, ast.Spec]:
        return named(children[0]), children[1]

    def qualify(self, meta: Meta, children: Children) -> Clause:
        return Clause("QUALIFY", children[0], word(meta, "QUALIFY"))

    def order(self, meta: Meta, children: Children) -> Clause:
        return Clause("ORDER BY", tuple(children[1:]), word(meta, "ORDER BY"))

    def limit(self, meta: Meta, children: Children) -> Clause:
        from sqlwin.sql.syntax.first_rows import limit  # by need

        text = self.source[meta.start_pos : meta.end_pos]
        return Clause("LIMIT", limit(text, meta_span(meta)), word(meta, "LIMIT"))

    def subquery(self, meta: Meta, children: Children) -> ast.Select:
        return children[0]  # type: ignore[no-any-return]


def _explained(found: Iterable[ast.Statement | ast.EndOfSet]) -> Iterator[ast.Statement]:
    """Every INSERT of a statement set behind EXPLAIN, to its END."""
    within = False
    for each in found:
        if isinstance(each, ast.EndOfSet):
            within = False
        else:
            yield ast.ExplainOf(each) if within and isinstance(each, ast.Insert) else each
            within = within or (isinstance(each, ast.ExplainOf) and each.of_set)


def _value(clauses: dict[str, Clause], name: str) -> Any:
    return clauses[name].value if name in clauses else None


def _hints(tokens: list[Token]) -> dict[str, Any]:
    if not tokens:
        return {}
    from sqlwin.sql.syntax.hints.of_select import of_select  # by need

    return of_select(tokens)


def _first_rows(select: ast.Select) -> ast.Select:
    if not select.order and not select.distinct_on and select.limit is None:
        return select
    from sqlwin.sql.syntax.first_rows import first_rows  # by need

    return first_rows(select)


def _combined(rows: list[ast.Select], words: list[Token | ast.Matching]) -> ast.Select:
    from sqlwin.sql.syntax.set_operations import combined, operators

    return combined(rows, operators(words))

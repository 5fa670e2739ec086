"""What DEFINE and MEASURES read of a match: its terms, and the expressions around them.

A column of a variable is that of the last row mapped to it; FIRST and LAST say which row, PREV the
one before it in the partition, and an aggregate takes all rows of a variable. Columns without a
variable are of any. All else in an expression stays, over the terms.
"""

from __future__ import annotations

import re
from dataclasses import field, replace

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.patterns import Navigation
from sqlwin.plan.ir.matches import Condition, MatchAggregate, Term, type_of
from sqlwin.plan.ir.streams import column_of
from sqlwin.schema import TIMESTAMP, Column
from sqlwin.sql.expressions.calls import call_at
from sqlwin.sql.expressions.places import place, word_range
from sqlwin.sql.expressions.scalars import Expr, column, parsed
from sqlwin.sql.expressions.trees import copied, rewritten
from sqlwin.sql.matches.clauses import Names
from sqlwin.sql.relations.below import Below
from sqlwin.sql.relations.relation import condition
from sqlwin.sql.relations.scope import Scope
from sqlwin.sql.text import ast
from sqlwin.sql.text.prepared import QUOTED

LEGAL = "FIRST(a.price), LAST(a.price, 1), PREV(price), SUM(a.price), CLASSIFIER(), MATCH_ROWTIME()"
_FIRST, _LAST = "F_RST", "L_ST"
"""What FIRST and LAST are called for sqlglot, which forgets their second argument."""
_RENAMED = {"FIRST": _FIRST, "LAST": _LAST}
_CALLED = re.compile(
    rf"(?P<quoted>{QUOTED})|(?<![\w.])(?:(?P<name>FIRST|LAST)|(?P<when>FINAL|RUNNING)(?=\s+\w))"
    r"(?=\s*\(|\s)",
    re.IGNORECASE | re.DOTALL,
)
_MOST_OFFSET = 1_000


def _for_sqlglot(run: ast.Run) -> ast.Run:
    def renamed(found: re.Match[str]) -> str:
        if found["when"]:
            return " " * len(found[0])
        return found[0] if found["name"] is None else _RENAMED[found["name"].upper()]

    return replace(run, text=_CALLED.sub(renamed, run.text))


@dataclass
class Terms:
    """finals: whether FINAL and RUNNING differ, for each row of a match is given. found: the terms
    so far; those of one query that are alike are one."""

    below: Below
    scope: Scope
    names: Names
    finals: bool = False
    found: dict[Term, Term] = field(default_factory=dict)

    def condition(self, variable: str, run: ast.Run) -> Condition:
        """QueryError where it is no condition."""
        final = next((each for each in _CALLED.finditer(run.text) if _says_final(each)), None)
        if final is not None:
            message = "FINAL stands in MEASURES: a condition is of the match so far"
            raise QueryError(message, run.at(*final.span("when")), legal="LAST(a.price)")
        found, self.found = self.found, {}
        tree = self.over(run)
        terms = tuple(self.found.values())
        self.found = found
        types = {name: made.type for name, made in self.below.columns.items()}
        schema = tuple(Column(term.name, type_of(term, types)) for term in terms)
        predicate = condition(tree, schema, run)
        return Condition(variable, predicate, terms, " ".join(run.original.split()))

    def over(self, run: ast.Run, wanted: str | None = None) -> Expr:
        """The expression over terms; wanted: what one that is all of it is called."""
        own = _for_sqlglot(run)
        tree = parsed(own)
        return rewritten(
            tree, lambda node: self._over(node, own, wanted if node.parent is None else None)
        )

    def _over(self, node: Expr, run: ast.Run, wanted: str | None) -> Expr:
        if isinstance(node, exp.Anonymous) and node.name.upper() in _NAVIGATIONS:
            final = self.finals and _is_final(node, run)
            return self._named(replace(self._navigation(node, run), final=final), wanted)
        if isinstance(node, exp.Anonymous) and node.name.upper() in _REFUSED:
            message, legal = _REFUSED[node.name.upper()]
            raise QueryError(message, place(node, run), legal=legal)
        if isinstance(node, exp.Column):
            return self._named(self._navigation(node, run), wanted)
        call = call_at(node, run)
        return node if call is None else self._named(self._aggregate(node, run), wanted)

    def _named(self, term: Term, wanted: str | None) -> Expr:
        """The column of a term, whose name is not given yet."""
        if term not in self.found:
            name = self.below.free("term", wanted)
            if isinstance(term, MatchAggregate):
                self.found[term] = replace(term, aggregate=replace(term.aggregate, name=name))
            else:
                self.found[term] = replace(term, name=name)
        return column(self.found[term].name)

    # Values of one row.

    def _navigation(self, node: Expr, run: ast.Run) -> Navigation:
        if not isinstance(node, exp.Anonymous):
            return self._of_row(node, run)
        name = node.name.upper()
        if name == "CLASSIFIER":
            return self._classifier(node, run)
        if name == "MATCH_ROWTIME":
            return Navigation("", self._event_time(node, run))
        inner, offset = self._operands(node, run)
        called = isinstance(inner, exp.Anonymous) and inner.name.upper() in (_FIRST, _LAST)
        if name == "PREV":
            made = self._navigation(inner, run) if called else self._of_row(inner, run)
            return replace(made, back=1 if offset is None else offset)
        return replace(self._of_row(inner, run), first=name == _FIRST, offset=offset or 0)

    def _classifier(self, node: exp.Anonymous, run: ast.Run) -> Navigation:
        given, *more = node.expressions or [None]
        known = None if given is None else self.names.find(given.name)
        plain = isinstance(given, exp.Column) and len(given.parts) == 1
        if more or (given is not None and (known is None or not plain)):
            message = "CLASSIFIER takes no argument, or a variable"
            raise QueryError(message, place(node, run), legal=LEGAL)
        return Navigation("", None, known, members=self.names.members(known))

    def _operands(self, node: exp.Anonymous, run: ast.Run) -> tuple[Expr, int | None]:
        """The expression of FIRST, LAST or PREV, and the number behind it."""
        inner, *offset = node.expressions or [None]
        if inner is None or len(offset) > 1:
            raise QueryError("a value, and a number of rows", place(node, run), legal=LEGAL)
        if not offset:
            return inner, None
        number = offset[0]
        whole = isinstance(number, exp.Literal) and not number.is_string and number.name.isdecimal()
        if not whole or int(number.name) > _MOST_OFFSET:
            message = f"a number of rows from 0 to {_MOST_OFFSET} stands here"
            raise QueryError(message, place(number, run), legal="LAST(a.price, 1)")
        return inner, int(number.name)

    def _of_row(self, tree: Expr, run: ast.Run) -> Navigation:
        variable, plain = self._plain(tree, run)
        resolved = self.scope.resolved(plain, run)
        if not list(resolved.find_all(exp.Column)) or self._calls(resolved, run):
            message = "FIRST, LAST and PREV take a value of one row"
            raise QueryError(message, place(tree, run), legal=LEGAL)
        name = self.below.add(resolved, run, "value")
        return Navigation("", name, variable, members=self.names.members(variable))

    def _calls(self, tree: Expr, run: ast.Run) -> bool:
        return any(
            (isinstance(node, exp.Anonymous) and node.name.upper() in _NAVIGATIONS)
            or call_at(node, run) is not None
            for node in tree.walk()
        )

    def _event_time(self, node: exp.Anonymous, run: ast.Run) -> str:
        stream = self.scope.relation.stream
        assert stream is not None and stream.ts is not None
        for given in node.expressions:
            resolved = self.scope.resolved(given, run)
            if len(node.expressions) > 1 or self.scope.relation.below(resolved).name != stream.ts:
                message = "MATCH_ROWTIME is of the event time"
                raise QueryError(message, place(given, run), legal=f"MATCH_ROWTIME({stream.ts})")
        return self.below.put(column_of(Column(stream.ts, TIMESTAMP)), "value", stream.ts)

    # Values of many rows.

    def _aggregate(self, node: Expr, run: ast.Run) -> MatchAggregate:
        variable, plain = self._plain(node, run)
        call = call_at(plain, run)
        assert call is not None
        if call.over is not None:
            message = "OVER cannot stand in MATCH_RECOGNIZE"
            raise QueryError(message, place(node, run), legal=LEGAL)
        made = self.below.aggregate(call, run)
        final = self.finals and _is_final(node, run)
        return MatchAggregate(made, variable, self.names.members(variable), final)

    # Variables.

    def _plain(self, tree: Expr, run: ast.Run) -> tuple[str | None, Expr]:
        """The one variable that an expression names, and the expression without it."""
        named = {self._variable(node) for node in tree.find_all(exp.Column)} or {None}
        if len(named) > 1:
            message = "what one row is asked for has one variable, or none"
            raise QueryError(
                message, place(tree, run), legal="SUM(a.price * a.tax), a.price + b.price"
            )
        return next(iter(named)), rewritten(copied(tree), self._unqualified)

    def _variable(self, node: exp.Column) -> str | None:
        first, *rest = node.parts
        return self.names.find(first.name) if rest else None

    def _unqualified(self, node: Expr) -> Expr:
        if not isinstance(node, exp.Column) or self._variable(node) is None:
            return node
        if isinstance(node.this, exp.Star):
            return exp.Star()
        return exp.Column(
            **dict(zip(("this", "table", "db"), reversed(node.parts[1:]), strict=False))
        )


def _says_final(found: re.Match[str]) -> bool:
    return (found["when"] or "").upper() == "FINAL"


def _is_final(node: Expr, run: ast.Run) -> bool:
    """Whether FINAL stands before the call, which may have a FILTER behind it."""
    while isinstance(node, exp.Filter | exp.IgnoreNulls | exp.WithinGroup):
        node = node.this
    found = word_range(node, run)
    if found is None:
        return False
    return re.search(r"\bFINAL\s+\Z", run.original[: found[0]], re.IGNORECASE) is not None


_NAVIGATIONS = (_FIRST, _LAST, "PREV", "CLASSIFIER", "MATCH_ROWTIME")
_REFUSED = {
    "NEXT": (
        "NEXT looks at rows that may not be there yet, and is not supported",
        "a variable for the row behind: PATTERN (a b) DEFINE b AS b.price > a.price",
    ),
    "MATCH_NUMBER": (
        "MATCH_NUMBER is not supported: a late row would give all later matches another number",
        "FIRST(ts), by which a match of a partition is known",
    ),
    "MATCH_PROCTIME": (
        "MATCH_PROCTIME is not supported: no answer could be redone",
        "MATCH_ROWTIME()",
    ),
}

"""What the statements of a text have declared so far, and its queries, bound."""

from __future__ import annotations

from dataclasses import field, replace

from sqlwin.aggregates.python import PythonAggregate
from sqlwin.errors import QueryError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.plan.ir.nodes import Node
from sqlwin.plan.ir.statements import Query, Script, Sink, Statement
from sqlwin.plan.properties.facts import functions_of, operator_of, plans_of, window_policy
from sqlwin.plan.rules.optimizer import optimize
from sqlwin.plan.stages import staged
from sqlwin.python_functions.function import PythonFunction, UserFunction, calls
from sqlwin.sql.expressions.volatile import refuse_clock, refuse_two_readings, refuse_two_times
from sqlwin.sql.relations.relation import Relation
from sqlwin.sql.select.results import into, named_results, refuse_changes
from sqlwin.sql.select.select import bind_select
from sqlwin.sql.sources.declared import declarations
from sqlwin.sql.sources.from_clause import of_rows
from sqlwin.sql.sources.known import Known
from sqlwin.sql.sources.readers import read_names, read_often
from sqlwin.sql.text import ast
from sqlwin.sql.windows.ttl import with_ttl


@dataclass
class Binding:
    """answers: statements that run or say something. read: names that statements read, or write
    to, in lower case. tables: the declarations of streams and tables, by name. written: statements
    that declare something, by its name. made_functions: those of the text, by name. dropped: names
    of functions in Python that what was bound before may still call."""

    known: Known = field(default_factory=Known)
    settings: dict[str, str] = field(default_factory=dict)
    answers: list[Statement] = field(default_factory=list)
    functions: tuple[UserFunction, ...] = ()
    read: set[str] = field(default_factory=set)
    tables: dict[str, ast.CreateStream] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    made_functions: dict[str, ast.CreateFunction | ast.CreatePython] = field(default_factory=dict)
    dropped: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.known.declared = self.tables

    def script(self) -> Script:
        return Script(
            streams=tuple(self.known.streams.values()),
            statements=tuple(self.answers),
            settings=tuple(sorted(self.settings.items())),
        )

    def fresh(self, name: ast.Name, existing: ast.Existing) -> str | None:
        """The name in lower case, which nothing has from now on; None where what has it is kept.

        QueryError where something has it, and `existing` says nothing of that, or it is read.
        """
        key = name.text.lower()
        if not self.known.has(key):
            return key
        if existing is ast.Existing.KEPT:
            return None
        if existing is ast.Existing.REFUSED:
            legal = "another name, or CREATE OR REPLACE"
            raise QueryError(f"{name.text} exists already", name.span, legal=legal)
        self.forget(name)
        return key

    @property
    def callable(self) -> tuple[UserFunction, ...]:
        """Functions in Python that the next statement may call."""
        return tuple(each for each in self.functions if each.name.lower() not in self.dropped)

    def make_function(self, name: ast.Name, made: ast.CreateFunction | ast.CreatePython) -> None:
        self.made_functions[name.text.lower()] = made
        if isinstance(made, ast.CreatePython):
            self.dropped.discard(name.text.lower())

    def drop_function(self, name: ast.Name) -> None:
        made = self.made_functions.pop(name.text.lower(), None)
        if isinstance(made, ast.CreatePython):
            self.dropped.add(name.text.lower())

    def forget(self, name: ast.Name) -> None:
        """QueryError where a statement before reads it, or writes to it."""
        key = name.text.lower()
        if key in self.read:
            message = f"{name.text} is read by a statement before, or written to"
            raise QueryError(message, name.span, legal="DROP before that, or another name")
        for kind in (*self.known.kinds(), self.tables, self.written):
            kind.pop(key, None)

    def query(self, statement: ast.Select | ast.Insert, sink: Sink | None = None) -> Query:
        """sink: of an INSERT into one that has no name of its own."""
        self.reads(statement)
        made = self._query(statement, sink)
        refuse_clock(made.plan)
        select = statement if isinstance(statement, ast.Select) else statement.select
        refuse_two_times(made.plan, select.span)
        refuse_two_readings(made.plan, select.span)
        return made

    def reads(self, statement: ast.Statement) -> None:
        self.read.update(map(str.lower, read_names(statement)))

    def _query(self, statement: ast.Select | ast.Insert, sink: Sink | None) -> Query:
        self.known.shared = read_often(statement, self.known)
        if isinstance(statement, ast.Select):
            relation, errors_into = self.with_errors(statement)
            plan = with_ttl(optimize(relation.plan(result=True)), relation.ttl, self.known.ttl)
            plan = staged(plan)
            return self.made(plan, None, errors_into)
        sink = sink or self.sink(statement.sink)
        relation, errors_into = self.with_errors(statement.select)
        plan = optimize(into(sink, relation.plan(result=True), statement))
        plan = staged(with_ttl(plan, relation.ttl, self.known.ttl))
        refuse_changes(sink, plan, statement)
        return self.made(plan, sink, errors_into)

    def made(self, plan: Node, sink: Sink | None, errors_into: str | None) -> Query:
        policy = window_policy(plan)
        name = errors_into if policy is None else policy.errors
        errors = None if name is None else self.known.sinks.get(name.lower())
        used, scalars = self.used(plan), self.scalars(plan)
        made = Query(plan, sink, errors=errors, functions=used, errors_into=errors_into)
        return replace(made, scalars=scalars) if scalars else made

    def with_errors(self, select: ast.Select) -> tuple[Relation, str | None]:
        """And the name of EXPIRED INTO, where no window has it for its policy.

        A query without a window has rows that are malformed, too.
        """
        expired = select.policies.expired
        only_expired = ast.Policies(expired=expired, span=select.policies.span)
        if expired is None or expired.into is None or select.policies != only_expired:
            return self.result(select), None
        bare = self.result(replace(select, policies=ast.Policies()))
        if operator_of(bare.plan(result=True)) is None:
            return bare, expired.into.text
        return self.result(select), None

    def result(self, select: ast.Select) -> Relation:
        return named_results(of_rows(bind_select(select, self.known), select.relation.source.span))

    def used(self, plan: Node) -> tuple[PythonAggregate, ...]:
        names = functions_of(plan)
        aggregates = (f for f in self.functions if isinstance(f, PythonAggregate))
        return tuple(function for function in aggregates if function.name in names)

    def scalars(self, plan: Node) -> tuple[PythonFunction, ...]:
        """Those that the expressions of a plan, and of those below it, call."""
        known = [f for f in self.functions if isinstance(f, PythonFunction)]
        text = repr(list(plans_of(plan))) if known else ""
        return tuple(function for function in known if calls(text, function))

    def sink(self, name: ast.Name) -> Sink:
        """A sink, or a table that is written to, as Flink has it."""
        found = self._sink(name)
        if not isinstance(name, ast.Optioned):
            return found
        from sqlwin.sql.sources import optioned  # by need

        return optioned.sink(name, found)

    def _sink(self, name: ast.Name) -> Sink:
        key = name.text.lower()
        self.read.add(key)
        found = self.known.sinks.get(key)
        if found is None and key in self.tables:
            return declarations.sink(declarations.as_sink(self.tables[key]))
        if found is None:
            legal = ", ".join(s.name for s in self.known.sinks.values()) or "CREATE SINK … first"
            raise QueryError(f"no sink is called {name.text}", name.span, legal=legal)
        return found

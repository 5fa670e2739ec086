"""A whole text, statement by statement, each seeing what those before it declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlwin.errors import QueryError
from sqlwin.functions.elsewhere import ELSEWHERE
from sqlwin.plan.explain.functions import described, names
from sqlwin.plan.ir.nodes import (
    Describe,
    DescribeFunction,
    Node,
    Query,
    Script,
    ShowFunctions,
    ShowStreams,
    Sink,
    Statement,
    Stream,
)
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.plan.options.connectors import is_positive
from sqlwin.plan.options.elsewhere import SETTINGS as OF_ANOTHER
from sqlwin.plan.options.settings import FIXED, SETTINGS, SPARK
from sqlwin.plan.options.ttl_options import ALIASES, OPTIONS, STATE, options
from sqlwin.plan.properties.facts import (
    functions_of,
    operator_of,
    window_policy,
)
from sqlwin.plan.rules.optimizer import optimize
from sqlwin.plan.stages import staged
from sqlwin.python_aggregates import PythonAggregate
from sqlwin.sql.expressions.registered import checked
from sqlwin.sql.expressions.volatile import refuse_clock
from sqlwin.sql.relations.rank_bounds import OpenTop
from sqlwin.sql.relations.relation import Relation, nearest
from sqlwin.sql.select.results import into, named_results, refuse_changes
from sqlwin.sql.select.select import bind_select
from sqlwin.sql.sources import declarations
from sqlwin.sql.sources.derived import derived
from sqlwin.sql.sources.files import Infer, NamedFiles
from sqlwin.sql.sources.from_clause import Known, View, of_rows
from sqlwin.sql.sources.readers import made_names, read_names, read_often
from sqlwin.sql.syntax.hints import JOIN_WINDOW, sized
from sqlwin.sql.syntax.parser import statements
from sqlwin.sql.text import ast
from sqlwin.sql.text.depth import refuse_deep, room
from sqlwin.sql.text.prepared import prepare
from sqlwin.sql.windows.ttl import with_ttl


def script(
    text: str,
    streams: Mapping[str, Stream] | None = None,
    params: Mapping[str, str] | None = None,
    functions: Sequence[PythonAggregate] = (),
    tables: Mapping[str, Stream] | None = None,
    infer: Infer | None = None,
) -> Script:
    """Bind a text. `streams` and static `tables` are known to it as if declared; `params` are
    values of `:name`; `functions` are aggregates that it may call; `infer` gives the stream
    that reads a file of FROM.

    QueryError, with its place in `text`, for the first mistake.
    """
    prepared = prepare(text, params or {})
    given, static = _named(streams), _named(tables)
    files = NamedFiles.of(given, infer)
    binding = Binding(functions=checked(functions), known=Known(files=files))
    binding.known.streams.update({stream.name.lower(): stream for stream in given})
    binding.known.tables.update({table.name.lower(): table for table in static})
    try:
        with room():
            refuse_deep(prepared.text)
            for statement in statements(prepared.text, binding.functions):
                binding.take(statement)
    except QueryError as error:
        raise prepared.located(error) from None
    read = tuple(each for each in files.streams.values() if each not in given)
    source_text = SourceText(text, tuple((params or {}).items()), (*given, *read), static)
    return replace(binding.script(), source_text=source_text)


def _named(streams: Mapping[str, Stream] | None) -> tuple[Stream, ...]:
    return tuple(replace(stream, name=name) for name, stream in (streams or {}).items())


def declared(
    text: str,
    params: Mapping[str, str] | None = None,
    functions: Sequence[PythonAggregate] = (),
) -> frozenset[str]:
    """Names of the streams and tables that a text declares by itself, in lower case.

    >>> sorted(declared("CREATE STREAM Orders (n INT); SELECT n FROM orders JOIN products"))
    ['orders']
    """
    return _streams(_parsed(text, params, functions))


def reads(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Names that the queries of a text read: of its own streams, in lower case, and of others.

    >>> own, others = reads("CREATE STREAM orders (n INT); SELECT n FROM Orders JOIN Products")
    >>> sorted(own), sorted(others)
    (['orders'], ['Products'])
    """
    found = _parsed(text)
    read = frozenset(read_names(found))
    made = frozenset(map(str.lower, made_names(found)))
    others = frozenset(name for name in read if name.lower() not in made)
    return frozenset(map(str.lower, read)) & _streams(found), others


def _streams(found: Sequence[ast.Statement]) -> frozenset[str]:
    return frozenset(s.name.text.lower() for s in found if isinstance(s, ast.CreateStream))


def _parsed(
    text: str,
    params: Mapping[str, str] | None = None,
    functions: Sequence[PythonAggregate] = (),
) -> tuple[ast.Statement, ...]:
    prepared = prepare(text, params or {})
    try:
        with room():
            refuse_deep(prepared.text)
            return tuple(statements(prepared.text, checked(functions)))
    except QueryError as error:
        raise prepared.located(error) from None


@dataclass
class Binding:
    known: Known = field(default_factory=Known)
    settings: dict[str, str] = field(default_factory=dict)
    answers: list[Statement] = field(default_factory=list)
    functions: tuple[PythonAggregate, ...] = ()

    def take(self, statement: ast.Statement) -> None:
        TAKES[type(statement)](self, statement)

    def script(self) -> Script:
        return Script(
            streams=tuple(self.known.streams.values()),
            statements=tuple(self.answers),
            settings=tuple(sorted(self.settings.items())),
        )

    def fresh(self, name: ast.Name) -> str:
        """The name in lower case, if nothing has it yet."""
        key, known = name.text.lower(), self.known
        if known.has(key):
            raise QueryError(f"{name.text} exists already", name.span, legal="another name")
        return key

    def query(self, statement: ast.Select | ast.Insert) -> Query:
        made = self._query(statement)
        refuse_clock(made.plan)
        return made

    def _query(self, statement: ast.Select | ast.Insert) -> Query:
        self.known.shared = read_often(statement, self.known)
        if isinstance(statement, ast.Select):
            relation, errors_into = self.with_errors(statement)
            plan = with_ttl(optimize(relation.plan(result=True)), relation.ttl, self.known.ttl)
            plan = staged(plan)
            return self.made(plan, None, errors_into)
        sink = self.sink(statement.sink)
        relation, errors_into = self.with_errors(statement.select)
        plan = optimize(into(sink, relation.plan(result=True), statement))
        plan = staged(with_ttl(plan, relation.ttl, self.known.ttl))
        refuse_changes(sink, plan, statement)
        return self.made(plan, sink, errors_into)

    def made(self, plan: Node, sink: Sink | None, errors_into: str | None) -> Query:
        policy = window_policy(plan)
        name = errors_into if policy is None else policy.errors
        errors = None if name is None else self.known.sinks.get(name.lower())
        used = self.used(plan)
        return Query(plan, sink, errors=errors, functions=used, errors_into=errors_into)

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
        return tuple(function for function in self.functions if function.name in names)

    def sink(self, name: ast.Name) -> Sink:
        found = self.known.sinks.get(name.text.lower())
        if found is None:
            legal = ", ".join(s.name for s in self.known.sinks.values()) or "CREATE SINK … first"
            raise QueryError(f"no sink is called {name.text}", name.span, legal=legal)
        return found


def _stream(binding: Binding, statement: ast.CreateStream) -> None:
    key = binding.fresh(statement.name)
    made = declarations.stream(statement)
    if declarations.is_static(statement):
        binding.known.tables[key] = made
    else:
        binding.known.streams[key] = made


def _view(binding: Binding, statement: ast.CreateView) -> None:
    key = binding.fresh(statement.name)
    binding.known.shared = read_often(statement, binding.known)
    view = View.of(statement.name, statement.select, binding.known, bind_select)
    view.relation(binding.known)
    binding.known.views[key] = view


def _sink(binding: Binding, statement: ast.CreateSink) -> None:
    binding.known.sinks[binding.fresh(statement.name)] = declarations.sink(statement)


def _query(binding: Binding, statement: ast.Select | ast.Insert) -> None:
    binding.answers.append(binding.query(statement))


def _explain(binding: Binding, statement: ast.ExplainOf) -> None:
    query = replace(binding.query(statement.query), explain=True, analyze=statement.analyze)
    binding.answers.append(query)


def _describe(binding: Binding, statement: ast.DescribeOf) -> None:
    key = statement.name.text.lower()
    sink = binding.known.sinks.get(key)
    if sink is not None:
        binding.answers.append(Describe(sink.name, sink.columns or ()))
        return
    table = binding.known.tables.get(key)
    if table is not None:
        binding.answers.append(Describe(statement.name.text, table.schema, table))
        return
    relation = binding.known.relation(statement.name)
    stream = binding.known.streams.get(key)
    if stream is None and not isinstance(relation.base, OpenTop):
        made = derived(relation, binding.known).stream
        stream = made if made is not None and made.of else None
    binding.answers.append(Describe(statement.name.text, relation.schema(), stream))


def _show(binding: Binding, statement: ast.ShowAll) -> None:
    binding.answers.append(ShowStreams(tuple(binding.known.streams.values())))


def _describe_function(binding: Binding, statement: ast.DescribeFunctionOf) -> None:
    name = statement.name.text
    if described(name) is None:
        near = nearest(name.lower(), names(), ELSEWHERE)
        raise QueryError(f"no function is called {name}{near}", statement.name.span)
    binding.answers.append(DescribeFunction(name))


def _show_functions(binding: Binding, statement: ast.ShowFunctionsLike) -> None:
    binding.answers.append(ShowFunctions(statement.pattern))


def _set(binding: Binding, statement: ast.Set) -> None:
    name, value = statement.name.lower(), statement.value
    if name.startswith(SPARK):  # Spark distinguishes upper case from lower
        if statement.name in FIXED:
            message = f"{statement.name} cannot be set: {FIXED[statement.name]}"
            raise QueryError(message, statement.span, legal="other settings of Spark")
        binding.settings[statement.name] = value
        return
    name = ALIASES.get(name, name)
    if name.startswith(STATE):
        binding.known.ttl |= options({name: value}, statement.span)
        return
    if name == JOIN_WINDOW:
        binding.known.large = sized(value, statement.span, name)
        return
    if name not in SETTINGS:
        legal = "; ".join(f"{known} ({what})" for known, what in SETTINGS.items())
        legal = f"{legal}; {JOIN_WINDOW} (small, large); {', '.join(OPTIONS)}"
        near = nearest(statement.name, (*SETTINGS, JOIN_WINDOW, *OPTIONS), OF_ANOTHER)
        message = f"there is no setting {statement.name}{near}"
        raise QueryError(message, statement.span, legal=legal)
    if not is_positive(value):
        raise QueryError(f"{name} is a count, not {value}", statement.span, legal=f"SET {name} = 8")
    binding.settings[name] = value


TAKES: dict[type, Callable[[Binding, Any], None]] = {
    ast.CreateStream: _stream,
    ast.CreateView: _view,
    ast.CreateSink: _sink,
    ast.Insert: _query,
    ast.Select: _query,
    ast.ExplainOf: _explain,
    ast.DescribeOf: _describe,
    ast.ShowAll: _show,
    ast.DescribeFunctionOf: _describe_function,
    ast.ShowFunctionsLike: _show_functions,
    ast.Set: _set,
}

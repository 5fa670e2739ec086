"""What each statement does to what was declared, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from sqlwin.errors import QueryError
from sqlwin.functions.elsewhere import ELSEWHERE
from sqlwin.plan.explain.functions import described, names
from sqlwin.plan.ir.statements import (
    Describe,
    DescribeFunction,
    ShowCreate,
    ShowDeclared,
    ShowFunctions,
)
from sqlwin.schema import Schema
from sqlwin.sql.binding import Binding
from sqlwin.sql.expressions import macros
from sqlwin.sql.expressions.places import place, word
from sqlwin.sql.expressions.registered import is_built_in
from sqlwin.sql.expressions.scalars import parsed
from sqlwin.sql.relations.rank_bounds import OpenTop
from sqlwin.sql.relations.relation import nearest
from sqlwin.sql.select.select import bind_select
from sqlwin.sql.settings import set_to
from sqlwin.sql.sources.declared import declarations
from sqlwin.sql.sources.derived import derived
from sqlwin.sql.sources.known import View
from sqlwin.sql.sources.readers import read_often
from sqlwin.sql.text import ast
from sqlwin.system.secrets import masked


def take(binding: Binding, statement: ast.Statement) -> None:
    TAKES[type(statement)](binding, statement)


def _stream(binding: Binding, statement: ast.CreateStream) -> None:
    if statement.like is not None:
        from sqlwin.sql.sources.alike import alike  # by need

        statement = alike(statement, statement.like, binding.tables)
    key = binding.fresh(statement.name, statement.existing)
    if declarations.is_sink(statement):
        sink = declarations.sink(declarations.as_sink(statement))
        if key is not None:
            binding.known.sinks[key] = sink
            binding.written[key] = statement.written
            binding.tables[key] = statement
        return
    made = declarations.stream(statement)
    if key is None:
        return
    binding.tables[key] = statement
    binding.written[key] = statement.written
    if declarations.is_static(statement):
        binding.known.tables[key] = made
    else:
        binding.known.streams[key] = made


def _view(binding: Binding, statement: ast.CreateView) -> None:
    key = binding.fresh(statement.name, statement.existing)
    if key is not None:
        binding.known.views[key] = _bound_view(binding, statement.name, statement.select)
        binding.written[key] = statement.written


def _bound_view(binding: Binding, name: ast.Name, select: ast.Select) -> View:
    binding.reads(ast.CreateView(name, select))
    binding.known.shared = read_often(select, binding.known)
    view = View.of(name, select, binding.known, bind_select)
    view.relation(binding.known).check()
    return view


def _sink(binding: Binding, statement: ast.CreateSink) -> None:
    key, made = binding.fresh(statement.name, statement.existing), declarations.sink(statement)
    if key is not None:
        binding.known.sinks[key] = made
        binding.written[key] = statement.written


def _create_as(binding: Binding, statement: ast.CreateAs) -> None:
    """A view that later statements read, and a query that gives its rows."""
    key = binding.fresh(statement.name, statement.existing)
    if key is None:
        return
    sink = None if statement.sink is None else declarations.sink(statement.sink)
    if sink is None:
        query = binding.query(statement.select)
    else:
        query = binding.query(ast.Insert(statement.name, statement.select), sink)
    if statement.kind == "SINK":
        assert sink is not None
        binding.known.sinks[key] = sink
    else:
        binding.known.views[key] = _bound_view(binding, statement.name, statement.select)
    binding.written[key] = statement.written
    binding.answers.append(query)


def _create_function(binding: Binding, statement: ast.CreateFunction) -> None:
    macro, given = statement.macro, {each.name.lower() for each in binding.callable}
    if is_built_in(macro.name.text) or macro.name.text.lower() in given:
        message = f"{macro.name.text} is a function already"
        raise QueryError(message, macro.name.span, legal="another name")
    macros.check(macro, parsed, place)
    binding.make_function(macro.name, statement)
    for call in parsed(macro.body).find_all(exp.Anonymous):
        if not is_built_in(call.name) and call.name.lower() not in given:
            near = nearest(call.name.lower(), names(), ELSEWHERE)
            message = f"no function is called {call.name}{near}"
            raise QueryError(message, word(call, macro.body))


def _create_python(binding: Binding, statement: ast.CreatePython) -> None:
    if is_built_in(statement.name.text):
        message = f"{statement.name.text} is a function already"
        raise QueryError(message, statement.name.span, legal="another name")
    binding.functions += (statement.function,)
    binding.make_function(statement.name, statement)


def _drop_function(binding: Binding, statement: ast.DropFunction) -> None:
    binding.drop_function(statement.name)


def _drop(binding: Binding, statement: ast.Drop) -> None:
    """Of what the text has declared before. A table may be called a stream, and a stream a table,
    as elsewhere all are tables."""
    known, key = binding.known, statement.name.text.lower()
    rows: dict[str, object] = {**known.streams, **known.tables}
    tables = {**rows, **known.views}  # a named result is a table to Flink and ksqlDB
    kinds: dict[str, Mapping[str, object]]
    kinds = {"STREAM": tables, "TABLE": tables, "SINK": known.sinks}
    declared = kinds.get(statement.kind, known.views)
    if key in declared:
        binding.forget(statement.name)
    elif known.has(key):
        message = f"{statement.name.text} is no {statement.kind.lower()}"
        raise QueryError(message, statement.name.span, legal="DROP STREAM, TABLE, VIEW or SINK")
    elif not statement.if_exists:
        near = nearest(statement.name.text, list(declared))
        message = f"no {statement.kind.lower()} is called {statement.name.text}{near}"
        raise QueryError(message, statement.name.span, legal="DROP … IF EXISTS")


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


def _show(binding: Binding, statement: ast.Show) -> None:
    known = binding.known
    streams, tables = (each.values() for each in (known.streams, known.tables))
    listed: Iterable[tuple[str, Schema]]
    if statement.kind == "VIEWS":
        listed = ((view.name, view.relation(known).schema()) for view in known.views.values())
    elif statement.kind == "SINKS":
        listed = ((sink.name, sink.columns or ()) for sink in known.sinks.values())
    else:  # elsewhere a stream is a table, too
        rows = streams if statement.kind == "STREAMS" else (*tables, *streams)
        listed = ((stream.name, stream.schema) for stream in rows)
    binding.answers.append(ShowDeclared(tuple(listed)))


def _describe_function(binding: Binding, statement: ast.DescribeFunctionOf) -> None:
    from sqlwin.sql.own_functions import own_function  # by need

    name = statement.name.text
    lines = own_function(binding, name)
    if lines:
        binding.answers.append(DescribeFunction(name, lines))
        return
    if described(name) is None:
        near = nearest(name.lower(), names(), ELSEWHERE)
        raise QueryError(f"no function is called {name}{near}", statement.name.span)
    binding.answers.append(DescribeFunction(name))


def _show_functions(binding: Binding, statement: ast.ShowFunctionsLike) -> None:
    own = (*binding.made_functions, *(each.name for each in binding.callable))
    binding.answers.append(ShowFunctions(statement.pattern, tuple(dict.fromkeys(own))))


def _show_create(binding: Binding, statement: ast.ShowCreateOf) -> None:
    key, name = statement.name.text.lower(), statement.name
    if statement.kind in ("FUNCTION", "MACRO"):
        made = binding.made_functions.get(key)
        text = None if made is None else made.written
    else:
        text = binding.written.get(key)
    if not text:
        message = f"the text has made no {statement.kind.lower()} called {name.text}"
        known = binding.made_functions if statement.kind == "FUNCTION" else binding.written
        raise QueryError(message, name.span, legal=", ".join(known) or "CREATE … first")
    binding.answers.append(ShowCreate(masked(text, in_place=False)))


TAKES: dict[type, Callable[[Binding, Any], None]] = {
    ast.CreateStream: _stream,
    ast.CreateView: _view,
    ast.CreateSink: _sink,
    ast.CreateAs: _create_as,
    ast.CreateFunction: _create_function,
    ast.CreatePython: _create_python,
    ast.Drop: _drop,
    ast.DropFunction: _drop_function,
    ast.Insert: _query,
    ast.Select: _query,
    ast.ExplainOf: _explain,
    ast.DescribeOf: _describe,
    ast.Show: _show,
    ast.ShowCreateOf: _show_create,
    ast.DescribeFunctionOf: _describe_function,
    ast.ShowFunctionsLike: _show_functions,
    ast.Set: set_to,
}

"""What each statement does to what was declared, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlwin.errors import QueryError
from sqlwin.functions.elsewhere import ELSEWHERE
from sqlwin.plan.explain.functions import described, names
from sqlwin.plan.ir.nodes import Describe, DescribeFunction, ShowFunctions, ShowStreams
from sqlwin.sql.binding import Binding
from sqlwin.sql.relations.rank_bounds import OpenTop
from sqlwin.sql.relations.relation import nearest
from sqlwin.sql.select.select import bind_select
from sqlwin.sql.settings import set_to
from sqlwin.sql.sources import declarations
from sqlwin.sql.sources.derived import derived
from sqlwin.sql.sources.from_clause import View
from sqlwin.sql.sources.readers import read_often
from sqlwin.sql.text import ast


def take(binding: Binding, statement: ast.Statement) -> None:
    TAKES[type(statement)](binding, statement)


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
    ast.Set: set_to,
}

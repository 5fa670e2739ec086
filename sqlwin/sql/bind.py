"""A whole text, statement by statement, each seeing what those before it declared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlwin.errors import QueryError
from sqlwin.functions.core.session_zone import of_a_script
from sqlwin.plan.ir.nodes import Stream
from sqlwin.plan.ir.source_text import SourceText
from sqlwin.plan.ir.statements import Script
from sqlwin.python_functions.function import UserFunction
from sqlwin.sql.binding import Binding
from sqlwin.sql.expressions.registered import checked
from sqlwin.sql.sources.files import Infer, NamedFiles
from sqlwin.sql.sources.known import Known
from sqlwin.sql.sources.readers import made_names, read_names
from sqlwin.sql.statements import take
from sqlwin.sql.syntax.parsing.parser import statements
from sqlwin.sql.text import ast
from sqlwin.sql.text.depth import refuse_deep, room
from sqlwin.sql.text.prepared import prepare


def script(
    text: str,
    streams: Mapping[str, Stream] | None = None,
    params: Mapping[str, str] | None = None,
    functions: Sequence[UserFunction] = (),
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
        with room(), of_a_script():
            refuse_deep(prepared.text)
            for statement in statements(prepared.text, binding.functions):
                take(binding, statement)
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
    functions: Sequence[UserFunction] = (),
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
    functions: Sequence[UserFunction] = (),
) -> tuple[ast.Statement, ...]:
    prepared = prepare(text, params or {})
    try:
        with room():
            refuse_deep(prepared.text)
            return tuple(statements(prepared.text, checked(functions)))
    except QueryError as error:
        raise prepared.located(error) from None

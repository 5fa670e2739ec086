"""Aggregates registered from Python: known by name to every expression of a text.

Their names must be free: a query means the same wherever it is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from sqlwin.aggregates import Signature, Types, signature
from sqlwin.aggregates.python import PythonAggregate
from sqlwin.errors import InputError
from sqlwin.functions.table import find
from sqlwin.schema import type_name
from sqlwin.sql.expressions.analytic_functions import ANALYTIC
from sqlwin.sql.expressions.engine import function_names
from sqlwin.sql.expressions.widening import widens
from sqlwin.sql.text import ast


@dataclass(frozen=True)
class Registered(Signature):
    """types: of the arguments, which are cast to them where no number is lost."""

    types: Types = ()


def checked(functions: Sequence[PythonAggregate]) -> tuple[PythonAggregate, ...]:
    """The functions, if every name can be one and is free. InputError otherwise."""
    seen: set[str] = set()
    for function in functions:
        lower = function.name.lower()
        if lower in seen:
            raise InputError(f"two functions are called {function.name}")
        if is_built_in(lower):
            raise InputError(f"{function.name} is a function of SQL already; take another name")
        seen.add(lower)
    return tuple(functions)


def is_built_in(name: str) -> bool:
    """In any case."""
    name = name.lower()
    if signature(name) is not None or name in ANALYTIC or find(name) is not None:
        return True
    return name.upper() in exp.FUNCTION_BY_NAME or name in function_names()


def registered(name: str, run: ast.Run) -> Registered | None:
    """The function of that name, in any case."""
    for function in run.functions:
        if function.name.lower() == name:
            return _signature(function)
    return None


def _signature(function: PythonAggregate) -> Registered:
    types = tuple(function.types)
    names = ", ".join(type_name(type_) for type_ in types)

    def result(given: Types) -> pa.DataType | None:
        pairs = zip(given, types, strict=True)
        fit = all(have == want or widens(have, want) for have, want in pairs)
        return function.result if fit else None

    example = f"{function.name}({', '.join(f'CAST(value AS {type_name(t)})' for t in types)})"
    count = len(types)
    return Registered(function.name, (count, count), result, names, example, types=types)

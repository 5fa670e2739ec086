"""Functions registered from Python: known by name to every expression of a text.

Their names must be free: a query means the same wherever it is run.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from sqlwin.aggregates import Signature, Types, signature
from sqlwin.aggregates.python import PythonAggregate
from sqlwin.errors import InputError
from sqlwin.functions.core.entry import Function, Overload
from sqlwin.functions.core.signatures import Signature as Of
from sqlwin.functions.core.type_patterns import Pattern
from sqlwin.functions.table import find
from sqlwin.lazy_dataclass import dataclass
from sqlwin.python_functions.function import PythonFunction, UserFunction
from sqlwin.schema import type_name
from sqlwin.sql.expressions.analytic_functions import ANALYTIC
from sqlwin.sql.expressions.engine import function_names
from sqlwin.sql.expressions.widening import widens
from sqlwin.sql.text import ast

_MARK = "python"


@dataclass(frozen=True)
class Registered(Signature):
    """types: of the arguments, which are cast to them where no number is lost."""

    types: Types = ()


def checked(functions: Sequence[UserFunction]) -> tuple[UserFunction, ...]:
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
    """The aggregate of that name, in any case."""
    for function in run.functions:
        if function.name.lower() == name and isinstance(function, PythonAggregate):
            return _signature(function)
    return None


def mark_scalars(tree: exp.Expr, run: ast.Run) -> None:
    """Have each call of a scalar function of Python, and its copies, know the function."""
    scalars = {f.name.lower(): f for f in run.functions if isinstance(f, PythonFunction)}
    for node in tree.find_all(exp.Anonymous) if scalars else ():
        found = scalars.get(node.name.lower())
        if found is not None:
            node.meta[_MARK] = found


def scalar_function(node: exp.Expr) -> Function | None:
    """What a marked call calls, as an entry of the table of functions."""
    python: PythonFunction | None = node.meta.get(_MARK)
    if python is None:
        return None
    takes = tuple(Pattern(type_name(type_), type=type_) for type_ in python.types)
    gives = Pattern(type_name(python.result), type=python.result)
    text = f"({', '.join(pattern.name for pattern in takes)}) -> {gives.name}"
    known = Of(text, takes, gives, len(takes), many=False)
    return Function((python.name.lower(),), (Overload(known, python.vector, fails=True),))


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

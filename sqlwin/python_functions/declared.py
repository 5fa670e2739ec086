"""Functions of Python, made of what a program has or a script names; a type is declared, or is that
of the annotations.

>>> def net(gross: float, rate: float) -> float | None:
...     return None if gross is None else gross / (1 + rate)
>>> made = udf(net)
>>> made.name, [str(type_) for type_ in made.types], str(made.result), made(5.0, 0.25)
('net', ['double', 'double'], 'double', 4.0)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, overload

import pyarrow as pa

from sqlwin.errors import InputError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.python_functions.function import PythonFunction, registered
from sqlwin.schema import type_name, type_of


@overload
def udf(
    function: Callable[..., Any],
    /,
    *,
    name: str | None = None,
    types: Sequence[pa.DataType | str] | None = None,
    result: pa.DataType | str | None = None,
    vectorized: str | None = None,
) -> PythonFunction: ...


@overload
def udf(
    function: None = None,
    /,
    *,
    name: str | None = None,
    types: Sequence[pa.DataType | str] | None = None,
    result: pa.DataType | str | None = None,
    vectorized: str | None = None,
) -> Callable[[Callable[..., Any]], PythonFunction]: ...


def udf(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    types: Sequence[pa.DataType | str] | None = None,
    result: pa.DataType | str | None = None,
    vectorized: str | None = None,
) -> Any:
    """A PythonFunction, or, without a function, what decorates one.

    name: that of the function, where it has one. types, result: Arrow's or SQL's, `"DOUBLE"`,
    `"ARRAY<BIGINT>"`; where left out, those of the annotations. vectorized: "arrow" or "polars"; it
    may be left out where the annotations are pyarrow.Array or polars.Series. InputError for what
    fits neither.
    """
    if function is None:
        return lambda given: udf(
            given, name=name, types=types, result=result, vectorized=vectorized
        )
    from sqlwin.annotated_types import argument_types, result_type, vectorised_by  # by need

    called = name or str(getattr(function, "__name__", ""))
    kind = vectorized or vectorised_by(called, function)
    if types is None:
        taken = argument_types(called, function)
    else:
        taken = tuple(_type(called, each) for each in types)
    gives = result_type(called, function) if result is None else _type(called, result)
    return registered(PythonFunction(called, taken, gives, function, kind))


def udtf(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    types: Sequence[pa.DataType | str] | None = None,
    result: pa.DataType | str,
) -> Any:
    """A table function, which yields rows: `FROM orders, LATERAL TABLE(words(text)) AS t(word)`.

    result: of a row, `"STRUCT<word: STRING, size: INT>"`, or of a value where there is one column.
    A row is a tuple, a dictionary, or the value. Otherwise as `udf`.

    >>> def words(text: str):
    ...     yield from ((word, len(word)) for word in text.split())
    >>> udtf(words, result="STRUCT<word: STRING, size: INT>")("green tea")
    [{'word': 'green', 'size': 5}, {'word': 'tea', 'size': 3}]
    """
    if function is None:
        return lambda given: udtf(given, name=name, types=types, result=result)
    called = name or str(getattr(function, "__name__", ""))
    row = _type(called, result)
    names = tuple(field.name for field in row) if pa.types.is_struct(row) else ()
    made = udf(function, name=called, types=types, result=pa.list_(row))
    return registered(replace(made, function=Rows(function, names), vectorized=None))


@dataclass(frozen=True)
class Rows:
    """names: of the columns of a row, none of a value alone."""

    function: Callable[..., Any]
    names: tuple[str, ...]

    def __call__(self, *arguments: Any) -> list[Any] | None:
        found = self.function(*arguments)
        return None if found is None else [self._row(each) for each in found]

    def _row(self, row: Any) -> Any:
        if not self.names or row is None or isinstance(row, dict):
            return row
        return dict(zip(self.names, row, strict=True))


def imported(
    path: str,
    name: str,
    types: Sequence[pa.DataType] | None = None,
    result: pa.DataType | None = None,
) -> PythonFunction:
    """The function of `module.function`, as `name`. types, result: instead of its annotations.

    InputError where it cannot be imported, or its types are not known.
    """
    module, _, attribute = path.rpartition(".")
    try:
        found = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as problem:
        raise InputError(f"cannot import {path}: {problem}") from None
    if not isinstance(found, PythonFunction):
        declared: PythonFunction = udf(found, name=name, types=types, result=result)
        return declared
    made = replace(found, name=name)
    made = replace(made, types=tuple(types)) if types is not None else made
    return registered(replace(made, result=result) if result is not None else made)


def _type(name: str, type_: pa.DataType | str) -> pa.DataType:
    if isinstance(type_, pa.DataType):
        type_name(type_)
        return type_
    found = type_of(type_) if isinstance(type_, str) else None
    if found is None:
        raise InputError(f"{name}: not a type: {type_!r}; legal: DOUBLE, DECIMAL(10, 2), ARRAY<…>")
    return found

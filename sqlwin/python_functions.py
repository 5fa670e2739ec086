"""Scalar functions written in Python, which expressions call by name.

A `PythonFunction` is called for each row, or, where it is vectorised, with Arrow's arrays or
Polars' series, once for each piece of a batch. Its types are declared, or its annotations':

>>> def net(gross: float, rate: float) -> float | None:
...     return None if gross is None else gross / (1 + rate)
>>> made = udf(net)
>>> made.name, [str(type_) for type_ in made.types], str(made.result), made(5.0, 0.25)
('net', ['double', 'double'], 'double', 4.0)

What the engine counts on:

- The value depends on the arguments alone: a late row, a replay and a restart compute it again.
- NULL is passed as None, or as a NULL of the array; nothing is left out.
- A row for which it raises goes to the error stream; a vectorised one is called again, with fewer
  rows, until that row is found.

Expressions know it by `key`, which is of one function in a process: where a plan is unpickled, as
in a worker of Spark, the function comes with it and is known there by the same key.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import Any, overload

import pyarrow as pa

from sqlwin.aggregates import signature
from sqlwin.aggregates.python import PythonAggregate
from sqlwin.errors import InputError
from sqlwin.functions.core.vectors import PREFIX, Vector, known_as
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import type_name, type_of

VECTORISED = ("arrow", "polars")
_KEY = "udf_"
_SERIAL = re.compile(rf"(\b{PREFIX}{_KEY}\w+_)\d+(_[a-z2-7]+\()")
_made: dict[str, PythonFunction] = {}
_making = threading.Lock()


@dataclass(frozen=True)
class PythonFunction:
    """name: what queries call it, in any case. vectorized: "arrow", "polars", or None: by row.
    serial: tells functions of one name in one process apart."""

    name: str
    types: tuple[pa.DataType, ...]
    result: pa.DataType
    function: Callable[..., Any]
    vectorized: str | None = None
    serial: int = 0

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", self.name):
            raise InputError(f"not a name for a function: {self.name!r}; legal: letters, digits, _")
        if signature(self.name) is not None:
            raise InputError(f"{self.name} is an aggregate of sqlwin; give yours another name")
        if not self.types:
            raise InputError(f"{self.name} takes nothing; legal: at least one argument")
        if not callable(self.function):
            raise InputError(f"{self.name} needs a function, not {self.function!r}")
        if self.vectorized not in (None, *VECTORISED):
            legal = ", ".join(map(repr, VECTORISED))
            raise InputError(f"{self.name}: vectorized is {self.vectorized!r}; legal: {legal}")

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        of = (self.name, self.types, self.result, self.function, self.vectorized, self.serial)
        return _restored, of

    @property
    def key(self) -> str:
        return f"{_KEY}{self.name.lower()}_{self.serial}"

    @cached_property
    def vector(self) -> Vector:
        return Vector(self.key, self._compute, typed=True)

    def _compute(self, result: pa.DataType, *arrays: pa.Array) -> pa.Array:
        try:
            return _COMPUTED[self.vectorized](self.function, result, arrays)
        except Exception as failure:
            said = (str(failure).splitlines() or [""])[0]
            what = f"{self.name} raised {type(failure).__name__}: {said}"
            raise ValueError(f"[FAILED_EXECUTE_UDF] {what}") from failure


UserFunction = PythonAggregate | PythonFunction
"""What a query may be given beside its text."""


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
    return _registered(PythonFunction(called, taken, gives, function, kind))


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
    return _registered(replace(made, function=Rows(function, names), vectorized=None))


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
    return _registered(replace(made, result=result) if result is not None else made)


def unnumbered(plan: str) -> str:
    """The text of a plan, without what tells functions of one name in one process apart."""
    return _SERIAL.sub(r"\1\2", plan) if PREFIX + _KEY in plan else plan


def calls(plan: str, function: PythonFunction) -> bool:
    """Whether the text of a plan calls it."""
    return f"{PREFIX}{function.key}_" in plan


def _registered(function: PythonFunction) -> PythonFunction:
    """The function, with a serial of its own among those of its name in this process."""
    with _making:
        while function.key in _made:
            if _made[function.key] == function:
                return _made[function.key]
            function = replace(function, serial=function.serial + 1)
        _made[function.key] = function
        known_as(function.vector)
        return function


def _restored(*of: Any) -> PythonFunction:
    """As it was where it was pickled."""
    function = PythonFunction(*of)
    with _making:
        if function.key not in _made:
            _made[function.key] = function
            known_as(function.vector)
    return function


def _by_row(function: Callable[..., Any], result: pa.DataType, arrays: Sequence[pa.Array]) -> Any:
    rows = zip(*(array.to_pylist() for array in arrays), strict=True)
    return pa.array([function(*row) for row in rows], result)


def _by_array(function: Callable[..., Any], result: pa.DataType, arrays: Sequence[pa.Array]) -> Any:
    made = function(*arrays)
    if isinstance(made, pa.ChunkedArray):
        made = made.combine_chunks()
    return _of_length(made if isinstance(made, pa.Array) else pa.array(made, result), arrays)


def _by_series(
    function: Callable[..., Any], result: pa.DataType, arrays: Sequence[pa.Array]
) -> Any:
    import polars as pl

    made = function(*map(pl.Series, arrays))
    if not isinstance(made, pl.Series):
        return _of_length(pa.array(made, result), arrays)
    return _of_length(made.to_arrow(compat_level=pl.CompatLevel.oldest()), arrays)


def _of_length(made: pa.Array, arrays: Sequence[pa.Array]) -> pa.Array:
    if len(made) != len(arrays[0]):
        raise ValueError(f"{len(made)} values of {len(arrays[0])} rows")
    return made


_COMPUTED: dict[str | None, Callable[..., pa.Array]] = {
    None: _by_row,
    "arrow": _by_array,
    "polars": _by_series,
}


def _type(name: str, type_: pa.DataType | str) -> pa.DataType:
    if isinstance(type_, pa.DataType):
        type_name(type_)
        return type_
    found = type_of(type_) if isinstance(type_, str) else None
    if found is None:
        raise InputError(f"{name}: not a type: {type_!r}; legal: DOUBLE, DECIMAL(10, 2), ARRAY<…>")
    return found

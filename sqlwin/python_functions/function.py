"""Scalar functions written in Python, which expressions call by name.

A `PythonFunction` is called for each row, or, where it is vectorised, with Arrow's arrays or
Polars' series, once for each piece of a batch.

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
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from sqlwin.aggregates import signature
from sqlwin.aggregates.python import PythonAggregate
from sqlwin.errors import InputError
from sqlwin.functions.core.vectors import PREFIX, Vector, known_as
from sqlwin.lazy_dataclass import dataclass

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
        from sqlwin.python_functions.computed import COMPUTED  # by need

        try:
            return COMPUTED[self.vectorized](self.function, result, arrays)
        except Exception as failure:
            said = (str(failure).splitlines() or [""])[0]
            what = f"{self.name} raised {type(failure).__name__}: {said}"
            raise ValueError(f"[FAILED_EXECUTE_UDF] {what}") from failure


UserFunction = PythonAggregate | PythonFunction
"""What a query may be given beside its text."""


def unnumbered(plan: str) -> str:
    """The text of a plan, without what tells functions of one name in one process apart."""
    return _SERIAL.sub(r"\1\2", plan) if PREFIX + _KEY in plan else plan


def calls(plan: str, function: PythonFunction) -> bool:
    """Whether the text of a plan calls it."""
    return f"{PREFIX}{function.key}_" in plan


def registered(function: PythonFunction) -> PythonFunction:
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

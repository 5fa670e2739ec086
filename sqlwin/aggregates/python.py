"""Aggregates written in Python.

A `PythonAggregate` is three functions, after those of Kafka's aggregations and of
KIP-94: `initializer()` gives the state of no rows, `aggregator(state, *arguments)` takes
one row in, `merger(state, state)` puts the states of two parts of the rows together;
and, where the state is not the answer, `finisher(state)` makes the answer of it. A merger of three
arguments, `merger(key, state, state)`, is KIP-94's: it is passed the key of the group as well.

What the engine counts on:

- However rows are split, aggregating the parts and merging them is aggregating the
  rows: `merger` is associative and does not look at which of its two comes first.
- Rows come in the order of time and position; late ones after those before them.
- NULL arguments are passed as None. A state must fit its declared type: it is stored.
- The functions depend on nothing but their arguments. They may change and return the
  state they are given.

>>> harmonic = aggregate(
...     "harmonic_mean", ["DOUBLE"], result="DOUBLE", accumulator="STRUCT<n: BIGINT, s: DOUBLE>",
...     initializer=lambda: {"n": 0, "s": 0.0},
...     aggregator=lambda a, x: a if x is None else {"n": a["n"] + 1, "s": a["s"] + 1 / x},
...     merger=lambda a, b: {"n": a["n"] + b["n"], "s": a["s"] + b["s"]},
...     finisher=lambda a: a["n"] / a["s"] if a["n"] else None,
... )
>>> state = harmonic.aggregator(harmonic.aggregator(harmonic.initializer(), 2.0), 6.0)
>>> harmonic.finisher(state)
3.0

Where argument, state and answer are of one type, a `reducer` of two values is enough:

>>> longest = aggregate("longest", ["STRING"], reducer=lambda a, b: max(a, b, key=len))
>>> longest.aggregator(longest.aggregator(None, "ab"), "abc"), str(longest.result)
('abc', 'string')
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from inspect import Parameter
from inspect import signature as signature_of
from typing import Any

import pyarrow as pa

from sqlwin.aggregates import signature
from sqlwin.errors import InputError
from sqlwin.lazy_dataclass import dataclass
from sqlwin.schema import type_name, type_of

State = Any
Reducer = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class PythonAggregate:
    """A function of `types` to `result`, with states of type `accumulator`.

    name: what queries call it, in any case. finisher None: the state is the answer. merger: of two
    states, or of the group's key and two states, and then for group windows and sessions alone: the
    value of a key of one column, a tuple of several, None without.
    """

    name: str
    types: tuple[pa.DataType, ...]
    accumulator: pa.DataType
    result: pa.DataType
    initializer: Callable[[], State]
    aggregator: Callable[..., State]
    merger: Callable[..., State]
    finisher: Callable[[State], Any] | None = None

    @cached_property
    def keyed(self) -> bool:
        """Whether the merger takes the key of a group."""
        return _required(self.merger) == 3

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name.startswith("__"):
            raise InputError(f"not a name for a function: {self.name!r}; legal: letters, digits, _")
        if signature(self.name) is not None:
            raise InputError(f"{self.name} is an aggregate of sqlwin; give yours another name")
        if not self.types:
            raise InputError(f"{self.name} needs the types of its arguments, at least one")
        for part in ("initializer", "aggregator", "merger"):
            if not callable(getattr(self, part)):
                raise InputError(f"{self.name} needs a function as its {part}")
        if self.finisher is None and self.accumulator != self.result:
            names = type_name(self.accumulator), type_name(self.result)
            raise InputError("{} needs a finisher, from {} to {}".format(self.name, *names))
        if self.finisher is not None and not callable(self.finisher):
            raise InputError(f"{self.name} needs a function as its finisher, or None")


def aggregate(
    name: str,
    types: Sequence[pa.DataType | str],
    *,
    reducer: Reducer | None = None,
    result: pa.DataType | str | None = None,
    accumulator: pa.DataType | str | None = None,
    initializer: Callable[[], State] | None = None,
    aggregator: Callable[..., State] | None = None,
    merger: Callable[..., State] | None = None,
    finisher: Callable[[State], Any] | None = None,
) -> PythonAggregate:
    """A PythonAggregate; types are Arrow's or SQL's: "DOUBLE", "ARRAY<BIGINT>".

    Either `reducer` alone, a function of two values, associative and commutative: the
    first value is the first state, NULLs are passed over, and nothing gives NULL. Or
    initializer, aggregator, merger, of two states or of a key and two, and `result`;
    `accumulator` is `result` where left out.
    InputError for what fits neither.
    """
    found = tuple(_type(name, type_) for type_ in types)
    parts = (result, accumulator, initializer, aggregator, merger, finisher)
    if reducer is not None:
        if any(part is not None for part in parts):
            raise InputError(f"{name}: a reducer stands alone, without the other functions")
        return _reduced(name, found, reducer)
    if initializer is None or aggregator is None or merger is None or result is None:
        wanted = "a reducer, or an initializer, an aggregator, a merger and the type of the result"
        raise InputError(f"{name} needs {wanted}")
    type_ = _type(name, result)
    kept = type_ if accumulator is None else _type(name, accumulator)
    return PythonAggregate(name, found, kept, type_, initializer, aggregator, merger, finisher)


def _reduced(name: str, types: tuple[pa.DataType, ...], reducer: Reducer) -> PythonAggregate:
    if len(types) != 1:
        raise InputError(f"{name}: a reducer takes one argument, {len(types)} types are given")
    if not callable(reducer):
        raise InputError(f"{name} needs a function as its reducer")
    taking = Reducing(reducer)
    return PythonAggregate(name, types, types[0], types[0], _nothing, taking, taking)


@dataclass(frozen=True)
class Reducing:
    """A reducer of values as one of values or None: None is nothing yet."""

    reducer: Reducer

    def __call__(self, one: Any, other: Any) -> Any:
        if one is None or other is None:
            return other if one is None else one
        return self.reducer(one, other)


def _required(function: Callable[..., Any]) -> int | None:
    """How many arguments it has to be given by position; None where it does not say."""
    try:
        parameters = signature_of(function).parameters.values()
    except (TypeError, ValueError):  # of a builtin
        return None
    by_position = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in by_position and p.default is Parameter.empty for p in parameters)


def _nothing() -> None:
    return None


def _type(name: str, type_: pa.DataType | str) -> pa.DataType:
    if isinstance(type_, pa.DataType):
        return type_
    found = type_of(type_) if isinstance(type_, str) else None
    if found is None:
        raise InputError(f"{name}: not a type: {type_!r}; legal: DOUBLE, DECIMAL(10, 2), ARRAY<…>")
    return found

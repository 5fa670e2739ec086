"""Types of SQL from the annotations of a Python function.

>>> import datetime
>>> def part(of: list[str], at: int | None, since: datetime.datetime) -> str | None: ...
>>> [str(type_) for type_ in argument_types("part", part)], str(result_type("part", part))
(['list<item: string>', 'int64', 'timestamp[us, tz=UTC]'], 'string')
"""

from __future__ import annotations

import datetime
import types
from collections.abc import Callable
from decimal import Decimal
from inspect import Parameter
from inspect import signature as signature_of
from typing import Any, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from sqlwin.errors import InputError
from sqlwin.schema import TIMESTAMP

_PLAIN: dict[Any, pa.DataType] = {
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bool: pa.bool_(),
    bytes: pa.binary(),
    Decimal: pa.decimal128(38, 18),
    datetime.date: pa.date32(),
    datetime.datetime: TIMESTAMP,
}
_COLUMNS = {("pyarrow", "Array"): "arrow", ("polars", "Series"): "polars"}
"""By package and name."""
LEGAL = "int, float, str, bool, bytes, Decimal, date, datetime, list[…], each also with | None"


def argument_types(name: str, function: Callable[..., Any]) -> tuple[pa.DataType, ...]:
    """InputError where an argument has no annotation, or one that is no type of SQL."""
    hints = _hints(name, function)
    parameters = [each.name for each in positional(name, function)]
    taken = [hints.get(parameter) for parameter in parameters]
    columns = {column_kind(hint) for hint in taken}
    if taken and None not in columns:
        message = f"{name} takes columns, whose types no annotation says"
        raise InputError(f"{message}; legal: types=['DOUBLE'], result='DOUBLE'")
    return tuple(_of_hint(name, *pair) for pair in zip(parameters, taken, strict=True))


def result_type(name: str, function: Callable[..., Any]) -> pa.DataType:
    """InputError where the result has no annotation, or one that is no type of SQL."""
    return _of_hint(name, "the result", _hints(name, function).get("return"))


def vectorised_by(name: str, function: Callable[..., Any]) -> str | None:
    """ "arrow" or "polars", where all of its arguments are annotated as columns of one of them."""
    try:
        hints = _hints(name, function)
        kinds = {column_kind(hints.get(each.name)) for each in positional(name, function)}
    except InputError:  # it says nothing of what it takes
        return None
    return kinds.pop() if len(kinds) == 1 else None


def column_kind(hint: Any) -> str | None:
    return _COLUMNS.get(
        (getattr(hint, "__module__", "").split(".")[0], getattr(hint, "__name__", ""))
    )


def positional(name: str, function: Callable[..., Any]) -> list[Parameter]:
    try:
        parameters = list(signature_of(function).parameters.values())
    except (TypeError, ValueError):  # of a builtin
        message = f"{name} does not say what it takes"
        raise InputError(f"{message}; legal: types=['DOUBLE'], result='DOUBLE'") from None
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return [each for each in parameters if each.kind in kinds]


def _hints(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return get_type_hints(function)
    except (NameError, TypeError, AttributeError) as problem:
        raise InputError(f"{name}: its annotations cannot be read: {problem}") from None


def _of_hint(name: str, what: str, hint: Any) -> pa.DataType:
    found = _arrow(hint)
    if found is None:
        said = "has no annotation" if hint is None else f"is annotated {_shown(hint)}"
        declared = "or types=['BIGINT'], result='BIGINT'; in SQL f(x BIGINT) RETURNS BIGINT"
        raise InputError(f"{name}: {what} {said}; legal: {LEGAL}; {declared}")
    return found


def _shown(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)


def _arrow(hint: Any) -> pa.DataType | None:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        others = [each for each in get_args(hint) if each is not type(None)]
        return _arrow(others[0]) if len(others) == 1 else None
    if origin is list:
        inner = _arrow(get_args(hint)[0])
        return None if inner is None else pa.list_(inner)
    return _PLAIN.get(hint) if isinstance(hint, type) else None

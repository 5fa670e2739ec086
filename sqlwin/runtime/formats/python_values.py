"""Values of Python as columns, each for itself: typed where all are of the type's own kind,
else as texts that the type takes where it takes the value.

What has no text of its own (an object, a set) is no value of any type: no `repr` stands for it.
A column with such a value, or with a list where the type is nested, stays one of Python's values.

>>> column_of([7, 7.0, "x"], pa.int64()).to_list()
['7', '7', 'x']
>>> column_of([7, {1}], pa.int64()).dtype
Object
"""

from __future__ import annotations

import json
import numbers
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timezone, tzinfo
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pyarrow as pa

from sqlwin.errors import InputError
from sqlwin.instants import EPOCH, format_instant, from_datetime
from sqlwin.polars_frames import polars_type
from sqlwin.runtime.formats.nested import DEEPEST, is_missing, too_deep
from sqlwin.runtime.formats.texts import is_whole
from sqlwin.runtime.rows.render import plain

TOO_DEEP = b"\xff: nested too deep"
"""In place of a value that is nested deeper than a line of JSON may be. It is no UTF-8, so that
its row is malformed."""
NO_JSON = b"\xff: no JSON"
"""In place of a dict or list with a value, or a key, that has no text, likewise."""


class NotText:
    """In place of a value of Arrow that Python has not, for `what` is somewhere within."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __repr__(self) -> str:
        return f"<{self.what}>"


_TEXTUAL = (str, bytes, bytearray, numbers.Real, Decimal, date, time, UUID, np.generic)
_NESTED = (Mapping, list, tuple)
_BITS = 10_000
"""Of an int; `str` refuses those of more than 4,300 digits, a Decimal none."""
_SURROGATES = ("utf-8", "surrogatepass")


def column_of(values: Sequence[Any], type_: pa.DataType | None) -> pl.Series:
    """Of type Object where a value is foreign; then all are as they came, NULL those missing."""
    kinds = set(map(type, values))  # a few, of however many values
    kinds.discard(type(None))
    typed = None if type_ is None else _typed(values, kinds, type_)
    if typed is not None:
        return typed
    nested = type_ is not None and pa.types.is_nested(type_)
    if not nested and kinds == {str}:
        with suppress(UnicodeEncodeError):
            return pl.Series(values=values, dtype=pl.String)
    if nested or any(map(is_foreign, values)):
        return pl.Series(values=[_kept(value) for value in values], dtype=pl.Object)
    return _texts(values, type_)


def is_foreign(value: Any) -> bool:
    """Whether it is of a kind that no column has."""
    known = value is None or isinstance(value, (*_TEXTUAL, *_NESTED)) or is_missing(value)
    return not known


def _kept(value: Any) -> Any:
    if is_missing(value):
        return None
    return TOO_DEEP if too_deep(value, DEEPEST - 1) else value


def _texts(values: Sequence[Any], type_: pa.DataType | None) -> pl.Series:
    """Bytes where one of them is no text."""
    texts = [_text(value, type_) for value in values]
    if type_ is not None and pa.types.is_binary(type_) and TOO_DEEP in texts:
        raise InputError(f"a BINARY is nested deeper than {DEEPEST} levels")
    if type_ is not None and not (pa.types.is_string(type_) or pa.types.is_binary(type_)):
        texts = [
            repr(text) if isinstance(text, bytes) else text for text in texts
        ]  # no value of it
    if any(isinstance(text, bytes) for text in texts):
        coded = [text.encode(*_SURROGATES) if isinstance(text, str) else text for text in texts]
        return pl.Series(values=coded, dtype=pl.Binary)
    return pl.Series(values=texts, dtype=pl.String)


def _typed(values: Sequence[Any], kinds: set[type], type_: pa.DataType) -> pl.Series | None:
    """All of them as a column of the type, None where one is not of its own kind."""
    try:
        if kinds == {datetime} and pa.types.is_timestamp(type_) and type_.tz is not None:
            return _since_1970(values).cast(pl.Int64).cast(polars_type(type_))
        if not all(_is_own(kind, type_) for kind in kinds) or _any_huge(values, kinds):
            return None
        return pl.Series(values=values, dtype=polars_type(type_), strict=True)
    except (pl.exceptions.PolarsError, TypeError, OverflowError, ValueError):
        return None


_OWN: tuple[tuple[Callable[[pa.DataType], bool], tuple[type, ...]], ...] = (
    (pa.types.is_integer, (int,)),
    (pa.types.is_float64, (float, int)),
    (pa.types.is_string, (str,)),
    (pa.types.is_binary, (bytes,)),
    (pa.types.is_boolean, (bool,)),
)


def _is_own(kind: type, type_: pa.DataType) -> bool:
    """Whether Polars may take Python's values of a kind for the type as they are; a bool is no
    number."""
    own = next((types for holds, types in _OWN if holds(type_)), ())
    return issubclass(kind, own) and (kind is not bool or bool in own)


def _any_huge(values: Sequence[Any], kinds: set[type]) -> bool:
    if not any(issubclass(kind, int) for kind in kinds):
        return False
    try:
        return max(map(int.bit_length, values), default=0) > _BITS
    except TypeError:  # others are among them
        return any(map(_is_huge, values))


def _since_1970(values: Sequence[datetime | None]) -> pl.Series:
    """TypeError of a time without a zone: whose clocks show it, the column says.

    Times of one zone are subtracted as their clocks show them, several times as fast as those of
    two; so 1970 is one of theirs where their zone is always as far from UTC.
    """
    zones = {value.tzinfo for value in values if value is not None}
    begin = _begin_of(zones.pop()) if len(zones) == 1 else EPOCH
    passed = [None if value is None else value - begin for value in values]
    return pl.Series(values=passed)  # in microseconds; given a dtype it is cast by a query


def _begin_of(zone: tzinfo | None) -> datetime:
    """1970 in UTC, on the clocks of a zone that never changes them; those of another kind than the
    standard library's do not say whether they do."""
    if type(zone) in (timezone, ZoneInfo) and zone.utcoffset(None) is not None:  # type: ignore[union-attr]
        return EPOCH.astimezone(zone)
    return EPOCH


def _text(value: Any, type_: pa.DataType | None) -> str | bytes | None:
    """Half of a surrogate pair, which Python's texts may have, is bytes: it is no text."""
    if is_missing(value):
        return None
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    if too_deep(value, DEEPEST - 1):  # the row is a level, too
        return TOO_DEEP
    try:
        text = python_text(value, type_)
    except TypeError:
        return NO_JSON
    return text if text.isascii() or _whole(text) else text.encode(*_SURROGATES)


def _whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(value: object) -> str:
    """For people: `repr`, or the kind of a value whose own code for it fails."""
    try:
        return repr(value)
    except Exception:  # noqa: BLE001
        return f"a {type(value).__name__}"


def json_text(value: object) -> str:
    """
    >>> json_text({"a": [1, None], "b": True})
    '{"a": [1, null], "b": true}'
    """
    return json.dumps(plain(value), default=shown, ensure_ascii=False)


def _without_text(value: object) -> str:
    raise TypeError(f"a {type(value).__name__} has no text")


def python_text(value: object, type_: pa.DataType | None) -> str:
    """A Python value as a text that the type takes where it takes the value. TypeError where
    something within it has none.

    >>> python_text(7.0, pa.int64()), python_text(True, pa.int64())
    ('7', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(plain(value), default=_without_text, ensure_ascii=False)
    if isinstance(value, datetime):
        return _datetime_text(value, type_)
    if isinstance(value, date):
        return f"{value}T00:00:00" if _is(type_, pa.types.is_timestamp) else value.isoformat()
    return _number_text(value, type_)


def _is(type_: pa.DataType | None, kind: Callable[[pa.DataType], bool]) -> bool:
    return type_ is not None and kind(type_)


def _datetime_text(value: datetime, type_: pa.DataType | None) -> str:
    text = format_instant(from_datetime(value))
    if value.tzinfo is None and _is(type_, pa.types.is_timestamp):
        return text.removesuffix("Z")
    return text.removesuffix("T00:00:00Z") if _is(type_, pa.types.is_date) else text


def _number_text(value: object, type_: pa.DataType | None) -> str:
    if _is(type_, pa.types.is_integer) and _is_whole(value):
        return str(int(value))  # type: ignore[call-overload]
    if isinstance(value, Decimal) and value.is_finite():
        return f"{value:f}"
    if _is_huge(value):
        return f"{Decimal(value):f}"  # type: ignore[arg-type]
    return str(pl.Series([value]).cast(pl.String)[0]) if isinstance(value, float) else str(value)


def _is_huge(value: object) -> bool:
    return isinstance(value, int) and value.bit_length() > _BITS


def _is_whole(value: object) -> bool:
    if isinstance(value, Decimal):
        return is_whole(value)
    return isinstance(value, float) and value.is_integer()

"""What JSON_VALUE, JSON_QUERY and JSON_EXISTS find, with what they say of nothing and of errors.

A text that is no JSON, a strict path without a value, and a value of the wrong kind are errors;
nothing, and a null, are empty. On either it is NULL unless a query says otherwise. Array or object
for a scalar, and a scalar for an array or object, are errors of strict paths, and empty for lax
ones: so Flink SQL, whose rules these are.

>>> value('{"a": 1.50}', "$.a"), value('{"a": [1]}', "$.a"), value("{", "$")
('1.50', None, None)
>>> query('{"a": [1, 2]}', "$.a", "WITHOUT", "NULL", "NULL")
'[1,2]'
>>> exists('{"a": [1]}', "$.a[0]", "FALSE"), exists("{", "$", "UNKNOWN")
(True, None)
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.json.documents import NoJson, is_scalar, read, scalar, unbound, written
from sqlwin.functions.json.sql_path import NOTHING, Missing, Path, found, parsed

VALUE, EMPTY, ERROR = 0, 1, 2
"""Outcomes."""
_FALLBACKS = {"EMPTY ARRAY": "[]", "EMPTY OBJECT": "{}"}


class Empty(ValueError):
    """There is nothing, and the query says ERROR ON EMPTY."""


def _path(text: str) -> Path:
    path = parsed(text)
    assert path is not None, text
    return path


def _looked_up(text: str, path: Path) -> Any:
    """What is found, NOTHING for a null, too."""
    value = found(read(text), path)
    return NOTHING if value is None else value


def _scalar(text: str, path: Path) -> Any:
    value = _looked_up(text, path)
    if value is NOTHING or is_scalar(value):
        return value
    return _of_wrong_kind(path, "an array or object, which is no scalar")


def _composite(text: str, path: Path, wrapper: str) -> Any:
    value = _looked_up(text, path)
    if value is NOTHING:
        return value
    if wrapper == "UNCONDITIONAL" or (wrapper == "CONDITIONAL" and type(value) is not list):
        return [value]
    return _of_wrong_kind(path, "a scalar") if is_scalar(value) else value


def _of_wrong_kind(path: Path, what: str) -> Any:
    if path.strict:
        raise Missing(f"[JSON_PATH_ERROR] {path.text} finds {what}")
    return NOTHING


def _empty(path: Path) -> Empty:
    return Empty(f"[JSON_PATH_EMPTY] {path.text} finds nothing")


@unbound
def outcome(text: str, path: str) -> int:
    """Of JSON_VALUE."""
    try:
        return EMPTY if _scalar(text, _path(path)) is NOTHING else VALUE
    except (NoJson, Missing):
        return ERROR


@unbound
def value(text: str, path: str, empty: str = "NULL", error: str = "NULL") -> str | None:
    """empty, error: NULL or ERROR."""
    way = _path(path)
    try:
        made = _scalar(text, way)
    except (NoJson, Missing):
        if error == "ERROR":
            raise
        return None
    if made is not NOTHING:
        return scalar(made)
    if empty == "ERROR":
        raise _empty(way)
    return None


@unbound
def query(text: str, path: str, wrapper: str, empty: str, error: str) -> str | None:
    """wrapper: WITHOUT, CONDITIONAL or UNCONDITIONAL. empty, error: ERROR, NULL, EMPTY ARRAY or
    EMPTY OBJECT."""
    way = _path(path)
    try:
        made = _composite(text, way, wrapper)
    except (NoJson, Missing):
        if error == "ERROR":
            raise
        return _FALLBACKS.get(error)
    if made is not NOTHING:
        return written(made)
    if empty == "ERROR":
        raise _empty(way)
    return _FALLBACKS.get(empty)


@unbound
def exists(text: str, path: str, error: str) -> bool | None:
    """Whether a value is there that is no null. error: TRUE, FALSE, UNKNOWN or ERROR."""
    way = _path(path)
    try:
        made = _looked_up(text, way)
    except (NoJson, Missing):
        if error == "ERROR":
            raise
        return {"TRUE": True, "FALSE": False}.get(error)
    return made != [] if way.many and made is not NOTHING else made is not NOTHING


@unbound
def is_json(text: str, kind: str) -> bool:
    """kind: VALUE, SCALAR, ARRAY or OBJECT."""
    try:
        made = read(text)
    except NoJson:
        return False
    of = "OBJECT" if type(made) is dict else "ARRAY" if type(made) is list else "SCALAR"
    return kind in ("VALUE", of)


@unbound
def length(text: str, path: str = "$") -> int | None:
    """As a lax path has it, whatever it says."""
    way = parsed(path)
    try:
        made: Any = NOTHING if way is None else found(read(text), Path(way.text, way.steps, False))
    except NoJson:
        return None
    return None if made is NOTHING else 1 if is_scalar(made) else len(made)


@vector("jsonvalue")
def VALUES(*arrays: pa.Array) -> pa.Array:  # noqa: N802
    return by_value(value, *arrays, type=pa.string())


@vector("jsonoutcome")
def OUTCOMES(texts: pa.Array, paths: pa.Array) -> pa.Array:  # noqa: N802
    return by_value(outcome, texts, paths, type=pa.int32())


@vector("jsonquery")
def QUERIES(*arrays: pa.Array) -> pa.Array:  # noqa: N802
    return by_value(query, *arrays, type=pa.string())


@vector("jsonexists")
def EXISTS(*arrays: pa.Array) -> pa.Array:  # noqa: N802
    return by_value(exists, *arrays, type=pa.bool_())


@vector("isjson")
def IS_JSON(texts: pa.Array, kinds: pa.Array) -> pa.Array:  # noqa: N802
    return by_value(is_json, texts, kinds, type=pa.bool_())


@vector("jsonlength")
def LENGTHS(*arrays: pa.Array) -> pa.Array:  # noqa: N802
    return by_value(length, *arrays, type=pa.int32())

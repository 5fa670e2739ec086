"""PostgreSQL's `->`, `->>`, `#>` and `#>>`, and functions of several engines that do the same.

A step is the name of an object's field, or the index of an array's element, from 0 or, below it,
from the end; what is not there is NULL. A text that is no JSON fails, as PostgreSQL would not have
taken it. `as_text` is the value as a text: a string without its quotes, NULL for a null.

>>> taken('{"a": [1, "x"]}', ["a", "-1"]), as_text('{"a": [1, "x"]}', ["a", "-1"])
('"x"', 'x')
>>> stepped('{"a": 1.0}', "a"), stepped('{"a": {"b": 2}}', "$.a.b"), stepped("[1]", "0")
('1.0', '2', None)
>>> indexed("[1, 2]", -1), array_of(" {a, b,0} ")
('2', ['a', 'b', '0'])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from sqlwin.functions.core.vectors import by_value, vector
from sqlwin.functions.json.documents import is_scalar, read, scalar, unbound, written
from sqlwin.functions.json.sql_path import NOTHING, Path, found, parsed

_INDEX = re.compile(r"\s*[+-]?\d+\s*")
_PATH = re.compile(r"\s*\$(?:$|\s*[.\[])|\s*(?:lax|strict)\s+\$", re.I)
_ELEMENT = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^",{}]*?))\s*(?:,|$)')
_LONGEST_INDEX = 18
STEPS = pa.list_(pa.string())


def _text(value: Any) -> str | None:
    if value is None or value is NOTHING:
        return None
    return scalar(value) if is_scalar(value) else written(value)


def _json(value: Any) -> str | None:
    return None if value is NOTHING else written(value)


def _at(value: Any, index: int) -> Any:
    if type(value) is not list or not -len(value) <= index < len(value):
        return NOTHING
    return value[index]


def _field(value: Any, name: str) -> Any:
    return value.get(name, NOTHING) if type(value) is dict else NOTHING


def _along(value: Any, steps: Sequence[str]) -> Any:
    """Each step is the name of a field, or of an array the digits of an index."""
    for step in steps:
        if type(value) is list and _INDEX.fullmatch(step) and len(step) <= _LONGEST_INDEX:
            value = _at(value, int(step))
        else:
            value = _field(value, step)
        if value is NOTHING:
            break
    return value


def _stepped(value: Any, step: str) -> Any:
    """A name; or a path, which begins with `$`."""
    path = _lax(step)
    return _field(value, step) if path is None else found(value, path)


@lru_cache(maxsize=1024)
def _lax(step: str) -> Path | None:
    path = parsed(step) if _PATH.match(step) else None
    return None if path is None else Path(path.text, path.steps, strict=False)


def _extracted(value: Any, path: str) -> Any:
    """A path, a JSON pointer (`/a/0`), or a name."""
    if path.startswith("/"):
        steps = path[1:].split("/") if path != "/" else []
        return _along(value, [step.replace("~1", "/").replace("~0", "~") for step in steps])
    return _stepped(value, path)


@lru_cache(maxsize=1024)
def array_of(text: str) -> list[str] | None:
    """PostgreSQL's text of an array of texts, `{a,b}`; None where it is none."""
    inner = text.strip()
    if inner[:1] != "{" or inner[-1:] != "}":
        return None
    inner, made, at = inner[1:-1], list[str](), 0
    while at < len(inner):
        element = _ELEMENT.match(inner, at)
        if element is None or element.end() == at:
            return None
        made.append(element[2] if element[1] is None else re.sub(r"\\(.)", r"\1", element[1]))
        at = element.end()
    return made


def _found_by(step: Callable[[Any, Any], Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """As JSON, and as a text."""
    json = unbound(lambda text, by: _json(step(read(text), by)))
    return json, unbound(lambda text, by: _text(step(read(text), by)))


stepped, stepped_text = _found_by(_stepped)
indexed, indexed_text = _found_by(_at)
taken, as_text = _found_by(_along)
extracted, extracted_text = _found_by(_extracted)


def _vector(name: str, compute: Callable[..., Any]) -> Any:
    def all_of(*arrays: pa.Array) -> pa.Array:
        return by_value(compute, *arrays, type=pa.string())

    all_of.__module__ = __name__
    return vector(name)(all_of)


STEP, STEP_TEXT = _vector("jsonstep", stepped), _vector("jsonsteptext", stepped_text)
INDEX, INDEX_TEXT = _vector("jsonindex", indexed), _vector("jsonindextext", indexed_text)
EXTRACT = _vector("jsonextract", extracted)
EXTRACT_TEXT = _vector("jsonextracttext", extracted_text)


def _along_arrays(compute: Callable[..., Any], texts: pa.Array, steps: pa.Array) -> pa.Array:
    rows = zip(texts.to_pylist(), steps.to_pylist(), strict=True)
    made = [
        None if text is None or way is None or None in way else compute(text, way)
        for text, way in rows
    ]
    return pa.array(made, pa.string())


@vector("jsonalong")
def ALONG(texts: pa.Array, steps: pa.Array) -> pa.Array:  # noqa: N802
    return _along_arrays(taken, texts, steps)


@vector("jsonalongtext")
def ALONG_TEXT(texts: pa.Array, steps: pa.Array) -> pa.Array:  # noqa: N802
    return _along_arrays(as_text, texts, steps)

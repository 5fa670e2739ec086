"""A text of JSON as one value, and a value as a text: RFC 8259, the whole text, nothing beside.

Numbers keep the text that they have, so that no digit is lost; of a name that an object has twice
the last one counts. Written, a value has no spaces, and its names are in their order.

>>> document = read('{"a" : [1.50, 1e400, "x"], "b": null}')
>>> written(document), document["a"][0]
('{"a":[1.50,1e400,"x"],"b":null}', '1.50')
>>> read("{'a': 1}")
Traceback (most recent call last):
sqlwin.functions.json.documents.NoJson: [INVALID_JSON] no JSON: {'a': 1}
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn, TypeVar

DEEPEST = 500
"""Brackets in brackets, as of a line of JSON: a thread's stack holds as many, of reading and
writing, which are recursive."""
_SHOWN = 100
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)
_ALONE = re.compile(r"[\ud800-\udfff]")
_quoted = json.encoder.encode_basestring
Made = TypeVar("Made")


class NoJson(ValueError):
    """It is no JSON."""

    def __init__(self, text: str) -> None:
        shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        super().__init__(f"[INVALID_JSON] no JSON: {shown}")


class Number(str):
    """As it is written."""

    __slots__ = ()


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")


_parse = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=_no_constant).decode


def read(text: str) -> Any:
    """Objects are dicts, arrays are lists. NoJson for all else, and for what is too deep."""
    if text.count("{") + text.count("[") > DEEPEST and _depth(text) > DEEPEST:
        raise NoJson(text)
    try:
        return _parse(text)
    except ValueError:
        raise NoJson(text) from None


def _depth(text: str) -> int:
    deepest = depth = 0
    for bracket in _BRACKETS.findall(text):
        depth += (bracket in "[{") - (bracket in "]}")
        deepest = max(deepest, depth)
    return deepest


def written(value: Any) -> str:
    """A value of `read`, as JSON."""
    parts = list[str]()  # loops, for generators and map take more of the stack
    if type(value) is dict:
        for name, part in value.items():
            parts.append(f"{quoted(name)}:{written(part)}")
        return f"{{{','.join(parts)}}}"
    if type(value) is list:
        for part in value:
            parts.append(written(part))
        return f"[{','.join(parts)}]"
    return quoted(value) if type(value) is str else scalar(value)


def quoted(text: str) -> str:
    return whole(_quoted(text))


def scalar(value: Any) -> str:
    """The text of a string, a number, a word."""
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    return whole(value)


def is_scalar(value: Any) -> bool:
    return type(value) is not dict and type(value) is not list


def whole(text: str) -> str:
    """Half of a surrogate pair, which no column holds, as a question mark."""
    return str(text) if text.isascii() else _ALONE.sub("?", text)


def unbound(compute: Callable[..., Made]) -> Callable[..., Made]:
    """A caller deep in its stack leaves too little of it; a thread begins with a new one."""

    def called(*args: Any) -> Made:
        try:
            return compute(*args)
        except RecursionError:
            return _in_thread(partial(compute, *args))

    return called


def _in_thread(compute: Callable[[], Made]) -> Made:
    made: list[Made] = []
    failed: list[Exception] = []

    def run() -> None:
        try:
            made.append(compute())
        except Exception as failure:  # noqa: BLE001  raised by the caller
            failed.append(failure)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return made[0]
